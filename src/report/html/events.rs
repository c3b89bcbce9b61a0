//! What happened in a run, as columns: an event is a place in each of them.

use std::collections::BTreeMap;

use holdover_sim::history::{Event, History, Role, What};
use holdover_sim::id::Epoch;
use serde::Serialize;

use super::packed::Packed;
use crate::report::timeline::{Mark, Row};
use crate::report::verbose::{described, mark};

/// All events of a run.
#[derive(Default, Serialize)]
pub(super) struct Events {
    /// How long after the event before, in nanoseconds; of the first, after the start.
    after: Vec<i64>,
    node: Vec<u16>,
    /// The worker that it is about, if it happened at a service; else -1.
    worker: Vec<i32>,
    /// How many events before is what led to it; 0 for what the scenario starts.
    cause: Vec<u32>,
    /// Its place in `kinds`.
    kind: Vec<usize>,
    /// How it stands out, as a place in `MARKS`.
    mark: Vec<usize>,
    /// The grant that it is about or was done under; 0 if there is none.
    epoch: Vec<u32>,
    /// Its kind and fields, for people.
    text: Packed,
    kinds: Vec<Kind>,
    #[serde(skip)]
    known: BTreeMap<&'static str, usize>,
}

/// A kind of event, and with which others it is shown or hidden.
#[derive(Serialize)]
struct Kind {
    name: &'static str,
    group: &'static str,
}

/// How an event stands out, in the order in which the page's script knows it.
const MARKS: [Mark; 5] = [Mark::Plain, Mark::Fault, Mark::Healed, Mark::Stale, Mark::Rejected];

/// A row of the timeline that tells the story.
#[derive(Default, Serialize)]
pub(super) struct Rows {
    /// The event that it tells of; the first, if it tells of several.
    event: Vec<u32>,
    mark: Vec<usize>,
    /// Who acts.
    node: Vec<u16>,
    text: Packed,
}

/// A message: the event of its sending, that of its end or -1, to whom it is, and whether it got lost.
type Message = (usize, i64, u16, u8);

/// The events of `history`, of which `rows` tell the story.
pub(super) fn events(history: &History, rows: &[Row]) -> Events {
    let mut told = vec![None; history.events.len()];
    for row in rows {
        told[row.event.index()] = Some(row.mark);
    }
    let mut events = Events::default();
    let mut before = 0;
    for (id, event) in history.numbered() {
        events.after.push(event.at.as_nanos() - before);
        before = event.at.as_nanos();
        events.node.push(event.node.0);
        let worker = event.what.worker().filter(|worker| *worker != event.node);
        events.worker.push(worker.map_or(-1, |worker| worker.0.into()));
        events.cause.push(event.cause.map_or(0, |cause| id.0 - cause.0));
        let kind = events.kind_of(history, event);
        events.kind.push(kind);
        events.mark.push(number(told[id.index()].unwrap_or_else(|| mark(event))));
        events.epoch.push(epoch(&event.what).map_or(0, |epoch| epoch.0));
        events.text.push(&described(history, event));
    }
    events
}

impl Events {
    fn kind_of(&mut self, history: &History, event: &Event) -> usize {
        let next = self.kinds.len();
        let kinds = &mut self.kinds;
        *self.known.entry(event.what.kind()).or_insert_with(|| {
            kinds.push(Kind { name: event.what.kind(), group: group(history, event) });
            next
        })
    }
}

/// The rows that tell the story.
pub(super) fn rows(rows: &[Row]) -> Rows {
    let mut told = Rows::default();
    for row in rows {
        told.event.push(row.event.0);
        told.mark.push(number(row.mark));
        told.node.push(row.node.0);
        told.text.push(&row.text);
    }
    told
}

/// All messages, in the order of their sending.
pub(super) fn messages(history: &History) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    // By their numbers.
    let mut places = BTreeMap::new();
    for (id, event) in history.numbered() {
        let (ended, lost) = match event.what {
            What::MessageSent { message, to, .. } => {
                places.insert(message, messages.len());
                messages.push((id.index(), -1, to.0, 0));
                continue;
            }
            What::MessageDelivered { message, .. } => (message, 0),
            What::MessageLost { message, .. } | What::MessageDropped { message, .. } => (message, 1),
            _ => continue,
        };
        if let Some(place) = places.remove(&ended) {
            let message = &mut messages[place];
            (message.1, message.3) = (id.0.into(), lost);
        }
    }
    messages
}

fn number(mark: Mark) -> usize {
    MARKS.iter().position(|known| *known == mark).unwrap_or(0)
}

/// With which others an event is shown or hidden.
fn group(history: &History, event: &Event) -> &'static str {
    match event.what {
        What::PointPassed(_) => "points",
        What::MessageSent { .. }
        | What::MessageDelivered { .. }
        | What::MessageLost { .. }
        | What::MessageDropped { .. }
        | What::MessageDelayed { .. }
        | What::MessageRepeated { .. }
        | What::CallTimedOut { .. } => "messages",
        What::FaultBegan { .. }
        | What::FaultEnded { .. }
        | What::Throttled { .. }
        | What::Unthrottled { .. }
        | What::WriteHung { .. }
        | What::WriteReturned { .. } => "faults",
        What::ClockCorrected { .. } | What::ClockSlewed { .. } | What::TimeDaemonExited => "clocks",
        What::LeaseChecked { .. }
        | What::LeaseHeld { .. }
        | What::LeaseDropped { .. }
        | What::LeaseGranted { .. }
        | What::LeaseRefused { .. }
        | What::LeaseRenewed { .. }
        | What::RenewalRefused { .. }
        | What::LeaseReleased { .. }
        | What::LeaseRevoked { .. }
        | What::LeaderElected
        | What::ReplicaStopped
        | What::DispatchStopped { .. }
        | What::WorkerElected { .. }
        | What::DispatchResumed { .. } => "leases",
        What::CheckpointRead { .. }
        | What::GenerationOpened { .. }
        | What::FenceRejected { .. }
        | What::WriteAccepted { .. }
        | What::WriteRepeated { .. }
        | What::WriteRejected { .. }
        | What::CheckpointMoved { .. }
        | What::CheckpointRejected { .. }
        | What::ExportPublished { .. }
        | What::ExportRejected { .. }
        | What::GenerationMarked { .. }
        | What::EntrySuperseded { .. }
        | What::EntryDeleted { .. }
        | What::OperationDecided { .. }
        | What::CheckpointRebuilt { .. }
        | What::ExportSuperseded { .. }
        | What::RepairEnded { .. } => "ledger",
        What::PayoutMade { .. }
        | What::PayoutRepeated { .. }
        | What::PayoutRejected { .. }
        | What::GatewayFenced { .. }
        | What::PayoutTakenIn { .. }
        | What::PayoutsTold { .. }
        | What::PayoutVoided { .. }
        | What::RefundBegun { .. }
        | What::CompensationRefused { .. }
        | What::OperatorRejected { .. } => "payouts",
        // Who asks for a lease, or is told of it, is a worker, and what it does is its process's.
        What::LeaseAsked { .. }
        | What::LeaseTold { .. }
        | What::WorkerStarted
        | What::WorkerFinished
        | What::WorkerDied
        | What::WorkerRestored { .. }
        | What::RepairLeft { .. } => "processes",
        // These are at each of the services.
        What::WritesLost { .. } | What::DeposedServed { .. } => match history.node(event.node).role {
            Role::LeaseStore => "leases",
            Role::Ledger => "ledger",
            Role::Provider => "payouts",
            Role::Worker | Role::Operator => "processes",
        },
    }
}

fn epoch(what: &What) -> Option<Epoch> {
    match *what {
        What::LeaseChecked { epoch, .. }
        | What::LeaseHeld { epoch, .. }
        | What::LeaseDropped { epoch }
        | What::LeaseGranted { epoch, .. }
        | What::LeaseRenewed { epoch, .. }
        | What::RenewalRefused { epoch, .. }
        | What::LeaseReleased { epoch, .. } => Some(epoch),
        _ => what.claim().map(|claim| claim.epoch),
    }
}
