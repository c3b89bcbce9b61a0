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

use std::cell::{Cell, RefCell, RefMut};
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
    past: Option<RefCell<Past<S::Undo>>>,
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

/// The calls to one service, in slots that are used again, and where they are: a call is nothing that is moved about.
struct Calls<S: Service> {
    slots: Vec<Slot<S>>,
    /// The slot that became free last.
    free: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

/// A call and what of it is there.
struct Slot<S: Service> {
    call: Call,
    /// The request, until it has arrived.
    request: Option<S::Request>,
    /// What the service has put off.
    later: Option<Later<S>>,
    /// The answer that is on its way, or has arrived.
    answer: Option<Reply<S>>,
    /// Of a slot that is free, the next one that is.
    next_free: u32,
}

/// What comes back.
type Reply<S> = Result<<S as Service>::Response, Broken>;

/// Puts `value` where nothing is. Were something dropped for it, it would be made elsewhere first, and then moved.
#[inline(always)]
fn put<T>(place: &mut Option<T>, value: T) {
    debug_assert!(place.is_none(), "the last call in this slot left something behind");
    std::mem::forget(place.replace(value));
}

/// What is left of a call that is over. Its end may run code that isn't ours, so nothing may be borrowed then.
type Remains<S> = (Option<<S as Service>::Request>, Option<Later<S>>, Option<Reply<S>>, Option<Wakeup>);

impl<S: Service> Calls<S> {
    // Inlined so that what is asked is made where it stays.
    #[inline(always)]
    fn add(&mut self, from: NodeId, caller: u32, about: &'static str, request: S::Request) -> u32 {
        if self.free == NONE {
            self.make_room(from);
        }
        let number = self.free;
        let slot = self.at(number);
        slot.call.begin(from, caller, about);
        put(&mut slot.request, request);
        self.free = slot.next_free;
        number
    }

    #[cold]
    fn make_room(&mut self, from: NodeId) {
        self.free = self.slots.len() as u32;
        self.slots.push(Slot { call: Call::new(from), request: None, later: None, answer: None, next_free: NONE });
    }

    #[inline]
    fn at(&mut self, slot: u32) -> &mut Slot<S> {
        &mut self.slots[slot as usize]
    }

    #[inline]
    fn get(&mut self, slot: u32) -> &mut Call {
        &mut self.at(slot).call
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

    /// The answer, which has arrived; then the call is over.
    #[inline(always)]
    fn take_answer(&mut self, slot: u32) -> Reply<S> {
        let Slot { answer, next_free, .. } = &mut self.slots[slot as usize];
        *next_free = std::mem::replace(&mut self.free, slot);
        answer.take().unwrap_or_else(|| unreachable!("what has arrived is an answer"))
    }

    fn remove(&mut self, slot: u32) -> Remains<S> {
        let Slot { call, request, later, answer, next_free } = &mut self.slots[slot as usize];
        *next_free = std::mem::replace(&mut self.free, slot);
        call.under = Under::Nothing;
        (request.take(), later.take(), answer.take(), call.wakeup.take())
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
        let calls = RefCell::new(Calls { slots: Vec::new(), free: NONE });
        if reach.is_some() {
            service.journal().open();
        }
        let past = reach.map(|reach| RefCell::new(Past::new(reach)));
        let (service, deposed, first_life) = (RefCell::new(service), RefCell::new(None), Cell::new(0));
        let hanging = RefCell::new(None);
        Address(Rc::new(House { number, node, service, past, deposed, hanging, first_life, calls }))
    }

    pub(crate) fn house(&self) -> Box<dyn AnyHouse> {
        Box::new(self.0.clone())
    }
}

impl<S: Service> House<S> {
    /// Loses the request, and tells the caller that the connection broke, after as long as the request took to get here;
    /// unless nothing gets through to the caller, which then has to find out for itself.
    fn break_off(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let Slot { call, request, later, answer, .. } = calls.at(id.slot);
        call.lose(world, self.node, call.from);
        call.under = Under::News;
        let (from, latency) = (call.from, call.latency);
        (*request, *later, *answer) = (None, None, Some(Err(Broken)));
        if world.is_cut_off(self.node, from) {
            let over = calls.fall_silent(id.slot);
            drop(calls);
            drop(over);
            return;
        }
        world.push(world.now() + latency, Due::Answer(id));
    }

    /// A request is for a half that was deposed, or comes while the disk takes no writes.
    #[cold]
    fn request_rarely(&self, id: CallId, half: Half, request: S::Request, context: &ServiceContext<'_>) {
        let world = context.world();
        let answer = self.on(half, context, |service| service.handle(request, context));
        if world.node(self.node).disk.hangs() {
            return self.wait_for_write(world, id, half, answer);
        }
        self.follow(world, id, half, answer);
    }

    /// Does with a request what the service has said.
    #[cold]
    fn follow(&self, world: &World, id: CallId, half: Half, answer: Answer<S>) {
        match answer {
            Answer::Now(response) => self.reply(world, id, half, response),
            Answer::After(span, later) => {
                let mut calls = self.calls.borrow_mut();
                let slot = calls.at(id.slot);
                slot.later = Some(later);
                let call = &mut slot.call;
                call.incarnation = self.life_of(world, half);
                if let Some(newest) = world.cause() {
                    call.newest = newest;
                }
                world.push(world.now() + span, Due::Finish(id));
            }
            Answer::Parked => self.park(world, id, half),
        }
    }

    #[inline(always)]
    fn reply(&self, world: &World, id: CallId, half: Half, response: S::Response) {
        let mut calls = self.calls.borrow_mut();
        let Slot { call, answer, .. } = calls.at(id.slot);
        put(answer, Ok(response));
        call.incarnation = self.life_of(world, half);
        call.under = Under::Answer;
        call.send(world, self.node, call.from, id);
        if !call.under_way {
            fall_silent(calls, id.slot);
        }
    }
}

/// An answer was lost, which leaves nothing behind if nobody waits for it.
#[cold]
fn fall_silent<S: Service>(mut calls: RefMut<'_, Calls<S>>, slot: u32) {
    let over = calls.fall_silent(slot);
    drop(calls);
    drop(over);
}

impl<S: Service> AnyHouse for Rc<House<S>> {
    fn node(&self) -> NodeId {
        self.node
    }

    fn request(&self, world: &World, id: CallId) {
        world.set_active(self.node);
        let node = world.node(self.node);
        let mut calls = self.calls.borrow_mut();
        let Slot { call, request, .. } = calls.at(id.slot);
        let (half, from) = (self.half_that_had(call.incarnation), call.from);
        match call.come_in(world, (self.node, node), id, half == Half::Gone) {
            Coming::NotYet => return,
            Coming::Lost => {
                drop(calls);
                return self.break_off(world, id);
            }
            Coming::TakenIn => {}
        }
        let request =
            request.take().unwrap_or_else(|| unreachable!("a request arrives once, with what was asked"));
        drop(calls);
        let context = ServiceContext::of_request(world, (self.node, node), from, Ticket(id.slot));
        if half != Half::Primary || context.is_withheld() {
            return self.request_rarely(id, half, request, &context);
        }
        // What `on` does, without leaving, so that an answer isn't made in one place and moved to another.
        let mut service = self.service.borrow_mut();
        let answer = service.handle(request, &context);
        self.note_done(&mut service, &context);
        drop(service);
        match answer {
            Answer::Now(response) => self.reply(world, id, half, response),
            rare => self.follow(world, id, half, rare),
        }
    }

    fn finish(&self, world: &World, id: CallId) {
        world.set_active(self.node);
        let node = world.node(self.node);
        let mut calls = self.calls.borrow_mut();
        let Slot { call, later, .. } = calls.at(id.slot);
        let Some(half) = self.half_that_has(world, call.incarnation) else {
            drop(calls);
            return self.break_off(world, id);
        };
        if node.has_all_wait() {
            node.held.borrow_mut().push(Due::Finish(id));
            return;
        }
        let (newest, from) = (call.newest, call.from);
        let Some(later) = later.take() else {
            // It was parked, and whoever had it in its hands no longer has.
            drop(calls);
            return self.break_off(world, id);
        };
        world.set_cause(Some(newest));
        let context = ServiceContext::new(world, self.node, from);
        drop(calls);
        let response = self.on(half, &context, |service| later(service, &context));
        if context.is_withheld() && node.disk.hangs() {
            return self.wait_for_write(world, id, half, Answer::Now(response));
        }
        self.reply(world, id, half, response);
    }

    fn answer(&self, world: &World, id: CallId) {
        let mut calls = self.calls.borrow_mut();
        let Slot { call, answer, .. } = calls.at(id.slot);
        // Who dies takes its connections with it, and with them what was still under way.
        let is_lost = call.under == Under::Answer && self.half_that_has(world, call.incarnation).is_none();
        let Some(Arrival { is_broken, is_heard }) = call.arrive(world, self.node, id, is_lost) else { return };
        let wakeup = if is_heard { call.wakeup.take() } else { None };
        let is_over = is_heard && call.abandoned;
        if is_broken {
            *answer = Some(Err(Broken));
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
        let past = self.past.as_ref().expect("a service that is taken back has a past, because the plan says so");
        past.borrow_mut().take_back(at, &mut *self.service.borrow_mut());
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
