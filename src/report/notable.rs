//! What matters of a timeline: faults, grants and their ends, what was refused, stale or done twice, and what shows that
//! a rule was broken. For formats that have no room for all of it.

use holdover_sim::check::Verdict;
use holdover_sim::history::{Belief, History, What, beliefs};
use holdover_sim::id::EventId;

use super::excerpt::Excerpt;
use super::timeline::{Mark, Row, lease, timeline, wrong};
use super::words;
use crate::replay::JudgedRun;

/// A piece of what matters.
pub(super) enum Piece {
    /// A row of the timeline.
    Row(Row),
    /// So many rows were left out here.
    LeftOut(usize),
}

/// What matters of `run`, as far as `excerpt` shows it: at most `most` rows. If more matter, the first of them and those
/// that show that a rule was broken. A row that would be left out alone is told as well: it takes no more room than to say
/// that.
pub(super) fn pieces(run: &JudgedRun, excerpt: &Excerpt, most: usize) -> Vec<Piece> {
    let history = &run.history;
    let told = timeline(history);
    let broken = broken(run);
    let shows_broken = (0..told.len()).map(|index| tells_one(history, &told, index, &broken));
    let shows_broken: Vec<bool> = shows_broken.collect();
    let ends = beliefs(history).into_iter().filter_map(|belief| runs_out(history, &belief));
    let mut rows: Vec<(Row, bool)> =
        told.into_iter().zip(shows_broken).chain(ends.map(|row| (row, false))).collect();
    rows.retain(|(row, _)| excerpt.covers(row.at) && excerpt.concerns(row));
    rows.sort_by_key(|(row, _)| row.at);
    let mut told: Vec<bool> =
        rows.iter().map(|(row, shows_broken)| *shows_broken || matters(history, row)).collect();
    let alone = |told: &[bool], index: usize| {
        let before = index.checked_sub(1).is_none_or(|before| told[before]);
        !told[index] && before && told.get(index + 1).copied().unwrap_or(true)
    };
    for index in 0..told.len() {
        told[index] |= told.len() > 1 && alone(&told, index);
    }
    let mut room = most.saturating_sub(rows.iter().filter(|(_, shows)| *shows).count());
    let mut pieces = Vec::new();
    for ((row, shows_broken), told) in rows.into_iter().zip(told) {
        let fits = shows_broken || (told && room > 0);
        room = room.saturating_sub(usize::from(fits && !shows_broken));
        match pieces.last_mut() {
            _ if fits => pieces.push(Piece::Row(row)),
            Some(Piece::LeftOut(count)) => *count += 1,
            _ => pieces.push(Piece::LeftOut(1)),
        }
    }
    pieces
}

/// The events that show what was violated.
fn broken(run: &JudgedRun) -> Vec<EventId> {
    let events = run.verdicts.iter().flat_map(|(_, verdict)| match verdict {
        Verdict::Violated { witness, .. } => witness.events(),
        _ => Vec::new(),
    });
    events.collect()
}

/// Whether the row at `index` tells of one of `events`: it is the last one before that of who did it.
fn tells_one(history: &History, rows: &[Row], index: usize, events: &[EventId]) -> bool {
    let row = &rows[index];
    events.iter().any(|id| {
        let event = history.event(*id);
        let actor = event.what.worker().unwrap_or(event.node);
        let is_later = |next: &Row| next.node == actor && next.event <= *id;
        row.node == actor && row.event <= *id && !rows[index + 1..].iter().any(is_later)
    })
}

fn matters(history: &History, row: &Row) -> bool {
    row.mark != Mark::Plain
        || matches!(
            history.event(row.event).what,
            What::LeaseGranted { .. }
                | What::LeaseRefused { .. }
                | What::RenewalRefused { .. }
                | What::LeaseReleased { .. }
                | What::LeaseChecked { .. }
                | What::LeaseHeld { .. }
                | What::GenerationOpened { .. }
                | What::ExportPublished { .. }
                | What::ClockCorrected { .. }
                | What::TimeDaemonExited
                | What::WorkerDied
                | What::WorkerRestored { .. }
        )
}

/// That a worker's lease runs out by its own clock, if that is how `belief` ends.
fn runs_out(history: &History, belief: &Belief) -> Option<Row> {
    let Belief { worker, epoch, until, .. } = *belief;
    // Whatever else ends it is an event of that instant.
    let others = history.events.partition_point(|event| event.at < until);
    let at_once = history.events[others..].iter().take_while(|event| event.at == until);
    let ended = at_once.into_iter().any(|event| match event.what {
        What::FaultBegan { fault } => history.plan[fault.index()].inject.nodes().contains(&worker),
        What::MessageSent { .. } | What::MessageDelivered { .. } => false,
        _ => event.node == worker,
    });
    if ended || until >= history.ended_at {
        return None;
    }
    let learned = history.events[..others].iter().rposition(|event| {
        event.node == worker && matches!(event.what, What::LeaseHeld { epoch: held, .. } if held == epoch)
    });
    let event = EventId(learned? as u32);
    let text = format!("{}'s own clock reaches the end of {}", words::name(history, worker), lease(epoch));
    let wrong_clock = wrong(history.node(worker).clocks.wall(until), history.utc(until));
    Some(Row { at: until, event, node: worker, touched: Vec::new(), mark: Mark::Plain, text, wrong_clock })
}
