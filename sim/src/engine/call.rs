//! Calls from workers to services: one request, one answer, each a message with a latency of its own.

mod by_rules;
mod calling;
mod course;
mod halves;
mod hanging;
mod leaving;
mod parked;
mod service;

pub(crate) use calling::{Calling, call};
pub use service::{Answer, Service, ServiceContext, Ticket};

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use self::course::{Arrival, Call, Coming, Under};
use self::halves::{Deposed, Half};
use self::hanging::Hanging;
pub(super) use self::leaving::{Leaving, leaves_after};
use self::service::Later;
use super::World;
use super::past::Past;
use super::queue::Due;
use super::tasks::Wakeup;
use crate::id::{EventId, FaultId, NodeId};
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
    /// The step that hangs in a write, if one does.
    hanging: RefCell<Option<Hanging<S>>>,
    /// Lives below this one were of primaries that were deposed.
    first_life: Cell<u32>,
    calls: RefCell<Calls<S>>,
}

/// A call, by the house that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId {
    pub(crate) house: u16,
    pub(super) slot: u32,
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

/// The calls to one service, in slots that are used again, and where they are: a call is nothing that is moved about.
struct Calls<S: Service> {
    slots: Vec<Call>,
    /// How far each of them has got.
    stages: Vec<Stage<S>>,
    free: Vec<u32>,
}

/// What is left of a call that is over. Its end may run code that isn't ours, so nothing may be borrowed then.
type Remains<S> = (Stage<S>, Option<Wakeup>);

impl<S: Service> Calls<S> {
    // Inlined so that what is asked is made where it stays.
    #[inline(always)]
    fn add(&mut self, from: NodeId, caller: u32, about: &'static str, request: S::Request) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.make_room(from));
        self.get(slot).begin(from, caller, about);
        *self.stage(slot) = Stage::Asked(request);
        slot
    }

    #[cold]
    fn make_room(&mut self, from: NodeId) -> u32 {
        self.slots.push(Call::new(from));
        self.stages.push(Stage::Handled);
        (self.slots.len() - 1) as u32
    }

    #[inline]
    fn get(&mut self, slot: u32) -> &mut Call {
        &mut self.slots[slot as usize]
    }

    #[inline]
    fn stage(&mut self, slot: u32) -> &mut Stage<S> {
        &mut self.stages[slot as usize]
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
        if !self.get(slot).arrived {
            return None;
        }
        self.free.push(slot);
        match std::mem::replace(self.stage(slot), Stage::Handled) {
            Stage::Returning(answer) => Some(answer),
            _ => unreachable!("what has arrived is an answer"),
        }
    }

    fn remove(&mut self, slot: u32) -> Remains<S> {
        self.free.push(slot);
        let call = self.get(slot);
        call.under = Under::Nothing;
        let wakeup = call.wakeup.take();
        (std::mem::replace(self.stage(slot), Stage::Handled), wakeup)
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
    fn bury(&self, world: &World, fault: Option<FaultId>);
    /// From now on it is noted whether the service writes, or no longer.
    fn watch_writes(&self, begin: bool);
    /// The write in which the service hangs, if it does, is done; it hung because of `fault`, for as long as `late` says.
    fn finish_write(&self, world: &World, fault: FaultId, late: Span);
    /// Whoever hangs in a write, if somebody does, is gone.
    fn give_write_up(&self, world: &World);
}

impl<S: Service> Address<S> {
    /// `reach` is how far back faults may take what it keeps on disk.
    pub(crate) fn new(number: u16, node: NodeId, mut service: S, reach: Option<Span>) -> Address<S> {
        let calls = RefCell::new(Calls { slots: Vec::new(), stages: Vec::new(), free: Vec::new() });
        if reach.is_some() {
            service.journal().open();
        }
        let past = RefCell::new(reach.map(Past::new));
        let (service, deposed, first_life) = (RefCell::new(service), RefCell::new(None), Cell::new(0));
        let hanging = RefCell::new(None);
        Address(Rc::new(House { number, node, service, past, deposed, hanging, first_life, calls }))
    }

    pub(crate) fn house(&self) -> Rc<dyn AnyHouse> {
        self.0.clone()
    }
}

impl<S: Service> House<S> {
    /// Loses the request, and tells the caller that the connection broke, after as long as the request took to get here;
    /// unless nothing gets through to the caller, which then has to find out for itself.
    fn break_off(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.lose(world, self.node, call.from);
        call.under = Under::News;
        let (from, latency) = (call.from, call.latency);
        *calls.stage(id.slot) = Stage::Returning(Err(Broken));
        if world.is_cut_off(self.node, from) {
            let over = calls.fall_silent(id.slot);
            drop(calls);
            drop(over);
            return;
        }
        world.push(world.now() + latency, Due::Answer(id));
    }

    /// Does with a request what the service has said.
    #[inline]
    fn follow(&self, world: &World, id: CallId, half: Half, answer: Answer<S>) {
        match answer {
            Answer::Now(response) => self.reply(world, id, half, response),
            Answer::After(span, later) => {
                let mut calls = self.calls.borrow_mut();
                *calls.stage(id.slot) = Stage::PutOff(later);
                let call = calls.get(id.slot);
                call.incarnation = self.life_of(world, half);
                if let Some(newest) = world.cause() {
                    call.newest = newest;
                }
                world.push(world.now() + span, Due::Finish(id));
            }
            Answer::Parked => self.park(world, id, half),
        }
    }

    fn reply(&self, world: &World, id: CallId, half: Half, response: S::Response) {
        let mut calls = self.calls.borrow_mut();
        *calls.stage(id.slot) = Stage::Returning(Ok(response));
        let call = calls.get(id.slot);
        call.incarnation = self.life_of(world, half);
        call.under = Under::Answer;
        call.send(world, self.node, call.from, Due::Answer(id));
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
        world.set_active(self.node);
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        let (half, from) = (self.half_that_had(call.incarnation), call.from);
        match call.come_in(world, self.node, id, half == Half::Gone) {
            Coming::NotYet => return,
            Coming::Lost => {
                drop(calls);
                return self.break_off(world, id);
            }
            Coming::TakenIn => {}
        }
        let Stage::Asked(request) = std::mem::replace(calls.stage(id.slot), Stage::Handled) else {
            unreachable!("a request arrives once, with what was asked");
        };
        drop(calls);
        let context = ServiceContext::new(world, self.node, from).with(Ticket(id.slot));
        let answer = self.on(half, &context, |service| service.handle(request, &context));
        if world.node(self.node).disk.hangs() {
            return self.wait_for_write(world, id, half, answer);
        }
        self.follow(world, id, half, answer);
    }

    fn finish(&self, world: &World, id: CallId) {
        world.set_active(self.node);
        let node = world.node(self.node);
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        let Some(half) = self.half_that_has(world, call.incarnation) else {
            drop(calls);
            return self.break_off(world, id);
        };
        if node.has_all_wait() {
            node.held.borrow_mut().push(Due::Finish(id));
            return;
        }
        let (newest, from) = (call.newest, call.from);
        let Stage::PutOff(later) = std::mem::replace(calls.stage(id.slot), Stage::Handled) else {
            // It was parked, and whoever had it in its hands no longer has.
            drop(calls);
            return self.break_off(world, id);
        };
        world.set_cause(Some(newest));
        let context = ServiceContext::new(world, self.node, from);
        drop(calls);
        let response = self.on(half, &context, |service| later(service, &context));
        if node.disk.hangs() {
            return self.wait_for_write(world, id, half, Answer::Now(response));
        }
        self.reply(world, id, half, response);
    }

    fn answer(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        // Who dies takes its connections with it, and with them what was still under way.
        let is_lost = call.under == Under::Answer && self.half_that_has(world, call.incarnation).is_none();
        let Some(Arrival { is_broken, is_heard }) = call.arrive(world, self.node, id, is_lost) else { return };
        let wakeup = if is_heard { call.wakeup.take() } else { None };
        let is_over = is_heard && call.abandoned;
        if is_broken {
            *calls.stage(id.slot) = Stage::Returning(Err(Broken));
        }
        let over = match is_heard {
            true => is_over.then(|| calls.remove(id.slot)),
            false => calls.fall_silent(id.slot),
        };
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

    fn bury(&self, world: &World, fault: Option<FaultId>) {
        self.bury_deposed(world, fault);
    }

    fn watch_writes(&self, begin: bool) {
        self.watch(begin);
    }

    fn finish_write(&self, world: &World, fault: FaultId, late: Span) {
        self.go_on(world, fault, late);
    }

    fn give_write_up(&self, world: &World) {
        self.take_hanging_back(world);
    }
}
