//! The steps by which it comes about, as sentences, with true time and the clock of whoever acts side by side.

use holdover_sim::clock::{Clock, Deadline};
use holdover_sim::history::{Claim, Event, History, Role, What};
use holdover_sim::id::{Epoch, EventId, NodeId};
use holdover_sim::time::{Span, TrueTime, WallTime};

use super::super::layout::harmless;
use super::super::timeline::lease;
use super::super::words;
use crate::explore::chain::Step;

/// A step as reports tell it.
pub(in crate::report) struct Told {
    /// When, in true time.
    pub(in crate::report) at: TrueTime,
    /// Who acts.
    pub(in crate::report) node: NodeId,
    /// What its wall clock reads.
    pub(in crate::report) own: WallTime,
    /// Whether it is a fault's strike.
    pub(in crate::report) is_fault: bool,
    /// What happens.
    pub(in crate::report) text: String,
}

/// What happens in `step` of `history`.
pub(in crate::report) fn told(history: &History, step: &Step) -> Told {
    let event = history.event(step.event);
    let node = event.what.worker().unwrap_or(event.node);
    let teller = Teller { history, id: step.event, event };
    let mut text = teller.sentence();
    if !step.breaks.is_empty()
        && let Some(view) = teller.own_view()
    {
        text += &format!("; {view}");
    }
    Told {
        at: event.at,
        node,
        own: history.wall(step.event, node),
        is_fault: matches!(event.what, What::FaultBegan { .. }),
        text,
    }
}

/// A span as closely as a sentence needs it: to the millisecond, unless it is shorter.
fn about(span: Span) -> Span {
    const MILLI: i64 = 1_000_000;
    let nanos = span.as_nanos();
    match nanos.abs() {
        ..MILLI => words::rounded(span),
        _ => Span::millis(nanos.saturating_add(MILLI / 2).div_euclid(MILLI)),
    }
}

/// Tells one event.
struct Teller<'a> {
    history: &'a History,
    id: EventId,
    event: &'a Event,
}

impl Teller<'_> {
    fn name(&self, node: NodeId) -> &str {
        words::name(self.history, node)
    }

    fn sentence(&self) -> String {
        let actor = self.name(self.event.node);
        match self.event.what {
            What::FaultBegan { fault } => {
                let planned = &self.history.plan[fault.index()];
                let note = planned.note.as_ref().map_or(String::new(), |note| format!(" ({})", harmless(note)));
                format!("FAULT {}: {}{note}", fault.0 + 1, words::fault(self.history, &planned.inject))
            }
            What::FaultEnded { fault } => {
                let planned = &self.history.plan[fault.index()];
                let healed = planned.inject.healed(&|node| self.name(node).to_owned());
                healed.unwrap_or_else(|| format!("fault {} is over", fault.0 + 1))
            }
            What::LeaseHeld { epoch, until } => {
                format!("{actor} knows that it holds {} {}", lease(epoch), self.until(until))
            }
            What::LeaseChecked { epoch, valid } => self.check(epoch, valid),
            What::LeaseGranted { .. }
            | What::LeaseRefused { .. }
            | What::LeaseRenewed { .. }
            | What::RenewalRefused { .. } => self.at_store(),
            What::CallTimedOut { to, about, .. } => {
                format!("{actor} has waited for {} in vain: no answer about {about}", self.name(to))
            }
            What::MessageLost { .. }
            | What::MessageDropped { .. }
            | What::MessageDelayed { .. }
            | What::MessageRepeated { .. } => self.message(),
            What::WritesLost { since } => {
                format!("{actor} has lost all that it wrote after {}", words::utc(self.history, since))
            }
            What::LeaderElected => format!("{actor} leads the lease service from now on"),
            What::ReplicaStopped => format!("{actor} {}", words::replicas::STOPPED),
            What::LeaseAsked { .. } => format!("{actor} asks {}", words::replicas::wish(&self.event.what)),
            What::LeaseTold { .. } => {
                format!("{actor} is told {}", words::replicas::answer(self.history, &self.event.what))
            }
            What::LeaseRevoked { worker, epoch } => {
                format!("the lease service takes {} of {} away: it has run out", lease(epoch), self.name(worker))
            }
            What::WriteHung { .. } => format!("{actor} hangs in a write: its disk takes none"),
            What::WriteReturned { written, .. } => words::write_returned(actor, written),
            What::WorkerDied => format!("{actor} is gone, with all that it had in memory"),
            What::WorkerStarted => format!("{actor} starts"),
            What::WorkerFinished => format!("{actor} is done"),
            What::TimeDaemonExited => format!("{actor}'s time daemon gives up"),
            What::ClockCorrected { by } => format!("{actor}'s wall clock is set by {:+}", about(by)),
            _ => self.at_resource(),
        }
    }

    fn until(&self, until: Deadline) -> String {
        match until.clock {
            Clock::Wall => format!("until {}", words::clock(self.history, WallTime::from_nanos(until.reading))),
            clock => {
                let left = self.left(until, self.event.node);
                format!("for {} more, by its {} clock", about(left), words::name_of_clock(clock))
            }
        }
    }

    fn check(&self, epoch: Epoch, valid: bool) -> String {
        let worker = self.name(self.event.node);
        let left = self.deadline(self.event.node, epoch).map(|until| self.left(until, self.event.node));
        let by_clock = left.map_or(String::new(), |left| match left.is_negative() {
            true => format!(", by its clock over for {}", about(-left)),
            false => format!(", {} left by its clock", about(left)),
        });
        let result = if valid { "valid" } else { "run out" };
        let newer = self.newest_grant().filter(|(newest, _)| valid && *newest > epoch);
        let newer = newer.map_or(String::new(), |(newest, at)| {
            format!("; but {} was granted {} ago", lease(newest), about(self.event.at - at))
        });
        format!("{worker} checks {}: {result}{by_clock}{newer}", lease(epoch))
    }

    fn at_store(&self) -> String {
        match self.event.what {
            What::LeaseGranted { worker, epoch, token, .. } => {
                let token = token.map_or(String::new(), |token| format!(" with {token}"));
                let before = self.lease_before().map_or(String::new(), |(before, until)| {
                    let until = words::clock(self.history, until);
                    format!("; {} ended at {until} in its row", lease(before))
                });
                format!("the store grants {} to {}{token}{before}", lease(epoch), self.name(worker))
            }
            What::LeaseRefused { worker, holder } if worker == holder => {
                format!("the store refuses {} the lease: its earlier one has not expired", self.name(worker))
            }
            What::LeaseRefused { worker, holder } => {
                format!("the store refuses {} the lease: {} has it", self.name(worker), self.name(holder))
            }
            What::LeaseRenewed { worker, epoch, until } => {
                let until = words::clock(self.history, until);
                format!("the store renews {} for {} until {until}", lease(epoch), self.name(worker))
            }
            What::RenewalRefused { worker, epoch } => {
                format!("{} can't renew {}: the store no longer has it", self.name(worker), lease(epoch))
            }
            _ => String::new(),
        }
    }

    fn message(&self) -> String {
        let sent = self.event.cause.map(|cause| self.history.event(cause));
        let message = match sent.map(|sent| (sent.node, sent.what)) {
            Some((from, What::MessageSent { about, answer: false, .. })) => {
                format!("{}'s {about} request", self.name(from))
            }
            Some((_, What::MessageSent { about, to, .. })) => {
                format!("the answer to {}'s {about} request", self.name(to))
            }
            _ => "a message".to_owned(),
        };
        match self.event.what {
            What::MessageLost { .. } => format!("the connection breaks, and {message} is lost"),
            What::MessageDropped { .. } => format!("{message} is lost on the way"),
            What::MessageDelayed { by, .. } if by.is_negative() => {
                format!("{message} takes {} less than usual", about(-by))
            }
            What::MessageDelayed { by, .. } => format!("{message} takes {} longer", about(by)),
            _ => format!("{message} arrives twice"),
        }
    }

    fn at_resource(&self) -> String {
        if let Some((claim, why)) = self.event.what.rejection() {
            return rejected(self.history, self.event, claim, why);
        }
        let under = |claim: Claim| match claim.token.filter(|_| self.history.is(claim.worker, Role::Operator)) {
            // An operator has no lease.
            Some(token) => format!("{} under {token}", self.name(claim.worker)),
            None => format!("{} under {}", self.name(claim.worker), lease(claim.epoch)),
        };
        match self.event.what {
            What::WriteAccepted { claim, op, .. } => {
                format!("the ledger takes {op} in from {}{}", under(claim), self.sent())
            }
            What::CheckpointRead { claim, next } => {
                format!("the ledger tells {} to go on with {next}", under(claim))
            }
            What::CheckpointMoved { claim, next } => {
                format!("the ledger lets {} move the checkpoint to {next}{}", under(claim), self.sent())
            }
            What::ExportPublished { claim, .. } => {
                format!("the ledger publishes the export of {}{}", under(claim), self.sent())
            }
            What::GenerationOpened { claim, next } => {
                format!("the ledger lets {} fence it, to go on with {next}", under(claim))
            }
            What::PayoutMade { claim, op, .. } => {
                format!("the provider pays {op} for {}{}", under(claim), self.sent())
            }
            What::PayoutRejected { claim, why, .. } => rejected(self.history, self.event, claim, why),
            what => match words::repaired(&what) {
                Some((claim, did, _)) => format!("{} {did}", self.name(claim.worker)),
                None => format!("{}: {}", self.name(self.event.node), what.kind()),
            },
        }
    }

    /// When the request was sent, if that was long before.
    fn sent(&self) -> String {
        /// What messages usually take isn't told.
        const USUAL: Span = Span::millis(200);
        // What hung in a write goes on from that.
        let mut delivered = self.event.cause.map(|cause| self.history.event(cause));
        while let Some(Event { what: What::WriteHung { .. } | What::WriteReturned { .. }, cause, .. }) = delivered
        {
            delivered = cause.map(|cause| self.history.event(cause));
        }
        let sent = delivered.and_then(|delivered| delivered.cause).map(|cause| self.history.event(cause));
        match sent.filter(|sent| matches!(sent.what, What::MessageSent { .. })) {
            Some(sent) if self.event.at - sent.at > USUAL => {
                format!(", sent {} before", about(self.event.at - sent.at))
            }
            _ => String::new(),
        }
    }

    /// How a worker that broke a rule with an old lease sees that by its own clock.
    fn own_view(&self) -> Option<String> {
        let claim = self.event.what.claim()?;
        // Who holds the newest lease has nothing to be wrong about.
        self.newest_grant().filter(|(newest, _)| *newest > claim.epoch)?;
        let until = self.deadline(claim.worker, claim.epoch)?;
        let left = self.left(until, claim.worker);
        let clock = words::name_of_clock(until.clock);
        let whose = format!("by {}'s {clock} clock {}", self.name(claim.worker), lease(claim.epoch));
        Some(match left.is_negative() {
            true => format!("{whose} ended {} ago", about(-left)),
            false => format!("{whose} has {} left", about(left)),
        })
    }

    /// How long it is by the clock of `node` until it reads `until`.
    fn left(&self, until: Deadline, node: NodeId) -> Span {
        let now = self.history.reading(self.id, node, until.clock);
        Span::nanos(until.reading.saturating_sub(now))
    }

    /// When `worker` thinks that a lease ends, by what it knows at the event.
    fn deadline(&self, worker: NodeId, wanted: Epoch) -> Option<Deadline> {
        let before = self.history.events[..self.id.index()].iter().rev();
        before.filter(|event| event.node == worker).find_map(|event| match event.what {
            What::LeaseHeld { epoch, until } if epoch == wanted => Some(until),
            _ => None,
        })
    }

    fn newest_grant(&self) -> Option<(Epoch, TrueTime)> {
        self.history.events[..self.id.index()].iter().rev().find_map(|event| match event.what {
            What::LeaseGranted { epoch, .. } => Some((epoch, event.at)),
            _ => None,
        })
    }

    /// The lease that the store had before a grant, and when it ended; `None` if it was given back.
    fn lease_before(&self) -> Option<(Epoch, WallTime)> {
        let before = self.history.events[..self.id.index()].iter().rev();
        let of_lease = |event: &&Event| {
            matches!(
                event.what,
                What::LeaseGranted { .. } | What::LeaseRenewed { .. } | What::LeaseReleased { .. }
            )
        };
        match before.filter(|event| self.history.is(event.node, Role::LeaseStore)).find(of_lease)?.what {
            What::LeaseGranted { epoch, until, .. } | What::LeaseRenewed { epoch, until, .. } => {
                Some((epoch, until))
            }
            _ => None,
        }
    }
}

/// Who was turned away with what, and why.
pub(super) fn refusal(history: &History, id: EventId) -> String {
    let event = history.event(id);
    match event.what {
        What::PayoutRejected { claim, why, .. } => rejected(history, event, claim, why),
        what => match what.rejection() {
            Some((claim, why)) => rejected(history, event, claim, why),
            None => words::name(history, event.node).to_owned(),
        },
    }
}

fn rejected(history: &History, event: &Event, claim: Claim, why: holdover_sim::history::Refusal) -> String {
    let what = match event.what {
        What::WriteRejected { op, .. } => format!("entry for {op}"),
        What::CheckpointRejected { .. } => "checkpoint".to_owned(),
        What::ExportRejected { .. } => "export".to_owned(),
        What::PayoutRejected { op, .. } => format!("payout of {op}"),
        _ => "fence".to_owned(),
    };
    let (door, worker) = (words::name(history, event.node), words::name(history, claim.worker));
    format!("the {door} turns {worker}'s {what} away: {}", words::refusal(why, claim.token))
}
