//! The lanes of the timeline: a column for each node, with what it is doing between its events.

use holdover_sim::fault::{Fault, Stops};
use holdover_sim::history::{History, Role, What, beliefs};
use holdover_sim::id::NodeId;
use holdover_sim::time::TrueTime;

use super::excerpt::Excerpt;
use super::timeline::{Mark, Row};

/// The columns of one lane.
pub(super) const LANE_WIDTH: usize = 3;

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It hasn't started, is done, or is down.
    Absent,
    /// It is there.
    Present,
    /// It is a worker that thinks that it holds the lease.
    Believing,
    /// One of its tasks stands still, the other goes on.
    Halved,
    /// It is paused.
    Paused,
}

/// What is counted of a node to tell its state.
#[derive(Clone, Copy)]
enum Count {
    Away,
    Pauses,
    TaskPauses,
    Beliefs,
}

/// The states of one node, from instants on.
pub(super) struct Line(pub(super) Vec<(TrueTime, State)>);

impl Line {
    /// Adds up `changes`, each an instant, what is counted and by how much.
    fn of(mut changes: Vec<(TrueTime, Count, i32)>) -> Line {
        changes.sort_by_key(|(at, ..)| *at);
        let (mut away, mut pauses, mut tasks, mut beliefs) = (0, 0, 0, 0);
        let mut line: Vec<(TrueTime, State)> = Vec::new();
        for (at, count, by) in changes {
            *match count {
                Count::Away => &mut away,
                Count::Pauses => &mut pauses,
                Count::TaskPauses => &mut tasks,
                Count::Beliefs => &mut beliefs,
            } += by;
            let state = match (away, pauses, tasks, beliefs) {
                (1.., ..) => State::Absent,
                (_, 1.., ..) => State::Paused,
                (_, _, 1.., _) => State::Halved,
                (.., 1..) => State::Believing,
                _ => State::Present,
            };
            match line.last_mut() {
                Some((same, last)) if *same == at => *last = state,
                _ => line.push((at, state)),
            }
        }
        Line(line)
    }

    fn at(&self, at: TrueTime) -> State {
        let after = self.0.partition_point(|(from, _)| *from <= at);
        after.checked_sub(1).map_or(State::Present, |index| self.0[index].1)
    }

    /// The stretches up to `end` in which it is in `wanted`: from when until when.
    pub(super) fn stretches(&self, wanted: State, end: TrueTime) -> Vec<(TrueTime, TrueTime)> {
        let mut found: Vec<(TrueTime, TrueTime)> = Vec::new();
        for (index, (from, state)) in self.0.iter().enumerate() {
            let until = self.0.get(index + 1).map_or(end, |(next, _)| (*next).min(end));
            match found.last_mut() {
                _ if *state != wanted || *from >= until => {}
                Some((_, last)) if *last == *from => *last = until,
                _ => found.push((*from, until)),
            }
        }
        found
    }
}

/// The lanes of a history.
pub(super) struct Lanes {
    /// The nodes that have a lane of their own, in the order of their lanes: workers, operators, services.
    order: Vec<NodeId>,
    /// How many workers share the lane behind those of the other workers.
    sharing: usize,
    /// By node.
    lines: Vec<Line>,
    /// By node; `None` for those that aren't shown.
    lane_of: Vec<Option<usize>>,
}

impl Lanes {
    /// At most `most` lanes for the nodes of `history` that `excerpt` shows. If there are more nodes, workers that nothing
    /// happened to share one.
    pub(super) fn new(history: &History, most: usize, excerpt: &Excerpt) -> Lanes {
        let others =
            Role::DRAWN.into_iter().filter(|role| *role != Role::Worker).flat_map(|role| history.nodes_with(role));
        let others: Vec<NodeId> = others.filter(|node| excerpt.has(*node)).collect();
        let workers: Vec<NodeId> = history.nodes_with(Role::Worker).filter(|node| excerpt.has(*node)).collect();
        let shown = most_interesting(history, &workers, most.saturating_sub(others.len()).max(2));
        let sharing = workers.len() - shown.len();

        let shared_lane = shown.len();
        let mut lane_of = vec![None; history.nodes.len()];
        for worker in &workers {
            lane_of[worker.index()] = Some(shared_lane);
        }
        let behind = shown.len() + usize::from(sharing > 0);
        for (lane, node) in shown.iter().enumerate().chain((behind..).zip(&others)) {
            lane_of[node.index()] = Some(lane);
        }
        let order = shown.into_iter().chain(others).collect();
        Lanes { order, sharing, lines: lines(history), lane_of }
    }

    /// What stands above each lane.
    pub(super) fn heads<'a>(&'a self, history: &'a History) -> Vec<String> {
        let mut heads: Vec<String> = self.order.iter().map(|node| history.node(*node).name.clone()).collect();
        if self.sharing > 0 {
            let place = self.order.iter().filter(|node| history.node(**node).role == Role::Worker).count();
            heads.insert(place, format!("{} other workers", self.sharing));
        }
        heads
    }

    /// Whether a task of a worker that has a lane of its own is to be paused alone.
    pub(super) fn has_task_pauses(&self, history: &History) -> bool {
        history.plan.iter().any(|planned| match &planned.inject {
            Fault::Pause(pause) => pause.task.is_some() && self.order.contains(&pause.node),
            _ => false,
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.order.len() + usize::from(self.sharing > 0)
    }

    fn column(&self, node: NodeId) -> Option<usize> {
        self.lane_of[node.index()].map(|lane| lane * LANE_WIDTH)
    }

    /// The lanes at `at`, nothing happening: one cell for each column.
    pub(super) fn idle(&self, at: TrueTime) -> Vec<char> {
        let mut cells = vec![' '; self.count() * LANE_WIDTH];
        for lane in 0..self.count() {
            cells[lane * LANE_WIDTH] = '│';
        }
        for node in &self.order {
            let Some(column) = self.column(*node) else { continue };
            cells[column] = match self.lines[node.index()].at(at) {
                State::Absent => ' ',
                State::Present => '│',
                State::Believing => '┃',
                State::Halved => '╏',
                State::Paused => '░',
            };
        }
        cells
    }

    /// The lanes with `row` happening: a line from who acts to what it acts on.
    pub(super) fn with(&self, row: &Row) -> Vec<char> {
        let mut cells = self.idle(row.at);
        let ends: Vec<usize> = row.touched.iter().filter_map(|node| self.column(*node)).collect();
        let from = self.column(row.node);
        let begin = from.map(|from| draw_lines(&mut cells, from, &ends));
        for end in ends {
            // Where a fault reaches another node, something didn't get through.
            cells[end] = if matches!(row.mark, Mark::Rejected | Mark::Fault) { '✗' } else { '●' };
        }
        if let Some((from, begin)) = from.zip(begin) {
            cells[from] = match row.mark {
                Mark::Fault if row.touched.is_empty() => '▼',
                Mark::Healed => '▲',
                Mark::Rejected if row.touched.is_empty() => '✗',
                _ => begin,
            };
        }
        cells
    }

    /// The lanes with a message leaving `from` for `to`: what has not arrived touches nothing yet.
    pub(super) fn with_message(&self, at: TrueTime, from: NodeId, to: NodeId) -> Vec<char> {
        let mut cells = self.idle(at);
        if let Some(from) = self.column(from) {
            let ends: Vec<usize> = self.column(to).into_iter().collect();
            cells[from] = draw_lines(&mut cells, from, &ends);
        }
        cells
    }
}

/// Draws lines with arrows from the column `from` to those of `ends`, on either side. Returns how the lines begin.
fn draw_lines(cells: &mut [char], from: usize, ends: &[usize]) -> char {
    let right = ends.iter().copied().filter(|end| *end > from).max();
    let left = ends.iter().copied().filter(|end| *end < from).min();
    let line = left.map_or(from, |left| left + 1)..right.unwrap_or(from);
    for (column, cell) in cells.iter_mut().enumerate().take(line.end).skip(line.start) {
        *cell = if column % LANE_WIDTH == 0 && *cell != ' ' { '┼' } else { '─' };
    }
    for &end in ends {
        match end.cmp(&from) {
            std::cmp::Ordering::Greater => cells[end - 1] = '▶',
            std::cmp::Ordering::Less => cells[end + 1] = '◀',
            std::cmp::Ordering::Equal => {}
        }
    }
    match (left, right) {
        (None, None) => '●',
        (None, Some(_)) => '├',
        (Some(_), None) => '┤',
        (Some(_), Some(_)) => '┼',
    }
}

/// Up to `most` of the workers, in their order; if there are more, one less: those that a fault struck first, then those
/// that were granted the lease, in the order of that.
pub(super) fn most_interesting(history: &History, workers: &[NodeId], most: usize) -> Vec<NodeId> {
    if workers.len() <= most {
        return workers.to_vec();
    }
    // By node: how little it matters, then when it first did.
    let mut ranks = vec![(2, 0); history.nodes.len()];
    for (id, event) in history.numbered() {
        let (node, kind) = match event.what {
            What::FaultBegan { .. } => (event.node, 0),
            What::LeaseGranted { worker, .. } => (worker, 1),
            _ => continue,
        };
        let rank = &mut ranks[node.index()];
        if kind < rank.0 {
            *rank = (kind, id.index());
        }
    }
    let mut shown = workers.to_vec();
    shown.sort_by_key(|worker| ranks[worker.index()]);
    shown.truncate(most - 1);
    shown.sort();
    shown
}

/// What each node does when, by node.
pub(super) fn lines(history: &History) -> Vec<Line> {
    let mut changes = vec![Vec::new(); history.nodes.len()];
    for worker in history.nodes_with(Role::Worker).chain(history.nodes_with(Role::Operator)) {
        changes[worker.index()].push((TrueTime::START, Count::Away, 1));
    }
    for belief in beliefs(history) {
        let of_worker = &mut changes[belief.worker.index()];
        of_worker.push((belief.from, Count::Beliefs, 1));
        of_worker.push((belief.until, Count::Beliefs, -1));
    }
    for event in &history.events {
        match event.what {
            What::WorkerStarted | What::WorkerRestored { .. } => {
                changes[event.node.index()].push((event.at, Count::Away, -1))
            }
            What::WorkerFinished | What::WorkerDied => {
                changes[event.node.index()].push((event.at, Count::Away, 1));
            }
            What::Throttled { .. } | What::WriteHung { .. } => {
                changes[event.node.index()].push((event.at, Count::Pauses, 1))
            }
            What::Unthrottled { .. } | What::WriteReturned { .. } => {
                changes[event.node.index()].push((event.at, Count::Pauses, -1))
            }
            What::FaultBegan { fault } | What::FaultEnded { fault } => {
                let inject = &history.plan[fault.index()].inject;
                let by = if matches!(event.what, What::FaultBegan { .. }) { 1 } else { -1 };
                let Some(count) = counted(inject) else { continue };
                for node in inject.nodes() {
                    changes[node.index()].push((event.at, count, by));
                }
            }
            _ => {}
        }
    }
    changes.into_iter().map(Line::of).collect()
}

fn counted(fault: &Fault) -> Option<Count> {
    match fault.stops() {
        Stops::Nodes => {
            let is_task = matches!(fault, Fault::Pause(pause) if pause.task.is_some());
            Some(if is_task { Count::TaskPauses } else { Count::Pauses })
        }
        Stops::Service => Some(Count::Away),
        // Of the first two there are events; what has two primaries still answers.
        Stops::AtTimes | Stops::Process | Stops::Primary | Stops::Nothing => None,
    }
}
