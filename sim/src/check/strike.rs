//! One fault as it struck: when, where in the history, and what was there to be hit.

use crate::clock::{Clock, Deadline};
use crate::history::{Event, History, Role, What};
use crate::id::{Epoch, EventId, FaultId, MessageId, NodeId};
use crate::time::{Span, TrueTime};

/// When and where in the history a fault was on.
pub(crate) struct Strike {
    fault: FaultId,
    /// The index of the event with which it began.
    began: usize,
    /// The index of the event with which it ended, or the number of events.
    ended: usize,
    pub(crate) from: TrueTime,
    pub(crate) until: TrueTime,
}

impl Strike {
    pub(crate) fn of(history: &History, fault: FaultId) -> Option<Strike> {
        let place = |what| history.events.iter().position(|event| event.what == what);
        let began = place(What::FaultBegan { fault })?;
        let ended = place(What::FaultEnded { fault }).unwrap_or(history.events.len());
        let until = history.events.get(ended).map_or(history.ended_at, |event| event.at);
        Some(Strike { fault, began, ended, from: history.events[began].at, until })
    }

    /// The event with which it began.
    pub(crate) fn beginning(&self) -> EventId {
        EventId(self.began as u32)
    }

    /// The places in the history of the events while it was on.
    pub(crate) fn places(&self) -> std::ops::Range<usize> {
        self.began..self.ended
    }

    /// The events before it began.
    pub(crate) fn before<'a>(&self, history: &'a History) -> &'a [Event] {
        &history.events[..self.began]
    }

    /// The events while it was on.
    pub(crate) fn during<'a>(&self, history: &'a History) -> &'a [Event] {
        history.events.get(self.began..self.ended).unwrap_or_default()
    }

    /// Whether, while it was on, the lease was with a worker that `matters`, by the store's records.
    pub(crate) fn overlaps_lease(&self, history: &History, matters: impl Fn(NodeId) -> bool) -> bool {
        let mut at_store = AtStore::default();
        self.before(history).iter().for_each(|event| at_store.note(&event.what));
        let held = |at_store: &AtStore| at_store.holder.is_some_and(|(worker, _)| matters(worker));
        held(&at_store)
            || self.during(history).iter().any(|event| {
                at_store.note(&event.what);
                held(&at_store)
            })
    }

    /// Whether, while it was on, somebody had a lease that ends by a clock of the store on `node` that it `touches`.
    pub(crate) fn touches_store(&self, history: &History, node: NodeId, touches: impl Fn(Clock) -> bool) -> bool {
        let touched = history.is(node, Role::LeaseStore) && history.store_clock.is_some_and(touches);
        touched && self.overlaps_lease(history, |_| true)
    }

    /// When each message to `node` was to arrive that was sent before the end and not yet taken in at the beginning.
    pub(crate) fn in_flight<'a>(
        &'a self,
        history: &'a History,
        node: NodeId,
    ) -> impl Iterator<Item = TrueTime> + 'a {
        (0..self.ended).filter_map(move |index| match history.events[index].what {
            What::MessageSent { message, to, .. } if to == node => {
                let arrival = arrival(&history.events[index..])?;
                let taken_in = arrival == self.from && self.delivered_just_before(history, message);
                (arrival >= self.from && !taken_in).then_some(arrival)
            }
            _ => None,
        })
    }

    /// Whether it changed what became of any message.
    pub(crate) fn touches_a_message(&self, history: &History) -> bool {
        let touched = |event: &Event| match event.what {
            What::MessageDropped { fault, .. }
            | What::MessageDelayed { fault, .. }
            | What::MessageRepeated { fault, .. } => fault == self.fault,
            _ => false,
        };
        self.during(history).iter().any(touched)
    }

    /// Whether a primary that it deposed served anybody.
    pub(crate) fn has_deposed_serve(&self, history: &History) -> bool {
        let served =
            |event: &Event| matches!(event.what, What::DeposedServed { fault, .. } if fault == self.fault);
        self.during(history).iter().any(served)
    }

    /// The end of the lease that the worker on `node` had in hand when it began, as the worker thought of it.
    pub(crate) fn lease_in_hand(&self, history: &History, node: NodeId) -> Option<Deadline> {
        let mut held = None;
        for event in self.before(history).iter().filter(|event| event.node == node) {
            match event.what {
                What::LeaseHeld { epoch, until } => held = Some((epoch, until)),
                What::LeaseDropped { epoch } => held = held.filter(|(of, _)| *of != epoch),
                What::WorkerFinished | What::WorkerDied => held = None,
                _ => {}
            }
        }
        held.map(|(_, until)| until)
    }

    /// Whether the worker on `node` had a lease in hand when it began that ends by a clock that `matters`, or learned of
    /// one while it was on, its end still to come by that clock; or the store on `node` judges leases by such a clock. If
    /// it goes `on`, any time later counts too.
    pub(crate) fn reaches_lease(
        &self,
        history: &History,
        node: NodeId,
        on: bool,
        matters: impl Fn(Clock) -> bool,
    ) -> bool {
        let clocks = &history.node(node).clocks;
        let to_come =
            |until: Deadline, at: TrueTime| matters(until.clock) && clocks.read(until.clock, at) < until.reading;
        let until = if on { history.events.len() } else { self.ended };
        self.touches_store(history, node, &matters)
            || self.lease_in_hand(history, node).is_some_and(|until| to_come(until, self.from))
            || history.events.get(self.began..until).unwrap_or_default().iter().any(|event| match event.what {
                What::LeaseHeld { until, .. } => event.node == node && to_come(until, event.at),
                _ => false,
            })
    }

    /// Whether a jump of the wall clock of `node` by `by` hurt: the worker there had a lease in hand that ends by that
    /// clock, unless its end was past both before and after; or it was granted somebody else's lease too early.
    pub(crate) fn steps_lease(&self, history: &History, node: NodeId, by: Span) -> bool {
        let after = history.node(node).clocks.wall(self.from);
        let earlier = after.min(after - by).as_nanos();
        let in_hand = self.lease_in_hand(history, node);
        in_hand.is_some_and(|until| until.clock == Clock::Wall && earlier < until.reading)
            || self.is_granted_too_early(history, node)
            || self.touches_store(history, node, |clock| clock == Clock::Wall)
    }

    /// Whether, since it began, the worker on `node` was granted a lease whose expiry in the row was still to come.
    fn is_granted_too_early(&self, history: &History, node: NodeId) -> bool {
        let mut expiry = None;
        history.events.iter().enumerate().any(|(index, event)| match event.what {
            What::LeaseGranted { worker, until, .. } => {
                let too_early = expiry.replace(until).is_some_and(|expiry| expiry > history.utc(event.at));
                too_early && worker == node && index > self.began
            }
            What::LeaseRenewed { until, .. } => {
                expiry = Some(until);
                false
            }
            What::LeaseReleased { .. } => {
                expiry = None;
                false
            }
            _ => false,
        })
    }

    /// Whether the worker on `node` was granted a lease while it was on.
    pub(crate) fn is_granted_lease(&self, history: &History, node: NodeId) -> bool {
        self.during(history)
            .iter()
            .any(|event| matches!(event.what, What::LeaseGranted { worker, .. } if worker == node))
    }

    /// Whether an answer from `node` was still to arrive when it began.
    pub(crate) fn answers_in_flight(&self, history: &History, node: NodeId) -> bool {
        self.before(history).iter().enumerate().any(|(index, event)| match event.what {
            What::MessageSent { message, answer: true, .. } if event.node == node => {
                arrival(&history.events[index..]).is_some_and(|arrival| arrival >= self.from)
                    && !self.delivered_just_before(history, message)
            }
            _ => false,
        })
    }

    /// Whether the service on `node` had written anything that it lost.
    pub(crate) fn loses_writes(&self, history: &History, node: NodeId) -> bool {
        let lost_since = self.during(history).iter().find_map(|event| match event.what {
            What::WritesLost { since } if event.node == node => Some(since),
            _ => None,
        });
        let of_node = |event: &&Event| event.node == node && event.what.is_written();
        let newest = self.before(history).iter().rev().find(of_node);
        lost_since.zip(newest).is_some_and(|(since, newest)| newest.at > since)
    }

    /// Whether `message` was delivered at the instant of the beginning, but before it.
    fn delivered_just_before(&self, history: &History, message: MessageId) -> bool {
        let delivers =
            |event: &Event| matches!(event.what, What::MessageDelivered { message: m, .. } if m == message);
        self.before(history).iter().rev().take_while(|event| event.at == self.from).any(delivers)
    }
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

/// The lease by the store's records. A holder keeps it until it is granted anew or given back, however long it has been
/// expired: that is who may still be working under it.
#[derive(Default)]
struct AtStore {
    holder: Option<(NodeId, Epoch)>,
}

impl AtStore {
    fn note(&mut self, what: &What) {
        match *what {
            What::LeaseGranted { worker, epoch, .. } => self.holder = Some((worker, epoch)),
            What::LeaseReleased { worker, epoch } if self.holder == Some((worker, epoch)) => self.holder = None,
            _ => {}
        }
    }
}
