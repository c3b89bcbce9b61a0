//! The timeline: the events of a history that tell its story, as rows of text with marks in lanes.
//!
//! Messages and points are left out, waiting is told once, and what goes on undisturbed (operations, renewals, a
//! connection that keeps breaking) is told together, so that what is left to see is what matters. The whole history is
//! there for those who want it (`--format jsonl`).

mod machines;
mod repair;
mod replicas;

use holdover_sim::fault::{DelayMessage, Fault, Part};
use holdover_sim::history::{Claim, Event, History, Role, What};
use holdover_sim::id::{Amount, Epoch, EventId, ExportId, NodeId, OpId};
use holdover_sim::time::{Span, TrueTime, WallTime};
use serde::Serialize;

use super::acts::{Acts, Standing};
use super::course::{Course, Progress, Trouble};
use super::words;

/// How a row stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// It doesn't.
    Plain,
    /// A fault strikes.
    Fault,
    /// A fault heals.
    Healed,
    /// The world took something from a worker whose authority was gone.
    Stale,
    /// The world turned away a worker whose authority was gone.
    Rejected,
}

/// One row of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// When, in true time.
    pub at: TrueTime,
    /// The event that it tells of; the first, if it tells of several.
    pub event: EventId,
    /// The node that acts.
    pub node: NodeId,
    /// The services that it acts on.
    pub touched: Vec<NodeId>,
    /// How it stands out.
    pub mark: Mark,
    /// What happens.
    pub text: String,
    /// The acting worker's wall clock, if it isn't right: its reading and its error.
    pub wrong_clock: Option<(WallTime, Span)>,
}

/// A wall clock that is off by less than this is as good as right.
const CLOCK_TOLERANCE: Span = Span::millis(1);

/// The rows that tell the story of `history`, in order.
pub fn timeline(history: &History) -> Vec<Row> {
    let mut teller = Teller::new(history);
    for (id, event) in history.numbered() {
        teller.tell(id, event);
    }
    teller.close();
    teller.rows
}

/// The wall clock of `node` at the event `id`, if it isn't right: its reading and its error.
pub(super) fn wrong_clock(history: &History, node: NodeId, id: EventId) -> Option<(WallTime, Span)> {
    wrong(history.wall(id, node), history.utc(history.event(id).at))
}

/// A reading of a wall clock, if it isn't right: itself and its error.
pub(super) fn wrong(reading: WallTime, right: WallTime) -> Option<(WallTime, Span)> {
    let error = reading - right;
    (error >= CLOCK_TOLERANCE || -error >= CLOCK_TOLERANCE).then_some((reading, error))
}

struct Teller<'a> {
    history: &'a History,
    rows: Vec<Row>,
    /// The rows whose course is still open, by their index.
    open: Vec<(usize, Course)>,
    acts: Acts,
    newest_granted: Option<Epoch>,
    /// How often each node was refused the lease since it was last granted.
    refusals: Vec<u32>,
    /// Whether a slew of each node's clocks was told.
    slewed: Vec<bool>,
}

impl<'a> Teller<'a> {
    fn new(history: &'a History) -> Teller<'a> {
        Teller {
            history,
            rows: Vec::new(),
            open: Vec::new(),
            acts: Acts::of(history),
            newest_granted: None,
            refusals: vec![0; history.nodes.len()],
            slewed: vec![false; history.nodes.len()],
        }
    }

    fn tell(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::PointPassed(_)
            | What::MessageSent { .. }
            | What::MessageDelivered { .. }
            | What::LeaseHeld { .. }
            | What::LeaseDropped { .. }
            // The stalls of a throttle are told with it.
            | What::Throttled { .. }
            | What::Unthrottled { .. }
            // What a deposed primary does is told with that it was one.
            | What::DeposedServed { .. }
            // The lease service tells what comes of it.
            | What::LeaseAsked { .. }
            | What::LeaseTold { .. } => {}
            What::LeaderElected | What::LeaseRevoked { .. } | What::ReplicaStopped => self.tell_replicas(id, event),
            What::WriteHung { .. } => {
                let text = format!("{} hangs in a write: its disk takes none", self.name(event.node));
                self.say(id, event, event.node, Mark::Fault, text);
            }
            // That it goes on is told with the end of the fault.
            What::WriteReturned { written: true, .. } => {}
            What::WriteReturned { written, .. } => {
                let text = words::write_returned(self.name(event.node), written);
                self.say(id, event, event.node, Mark::Fault, text);
            }
            What::WorkerStarted => self.act(id, event, event.node, "starts"),
            What::WorkerFinished => self.act(id, event, event.node, "is done"),
            What::WorkerDied => self.act(id, event, event.node, "is gone, with all that it had in memory"),
            What::WritesLost { since } => self.tell_loss(id, event, since),
            What::WorkerRestored { of, snapshot } => self.tell_restoring(id, event, of, snapshot),
            What::LeaseChecked { epoch, valid } => self.tell_check(id, event, epoch, valid),
            What::MessageLost { .. }
            | What::MessageDropped { .. }
            | What::MessageDelayed { .. }
            | What::MessageRepeated { .. }
            | What::CallTimedOut { .. } => self.tell_message(id, event),
            What::LeaseGranted { .. }
            | What::LeaseRefused { .. }
            | What::LeaseRenewed { .. }
            | What::RenewalRefused { .. }
            | What::LeaseReleased { .. } => self.tell_lease(id, event),
            What::FaultBegan { fault } => self.tell_fault(id, event, fault, true),
            What::FaultEnded { fault } => self.tell_fault(id, event, fault, false),
            What::ClockCorrected { .. } | What::ClockSlewed { .. } | What::TimeDaemonExited => {
                self.tell_discipline(id, event);
            }
            What::PayoutMade { .. } | What::PayoutRepeated { .. } | What::PayoutRejected { .. } => {
                self.tell_payout(id, event);
            }
            What::CheckpointRead { .. }
            | What::GenerationOpened { .. }
            | What::FenceRejected { .. }
            | What::WriteAccepted { .. }
            | What::WriteRepeated { .. }
            | What::WriteRejected { .. }
            | What::CheckpointMoved { .. }
            | What::CheckpointRejected { .. }
            | What::ExportPublished { .. }
            | What::ExportRejected { .. } => self.tell_ledger(id, event),
            What::DispatchStopped { .. }
            | What::WorkerElected { .. }
            | What::DispatchResumed { .. }
            | What::GenerationMarked { .. }
            | What::EntrySuperseded { .. }
            | What::EntryDeleted { .. }
            | What::OperationDecided { .. }
            | What::CheckpointRebuilt { .. }
            | What::ExportSuperseded { .. }
            | What::RepairEnded { .. }
            | What::RepairLeft { .. }
            | What::GatewayFenced { .. }
            | What::PayoutVoided { .. }
            | What::RefundBegun { .. }
            | What::CompensationRefused { .. }
            | What::OperatorRejected { .. } => self.tell_repair(id, event),
            // What the provider knows of its payouts shows in what operators do about them.
            What::PayoutTakenIn { .. } | What::PayoutsTold { .. } => {}
        }
    }

    fn tell_message(&mut self, id: EventId, event: &Event) {
        let about = event.cause.and_then(|cause| match self.history.event(cause).what {
            What::MessageSent { about, .. } => Some(about),
            _ => None,
        });
        let about = about.unwrap_or("message");
        if replicas::is_letter(about) {
            return;
        }
        let at_caller = [Role::Worker, Role::Operator].contains(&self.history.node(event.node).role);
        let (trouble, from, to) = match event.what {
            // A lost answer is noted by who waits for it, a lost request by the service.
            What::MessageLost { from, .. } if at_caller => (Trouble::Breaks, event.node, from),
            What::MessageLost { from, .. } => (Trouble::Breaks, from, event.node),
            What::MessageDropped { to, .. } if at_caller => (Trouble::RequestLost, event.node, to),
            What::MessageDropped { to, .. } => (Trouble::AnswerLost, to, event.node),
            What::MessageRepeated { to, .. } => (Trouble::Twice, event.node, to),
            What::CallTimedOut { to, .. } => (Trouble::Silence, event.node, to),
            What::MessageDelayed { by, fault, .. } => {
                // What is delayed among others is told with the fault.
                if let Fault::DelayMessage(DelayMessage { node, part, .. }) =
                    self.history.plan[fault.index()].inject
                {
                    let whose = format!("{}'s {about}", self.name(node));
                    let what = if part == Part::Request { whose } else { format!("the answer to {whose}") };
                    let text = format!("{what} takes {by} longer");
                    self.say(id, event, event.node, Mark::Fault, text);
                }
                return;
            }
            _ => return,
        };
        self.go_on(id, event, from, Mark::Fault, Course::Trouble { trouble, from, to, about, times: 0 });
    }

    fn tell_check(&mut self, id: EventId, event: &Event, epoch: Epoch, valid: bool) {
        let superseded = self.newest_granted.is_some_and(|newest| newest > epoch);
        match (valid, superseded) {
            (true, false) => {}
            (true, true) => {
                let text = format!("{} thinks that {} is still valid", self.name(event.node), lease(epoch));
                self.say(id, event, event.node, Mark::Stale, text);
            }
            (false, _) => {
                self.act(id, event, event.node, &format!("sees that {} has run out, and stops", lease(epoch)))
            }
        }
    }

    fn tell_lease(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::LeaseGranted { worker, epoch, token, until, .. } => {
                self.newest_granted = Some(epoch);
                let token = token.map_or(String::new(), |token| format!(" with {token}"));
                let asked = match std::mem::take(&mut self.refusals[worker.index()]) {
                    0 => String::new(),
                    1 => " (asked twice)".to_owned(),
                    refused => format!(" (asked {} times)", refused + 1),
                };
                let until = words::clock(self.history, until);
                self.act(id, event, worker, &format!("is granted {}{token} until {until}{asked}", lease(epoch)));
            }
            What::LeaseRefused { worker, holder } => {
                let refusals = &mut self.refusals[worker.index()];
                *refusals += 1;
                if *refusals == 1 {
                    let why = match holder {
                        own if own == worker => "its earlier one has not expired".to_owned(),
                        holder if self.history.is(holder, Role::Operator) => {
                            format!("{} has stopped dispatch", self.name(holder))
                        }
                        holder => format!("{} has it", self.name(holder)),
                    };
                    let text = format!("asks for the lease; {why}; goes on asking");
                    self.act(id, event, worker, &text);
                }
            }
            What::LeaseRenewed { worker, epoch, until } => {
                let half = words::half(self.history, event);
                self.go_on(
                    id,
                    event,
                    worker,
                    Mark::Plain,
                    Course::Renewals { worker, epoch, times: 0, until, half },
                );
            }
            What::RenewalRefused { worker, epoch } => {
                self.act(id, event, worker, &format!("can't renew {}: the store no longer has it", lease(epoch)));
            }
            What::LeaseReleased { worker, epoch } => {
                self.act(id, event, worker, &format!("gives {} back", lease(epoch)));
            }
            _ => {}
        }
    }

    fn tell_ledger(&mut self, id: EventId, event: &Event) {
        if let Some((claim, why)) = event.what.rejection() {
            let what = match event.what {
                What::WriteRejected { op, .. } => format!("entry for {op}"),
                What::CheckpointRejected { .. } => "checkpoint".to_owned(),
                What::ExportRejected { .. } => "export".to_owned(),
                _ => "fence".to_owned(),
            };
            let text =
                format!("REJECTED: {}'s {what}: {}", self.name(claim.worker), words::refusal(why, claim.token));
            return self.say(id, event, claim.worker, Mark::Rejected, text);
        }
        let done = |next: OpId| format!("{} of {} done", next.index(), self.history.batch.len());
        match event.what {
            What::CheckpointRead { claim, next } => {
                let text = format!("reads the checkpoint: {}", done(next));
                self.act(id, event, claim.worker, &text);
            }
            What::GenerationOpened { claim, next } => {
                let token = claim.token.map_or(String::new(), |token| format!(" with {token}"));
                let text = format!("fences the ledger{token}: {}", done(next));
                self.act(id, event, claim.worker, &text);
            }
            What::WriteAccepted { claim, op, .. } => {
                let worker = self.name(claim.worker);
                let text = match self.acts.standing(id) {
                    Standing::Stale => format!("STALE: {worker}'s entry for {op} accepted"),
                    Standing::Again => format!("ENTERED TWICE: {op}, now by {worker}"),
                    _ => return self.progress(id, event, claim, |progress| progress.entered.push(op)),
                };
                self.say(id, event, claim.worker, Mark::Stale, text);
            }
            What::WriteRepeated { claim, op, .. } => {
                let worker = self.name(claim.worker);
                let text = format!("{worker} asks to enter {op} again: not entered, the ledger has it");
                self.say(id, event, claim.worker, Mark::Rejected, text);
            }
            What::CheckpointMoved { claim, next } => {
                if self.acts.standing(id) == Standing::Stale {
                    let (worker, done) = (self.name(claim.worker), done(next));
                    let text = format!("STALE: {worker}'s checkpoint accepted, {done}");
                    self.say(id, event, claim.worker, Mark::Stale, text);
                } else {
                    let moved = OpId(next.0.saturating_sub(1));
                    self.progress(id, event, claim, |progress| progress.moved.push(moved));
                }
            }
            What::ExportPublished { claim, export } => self.tell_export(id, event, claim, export),
            _ => self.tell_repair(id, event),
        }
    }

    fn tell_export(&mut self, id: EventId, event: &Event, claim: Claim, export: ExportId) {
        let rows = &self.history.exports[export.index()];
        let total = Amount(rows.iter().map(|row| row.amount.0).sum());
        let (worker, total) = (self.name(claim.worker), words::amount(total));
        let exported = words::many(rows.len(), "row", "rows");
        let (mark, text) = match self.acts.standing(id) {
            Standing::Again => {
                let others = words::many(rows.len(), "other row", "other rows");
                (Mark::Stale, format!("CONFLICT: {worker} exports {others}, total {total}"))
            }
            Standing::Stale => (Mark::Stale, format!("STALE: {worker} exports {exported}, total {total}")),
            _ => (Mark::Plain, format!("{worker} exports {exported}, total {total}")),
        };
        self.say(id, event, claim.worker, mark, text);
    }

    fn tell_payout(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::PayoutMade { claim, op, .. } => {
                if self.acts.standing(id) == Standing::Again {
                    let text = format!("PAID TWICE: {op}, now for {}", self.name(claim.worker));
                    self.say(id, event, claim.worker, Mark::Stale, text);
                } else {
                    self.progress(id, event, claim, |progress| progress.paid.push(op));
                }
            }
            What::PayoutRepeated { claim, .. } if self.history.is(claim.worker, Role::Operator) => {
                self.tell_repair(id, event);
            }
            What::PayoutRepeated { claim, op, .. } => {
                let worker = self.name(claim.worker);
                let text = format!("{worker} asks to pay {op} again: not paid, the gateway knows its key");
                self.say(id, event, claim.worker, Mark::Rejected, text);
            }
            What::PayoutRejected { claim, op, why } => {
                let worker = self.name(claim.worker);
                let text = format!("REJECTED: {worker}'s payout of {op}: {}", words::refusal(why, claim.token));
                self.say(id, event, claim.worker, Mark::Rejected, text);
            }
            _ => {}
        }
    }

    /// Adds `event` to the undisturbed progress of `claim`'s worker.
    fn progress(&mut self, id: EventId, event: &Event, claim: Claim, add: impl FnOnce(&mut Progress)) {
        let begun = Course::Progress(Progress::new(self.history, claim, event));
        self.go_on(id, event, claim.worker, Mark::Plain, begun);
        let open = self.open.iter_mut().find_map(|(_, course)| match course {
            Course::Progress(progress) => Some(progress),
            _ => None,
        });
        if let Some(progress) = open {
            add(progress);
        }
    }

    /// Tells `event` together with what it goes on from, or begins to tell of `course`.
    fn go_on(&mut self, id: EventId, event: &Event, actor: NodeId, mark: Mark, course: Course) {
        if !self.open.iter().any(|(_, open)| open.continues_as(&course)) {
            // Work of two workers is told in turns, which shows how they come into each other's way.
            if course.ends(self.open.iter().map(|(_, open)| open)) {
                self.close();
            }
            self.open.push((self.rows.len(), course.clone()));
            self.push(event.at, id, actor, Vec::new(), mark, String::new());
        }
        // A connection has two ends, whichever of them notes that it broke.
        let other = course.reaches().unwrap_or(event.node);
        for (row, open) in &mut self.open {
            if open.continues_as(&course) {
                let touched = &mut self.rows[*row].touched;
                if other != actor && !touched.contains(&other) {
                    touched.push(other);
                }
                open.note(event.at, &course);
            }
        }
    }

    /// Says in their rows what the open courses came to.
    fn close(&mut self) {
        for (row, course) in std::mem::take(&mut self.open) {
            self.rows[row].text = course.text(self.history, self.rows[row].at);
        }
    }

    fn name(&self, node: NodeId) -> &'a str {
        words::name(self.history, node)
    }

    /// Tells what `actor` does, which is nothing to be alarmed at.
    fn act(&mut self, id: EventId, event: &Event, actor: NodeId, does: &str) {
        self.say(id, event, actor, Mark::Plain, format!("{} {does}", self.name(actor)));
    }

    fn say(&mut self, id: EventId, event: &Event, actor: NodeId, mark: Mark, text: String) {
        self.close();
        let text = text + &words::half(self.history, event);
        let touched = if actor == event.node { Vec::new() } else { vec![event.node] };
        self.push(event.at, id, actor, touched, mark, text);
    }

    fn push(
        &mut self,
        at: TrueTime,
        event: EventId,
        node: NodeId,
        touched: Vec<NodeId>,
        mark: Mark,
        text: String,
    ) {
        let wrong_clock = match self.history.event(event).at == at {
            true => wrong_clock(self.history, node, event),
            false => wrong(self.history.node(node).clocks.wall(at), self.history.utc(at)),
        };
        self.rows.push(Row { at, event, node, touched, mark, text, wrong_clock });
    }
}

/// A grant, as the timeline calls it.
pub(super) fn lease(epoch: Epoch) -> String {
    format!("lease {}", epoch.0)
}
