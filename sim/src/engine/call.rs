//! Calls from workers to services: one request, one answer, each a message with a latency of its own.

mod by_rules;
mod calling;
mod leaving;

pub(crate) use calling::{Calling, call};

use std::cell::RefCell;
use std::rc::Rc;

use self::leaving::Leaving;
use super::World;
use super::network::Sending;
use super::past::{Journal, Past};
use super::queue::Due;
use super::tasks::Wakeup;
use crate::history::{Row, What};
use crate::id::{Epoch, EventId, ExportId, FaultId, MessageId, NodeId};
use crate::time::{MonoTime, Span, TrueTime, WallTime};

/// A deterministic state machine on a node, called when a message is delivered.
///
/// Its state is what the service keeps; what of it survives a crash is up to [`Service::crash`].
pub trait Service: Sized + 'static {
    /// What it can be asked. A network that repeats itself may bring a request twice.
    type Request: Clone + 'static;
    /// What it answers. A worker that is put back to an earlier state is told what it was told before.
    type Response: Clone + 'static;
    /// How to take back one change of what it keeps on disk.
    type Undo: 'static;

    /// What a request is about, such as `ledger.write`: a name for histories and drawings.
    fn about(request: &Self::Request) -> &'static str;

    /// Handles a request. One call is one atomic step, also for what it does to the state.
    fn handle(&mut self, request: Self::Request, context: &ServiceContext<'_>) -> Answer<Self>;

    /// The process dies: what isn't on disk is gone. The default is that all of it is on disk.
    fn crash(&mut self) {}

    /// Where it notes each change of what it keeps on disk, before it makes it.
    fn journal(&mut self) -> &mut Journal<Self::Undo>;

    /// Takes back the newest change that wasn't taken back yet.
    fn undo(&mut self, undo: Self::Undo);
}

type Later<S> = Box<dyn FnOnce(&mut S, &ServiceContext<'_>) -> <S as Service>::Response>;

/// What a service does with a request.
pub enum Answer<S: Service> {
    /// It answers at once.
    Now(S::Response),
    /// It does the rest after a while, as a second step; other requests come in between, and a crash loses it.
    After(Span, Later<S>),
}

/// What a service sees beside its own state.
pub struct ServiceContext<'a> {
    world: &'a World,
    /// The service's own node.
    pub node: NodeId,
    /// Who asks.
    pub from: NodeId,
}

impl ServiceContext<'_> {
    pub(super) fn new(world: &World, node: NodeId, from: NodeId) -> ServiceContext<'_> {
        ServiceContext { world, node, from }
    }

    /// The service's own wall clock.
    pub fn wall(&self) -> WallTime {
        self.world.node(self.node).clocks.borrow().wall(self.world.now())
    }

    /// The service's own monotonic clock.
    pub fn mono(&self) -> MonoTime {
        self.world.node(self.node).clocks.borrow().mono(self.world.now())
    }

    /// Writes into the history what the service did.
    #[inline]
    pub fn record(&self, what: What) -> EventId {
        self.world.record(self.node, what)
    }

    /// Keeps the rows of an export that is about to be published.
    pub(crate) fn keep_export(&self, rows: Vec<Row>) -> ExportId {
        self.world.keep_export(rows)
    }

    /// A number for a new grant; see [`Epoch`].
    pub(crate) fn next_epoch(&self) -> Epoch {
        self.world.next_epoch()
    }
}

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
    /// The answer is on its way.
    Returning(Result<S::Response, Broken>),
    /// The answer waits for the caller.
    Arrived(Result<S::Response, Broken>),
    /// It is being handled.
    Handled,
}

/// A call under way.
struct Call<S: Service> {
    from: NodeId,
    about: &'static str,
    stage: Stage<S>,
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
    /// Which life of the service it is in the hands of.
    incarnation: u32,
    /// Which life of the caller it comes from.
    caller: u32,
}

/// The calls to one service, in slots that are used again.
struct Calls<S: Service> {
    slots: Vec<Option<Call<S>>>,
    free: Vec<u32>,
}

impl<S: Service> Calls<S> {
    fn add(&mut self, call: Call<S>) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(call);
                slot
            }
            None => {
                self.slots.push(Some(call));
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn get(&mut self, slot: u32) -> &mut Call<S> {
        self.slots[slot as usize].as_mut().expect("a call is kept until it is over and its caller gone")
    }

    /// Its caller is gone: gives it out if nothing of it is under way any more.
    fn abandon(&mut self, slot: u32) -> Option<Call<S>> {
        let call = self.get(slot);
        call.abandoned = true;
        if call.under_way { None } else { self.remove(slot) }
    }

    /// Nothing of it is under way any more, and nothing will come: gives it out if its caller is gone.
    fn fall_silent(&mut self, slot: u32) -> Option<Call<S>> {
        let call = self.get(slot);
        call.under_way = false;
        if call.abandoned { self.remove(slot) } else { None }
    }

    fn remove(&mut self, slot: u32) -> Option<Call<S>> {
        self.free.push(slot);
        self.slots[slot as usize].take()
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
}

impl<S: Service> Address<S> {
    /// `reach` is how far back faults may take what it keeps on disk.
    pub(crate) fn new(number: u16, node: NodeId, mut service: S, reach: Option<Span>) -> Address<S> {
        let calls = RefCell::new(Calls { slots: Vec::new(), free: Vec::new() });
        if reach.is_some() {
            service.journal().open();
        }
        let past = RefCell::new(reach.map(Past::new));
        Address(Rc::new(House { number, node, service: RefCell::new(service), past, calls }))
    }

    pub(crate) fn house(&self) -> Rc<dyn AnyHouse> {
        self.0.clone()
    }
}

impl<S: Service> Call<S> {
    #[inline]
    fn new(from: NodeId, caller: u32, about: &'static str, stage: Stage<S>) -> Call<S> {
        Call {
            from,
            caller,
            about,
            stage,
            under_way: false,
            abandoned: false,
            timed_out: None,
            wakeup: None,
            message: MessageId(0),
            newest: EventId(0),
            latency: Span::ZERO,
            leaving: Leaving::OnTime,
            incarnation: 0,
        }
    }

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

    /// Notes what was changed on disk, if it may have to be taken back.
    #[inline]
    fn note_past(&self, world: &World) {
        if let Some(past) = &mut *self.past.borrow_mut() {
            past.note(world.now(), self.service.borrow_mut().journal().drain());
        }
    }

    fn reply(&self, world: &World, id: CallId, response: S::Response) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.incarnation = world.node(self.node).incarnation.get();
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
        if self.calls.borrow_mut().get(id.slot).is_late(world, Due::Request(id)) {
            return;
        }
        let node = world.node(self.node);
        if node.is_down() {
            return self.break_off(world, id);
        }
        if node.is_paused() {
            node.held.borrow_mut().push(Due::Request(id));
            return;
        }
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        let from = call.from;
        call.take_in(world, self.node, from);
        let Stage::Asked(request) = std::mem::replace(&mut call.stage, Stage::Handled) else {
            unreachable!("a request arrives once, with what was asked");
        };
        drop(calls);
        let context = ServiceContext::new(world, self.node, from);
        let answer = self.service.borrow_mut().handle(request, &context);
        self.note_past(world);
        match answer {
            Answer::Now(response) => self.reply(world, id, response),
            Answer::After(span, later) => {
                let mut calls = self.calls.borrow_mut();
                let call = calls.get(id.slot);
                call.stage = Stage::PutOff(later);
                call.incarnation = node.incarnation.get();
                if let Some(newest) = world.cause() {
                    call.newest = newest;
                }
                world.push(world.now() + span, Due::Finish(id));
            }
        }
    }

    fn finish(&self, world: &World, id: CallId) {
        let node = world.node(self.node);
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        if node.incarnation.get() != call.incarnation {
            drop(calls);
            return self.break_off(world, id);
        }
        if node.is_paused() {
            node.held.borrow_mut().push(Due::Finish(id));
            return;
        }
        let Stage::PutOff(later) = std::mem::replace(&mut call.stage, Stage::Handled) else {
            unreachable!("what was put off is done once");
        };
        world.set_cause(Some(call.newest));
        let context = ServiceContext::new(world, self.node, call.from);
        drop(calls);
        let response = later(&mut self.service.borrow_mut(), &context);
        self.note_past(world);
        self.reply(world, id, response);
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
        let Stage::Returning(mut answer) = std::mem::replace(&mut call.stage, Stage::Handled) else {
            unreachable!("an answer arrives once, with what was answered");
        };
        // Who dies takes its connections with it, and with them what was still under way.
        let broken = world.node(self.node).incarnation.get() != call.incarnation;
        if answer.is_ok() && (broken || node.incarnation.get() != call.caller) {
            call.lose(world, from, self.node);
            answer = Err(Broken);
            if world.is_cut_off(self.node, from) {
                let over = calls.fall_silent(id.slot);
                drop(calls);
                drop(over);
                return;
            }
        } else if answer.is_ok() {
            call.take_in(world, from, self.node);
        }
        call.stage = Stage::Arrived(answer);
        call.under_way = false;
        if !call.abandoned {
            world.wait_no_more(from, id);
        }
        let wakeup = call.wakeup.take();
        let over = if call.abandoned { calls.remove(id.slot) } else { None };
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
}
