//! One fault as it struck: when, where in the history, and what was there to be hit.

use std::ops::Range;

use super::places::{OfNode, Places, in_flight, within};
use crate::clock::{Clock, Deadline};
use crate::history::{Event, History, Role, What};
use crate::id::{EventId, FaultId, MessageId, NodeId};
use crate::time::{Span, TrueTime};

/// When and where in the history a fault was on.
pub(crate) struct Strike<'a> {
    found: &'a Places,
    fault: FaultId,
    /// The index of the event with which it began.
    began: usize,
    /// The index of the event with which it ended, or the number of events.
    ended: usize,
    pub(crate) from: TrueTime,
    pub(crate) until: TrueTime,
}

impl<'a> Strike<'a> {
    pub(super) fn of(history: &History, found: &'a Places, fault: FaultId) -> Option<Strike<'a>> {
        let places = &found.faults[fault.index()];
        let began = places.began?;
        let ended = places.ended.unwrap_or(history.events.len());
        let until = history.events.get(ended).map_or(history.ended_at, |event| event.at);
        Some(Strike { found, fault, began, ended, from: history.events[began].at, until })
    }

    /// The places in the history of the events while it was on.
    fn places(&self) -> Range<usize> {
        self.began..self.ended
    }

    /// The events before it began.
    fn before<'h>(&self, history: &'h History) -> &'h [Event] {
        &history.events[..self.began]
    }

    /// Whether, while it was on, the lease was with a worker that `matters`, by the store's records.
    pub(crate) fn overlaps_lease(&self, matters: impl Fn(NodeId) -> bool) -> bool {
        self.found.holders(self.places()).flatten().any(matters)
    }

    /// Whether, while it was on, somebody had a lease that ends by a clock of the store on `node` that it `touches`.
    pub(crate) fn touches_store(&self, history: &History, node: NodeId, touches: impl Fn(Clock) -> bool) -> bool {
        let touched = history.is(node, Role::LeaseStore) && history.store_clock.is_some_and(touches);
        touched && self.overlaps_lease(|_| true)
    }

    /// When each message to `node` was to arrive that was sent before the end and not yet taken in at the beginning.
    pub(crate) fn in_flight(&self, history: &History, node: NodeId) -> impl Iterator<Item = TrueTime> {
        in_flight(&self.found.messages(history, node).incoming, self.ended, self.from)
            .filter(|sent| !(sent.arrival == self.from && self.delivered_just_before(history, sent.message)))
            .map(|sent| sent.arrival)
    }

    /// Whether it changed what became of any message.
    pub(crate) fn touches_a_message(&self) -> bool {
        !within(&self.found.faults[self.fault.index()].touched, self.places()).is_empty()
    }

    /// Whether a primary that it deposed served anybody.
    pub(crate) fn has_deposed_serve(&self) -> bool {
        !within(&self.found.faults[self.fault.index()].served, self.places()).is_empty()
    }

    /// Whether the service on `node` hung in a write while it was on.
    pub(crate) fn has_write_hang(&self, node: NodeId) -> bool {
        !within(&self.found.nodes[node.index()].hung, self.places()).is_empty()
    }

    /// The end of the lease that the worker on `node` had in hand when it began, as the worker thought of it.
    pub(crate) fn lease_in_hand(&self, node: NodeId) -> Option<Deadline> {
        self.found.nodes[node.index()].in_hand_before(self.began)
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
        let to_come = |until: Deadline, place: usize| {
            matters(until.clock) && history.reading(EventId(place as u32), node, until.clock) < until.reading
        };
        let until = if on { history.events.len() } else { self.ended };
        let held = || within(&self.found.nodes[node.index()].held, self.began..until).iter();
        self.touches_store(history, node, &matters)
            || self.lease_in_hand(node).is_some_and(|until| to_come(until, self.began))
            || held().any(|place| match history.events[*place] {
                Event { what: What::LeaseHeld { until, .. }, .. } => to_come(until, *place),
                _ => false,
            })
    }

    /// Whether a jump of the wall clock of `node` by `by` hurt: the worker there had a lease in hand that ends by that
    /// clock, unless its end was past both before and after; or it was granted somebody else's lease too early.
    pub(crate) fn steps_lease(&self, history: &History, node: NodeId, by: Span) -> bool {
        let after = history.node(node).clocks.wall(self.from);
        let earlier = after.min(after - by).as_nanos();
        let in_hand = self.lease_in_hand(node);
        in_hand.is_some_and(|until| until.clock == Clock::Wall && earlier < until.reading)
            || self.is_granted_too_early(node)
            || self.touches_store(history, node, |clock| clock == Clock::Wall)
    }

    /// Whether, since it began, the worker on `node` was granted a lease whose expiry in the row was still to come.
    fn is_granted_too_early(&self, node: NodeId) -> bool {
        self.found.nodes[node.index()].granted_too_early.is_some_and(|place| place > self.began)
    }

    /// Whether the worker on `node` was granted a lease while it was on.
    pub(crate) fn is_granted_lease(&self, node: NodeId) -> bool {
        !within(&self.found.nodes[node.index()].granted, self.places()).is_empty()
    }

    /// Whether an answer from `node` was still to arrive when it began.
    pub(crate) fn answers_in_flight(&self, history: &History, node: NodeId) -> bool {
        let mut answers = in_flight(&self.found.messages(history, node).answers, self.began, self.from);
        answers.any(|sent| !self.delivered_just_before(history, sent.message))
    }

    /// Whether the service on `node` had written anything that it lost.
    pub(crate) fn loses_writes(&self, history: &History, node: NodeId) -> bool {
        let OfNode { written, forgot, .. } = &self.found.nodes[node.index()];
        let lost = within(forgot, self.places()).first().map(|place| history.events[*place].what);
        match (lost, within(written, 0..self.began).last()) {
            (Some(What::WritesLost { since }), Some(newest)) => history.events[*newest].at > since,
            _ => false,
        }
    }

    /// Whether a message to `node` was lost while it was on, because that was down.
    pub(crate) fn loses_a_message(&self, node: NodeId) -> bool {
        !within(&self.found.nodes[node.index()].lost, self.places()).is_empty()
    }

    /// Whether something that sets the clocks of `node` did so while it was on.
    pub(crate) fn has_clocks_corrected(&self, node: NodeId) -> bool {
        !within(&self.found.nodes[node.index()].corrected, self.places()).is_empty()
    }

    /// Whether the process of the worker on `node` died while it was on.
    pub(crate) fn kills(&self, node: NodeId) -> bool {
        !within(&self.found.nodes[node.index()].died, self.places()).is_empty()
    }

    /// Whether a worker was put back while it was on that has the lease, or remembers having it.
    pub(crate) fn puts_a_holder_back(&self, history: &History) -> bool {
        within(&self.found.restored, self.places()).iter().any(|place| self.hurts_holder(history, *place))
    }

    /// Whether a worker was put back to the snapshot with which it began, now or later, that has the lease then, or
    /// remembers having it.
    pub(crate) fn has_a_holder_put_back(&self, history: &History) -> bool {
        let mut restored = self.found.restored_to(EventId(self.began as u32));
        restored.any(|place| self.hurts_holder(history, place))
    }

    fn hurts_holder(&self, history: &History, place: usize) -> bool {
        let What::WorkerRestored { of, snapshot } = history.events[place].what else { return false };
        self.found.was_granted_last(of, place) || self.found.nodes[of.index()].knew_lease_before(snapshot.index())
    }

    /// Whether `message` was delivered at the instant of the beginning, but before it.
    fn delivered_just_before(&self, history: &History, message: MessageId) -> bool {
        let delivers =
            |event: &Event| matches!(event.what, What::MessageDelivered { message: m, .. } if m == message);
        self.before(history).iter().rev().take_while(|event| event.at == self.from).any(delivers)
    }
}
