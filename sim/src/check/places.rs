//! Where in a history that is which faults may have hurt, found in one pass, so that what each fault hit is looked up: going
//! through all events again for every fault would take as long as faults times events.
//!
//! All places are indices into the events, in their order.

use std::cell::OnceCell;
use std::ops::Range;

use super::rows::Rows;
use crate::clock::Deadline;
use crate::history::{Event, History, What};
use crate::id::{Epoch, EventId, FaultId, MessageId, NodeId};
use crate::time::{TrueTime, WallTime};

/// A message that reached a node, or would have if it hadn't been for a crash.
pub(super) struct Sent {
    pub(super) place: usize,
    pub(super) message: MessageId,
    pub(super) arrival: TrueTime,
    /// The latest arrival of this one and all before it in its list.
    latest: TrueTime,
}

/// Of one fault.
#[derive(Clone, Default)]
pub(super) struct OfFault {
    /// Where it first began, and first ended.
    pub(super) began: Option<usize>,
    pub(super) ended: Option<usize>,
    /// What it changed of messages, or had a deposed primary do.
    pub(super) touched: Vec<usize>,
    pub(super) served: Vec<usize>,
}

/// Of one node.
#[derive(Default)]
pub(super) struct OfNode {
    /// From where on its worker had which lease in hand, as the worker thought of its end.
    in_hand: Vec<(usize, Option<(Epoch, Deadline)>)>,
    /// Where its worker learned of a lease, or of more time.
    pub(super) held: Vec<usize>,
    /// Where its worker was granted a lease, and the last such place at which somebody else's was still to last.
    pub(super) granted: Vec<usize>,
    pub(super) granted_too_early: Option<usize>,
    /// Where its service wrote to disk, and where it lost what it had written.
    pub(super) written: Vec<usize>,
    pub(super) forgot: Vec<usize>,
    /// Where its service hung in a write.
    pub(super) hung: Vec<usize>,
    /// Where a message to it was lost because it was down.
    pub(super) lost: Vec<usize>,
    /// Where its time daemon, or an agent of its host, changed its clocks.
    pub(super) corrected: Vec<usize>,
    /// Where its worker's process died.
    pub(super) died: Vec<usize>,
    /// From where on its worker knew of a lease that it has, and from where on it didn't.
    knows_lease: Vec<(usize, bool)>,
}

/// The messages of one node.
#[derive(Default)]
pub(super) struct Messages {
    /// What was sent to it, and the answers that it sent.
    pub(super) incoming: Vec<Sent>,
    pub(super) answers: Vec<Sent>,
}

/// What there is to look up.
pub(super) struct Places {
    pub(super) faults: Vec<OfFault>,
    pub(super) nodes: Vec<OfNode>,
    /// By node. A history is full of messages and few faults ask for them, so nobody looks for them before.
    messages: OnceCell<Vec<Messages>>,
    /// From where on who had the lease by the store's records. A holder keeps it until it is granted anew, given back or taken
    /// away, however long it has been expired: that is who may still be working under it. Where the store was split, its old
    /// half has records of its own.
    holders: Vec<(usize, Option<NodeId>)>,
    holders_of_deposed: Vec<(usize, Option<NodeId>)>,
    /// From where on who was granted the lease last, `None` once any was given back.
    granted: Vec<(usize, Option<NodeId>)>,
    /// Where a worker was put back; and the same in the order of the snapshots that it was put back to.
    pub(super) restored: Vec<usize>,
    by_snapshot: Vec<(EventId, usize)>,
}

impl Places {
    pub(super) fn of(history: &History) -> Places {
        let nodes = history.nodes.iter().map(|_| OfNode::default()).collect();
        let faults = vec![OfFault::default(); history.plan.len()];
        let (holders, holders_of_deposed, granted) = (Vec::new(), Vec::new(), Vec::new());
        let (restored, by_snapshot) = (Vec::new(), Vec::new());
        let messages = OnceCell::new();
        let mut places =
            Places { faults, nodes, messages, holders, holders_of_deposed, granted, restored, by_snapshot };
        let (mut rows, mut expiry) = (Rows::new(), None);
        for (place, event) in history.events.iter().enumerate() {
            match event.what {
                // Most of a history is these.
                What::PointPassed(_)
                | What::LeaseChecked { .. }
                | What::MessageSent { .. }
                | What::MessageDelivered { .. } => continue,
                _ => {}
            }
            places.note_fault(place, &event.what);
            places.note_worker(place, event);
            places.note_store(history, place, &mut rows, &mut expiry);
            if event.what.is_written()
                && let Some(node) = places.nodes.get_mut(event.node.index())
            {
                node.written.push(place);
            }
        }
        places.by_snapshot.sort_unstable();
        places
    }

    /// The messages of `node` in `history`, whose places these are.
    pub(super) fn messages(&self, history: &History, node: NodeId) -> &Messages {
        &self.messages.get_or_init(|| messages(history))[node.index()]
    }

    /// Where workers were put back to the snapshot that was taken with this event.
    pub(super) fn restored_to(&self, snapshot: EventId) -> impl Iterator<Item = usize> {
        let first = self.by_snapshot.partition_point(|(of, _)| *of < snapshot);
        self.by_snapshot[first..].iter().take_while(move |(of, _)| *of == snapshot).map(|(_, place)| *place)
    }

    /// Whether the last that was heard of the lease before `place` is that it was granted to `node`.
    pub(super) fn was_granted_last(&self, node: NodeId, place: usize) -> bool {
        last_before(&self.granted, place) == Some(Some(node))
    }

    /// Who had the lease by the store's records, for each stretch of `during`, `None` for nobody.
    pub(super) fn holders(&self, during: Range<usize>) -> impl Iterator<Item = Option<NodeId>> {
        let of = |holders: &'_ [(usize, Option<NodeId>)]| {
            let first = holders.partition_point(|(since, _)| *since < during.start);
            let behind = holders.partition_point(|(since, _)| *since < during.end);
            first.saturating_sub(1)..behind
        };
        let (primary, deposed) = (&self.holders, &self.holders_of_deposed);
        primary[of(primary)].iter().chain(&deposed[of(deposed)]).map(|(_, holder)| *holder)
    }

    fn note_fault(&mut self, place: usize, what: &What) {
        let mut at = |fault: FaultId, note: fn(&mut OfFault, usize)| {
            if let Some(of) = self.faults.get_mut(fault.index()) {
                note(of, place);
            }
        };
        match *what {
            What::FaultBegan { fault } => at(fault, |of, place| {
                of.began.get_or_insert(place);
            }),
            What::FaultEnded { fault } => at(fault, |of, place| {
                of.ended.get_or_insert(place);
            }),
            What::MessageDropped { fault, .. }
            | What::MessageDelayed { fault, .. }
            | What::MessageRepeated { fault, .. } => at(fault, |of, place| of.touched.push(place)),
            What::DeposedServed { fault, .. } => at(fault, |of, place| of.served.push(place)),
            _ => {}
        }
    }

    fn note_worker(&mut self, place: usize, event: &Event) {
        let Some(node) = self.nodes.get_mut(event.node.index()) else { return };
        match event.what {
            What::LeaseHeld { epoch, until } => {
                node.held.push(place);
                node.in_hand.push((place, Some((epoch, until))));
                node.knows_lease.push((place, true));
            }
            What::LeaseDropped { epoch } => {
                if node.has_in_hand().is_some_and(|(of, _)| of == epoch) {
                    node.in_hand.push((place, None));
                }
                node.knows_lease.push((place, false));
            }
            What::WorkerFinished | What::WorkerDied => {
                if node.has_in_hand().is_some() {
                    node.in_hand.push((place, None));
                }
                node.knows_lease.push((place, false));
                if matches!(event.what, What::WorkerDied) {
                    node.died.push(place);
                }
            }
            What::MessageLost { .. } => node.lost.push(place),
            What::WritesLost { .. } => node.forgot.push(place),
            What::WriteHung { .. } => node.hung.push(place),
            What::ClockCorrected { .. } | What::ClockSlewed { .. } => node.corrected.push(place),
            What::WorkerRestored { snapshot, .. } => {
                self.restored.push(place);
                self.by_snapshot.push((snapshot, place));
            }
            _ => {}
        }
    }

    fn note_store(&mut self, history: &History, place: usize, rows: &mut Rows, expiry: &mut Option<WallTime>) {
        let event = &history.events[place];
        match event.what {
            What::LeaseGranted { worker, until, .. } => {
                self.granted.push((place, Some(worker)));
                let too_early = expiry.replace(until).is_some_and(|expiry| expiry > history.utc(event.at));
                if let Some(node) = self.nodes.get_mut(worker.index()) {
                    node.granted.push(place);
                    if too_early {
                        node.granted_too_early = Some(place);
                    }
                }
            }
            What::LeaseRenewed { until, .. } => *expiry = Some(until),
            What::LeaseReleased { .. } => {
                *expiry = None;
                self.granted.push((place, None));
            }
            What::LeaseRevoked { .. } | What::DispatchStopped { .. } => *expiry = None,
            _ => {}
        }
        rows.note(history, place, &mut self.holders, &mut self.holders_of_deposed);
    }
}

/// The messages of each node.
fn messages(history: &History) -> Vec<Messages> {
    let mut nodes: Vec<Messages> = history.nodes.iter().map(|_| Messages::default()).collect();
    for (place, event) in history.events.iter().enumerate() {
        let What::MessageSent { message, to, answer, .. } = event.what else { continue };
        let Some(arrival) = arrival(&history.events[place..]) else { continue };
        let mut note = |node: NodeId, list: fn(&mut Messages) -> &mut Vec<Sent>| {
            if let Some(node) = nodes.get_mut(node.index()) {
                let list = list(node);
                let latest = list.last().map_or(arrival, |last| last.latest.max(arrival));
                list.push(Sent { place, message, arrival, latest });
            }
        };
        note(to, |node| &mut node.incoming);
        if answer {
            note(event.node, |node| &mut node.answers);
        }
    }
    nodes
}

impl OfNode {
    fn has_in_hand(&self) -> Option<(Epoch, Deadline)> {
        self.in_hand.last().and_then(|(_, lease)| *lease)
    }

    /// The end of the lease that its worker had in hand before `place`, as the worker thought of it.
    pub(super) fn in_hand_before(&self, place: usize) -> Option<Deadline> {
        last_before(&self.in_hand, place).flatten().map(|(_, until)| until)
    }

    /// Whether its worker knew before `place` of a lease that it has.
    pub(super) fn knew_lease_before(&self, place: usize) -> bool {
        last_before(&self.knows_lease, place) == Some(true)
    }
}

/// What was so before `place`, of what is told from where on it was so.
fn last_before<T: Copy>(told: &[(usize, T)], place: usize) -> Option<T> {
    let count = told.partition_point(|(since, _)| *since < place);
    told.get(count.checked_sub(1)?).map(|(_, what)| *what)
}

/// Those of `places` that are in `range`.
pub(super) fn within(places: &[usize], range: Range<usize>) -> &[usize] {
    let from = places.partition_point(|place| *place < range.start);
    let until = places.partition_point(|place| *place < range.end);
    places.get(from..until).unwrap_or_default()
}

/// Those of `sent` that were sent before `place` and were to arrive at `from` or later.
pub(super) fn in_flight(sent: &[Sent], place: usize, from: TrueTime) -> impl Iterator<Item = &Sent> {
    let first = sent.partition_point(|sent| sent.latest < from);
    let sent = sent[first..].iter().take_while(move |sent| sent.place < place);
    sent.filter(move |sent| sent.arrival >= from)
}

/// When the message is to arrive whose sending is the first of these events; `None` if it is lost on the way. What the
/// network does to a message is noted right behind its sending.
fn arrival(events: &[Event]) -> Option<TrueTime> {
    let (sent, behind) = events.split_first()?;
    let What::MessageSent { message, latency, .. } = sent.what else { return None };
    let mut arrival = sent.at + latency;
    for event in behind {
        match event.what {
            What::MessageDelayed { message: of, by, .. } if of == message => arrival = arrival + by,
            What::MessageDropped { message: of, .. } if of == message => return None,
            // The end of a fault that waited for this message, and what is told of others that are sent with it.
            What::FaultEnded { .. } | What::MessageRepeated { .. } => {}
            _ => break,
        }
    }
    Some(arrival)
}
