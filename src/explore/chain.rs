//! How it comes about: the events that lead from the faults to the rules that were broken.
//!
//! From the events that show a violation the way goes back along their causes, to the check of the lease that each follows
//! from, what the worker then thought of its lease, and what held it up. Where causes say nothing, because a fault changed
//! a clock, a disk or a message and no step of anybody, the faults stand that counterfactual runs have shown to matter.

use std::collections::{BTreeMap, BTreeSet};

use holdover_sim::check::{Verdict, Witness};
use holdover_sim::fault::Fault;
use holdover_sim::history::{Claim, Event, History, Role, What};
use holdover_sim::id::{Epoch, EventId, FaultId, MessageId, NodeId, OpId};
use holdover_sim::time::TrueTime;

use super::Signature;
use crate::replay::JudgedRun;

/// More steps than these aren't told.
const MOST_STEPS: usize = 40;

/// So many things of one kind that a fault did are told at the most.
const MOST_DEEDS: usize = 3;

/// How what was broken comes about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// How many were left out because there are too many; they are the last but for what broke something.
    pub left_out: usize,
    /// When the settlement should have been finished and wasn't, if that is among what was broken.
    pub missed: Option<(TrueTime, Signature)>,
}

/// One event that leads there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The event.
    pub event: EventId,
    /// The rules that were broken by it, for the first time.
    pub breaks: Vec<Signature>,
}

/// How what `run` violates comes about; `matters` are the faults without which it would have come otherwise.
pub fn chain(run: &JudgedRun, matters: &[usize]) -> Chain {
    let mut tracer = Tracer { history: &run.history, steps: BTreeSet::new(), breaks: BTreeMap::new() };
    let mut missed = None;
    for (checker, verdict) in &run.verdicts {
        let (Verdict::Violated { witness, .. }, Some(signature)) = (verdict, Signature::of(checker, verdict))
        else {
            continue;
        };
        match witness.events().last() {
            Some(offending) => tracer.breaks.entry(*offending).or_default().push(signature),
            None => missed = Some((run.history.progress_by(), signature)),
        }
        tracer.trace(witness);
    }
    if let Some((missed, _)) = missed {
        tracer.last_of_each_worker(missed);
    }
    tracer.faults(matters, missed.map(|(at, _)| at));
    let Tracer { mut steps, breaks, .. } = tracer;
    steps.extend(breaks.keys());
    let all = steps.len();
    let told: Vec<EventId> = if all <= MOST_STEPS {
        steps.into_iter().collect()
    } else {
        let room = MOST_STEPS.saturating_sub(breaks.len());
        let mut told: Vec<EventId> = steps.iter().filter(|step| !breaks.contains_key(step)).copied().collect();
        told.truncate(room);
        told.extend(breaks.keys());
        told.sort_unstable();
        told
    };
    let left_out = all - told.len();
    let step = |event: EventId| Step { event, breaks: breaks.get(&event).cloned().unwrap_or_default() };
    Chain { steps: told.into_iter().map(step).collect(), left_out, missed }
}

/// Gathers the steps.
struct Tracer<'a> {
    history: &'a History,
    steps: BTreeSet<EventId>,
    breaks: BTreeMap<EventId, Vec<Signature>>,
}

impl Tracer<'_> {
    /// What leads to the events of a witness.
    fn trace(&mut self, witness: &Witness) {
        let events = witness.events();
        let claims: Vec<Claim> = events.iter().filter_map(|id| self.history.event(*id).what.claim()).collect();
        // Who took over needs no more than its grant: what is told is why the others went on.
        let oldest = claims.iter().map(|claim| claim.epoch).min();
        for id in &events {
            self.steps.insert(*id);
            self.lead_to(*id, oldest);
        }
        for claim in claims.iter().filter(|claim| Some(claim.epoch) > oldest) {
            self.steps.extend(self.grant(claim.epoch));
        }
        if let Witness::NeverPaid { op, .. } | Witness::NeverEntered { op, .. } = *witness {
            self.fate(op);
        }
    }

    /// What leads to one event, back to the check of the lease that it follows from. The check itself, and what the worker
    /// thought of its lease, are told if that is the `oldest` one.
    fn lead_to(&mut self, id: EventId, oldest: Option<Epoch>) {
        let Some(claim) = self.history.event(id).what.claim() else { return };
        let mut at = id;
        let mut checked = None;
        // On to the check before that one: what went wrong in between is why the worker does this now.
        while let Some(cause) = self.cause(at) {
            at = cause;
            let event = self.history.event(at);
            match event.what {
                What::FaultBegan { .. } | What::FaultEnded { .. } => {
                    self.steps.insert(at);
                }
                What::CallTimedOut { .. } | What::MessageLost { .. } => {
                    self.steps.insert(at);
                    self.fate_of_message(at);
                }
                What::MessageSent { .. } if checked.is_none() => self.fate_of_message(at),
                What::LeaseChecked { .. } => {
                    if checked.is_some() {
                        break;
                    }
                    checked = Some(at);
                }
                _ => {}
            }
        }
        if Some(claim.epoch) != oldest {
            return;
        }
        self.steps.extend(checked);
        let of_lease = |event: &&(EventId, &Event)| {
            event.1.node == claim.worker
                && matches!(event.1.what, What::LeaseHeld { epoch, .. } if epoch == claim.epoch)
        };
        let before = self.history.numbered().take(checked.unwrap_or(id).index());
        self.steps.extend(before.collect::<Vec<_>>().iter().rev().find(of_lease).map(|(id, _)| *id));
    }

    /// The event that led to this one. What a pause held up goes on because it ended, and it ended because it began.
    fn cause(&self, id: EventId) -> Option<EventId> {
        let event = self.history.event(id);
        match event.what {
            What::FaultEnded { fault } => self.place(What::FaultBegan { fault }),
            _ => event.cause,
        }
    }

    fn place(&self, what: What) -> Option<EventId> {
        self.history.numbered().find(|(_, event)| event.what == what).map(|(id, _)| id)
    }

    /// What the network did to the message whose sending `id` is, or led to.
    fn fate_of_message(&mut self, id: EventId) {
        let sent = match self.history.event(id).what {
            What::MessageSent { .. } => Some(id),
            _ => self.history.event(id).cause,
        };
        let Some(sent) = sent else { return };
        let What::MessageSent { message, .. } = self.history.event(sent).what else { return };
        let behind = self.history.numbered().skip(sent.index() + 1);
        let changed = behind
            .take_while(|(_, event)| event.at == self.history.event(sent).at)
            .filter(|(_, event)| self.changes(&event.what).is_some_and(|(of, _)| of == message));
        let changed: Vec<EventId> = changed.map(|(id, _)| id).collect();
        self.steps.extend(changed);
    }

    /// The message that the network changed something about, and the fault because of which it did. That the second of two
    /// takes longer than the first goes without saying.
    fn changes(&self, what: &What) -> Option<(MessageId, FaultId)> {
        match *what {
            What::MessageDelayed { fault, .. }
                if matches!(self.history.plan[fault.index()].inject, Fault::Duplicate(_)) =>
            {
                None
            }
            What::MessageDropped { message, fault, .. }
            | What::MessageDelayed { message, fault, .. }
            | What::MessageRepeated { message, fault, .. } => Some((message, fault)),
            _ => None,
        }
    }

    fn grant(&self, wanted: Epoch) -> Option<EventId> {
        let granted = |event: &Event| match event.what {
            What::LeaseGranted { epoch, .. } => epoch == wanted,
            // An operator's authority comes with that.
            What::DispatchStopped { claim } => claim.epoch == wanted,
            _ => false,
        };
        self.history.numbered().find(|(_, event)| granted(event)).map(|(id, _)| id)
    }

    /// What became of an operation, and where the workers that took over were told to go on.
    fn fate(&mut self, wanted: OpId) {
        let about = |event: &Event| match event.what {
            What::CheckpointRead { .. } | What::GenerationOpened { .. } => true,
            What::WriteAccepted { op, .. }
            | What::WriteRejected { op, .. }
            | What::PayoutMade { op, .. }
            | What::PayoutRejected { op, .. } => op == wanted,
            _ => false,
        };
        let found = self.history.numbered().filter(|(_, event)| about(event)).take(3 * MOST_DEEDS);
        let found: Vec<EventId> = found.map(|(id, _)| id).collect();
        self.steps.extend(found);
    }

    /// The last that each worker did or heard, up to an instant, that tells how far it got.
    fn last_of_each_worker(&mut self, until: TrueTime) {
        let tells = |event: &Event| {
            let gone = matches!(event.what, What::WorkerDied | What::WorkerFinished | What::RenewalRefused { .. });
            let lease = matches!(event.what, What::LeaseRefused { .. } | What::LeaseGranted { .. });
            gone || lease || event.what.mutation().is_some() || event.what.rejection().is_some()
        };
        let mut last: BTreeMap<NodeId, EventId> = BTreeMap::new();
        let in_time = self.history.numbered().take_while(|(_, event)| event.at <= until);
        for (id, event) in in_time.filter(|(_, event)| tells(event)) {
            last.insert(event.what.worker().unwrap_or(event.node), id);
        }
        // Of many workers those that were heard of last.
        let last: BTreeSet<EventId> = last.into_values().collect();
        self.steps.extend(last.iter().rev().take(2 * MOST_DEEDS));
    }

    /// The faults that matter, up to where the last rule was broken, and what they did that is no step of anybody.
    fn faults(&mut self, matters: &[usize], missed: Option<TrueTime>) {
        let last = self.breaks.keys().last().copied();
        let is_told = |id: EventId, event: &Event| {
            last.is_some_and(|last| id <= last) || missed.is_some_and(|missed| event.at <= missed)
        };
        let mut deeds: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let mut on: Vec<bool> = vec![false; self.history.plan.len()];
        for (id, event) in self.history.numbered().filter(|(id, event)| is_told(*id, event)) {
            if let What::FaultBegan { fault } = event.what {
                on[fault.index()] = true;
            }
            for fault in matters {
                let number = FaultId(*fault as u16);
                let inject = &self.history.plan[*fault].inject;
                let is_deed = match event.what {
                    What::FaultBegan { fault: of } => of == number,
                    What::WriteHung { fault: of } => of == number,
                    What::LeaderElected => {
                        on[*fault] && inject.nodes().iter().any(|node| self.history.is(*node, Role::LeaseStore))
                    }
                    What::FaultEnded { fault: of } => of == number && inject.lasting().is_some(),
                    what if self.changes(&what).is_some() => {
                        self.changes(&what).is_some_and(|(_, of)| of == number)
                    }
                    What::WritesLost { .. }
                    | What::ReplicaStopped
                    | What::WorkerDied
                    | What::TimeDaemonExited
                    | What::WorkerStarted => on[*fault] && inject.nodes().contains(&event.node),
                    What::ClockCorrected { .. } => on[*fault] && sets_clocks(inject, event.node),
                    _ => false,
                };
                let count = deeds.entry((*fault, event.what.kind())).or_default();
                if is_deed && *count < MOST_DEEDS {
                    *count += 1;
                    self.steps.insert(id);
                }
            }
        }
    }
}

/// Whether a clock that was set right or wrong on `node` has to do with `fault`: it is one of those of which a time daemon
/// or an agent notices something.
fn sets_clocks(fault: &Fault, node: NodeId) -> bool {
    let is_noticed = match fault {
        Fault::Pause(_)
        | Fault::TimeSource(_)
        | Fault::LeapSecond(_)
        | Fault::ClockStep(_)
        | Fault::ClockSlew(_)
        | Fault::ClockDrift(_)
        | Fault::ClockStrobe(_)
        | Fault::ZoneError(_)
        | Fault::Restore(_) => true,
        Fault::Restart(_)
        | Fault::Failover(_)
        | Fault::Crash(_)
        | Fault::Shutdown(_)
        | Fault::Partition(_)
        | Fault::Latency(_)
        | Fault::Loss(_)
        | Fault::Duplicate(_)
        | Fault::Reorder(_)
        | Fault::Hold(_)
        | Fault::DelayMessage(_)
        | Fault::LoseMessage(_)
        | Fault::Snapshot(_)
        | Fault::Throttle(_)
        | Fault::SplitBrain(_)
        | Fault::DiskStall(_) => false,
    };
    is_noticed && fault.nodes().contains(&node)
}
