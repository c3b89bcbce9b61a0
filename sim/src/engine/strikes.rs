//! Strikes and healings: when each is done, and what faults do to the network.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::World;
use super::network::{Effect, Sending, Touch, Wanted};
use super::queue::Due;
use crate::fault::{Injector, Links};
use crate::history::{What, log, may_log};
use crate::id::{EventId, FaultId, MessageId, NodeId};
use crate::point::Point;
use crate::time::Span;

/// Strikes that were set off in the middle of a step. They wait for its end, because until then the world isn't in a
/// state in which it could be changed.
#[derive(Default)]
pub(super) struct Awaited {
    /// Whether there was a log that may want events when the run began.
    logs: bool,
    /// Whether a fault waits for an event.
    events: Cell<bool>,
    /// Whether either is so, to be seen at a glance.
    tells: Cell<bool>,
    /// Whether there are any, to be seen at a glance.
    any: Cell<bool>,
    /// With what set each off.
    strikes: RefCell<VecDeque<(FaultId, EventId)>>,
}

impl Awaited {
    pub(super) fn by(injector: &Injector) -> Awaited {
        let awaited = Awaited { logs: may_log(), ..Awaited::default() };
        awaited.await_events(injector.awaits_events());
        awaited
    }

    fn await_events(&self, events: bool) {
        self.events.set(events);
        self.tells.set(events || self.logs);
    }

    /// Whether a log or a fault is to be told of an event.
    #[inline]
    pub(super) fn tells(&self) -> bool {
        self.tells.get()
    }

    /// Sets nothing off any more.
    pub(super) fn stop(&self) {
        self.await_events(false);
    }

    fn set_off(&self, faults: impl IntoIterator<Item = FaultId>, by: EventId) {
        self.strikes.borrow_mut().extend(faults.into_iter().map(|fault| (fault, by)));
        self.any.set(!self.strikes.borrow().is_empty());
    }

    fn next(&self) -> Option<(FaultId, EventId)> {
        let next = self.strikes.borrow_mut().pop_front();
        self.any.set(next.is_some());
        next
    }
}

impl World {
    /// The strike of a fault that was queued is due.
    pub(super) fn strike_when_due(&self, fault: FaultId) {
        let set_off_by = self.injector.borrow_mut().take_scheduled(fault);
        self.set_cause(set_off_by);
        self.strike(fault);
    }

    fn strike(&self, fault: FaultId) {
        self.set_host_clocks();
        self.injector.borrow_mut().begin(fault);
        let inject = self.injector.borrow().inject(fault);
        let began = self.record(inject.node(), What::FaultBegan { fault });
        self.note_fault(fault, false, began);
        inject.begin(self, fault);
        match inject.lasting() {
            Some(span) => {
                self.push(self.now() + span, Due::Heal(fault));
            }
            None if inject.ends_itself() => {}
            None => return self.heal(fault),
        }
        if let Some(span) = inject.beat_after(0) {
            self.push(self.now() + span, Due::Beat(fault));
        }
    }

    /// Something happens in the middle of a fault, if it hasn't healed.
    pub(super) fn beat(&self, fault: FaultId) {
        if self.injector.borrow_mut().beats(fault).is_none() {
            return;
        }
        let inject = self.injector.borrow().inject(fault);
        inject.beat(self, fault);
        let mut injector = self.injector.borrow_mut();
        let beats = injector.beats(fault).expect("it was just in force");
        *beats += 1;
        if let Some(span) = inject.beat_after(*beats) {
            self.push(self.now() + span, Due::Beat(fault));
        }
    }

    /// How often something has happened in the middle of a fault that is in force.
    pub(crate) fn beats(&self, fault: FaultId) -> u32 {
        self.injector.borrow_mut().beats(fault).map_or(0, |beats| *beats)
    }

    /// Ends a fault.
    pub(super) fn heal(&self, fault: FaultId) {
        let inject = self.injector.borrow().inject(fault);
        let ended = self.record(inject.node(), What::FaultEnded { fault });
        self.note_fault(fault, true, ended);
        inject.end(self, fault);
        self.injector.borrow_mut().end(fault);
    }

    /// Has `fault` strike now, or after its delay; it was set off `by` an event.
    fn set_off(&self, fault: FaultId, by: EventId) {
        let delay = self.injector.borrow_mut().set_off(fault, by);
        if delay > Span::ZERO {
            self.push(self.now() + delay, Due::Strike(fault));
            return;
        }
        self.set_cause(Some(by));
        self.strike(fault);
    }

    /// Lets the faults strike that waited for `node` to pass `point`.
    pub(super) fn strike_at_point(&self, node: NodeId, point: Point) {
        if self.injector.borrow().awaits_points() {
            let passing = self.cause();
            let struck = self.injector.borrow_mut().point_passed(self.now(), node, point);
            for fault in struck {
                self.set_off(fault, passing.expect("the passing of a point was just recorded"));
            }
            self.set_cause(passing);
        }
        self.strike_awaited();
    }

    /// Tells a log of the event that was just recorded, if there is one, and notes the faults that are set off by it.
    #[cold]
    pub(super) fn tell(&self, id: EventId) {
        let Some(event) = self.recorder.borrow().newest().copied() else { return };
        if self.awaited.logs {
            log(self.start(), &self.node(event.node).name, id, &event);
        }
        if self.awaited.events.get() {
            let mut injector = self.injector.borrow_mut();
            self.awaited.set_off(injector.event_happened(&event), id);
            self.awaited.await_events(injector.awaits_events());
        }
    }

    /// Notes the faults that are set off by the beginning of `fault`, or by its end.
    fn note_fault(&self, fault: FaultId, ended: bool, id: EventId) {
        let mut injector = self.injector.borrow_mut();
        if injector.awaits_faults() {
            self.awaited.set_off(injector.fault_changed(fault, ended), id);
        }
    }

    /// Lets the faults strike that were set off in the step that is just over.
    #[inline]
    pub(super) fn strike_awaited(&self) {
        if self.awaited.any.get() {
            self.strike_all_awaited();
        }
    }

    /// Whether faults were set off that are yet to strike.
    #[inline]
    pub(super) fn has_strikes(&self) -> bool {
        self.awaited.any.get()
    }

    /// Lets those faults strike before `node` takes another step, and says whether it mustn't.
    #[inline]
    pub(super) fn is_halted(&self, node: NodeId) -> bool {
        if !self.awaited.any.get() {
            return false;
        }
        self.strike_all_awaited();
        let node = self.node(node);
        node.halts_task(self.tasks.running_kind()) || node.is_down() || self.is_ended()
    }

    #[cold]
    fn strike_all_awaited(&self) {
        let cause = self.cause();
        while let Some((fault, by)) = self.awaited.next() {
            self.set_off(fault, by);
        }
        self.set_cause(cause);
    }

    /// Whether any fault is on the network.
    #[inline]
    pub(super) fn network_has_rules(&self) -> bool {
        self.network.borrow().has_rules()
    }

    /// Whether a fault keeps everything from getting from `from` to `to`, the news of a broken connection too.
    pub(super) fn is_cut_off(&self, from: NodeId, to: NodeId) -> bool {
        self.network.borrow().is_cut_off(from, to)
    }

    /// A number and a latency for a message, and what faults do to it.
    pub(super) fn draw_by_rules(&self, sending: &Sending) -> (MessageId, Span, Vec<Touch>) {
        let number = self.next_message();
        let (latency, touches) = self.network.borrow_mut().send_by_rules(self.now(), sending);
        (number, latency, touches)
    }

    pub(super) fn next_message(&self) -> MessageId {
        MessageId(self.network.borrow_mut().next_message())
    }

    pub(super) fn draw_latency(&self, from: NodeId, to: NodeId) -> Span {
        self.network.borrow_mut().latency(from, to)
    }

    /// From now on `effect` happens to the messages over `links`, because of `fault`.
    pub(crate) fn add_rule(&self, fault: FaultId, links: &Links, effect: Effect) {
        let key = self.injector.borrow().key(fault, links, self.named_nodes());
        self.network.borrow_mut().add_rule(fault, links.clone(), effect, key);
    }

    /// From now on `fault` waits for a message.
    pub(crate) fn want_message(&self, fault: FaultId, wanted: Wanted) {
        self.network.borrow_mut().want(fault, wanted);
    }

    /// Ends what `fault` does to messages.
    pub(crate) fn remove_rule(&self, fault: FaultId) {
        self.network.borrow_mut().remove_rule(fault);
    }
}
