//! A service that is several: replicas that write each other letters, and look up from time to time by their own clocks.
//!
//! Letters go over the same network as requests, so latencies and faults reach them. Between two replicas they go over one
//! connection, as TCP has it: none overtakes another, none comes twice, and if one was lost the next to arrive tells its
//! reader that the connection had been broken.

mod stuck;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::World;
use super::call::{Address, Leaving, Service, ServiceContext, Ticket};
use super::network::{Sending, Touch, Touched};
use super::queue::Due;
use super::tasks::Wakeup;
use crate::clock::{Clock, Deadline};
use crate::history::What;
use crate::id::{EventId, MessageId, NodeId};
use crate::time::{Span, TrueTime};

/// A service that is one of several.
pub(crate) trait Peer: Service {
    /// What they write each other.
    type Letter: 'static;

    /// A letter from another one has come.
    fn receive(&mut self, from: NodeId, letter: Self::Letter, context: &ServiceContext<'_>);

    /// The connection to another one had been broken: what it wrote may be lost.
    fn reconnected(&mut self, to: NodeId, context: &ServiceContext<'_>);

    /// It is time to look up.
    fn tick(&mut self, context: &ServiceContext<'_>);

    /// Its process begins anew, with what is on disk.
    fn begin(&mut self, context: &ServiceContext<'_>);

    /// What it wants sent.
    fn outgoing(&mut self) -> &mut Outgoing<Self>;
}

/// What a replica wants sent.
pub(crate) struct Outgoing<S: Peer> {
    /// To whom, what it is about, and the letter.
    pub(crate) letters: Vec<(NodeId, &'static str, S::Letter)>,
    /// The answers to requests that were parked.
    pub(crate) answers: Vec<(Ticket, S::Response)>,
}

impl<S: Peer> Default for Outgoing<S> {
    fn default() -> Outgoing<S> {
        Outgoing { letters: Vec::new(), answers: Vec::new() }
    }
}

/// A letter under way.
struct Posted<L> {
    from: NodeId,
    to: NodeId,
    message: MessageId,
    /// Its sending.
    sent: EventId,
    /// Its number on its connection.
    number: u32,
    /// How long it takes, by itself.
    latency: Span,
    leaving: Leaving,
    /// To which life of the reader it was written.
    life: u32,
    letter: L,
}

/// One direction of the connection between two replicas.
#[derive(Default)]
struct Connection {
    /// How many letters went into it.
    written: u32,
    /// The number of the letter that should arrive next.
    expected: u32,
    /// When the newest arrives that isn't lost.
    newest: TrueTime,
}

/// A replica in its house.
struct Member<S: Peer> {
    address: Address<S>,
    /// The timer for its next look; `None` while it is down, or there is nothing to look for any more.
    timer: Cell<Option<u32>>,
    /// Whether its process is yet to begin anew, which it doesn't while it is paused.
    is_new: Cell<bool>,
    /// The requests that it has in its hands.
    parked: RefCell<Vec<Ticket>>,
}

/// The replicas of one service.
pub(super) struct Peers<S: Peer> {
    /// How often they look up, by their monotonic clocks.
    every: Span,
    members: Vec<Member<S>>,
    letters: RefCell<Vec<Option<Posted<S::Letter>>>>,
    free: RefCell<Vec<u32>>,
    connections: RefCell<BTreeMap<(NodeId, NodeId), Connection>>,
}

/// The replicas of a service, whichever it is.
pub(super) trait AnyPeers {
    /// A letter arrives.
    fn deliver(&self, world: &World, slot: u32);
    /// The time to look up has come on `node`.
    fn time_to_tick(&self, world: &World, node: NodeId);
    /// The replica on `node` looks up.
    fn tick(&self, world: &World, node: NodeId);
    /// The replica on `node` has a request in its hands that it will answer later.
    fn parked(&self, world: &World, node: NodeId, ticket: Ticket);
    /// The process on `node` is gone.
    fn go_down(&self, world: &World, node: NodeId);
    /// The process on `node` may begin anew.
    fn come_up(&self, world: &World, node: NodeId);
    /// The write is done in which the process on `node` hung.
    fn catch_up(&self, world: &World, node: NodeId);
    /// The network card of `sender` stops: letters that it was given and has not sent yet get stuck.
    fn hold_back(&self, world: &World, sender: NodeId);
    /// The network card of `sender` goes on: what was stuck leaves.
    fn let_go(&self, world: &World, sender: NodeId);
}

impl World {
    /// Makes the services at `addresses` replicas of each other, which look up at every interval.
    pub(crate) fn join<S: Peer>(&self, addresses: &[Address<S>], every: Span) {
        let member = |address: &Address<S>| Member {
            address: address.clone(),
            timer: Cell::new(None),
            is_new: Cell::new(false),
            parked: RefCell::default(),
        };
        let peers = Rc::new(Peers {
            every,
            members: addresses.iter().map(member).collect(),
            letters: RefCell::default(),
            free: RefCell::default(),
            connections: RefCell::default(),
        });
        for member in &peers.members {
            peers.look_up_later(self, member);
        }
        let joined = self.peers.set(peers).is_ok();
        assert!(joined, "a world has one service that is several");
    }
}

impl<S: Peer> Peers<S> {
    fn member(&self, node: NodeId) -> Option<&Member<S>> {
        self.members.iter().find(|member| member.address.node() == node)
    }

    fn look_up_later(&self, world: &World, member: &Member<S>) {
        let node = member.address.node();
        let reading = world.read_clock(node, Clock::Monotonic).saturating_add(self.every.as_nanos());
        let deadline = Deadline { clock: Clock::Monotonic, reading };
        member.timer.set(Some(world.set_timer(node, deadline, Wakeup::Tick(node))));
    }

    /// Has a replica do something, and sends what it wants sent.
    fn act(&self, world: &World, member: &Member<S>, from: NodeId, act: impl FnOnce(&mut S, &ServiceContext<'_>)) {
        let context = ServiceContext::new(world, member.address.node(), from);
        world.set_active(member.address.node());
        member.address.act(&context, |service| act(service, &context));
        self.send_outgoing(world, member);
    }

    fn send_outgoing(&self, world: &World, member: &Member<S>) {
        let node = member.address.node();
        // What follows from a write that hangs waits with it.
        if world.node(node).disk.hangs() {
            return;
        }
        let context = ServiceContext::new(world, node, node);
        let Outgoing { letters, answers } =
            member.address.act(&context, |service| std::mem::take(service.outgoing()));
        let cause = world.cause();
        for (to, about, letter) in letters {
            world.set_cause(cause);
            self.post(world, Sending { from: node, to, about, answer: false }, letter);
        }
        for (ticket, response) in answers {
            world.set_cause(cause);
            member.parked.borrow_mut().retain(|parked| *parked != ticket);
            member.address.answer_parked(world, ticket, response);
        }
    }

    fn post(&self, world: &World, sending: Sending, letter: S::Letter) {
        let Sending { from, to, about, answer } = sending;
        let (message, latency, touches) = if world.network_has_rules() {
            world.draw_by_rules(&sending)
        } else {
            let (message, latency) = world.draw_message(from, to);
            (message, latency, Vec::new())
        };
        let sent = world.record(from, What::MessageSent { message, to, about, answer, latency });
        let (mut takes, mut is_lost) = (latency, false);
        for Touch { fault, what, is_last } in touches {
            world.set_cause(Some(sent));
            match what {
                // What is lost can't be delayed any more, and a connection brings nothing twice.
                _ if is_lost => {}
                Touched::Repeated => {}
                Touched::Lost => {
                    is_lost = true;
                    world.record(from, What::MessageDropped { message, to, fault });
                }
                Touched::Delayed(by) => {
                    takes = takes + by;
                    world.record(from, What::MessageDelayed { message, by, fault });
                }
            }
            if is_last {
                world.heal(fault);
            }
        }
        let mut connections = self.connections.borrow_mut();
        let connection = connections.entry((from, to)).or_default();
        let number = connection.written;
        connection.written += 1;
        if is_lost {
            return;
        }
        connection.newest = connection.newest.max(world.now() + takes);
        let arrival = connection.newest;
        drop(connections);
        let life = world.node(to).incarnation.get();
        let (latency, leaving) = (takes, Leaving::OnTime);
        let slot = self.keep(Posted { from, to, message, sent, number, latency, leaving, life, letter });
        world.push(arrival, Due::Letter(slot));
    }

    fn keep(&self, posted: Posted<S::Letter>) -> u32 {
        let mut letters = self.letters.borrow_mut();
        match self.free.borrow_mut().pop() {
            Some(slot) => {
                letters[slot as usize] = Some(posted);
                slot
            }
            None => {
                letters.push(Some(posted));
                (letters.len() - 1) as u32
            }
        }
    }

    fn take(&self, slot: u32) -> Posted<S::Letter> {
        self.free.borrow_mut().push(slot);
        self.letters.borrow_mut()[slot as usize].take().expect("a letter arrives once")
    }

    /// Whether letters are missing before the one that arrives with this `number`.
    fn is_gap(&self, from: NodeId, to: NodeId, number: u32) -> bool {
        let mut connections = self.connections.borrow_mut();
        let connection = connections.entry((from, to)).or_default();
        let expected = std::mem::replace(&mut connection.expected, number + 1);
        number != expected
    }
}

impl<S: Peer> AnyPeers for Peers<S> {
    fn deliver(&self, world: &World, slot: u32) {
        let (to, is_late) = match &mut self.letters.borrow_mut()[slot as usize] {
            Some(posted) => (posted.to, posted.leaving.is_late(world, Due::Letter(slot))),
            None => unreachable!("a letter that arrives was posted"),
        };
        if is_late {
            return;
        }
        let node = world.node(to);
        if !node.is_down() && node.has_all_wait() {
            node.held.borrow_mut().push(Due::Letter(slot));
            return;
        }
        let Posted { from, message, sent, number, life, letter, .. } = self.take(slot);
        world.set_cause(Some(sent));
        if node.is_down() || node.incarnation.get() != life {
            world.record(to, What::MessageLost { message, from });
            return;
        }
        world.record(to, What::MessageDelivered { message, from });
        let Some(member) = self.member(to) else { return };
        let is_gap = self.is_gap(from, to, number);
        self.act(world, member, from, |service, context| {
            if is_gap {
                service.reconnected(from, context);
            }
            service.receive(from, letter, context);
        });
    }

    fn time_to_tick(&self, world: &World, node: NodeId) {
        let Some(member) = self.member(node) else { return };
        if let Some(timer) = member.timer.take() {
            world.release_timer(timer);
        }
        self.tick(world, node);
    }

    fn tick(&self, world: &World, node: NodeId) {
        let Some(member) = self.member(node) else { return };
        let owner = world.node(node);
        // When all is done nobody has anything to look for, and a run can end.
        let (is_new, all_done) = (member.is_new.get(), world.is_all_done());
        if owner.is_down() || (all_done && !is_new) {
            return;
        }
        if owner.has_all_wait() {
            owner.held.borrow_mut().push(Due::Tick(node));
            return;
        }
        member.is_new.set(false);
        self.act(world, member, node, |service, context| match is_new {
            true => service.begin(context),
            false => service.tick(context),
        });
        if !all_done {
            self.look_up_later(world, member);
        }
    }

    fn parked(&self, world: &World, node: NodeId, ticket: Ticket) {
        if let Some(member) = self.member(node) {
            member.parked.borrow_mut().push(ticket);
            self.send_outgoing(world, member);
        }
    }

    fn go_down(&self, world: &World, node: NodeId) {
        let Some(member) = self.member(node) else { return };
        if let Some(timer) = member.timer.take() {
            world.release_timer(timer);
        }
        for ticket in member.parked.take() {
            member.address.break_parked(world, ticket);
        }
        // What it hadn't sent yet goes with it.
        let context = ServiceContext::new(world, node, node);
        member.address.act(&context, |service| *service.outgoing() = Outgoing::default());
    }

    fn come_up(&self, world: &World, node: NodeId) {
        let Some(member) = self.member(node) else { return };
        if world.node(node).is_down() || world.is_over.get() || member.timer.get().is_some() {
            return;
        }
        member.is_new.set(true);
        self.tick(world, node);
    }

    fn hold_back(&self, world: &World, sender: NodeId) {
        self.stop_sending(world, sender);
    }

    fn let_go(&self, world: &World, sender: NodeId) {
        self.go_on_sending(world, sender);
    }

    fn catch_up(&self, world: &World, node: NodeId) {
        if let Some(member) = self.member(node) {
            self.send_outgoing(world, member);
        }
    }
}
