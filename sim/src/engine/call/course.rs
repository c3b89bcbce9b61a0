//! The course of a call: its messages and who waits for it. What is asked and answered is kept beside it, so that this is
//! the same code for all services.

use super::CallId;
use super::leaving::Leaving;
use crate::engine::network::Sending;
use crate::engine::queue::Due;
use crate::engine::tasks::Wakeup;
use crate::engine::{Node, World};
use crate::history::What;
use crate::id::{EventId, FaultId, MessageId, NodeId};
use crate::time::Span;

/// What of a call goes from one node to the other, or is about to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Under {
    /// The request.
    Request,
    /// The answer; it may have arrived.
    Answer,
    /// The news that the connection broke, which is nobody's message.
    News,
    /// Nothing: the service has it in its hands, or it is over.
    Nothing,
}

/// A call under way.
pub(super) struct Call {
    pub(super) from: NodeId,
    pub(super) about: &'static str,
    pub(super) under: Under,
    /// Whether the answer waits for the caller.
    pub(super) arrived: bool,
    /// From the sending of the request to the arrival of the answer: something in the queue, or held back, has its
    /// number.
    pub(super) under_way: bool,
    /// Whether the caller no longer waits. A copy that the network made of a request never had one.
    pub(super) abandoned: bool,
    /// That the caller has waited long enough.
    pub(super) timed_out: Option<EventId>,
    pub(super) wakeup: Option<Wakeup>,
    pub(super) message: MessageId,
    /// The sending of the message that is under way, then the delivery of the answer.
    pub(super) newest: EventId,
    pub(super) latency: Span,
    pub(super) leaving: Leaving,
    /// Which life of the service it was sent to, or is in the hands of.
    pub(super) incarnation: u32,
    /// Which life of the caller it comes from.
    pub(super) caller: u32,
}

/// How a request has come.
pub(super) enum Coming {
    /// It hasn't yet, or waits for the end of a pause.
    NotYet,
    /// Nobody is there.
    Lost,
    /// It was taken in.
    TakenIn,
}

/// How a call has come back.
pub(super) struct Arrival {
    /// Whether its connection broke just now.
    pub(super) is_broken: bool,
    /// Whether the caller hears of it.
    pub(super) is_heard: bool,
}

impl Call {
    /// A place for calls.
    pub(super) fn new(from: NodeId) -> Call {
        Call {
            from,
            about: "",
            under: Under::Nothing,
            arrived: false,
            under_way: false,
            abandoned: false,
            timed_out: None,
            wakeup: None,
            message: MessageId(0),
            newest: EventId(0),
            latency: Span::ZERO,
            leaving: Leaving::OnTime,
            incarnation: 0,
            caller: 0,
        }
    }

    /// A new call of this life of the code on `from`.
    #[inline]
    pub(super) fn begin(&mut self, from: NodeId, caller: u32, about: &'static str) {
        self.from = from;
        self.caller = caller;
        self.about = about;
        self.under = Under::Request;
        self.arrived = false;
        self.under_way = false;
        self.abandoned = false;
        self.timed_out = None;
    }

    /// Sends the request or the answer of this call, which is `id`, from `from` to `to`. What comes back is the fault that has
    /// a request arrive twice, if one has.
    pub(super) fn send(&mut self, world: &World, from: NodeId, to: NodeId, id: CallId) -> Option<FaultId> {
        let answer = self.under == Under::Answer;
        if world.network_has_rules() {
            return self.send_by_rules(world, Sending { from, to, about: self.about, answer }, id);
        }
        let (message, latency) = world.draw_message(from, to);
        self.newest = world.record(from, What::MessageSent { message, to, about: self.about, answer, latency });
        self.message = message;
        self.latency = latency;
        self.leaving = Leaving::OnTime;
        self.under_way = true;
        world.push(world.now() + latency, if answer { Due::Answer(id) } else { Due::Request(id) });
        None
    }

    /// Notes that the message was taken in at `node`; what follows is caused by that.
    #[inline]
    fn take_in(&mut self, world: &World, node: NodeId, from: NodeId) {
        world.set_cause(Some(self.newest));
        self.newest = world.record(node, What::MessageDelivered { message: self.message, from });
    }

    /// Notes that the message never was taken in at `node`; what follows is caused by that.
    pub(super) fn lose(&mut self, world: &World, node: NodeId, from: NodeId) {
        world.set_cause(Some(self.newest));
        self.newest = world.record(node, What::MessageLost { message: self.message, from });
    }

    /// The request arrives at the service on `house`, unless it `is_lost`.
    #[inline(always)]
    pub(super) fn come_in(
        &mut self,
        world: &World,
        (house, node): (NodeId, &Node),
        id: CallId,
        is_lost: bool,
    ) -> Coming {
        if self.leaving.is_late(world, Due::Request(id)) {
            return Coming::NotYet;
        }
        if is_lost || node.is_down() {
            return Coming::Lost;
        }
        if node.has_all_wait() {
            node.held.borrow_mut().push(Due::Request(id));
            return Coming::NotYet;
        }
        self.take_in(world, house, self.from);
        self.under = Under::Nothing;
        Coming::TakenIn
    }

    /// What comes back from the service on `house` arrives, unless it `is_lost`. `None` if it doesn't yet, or if all is said
    /// and done: a task that waits for it itself is woken.
    #[inline(always)]
    pub(super) fn arrive(&mut self, world: &World, house: NodeId, id: CallId, is_lost: bool) -> Option<Arrival> {
        if self.leaving.is_late(world, Due::Answer(id)) {
            return None;
        }
        let from = self.from;
        let node = world.node(from);
        if !node.takes_messages() {
            node.held.borrow_mut().push(Due::Answer(id));
            return None;
        }
        let mut is_broken = false;
        if self.under == Under::Answer {
            is_broken = is_lost || node.incarnation.get() != self.caller;
            if is_broken {
                self.under = Under::News;
                self.lose(world, from, house);
                if world.is_cut_off(house, from) {
                    return Some(Arrival { is_broken, is_heard: false });
                }
            } else {
                self.take_in(world, from, house);
            }
        }
        self.arrived = true;
        self.under_way = false;
        if !self.abandoned {
            world.wait_no_more(node, id);
            if let Some(Wakeup::Task(task)) = self.wakeup
                && !is_broken
            {
                self.wakeup = None;
                world.tasks.wake_task(task);
                return None;
            }
        }
        Some(Arrival { is_broken, is_heard: true })
    }
}
