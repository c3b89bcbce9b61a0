//! Calls from workers to services: one request, one answer, each a message with a latency of its own.

mod by_rules;
mod calling;
mod halves;
mod leaving;
mod parked;
mod service;

pub(crate) use calling::{Calling, call};
pub use service::{Answer, Service, ServiceContext, Ticket};

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use self::halves::{Deposed, Half};
use self::leaving::Leaving;
use self::service::Later;
use super::World;
use super::network::Sending;
use super::past::Past;
use super::queue::Due;
use super::tasks::Wakeup;
use crate::history::What;
use crate::id::{EventId, FaultId, MessageId, NodeId};
use crate::time::{Span, TrueTime};

/// Where a service is.
pub struct Address<S: Service>(Rc<House<S>>);

impl<S: Service> Clone for Address<S> {
    fn clone(&self) -> Address<S> {
        Address(self.0.clone())
    }
}

/// A service on its node, with the calls to it.
struct House<S: Service> {
    number: u16,
    node: NodeId,
    service: RefCell<S>,
    /// How to take back what it changed on disk, if a fault of the plan may ask for that.
    past: RefCell<Option<Past<S::Undo>>>,
    /// The primary that was deposed and goes on answering, if there is one.
    deposed: RefCell<Option<Deposed<S>>>,
    /// Lives below this one were of primaries that were deposed.
    first_life: Cell<u32>,
    calls: RefCell<Calls<S>>,
}

/// A call, by the house that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId {
    pub(crate) house: u16,
    slot: u32,
}

/// The connection broke before an answer came. The request may have been carried out, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// How far a call has got.
enum Stage<S: Service> {
    /// The request is on its way, or about to be sent.
    Asked(S::Request),
    /// The service has put the rest off.
    PutOff(Later<S>),
    /// The answer is on its way, or has arrived.
    Returning(Result<S::Response, Broken>),
    /// It is being handled, or over.
    Handled,
}

/// A call under way.
struct Call<S: Service> {
    from: NodeId,
    about: &'static str,
    stage: Stage<S>,
    /// Whether the answer waits for the caller.
    arrived: bool,
    /// From the sending of the request to the arrival of the answer: something in the queue, or held back, has its
    /// number.
    under_way: bool,
    /// Whether the caller no longer waits. A copy that the network made of a request never had one.
    abandoned: bool,
    /// That the caller has waited long enough.
    timed_out: Option<EventId>,
    wakeup: Option<Wakeup>,
    message: MessageId,
    /// The sending of the message that is under way, then the delivery of the answer.
    newest: EventId,
    latency: Span,
    leaving: Leaving,
    /// Which life of the service it was sent to, or is in the hands of.
    incarnation: u32,
    /// Which life of the caller it comes from.
    caller: u32,
}

/// The calls to one service, in slots that are used again, and where they are: a call is nothing that is moved about.
struct Calls<S: Service> {
    slots: Vec<Call<S>>,
    free: Vec<u32>,
}

/// What is left of a call that is over. Its end may run code that isn't ours, so nothing may be borrowed then.
type Remains<S> = (Stage<S>, Option<Wakeup>);

impl<S: Service> Calls<S> {
    fn add(&mut self, from: NodeId, caller: u32, about: &'static str, request: S::Request) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.make_room(from));
        let call = self.get(slot);
        call.from = from;
        call.caller = caller;
        call.about = about;
        call.stage = Stage::Asked(request);
        call.arrived = false;
        call.under_way = false;
        call.abandoned = false;
        call.timed_out = None;
        slot
    }

    #[cold]
    fn make_room(&mut self, from: NodeId) -> u32 {
        self.slots.push(Call {
            from,
            about: "",
            stage: Stage::Handled,
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
        });
        (self.slots.len() - 1) as u32
    }

    fn get(&mut self, slot: u32) -> &mut Call<S> {
        &mut self.slots[slot as usize]
    }

    /// Its caller is gone: gives out what is left if nothing of it is under way any more.
    fn abandon(&mut self, slot: u32) -> Option<Remains<S>> {
        let call = self.get(slot);
        call.abandoned = true;
        if call.under_way { None } else { Some(self.remove(slot)) }
    }

    /// Nothing of it is under way any more, and nothing will come: gives out what is left if its caller is gone.
    fn fall_silent(&mut self, slot: u32) -> Option<Remains<S>> {
        let call = self.get(slot);
        call.under_way = false;
        if call.abandoned { Some(self.remove(slot)) } else { None }
    }

    /// The answer, if it has arrived; then the call is over.
    #[inline]
    fn take_answer(&mut self, slot: u32) -> Option<Result<S::Response, Broken>> {
        let call = self.get(slot);
        if !call.arrived {
            return None;
        }
        let stage = std::mem::replace(&mut call.stage, Stage::Handled);
        self.free.push(slot);
        match stage {
            Stage::Returning(answer) => Some(answer),
            _ => unreachable!("what has arrived is an answer"),
        }
    }

    fn remove(&mut self, slot: u32) -> Remains<S> {
        self.free.push(slot);
        let call = self.get(slot);
        (std::mem::replace(&mut call.stage, Stage::Handled), call.wakeup.take())
    }
}

/// A house whatever its service, as the world holds it.
pub(crate) trait AnyHouse {
    /// The service's node.
    fn node(&self) -> NodeId;
    /// The request of a call has arrived.
    fn request(&self, world: &World, call: CallId);
    /// The time for what the service had put off has come.
    fn finish(&self, world: &World, call: CallId);
    /// The answer, or the news that the connection broke, has arrived.
    fn answer(&self, world: &World, call: CallId);
    /// The caller of a call has waited long enough, as `event` says.
    fn time_out(&self, world: &World, call: CallId, event: EventId);
    /// The service's process dies, and what it had in memory is gone.
    fn crash(&self);
    /// The network card of `sender` stops: what it was given and has not sent yet gets stuck.
    fn hold_back(&self, world: &World, sender: NodeId);
    /// The network card of `sender` goes on: what was stuck leaves.
    fn let_go(&self, world: &World, sender: NodeId);
    /// What was on disk at `at` is on disk again.
    fn go_back_to(&self, at: TrueTime);
    /// A replica that has what was on disk at `at`, or all of it, becomes the service. The primary goes on answering the
    /// `old` nodes, until `fault` ends.
    fn split(&self, world: &World, fault: FaultId, old: &[NodeId], at: Option<TrueTime>);
    /// The primary that was deposed, by `fault` or by any, is gone.
    fn bury(&self, fault: Option<FaultId>);
}

impl<S: Service> Address<S> {
    /// `reach` is how far back faults may take what it keeps on disk.
    pub(crate) fn new(number: u16, node: NodeId, mut service: S, reach: Option<Span>) -> Address<S> {
        let calls = RefCell::new(Calls { slots: Vec::new(), free: Vec::new() });
        if reach.is_some() {
            service.journal().open();
        }
        let past = RefCell::new(reach.map(Past::new));
        let (service, deposed, first_life) = (RefCell::new(service), RefCell::new(None), Cell::new(0));
        Address(Rc::new(House { number, node, service, past, deposed, first_life, calls }))
    }

    pub(crate) fn house(&self) -> Rc<dyn AnyHouse> {
        self.0.clone()
    }
}

impl<S: Service> Call<S> {
    /// Sends the message that `stage` holds from `from` to `to`; it will have arrived when `due` is. What comes back is
    /// the fault that has a request arrive twice, if one has.
    #[inline]
    fn send(&mut self, world: &World, from: NodeId, to: NodeId, answer: bool, due: Due) -> Option<FaultId> {
        if world.network_has_rules() {
            return self.send_by_rules(world, Sending { from, to, about: self.about, answer }, due);
        }
        self.send_freely(world, from, to, answer, due);
        None
    }

    #[inline]
    fn send_freely(&mut self, world: &World, from: NodeId, to: NodeId, answer: bool, due: Due) {
        let (message, latency) = world.draw_message(from, to);
        self.newest = world.record(from, What::MessageSent { message, to, about: self.about, answer, latency });
        self.message = message;
        self.latency = latency;
        self.leaving = Leaving::OnTime;
        self.under_way = true;
        world.push(world.now() + latency, due);
    }

    /// Notes that the message was taken in at `node`; what follows is caused by that.
    fn take_in(&mut self, world: &World, node: NodeId, from: NodeId) {
        world.set_cause(Some(self.newest));
        self.newest = world.record(node, What::MessageDelivered { message: self.message, from });
    }

    /// Notes that the message never was taken in at `node`; what follows is caused by that.
    fn lose(&mut self, world: &World, node: NodeId, from: NodeId) {
        world.set_cause(Some(self.newest));
        self.newest = world.record(node, What::MessageLost { message: self.message, from });
    }
}

impl<S: Service> House<S> {
    /// Loses the request, and tells the caller that the connection broke, after as long as the request took to get here;
    /// unless nothing gets through to the caller, which then has to find out for itself.
    fn break_off(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.lose(world, self.node, call.from);
        call.stage = Stage::Returning(Err(Broken));
        if world.is_cut_off(self.node, call.from) {
            let over = calls.fall_silent(id.slot);
            drop(calls);
            drop(over);
            return;
        }
        world.push(world.now() + call.latency, Due::Answer(id));
    }

    fn reply(&self, world: &World, id: CallId, half: Half, response: S::Response) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.incarnation = self.life_of(world, half);
        call.stage = Stage::Returning(Ok(response));
        call.send(world, self.node, call.from, true, Due::Answer(id));
        // An answer that is lost leaves nothing behind if nobody waits for it.
        let over = if call.under_way { None } else { calls.fall_silent(id.slot) };
        drop(calls);
        drop(over);
    }
}

impl<S: Service> AnyHouse for House<S> {
    fn node(&self) -> NodeId {
        self.node
    }

    fn request(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        if call.is_late(world, Due::Request(id)) {
            return;
        }
        let node = world.node(self.node);
        let half = self.half_that_had(call.incarnation);
        if half == Half::Gone || node.is_down() {
            drop(calls);
            return self.break_off(world, id);
        }
        if node.is_paused() {
            node.held.borrow_mut().push(Due::Request(id));
            return;
        }
        let from = call.from;
        call.take_in(world, self.node, from);
        let Stage::Asked(request) = std::mem::replace(&mut call.stage, Stage::Handled) else {
            unreachable!("a request arrives once, with what was asked");
        };
        drop(calls);
        let context = ServiceContext::new(world, self.node, from).with(Ticket(id.slot));
        let answer = self.on(half, &context, |service| service.handle(request, &context));
        match answer {
            Answer::Now(response) => self.reply(world, id, half, response),
            Answer::After(span, later) => {
                let mut calls = self.calls.borrow_mut();
                let call = calls.get(id.slot);
                call.stage = Stage::PutOff(later);
                call.incarnation = self.life_of(world, half);
                if let Some(newest) = world.cause() {
                    call.newest = newest;
                }
                world.push(world.now() + span, Due::Finish(id));
            }
            Answer::Parked => self.park(world, id, half),
        }
    }

    fn finish(&self, world: &World, id: CallId) {
        let node = world.node(self.node);
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        let Some(half) = self.half_that_has(world, call.incarnation) else {
            drop(calls);
            return self.break_off(world, id);
        };
        if node.is_paused() {
            node.held.borrow_mut().push(Due::Finish(id));
            return;
        }
        let Stage::PutOff(later) = std::mem::replace(&mut call.stage, Stage::Handled) else {
            // It was parked, and whoever had it in its hands no longer has.
            drop(calls);
            return self.break_off(world, id);
        };
        world.set_cause(Some(call.newest));
        let context = ServiceContext::new(world, self.node, call.from);
        drop(calls);
        let response = self.on(half, &context, |service| later(service, &context));
        self.reply(world, id, half, response);
    }

    fn answer(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        if call.is_late(world, Due::Answer(id)) {
            return;
        }
        let from = call.from;
        let node = world.node(from);
        if !node.takes_messages() {
            node.held.borrow_mut().push(Due::Answer(id));
            return;
        }
        let Stage::Returning(answer) = &mut call.stage else {
            unreachable!("an answer arrives once, with what was answered");
        };
        if answer.is_ok() {
            // Who dies takes its connections with it, and with them what was still under way.
            let broken = self.half_that_has(world, call.incarnation).is_none();
            if broken || node.incarnation.get() != call.caller {
                *answer = Err(Broken);
                call.lose(world, from, self.node);
                if world.is_cut_off(self.node, from) {
                    let over = calls.fall_silent(id.slot);
                    drop(calls);
                    drop(over);
                    return;
                }
            } else {
                call.take_in(world, from, self.node);
            }
        }
        call.arrived = true;
        call.under_way = false;
        if !call.abandoned {
            world.wait_no_more(from, id);
        }
        if let Some(Wakeup::Task(task)) = call.wakeup
            && !call.abandoned
        {
            call.wakeup = None;
            return world.tasks.wake_task(task);
        }
        let wakeup = call.wakeup.take();
        let over = if call.abandoned { Some(calls.remove(id.slot)) } else { None };
        drop(calls);
        drop(over);
        if let Some(wakeup) = wakeup {
            world.tasks.wake(wakeup);
        }
    }

    fn time_out(&self, world: &World, id: CallId, event: EventId) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.timed_out = Some(event);
        let wakeup = call.wakeup.take();
        drop(calls);
        if let Some(wakeup) = wakeup {
            world.tasks.wake(wakeup);
        }
    }

    fn crash(&self) {
        self.service.borrow_mut().crash();
    }

    fn hold_back(&self, world: &World, sender: NodeId) {
        self.calls.borrow_mut().hold_back(world, self.node, sender);
    }

    fn let_go(&self, world: &World, sender: NodeId) {
        self.calls.borrow_mut().let_go(world, (self.number, self.node), sender);
    }

    fn go_back_to(&self, at: TrueTime) {
        let mut past = self.past.borrow_mut();
        let past = past.as_mut().expect("a service that is taken back has a past, because the plan says so");
        past.take_back(at, &mut *self.service.borrow_mut());
    }

    fn split(&self, world: &World, fault: FaultId, old: &[NodeId], at: Option<TrueTime>) {
        self.depose(world, fault, old);
        if let Some(at) = at {
            self.go_back_to(at);
        }
        // The replica never had what the primary keeps in memory.
        self.crash();
    }

    fn bury(&self, fault: Option<FaultId>) {
        self.bury_deposed(fault);
    }
}
