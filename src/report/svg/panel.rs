//! The lanes of one run over one stretch of time.

use std::collections::BTreeSet;

use holdover_sim::check::{Verdict, Witness};
use holdover_sim::history::{Belief, History, Overlap, Role, What, beliefs, overlaps};
use holdover_sim::id::{EventId, FaultId, NodeId};
use holdover_sim::time::{Span, TrueTime};

use super::super::acts::{Acts, Standing};
use super::super::clock_errors::clock_errors;
use super::super::grants::{Grant, grants};
use super::super::lanes::{Line, State, lines};
use super::super::timeline::lease;
use super::super::words;
use super::axis::Axis;
use super::canvas::{Canvas, Px, fitted, width};
use super::marks;
use crate::replay::JudgedRun;

/// Tenths of a pixel for a column of small text.
const SMALL_COLUMN: i64 = 64;

/// A clock that is off by less isn't drawn.
const CLOCK_TOLD: Span = Span::millis(1);

/// What is drawn of a run, whatever the stretch.
pub(super) struct Picture<'a> {
    pub(super) run: &'a JudgedRun,
    pub(super) history: &'a History,
    /// The nodes, from the top lane to the bottom one.
    pub(super) lanes: Vec<NodeId>,
    pub(super) acts: Acts,
    pub(super) grants: Vec<Grant>,
    beliefs: Vec<Belief>,
    overlaps: Vec<Overlap>,
    states: Vec<Line>,
}

impl<'a> Picture<'a> {
    pub(super) fn new(run: &'a JudgedRun, lanes: Vec<NodeId>) -> Picture<'a> {
        let history = &run.history;
        Picture {
            run,
            history,
            lanes,
            acts: Acts::of(history),
            grants: grants(history),
            beliefs: beliefs(history),
            overlaps: overlaps(history),
            states: lines(history),
        }
    }
}

/// The rules that were violated, each with a letter and what shows it.
pub(super) fn violations(run: &JudgedRun) -> impl Iterator<Item = (char, &'static str, &Witness)> {
    let violated = run.verdicts.iter().filter_map(|(checker, verdict)| match verdict {
        Verdict::Violated { witness, .. } => Some((checker.name, witness)),
        _ => None,
    });
    ('A'..='Z').zip(violated).map(|(letter, (rule, witness))| (letter, rule, witness))
}

/// A place for the lanes.
pub(super) struct Panel {
    pub(super) axis: Axis,
    pub(super) top: Px,
    /// The height of a lane.
    pub(super) lane: Px,
    /// Whether there is room for labels and curves.
    pub(super) is_large: bool,
}

impl Panel {
    fn top_of(&self, lane: usize) -> Px {
        self.top + Px(self.lane.0 * i64::try_from(lane).unwrap_or(0))
    }

    /// The middle of the lane of `node`, if it has one.
    pub(super) fn middle_of(&self, picture: &Picture<'_>, node: NodeId) -> Option<Px> {
        let lane = picture.lanes.iter().position(|of| *of == node)?;
        Some(self.top_of(lane) + Px(self.lane.0 / 2))
    }

    fn bottom(&self, picture: &Picture<'_>) -> Px {
        self.top_of(picture.lanes.len())
    }

    /// Draws it, with its axis below. Returns where that ends.
    pub(super) fn draw(&self, picture: &Picture<'_>, canvas: &mut Canvas) -> Px {
        self.draw_ground(picture, canvas);
        self.draw_shades(picture, canvas);
        for (lane, node) in picture.lanes.iter().enumerate() {
            match picture.history.node(*node).role {
                Role::Worker | Role::Operator => self.draw_worker(picture, *node, canvas),
                Role::LeaseStore => self.draw_store(picture, *node, canvas),
                Role::Ledger | Role::Provider => {}
            }
            self.draw_standstills(picture, *node, self.top_of(lane), canvas);
        }
        marks::draw(self, picture, canvas);
        self.draw_faults(picture, canvas);
        if self.is_large {
            picture.lanes.iter().for_each(|node| self.draw_clock(picture, *node, canvas));
            self.draw_rings(picture, canvas);
        }
        let bottom = self.bottom(picture);
        canvas.rect("frame", (self.axis.left, self.top), (self.axis.width, bottom - self.top), 0);
        bottom.plus(16)
    }

    /// Lanes with their names, and the grid with its times.
    fn draw_ground(&self, picture: &Picture<'_>, canvas: &mut Canvas) {
        let bottom = self.bottom(picture);
        for (lane, node) in picture.lanes.iter().enumerate() {
            let top = self.top_of(lane);
            if lane % 2 == 0 {
                canvas.rect("lane", (self.axis.left, top), (self.axis.width, self.lane), 0);
            }
            let (class, column) = if self.is_large { ("strong", 72) } else { ("dim small", SMALL_COLUMN) };
            let name = fitted(words::name(picture.history, *node), Px::of(super::NAMES - 12), column);
            let baseline = (top + Px(self.lane.0 / 2)).plus(4);
            canvas.anchored(class, (self.axis.left.plus(-10), baseline), "end", &name);
        }
        for (x, label) in self.axis.ticks(picture.history) {
            canvas.line("grid", (x, self.top), (x, bottom));
            canvas.line("tick", (x, bottom), (x, bottom.plus(4)));
            // A label in the middle of an end would go beyond the picture.
            let anchor = if x > self.axis.right().plus(-36) { "end" } else { "middle" };
            canvas.anchored("dim small", (x, bottom.plus(15)), anchor, &label);
        }
    }

    /// That a worker or an operator is there, and what it thinks.
    fn draw_worker(&self, picture: &Picture<'_>, node: NodeId, canvas: &mut Canvas) {
        let Some(middle) = self.middle_of(picture, node) else { return };
        let line = &picture.states[node.index()];
        let there = [State::Present, State::Believing, State::Paused, State::Halved];
        for stretch in there.into_iter().flat_map(|state| line.stretches(state, picture.history.ended_at)) {
            if let Some((from, until)) = self.axis.part(stretch) {
                canvas.line("life", (from, middle), (until, middle));
            }
        }
        for belief in picture.beliefs.iter().filter(|belief| belief.worker == node) {
            let label = format!("thinks that it holds {}", lease(belief.epoch));
            self.draw_band(middle, belief.epoch.0, (belief.from, belief.until), "", &label, canvas);
        }
    }

    /// What the store has granted, faint where it has run out by a clock that is right.
    fn draw_store(&self, picture: &Picture<'_>, node: NodeId, canvas: &mut Canvas) {
        let Some(middle) = self.middle_of(picture, node) else { return };
        for grant in picture.grants.iter().filter(|grant| grant.store == node) {
            let worker = words::name(picture.history, grant.worker);
            let token = grant.token.map_or(String::new(), |token| format!(" · {token}"));
            let label = format!("{} · {worker}{token}", lease(grant.epoch));
            let runs_out = grant.expiry.clamp(grant.from, grant.until);
            self.draw_band(middle, grant.epoch.0, (grant.from, runs_out), "", &label, canvas);
            if runs_out < grant.until {
                self.draw_band(middle, grant.epoch.0, (runs_out, grant.until), " late", "", canvas);
            }
        }
    }

    fn draw_band(
        &self,
        middle: Px,
        epoch: u32,
        stretch: (TrueTime, TrueTime),
        more: &str,
        label: &str,
        canvas: &mut Canvas,
    ) {
        let Some((from, until)) = self.axis.part(stretch) else { return };
        let height = if self.is_large { Px::of(18) } else { Px(self.lane.0 * 6 / 10) };
        let class = format!("e{}{more}", epoch.saturating_sub(1) % 8);
        let size = ((until - from).max(Px(10)), height);
        canvas.rect(&class, (from, middle - Px(height.0 / 2)), size, if self.is_large { 3 } else { 1 });
        if self.is_large && width(label, SMALL_COLUMN).plus(12) <= until - from && !label.is_empty() {
            canvas.text("onband", (from.plus(6), middle.plus(4)), label);
        }
    }

    /// Pauses, hatched; half of the lane, if one of two tasks stands still.
    fn draw_standstills(&self, picture: &Picture<'_>, node: NodeId, top: Px, canvas: &mut Canvas) {
        for (state, share) in [(State::Paused, 1), (State::Halved, 2)] {
            for stretch in picture.states[node.index()].stretches(state, picture.history.ended_at) {
                let Some((from, until)) = self.axis.part(stretch) else { continue };
                let height = Px(self.lane.0 / share);
                let at = (from, top + (self.lane - height));
                canvas.rect("pause", at, ((until - from).max(Px(10)), height), 0);
                let label = "paused";
                // Beside the number of the fault that began it.
                if self.is_large && width(label, SMALL_COLUMN).plus(34) <= until - from {
                    canvas.text("strong small halo", (from.plus(28), top.plus(14)), label);
                }
            }
        }
    }

    /// Overlaps of belief, and what was stale, through all lanes.
    fn draw_shades(&self, picture: &Picture<'_>, canvas: &mut Canvas) {
        let height = self.bottom(picture) - self.top;
        let mut told = false;
        for overlap in &picture.overlaps {
            let Some((from, until)) = self.axis.part((overlap.from, overlap.until)) else { continue };
            let room = (until - from).max(Px(15));
            canvas.open("");
            let length = words::rounded(overlap.until - overlap.from);
            let [first, second] = [overlap.first, overlap.second].map(|node| words::name(picture.history, node));
            canvas.title(&format!("{first} and {second} both think that they hold the lease, for {length}"));
            canvas.rect("overlap", (from, self.top), (room, height), 0);
            canvas.close();
            let label = format!("both think that they hold the lease: {length}");
            if self.is_large && !told && width(&label, SMALL_COLUMN) <= room {
                told = true;
                canvas.anchored("bad strong small", (from + Px(room.0 / 2), self.top.plus(-5)), "middle", &label);
            }
        }
        let stale = picture.acts.all().iter().filter(|act| act.standing == Standing::Stale);
        // Stripes on top of each other would say no more.
        let places: BTreeSet<i64> =
            stale.filter(|act| self.axis.covers(act.at)).map(|act| self.axis.x(act.at).0 / 10).collect();
        for place in places {
            canvas.rect("stalestripe", (Px(place * 10 - 5), self.top), (Px(10), height), 0);
        }
    }

    /// Where faults strike and heal, each with its number.
    fn draw_faults(&self, picture: &Picture<'_>, canvas: &mut Canvas) {
        let mut taken: BTreeSet<(Px, Px)> = BTreeSet::new();
        for event in &picture.history.events {
            let (fault, begins): (FaultId, bool) = match event.what {
                What::FaultBegan { fault } => (fault, true),
                What::FaultEnded { fault } => (fault, false),
                _ => continue,
            };
            let inject = &picture.history.plan[fault.index()].inject;
            // What was over as soon as it had struck has one mark.
            let Some(middle) = self.middle_of(picture, event.node) else { continue };
            if !self.axis.covers(event.at) || (!begins && inject.lasting().is_none()) {
                continue;
            }
            let (x, top, bottom) =
                (self.axis.x(event.at), middle - Px(self.lane.0 / 2), middle + Px(self.lane.0 / 2));
            if !taken.insert((Px(x.0 / 20), middle)) {
                continue;
            }
            canvas.open("");
            let note = picture.history.plan[fault.index()]
                .note
                .as_ref()
                .map_or(String::new(), |note| format!(" ({note})"));
            let which = if begins { "strikes" } else { "heals" };
            let fault_told = words::fault(picture.history, inject);
            canvas.title(&format!("{} {which}: {fault_told}{note}", words::utc(picture.history, event.at)));
            canvas.line("faultline", (x, top), (x, bottom));
            let (half, tip) = if self.is_large { (Px(55), Px::of(9)) } else { (Px(30), Px::of(5)) };
            let corners = match begins {
                true => [(x - half, top), (x + half, top), (x, top + tip)],
                false => [(x - half, bottom), (x + half, bottom), (x, bottom - tip)],
            };
            canvas.path("fault", &corners, true);
            if self.is_large {
                let right = x.plus(15) < self.axis.right();
                let middle =
                    (x.plus(if right { 15 } else { -15 }), if begins { top.plus(9) } else { bottom.plus(-9) });
                canvas.circle("badge", middle, Px::of(7));
                let number = (fault.index() + 1).to_string();
                canvas.anchored("badgetext", (middle.0, middle.1.plus(4)), "middle", &number);
            }
            canvas.close();
        }
    }

    /// How far a worker's wall clock is off: above the middle if it is ahead, below if it is behind.
    fn draw_clock(&self, picture: &Picture<'_>, node: NodeId, canvas: &mut Canvas) {
        let record = picture.history.node(node);
        let Some(middle) = self.middle_of(picture, node).filter(|_| record.role == Role::Worker) else { return };
        let corners = clock_errors(picture.history, &record.clocks);
        let until = self.axis.until.min(picture.history.ended_at);
        let error_at = |at: TrueTime| record.clocks.wall_error(picture.history.start, at);
        let mut line: Vec<(TrueTime, Span)> = vec![(self.axis.from, error_at(self.axis.from))];
        line.extend(corners.into_iter().filter(|(at, _)| self.axis.from < *at && *at < until));
        line.push((until, error_at(until)));
        let largest = line.iter().map(|(_, error)| error.as_nanos().saturating_abs()).max().unwrap_or(0);
        if largest < CLOCK_TOLD.as_nanos() {
            return;
        }
        let reach = i128::from(self.lane.0 / 2 - 40);
        let height = |error: Span| -> Px {
            let up = i128::from(error.as_nanos()) * reach / i128::from(largest);
            middle - Px(i64::try_from(up).unwrap_or(0))
        };
        canvas.line("clockzero", (self.axis.left, middle), (self.axis.right(), middle));
        let corners: Vec<(Px, Px)> = line.iter().map(|(at, error)| (self.axis.x(*at), height(*error))).collect();
        canvas.path("clock", &corners, false);
        if let Some((_, last)) =
            line.last().filter(|(_, last)| last.as_nanos().saturating_abs() >= CLOCK_TOLD.as_nanos())
        {
            let label = format!("wall clock {:+}", words::rounded(*last));
            let y = if last.is_negative() { height(*last).plus(-4) } else { height(*last).plus(13) };
            canvas.anchored("small strong halo", (self.axis.right().plus(-6), y), "end", &label);
        }
    }

    /// What shows that a rule was broken, ringed, with the letters of the rules.
    fn draw_rings(&self, picture: &Picture<'_>, canvas: &mut Canvas) {
        let mut rings: Vec<(EventId, String)> = Vec::new();
        for (letter, _, witness) in violations(picture.run) {
            let Some(last) = witness.events().last().copied() else { continue };
            match rings.iter_mut().find(|(event, _)| *event == last) {
                Some((_, letters)) => letters.push(letter),
                None => rings.push((last, letter.to_string())),
            }
        }
        for (id, letters) in rings {
            let event = picture.history.event(id);
            let Some(middle) = self.middle_of(picture, event.node).filter(|_| self.axis.covers(event.at)) else {
                continue;
            };
            let x = self.axis.x(event.at);
            canvas.circle("ring", (x, middle), Px::of(10));
            canvas.anchored("ringtext", (x, middle.plus(-12)), "middle", &letters);
        }
    }
}
