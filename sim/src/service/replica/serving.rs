//! A replica as a service: it takes requests if it leads, and answers when they have been carried out.

mod recording;

use std::cell::RefCell;
use std::rc::Rc;

use super::consensus::Consensus;
use super::copies::Copies;
use super::leading::Leading;
use super::machine::{Command, Effect, Held, Machine, Session};
use super::notes::Notes;
use super::order::{Learned, Letter, Order};
use crate::engine::{Answer, Journal, Outgoing, Peer, Service, ServiceContext, Ticket};
use crate::history::What;
use crate::id::{Epoch, NodeId, Token};
use crate::lease::{Ending, Flaw, LeaseAsk, LeaseService, LeaseTold, ReplicaSpec};

/// What a replica can be asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReplicaRequest {
    /// A client comes anew.
    Open {
        /// What tells this coming from others of the same client.
        nonce: i64,
    },
    /// A client asks.
    Ask {
        /// The client.
        by: Session,
        /// Which of its requests; the same if it asks again for want of an answer.
        number: u32,
        /// What.
        ask: LeaseAsk,
    },
}

/// What a replica answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicaResponse {
    /// The client is known from now on.
    Opened(Session),
    /// The request was carried out.
    Told {
        /// What came of it.
        told: LeaseTold,
        /// The simulator's note of the grant, if it is one.
        epoch: Option<Epoch>,
    },
    /// It doesn't lead. Who does, as far as it knows.
    NotLeader(Option<NodeId>),
}

/// What a request waits for that is in a replica's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Opening(NodeId, i64),
    Request(Session, u32),
}

impl Awaited {
    fn is(self, command: &Command) -> bool {
        match (self, command) {
            (Awaited::Opening(client, nonce), Command::Open { client: of, nonce: n }) => {
                (client, nonce) == (*of, *n)
            }
            (Awaited::Request(session, number), Command::Ask { by, number: n, .. }) => {
                (session, number) == (*by, *n)
            }
            _ => false,
        }
    }
}

/// A replica of the lease service.
pub(crate) struct Replica {
    spec: ReplicaSpec,
    me: usize,
    /// The nodes of all replicas, in their order.
    nodes: Rc<[NodeId]>,
    order: Box<dyn Order>,
    machine: Machine,
    /// Whether it is the one that the others write to. A deposed one isn't, so it can't agree to anything with them.
    is_connected: bool,
    /// What it keeps while it leads.
    leading: Option<Leading>,
    /// Whether the history was told that it has stopped.
    has_told_stop: bool,
    /// What those that follow keep as well, if they judge; only a flaw does.
    following: Leading,
    awaited: Vec<(Ticket, Awaited)>,
    outgoing: Outgoing<Replica>,
    journal: Journal<Box<dyn Order>>,
    notes: Rc<RefCell<Notes>>,
}

/// The replicas of a lease service on these nodes, which have been up for long when a run begins: the first of them leads.
pub(crate) fn found(service: LeaseService, nodes: &[NodeId]) -> Vec<(NodeId, Replica)> {
    let Some(spec) = service.replicas() else { return Vec::new() };
    let count = nodes.len();
    let mut orders: Vec<Box<dyn Order>> = (0..count)
        .map(|me| match service {
            LeaseService::Consensus(_) => Box::new(Consensus::new(me, count)) as Box<dyn Order>,
            _ => Box::new(Copies::new(me, count)),
        })
        .collect();
    settle(&mut orders, nodes[0]);
    let (nodes, notes): (Rc<[NodeId]>, _) = (nodes.into(), Rc::default());
    let replica = |(me, order): (usize, Box<dyn Order>)| {
        let leading = order.leads().then(Leading::default);
        let mut replica = Replica {
            spec,
            me,
            nodes: nodes.clone(),
            order,
            is_connected: true,
            machine: Machine::default(),
            leading,
            has_told_stop: false,
            following: Leading::default(),
            awaited: Vec::new(),
            outgoing: Outgoing::default(),
            journal: Journal::default(),
            notes: Rc::clone(&notes),
        };
        for learned in replica.order.learn() {
            if let Learned::Command(command) = learned {
                replica.machine.apply(command);
                replica.notes.borrow_mut().is_first(replica.machine.position, command);
            }
        }
        (nodes[me], replica)
    };
    orders.into_iter().enumerate().map(replica).collect()
}

/// Has replicas that were just made find their leader, and have its reign in order, in no time.
fn settle(orders: &mut [Box<dyn Order>], first: NodeId) {
    let mut proposed = false;
    loop {
        let mut letters = Vec::new();
        for (from, order) in orders.iter_mut().enumerate() {
            let mut written = Vec::new();
            order.take_letters(&mut written);
            letters.extend(written.into_iter().map(|(to, _, letter)| (from, to, letter)));
        }
        let quiet = letters.is_empty();
        for (from, to, letter) in letters {
            orders[to].receive(from, letter, 0);
        }
        if !quiet {
            continue;
        }
        if proposed {
            return;
        }
        if orders[0].leads() {
            orders[0].propose(Command::Reign { leader: first });
            proposed = true;
        } else {
            orders.iter_mut().for_each(|order| order.tick(0));
        }
    }
}

impl Replica {
    fn has(&self, flaw: Flaw) -> bool {
        self.spec.flaw == Some(flaw)
    }

    /// Whether it takes its own leadership for granted when it renews.
    fn renews_unsure(&self) -> bool {
        !self.spec.confirms_renewals || self.has(Flaw::RenewsUnconfirmed)
    }

    /// Whether it takes its own leadership for granted when it takes away.
    fn revokes_unsure(&self) -> bool {
        !self.spec.confirms_revocations || self.has(Flaw::RevokesUnconfirmed) || self.has(Flaw::FollowersJudge)
    }

    fn by_deadlines(&self) -> bool {
        self.spec.ending == Ending::ReplicatedDeadlines
    }

    fn ask(&mut self, by: Session, number: u32, ask: LeaseAsk, context: &ServiceContext<'_>) -> Answer<Replica> {
        let now = context.mono().as_nanos();
        let Some(leading) = &self.leading else { return Answer::Now(self.not_leader()) };
        let delayed = match (ask, self.spec.ending) {
            (LeaseAsk::Acquire { .. }, Ending::LockDelay(_)) => {
                leading.delayed_for(self.machine.lease.as_ref(), now)
            }
            _ => None,
        };
        let delayed = delayed.map(|holder| (holder, self.machine.reign));
        if let LeaseAsk::Renew { token, .. } = ask
            && let Some(held) = self.machine.lease.filter(|held| held.by == by && held.token == token)
            && self.renews_unsure()
        {
            return self.renew_from_memory(&held, context);
        }
        let own_token = self.has(Flaw::CountsTokensItself) && matches!(ask, LeaseAsk::Acquire { .. });
        let token = own_token.then_some(Token(leading.grants + 1));
        let once = !self.has(Flaw::ForgetsRetries);
        let now = self.by_deadlines().then(|| context.wall());
        self.order.propose(Command::Ask { by, number, once, ask, now, token, delayed });
        self.park(Awaited::Request(by, number), context)
    }

    /// Renews by its own timer alone, as if no other could lead by now.
    fn renew_from_memory(&mut self, held: &Held, context: &ServiceContext<'_>) -> Answer<Replica> {
        let now = context.mono().as_nanos();
        self.leading.get_or_insert_default().watch(held, now);
        context.record(|| self.renewal(held, context));
        Answer::Now(ReplicaResponse::Told { told: LeaseTold::Done, epoch: None })
    }

    fn park(&mut self, awaited: Awaited, context: &ServiceContext<'_>) -> Answer<Replica> {
        let Some(ticket) = context.ticket else { unreachable!("whoever asks has a ticket") };
        self.awaited.push((ticket, awaited));
        self.go_on(context);
        Answer::Parked
    }

    fn not_leader(&self) -> ReplicaResponse {
        ReplicaResponse::NotLeader(self.order.leader().map(|leader| self.nodes[leader]))
    }

    /// Does all that follows from what it has just done, until nothing more does.
    fn go_on(&mut self, context: &ServiceContext<'_>) {
        loop {
            let mut quiet = true;
            for learned in self.order.learn() {
                quiet = false;
                match learned {
                    Learned::Command(command) => self.carry_out(command, context),
                    Learned::State(machine) => self.machine = machine,
                }
            }
            assert!(
                self.machine.position == self.order.learned(),
                "a replica has carried out each command before the next"
            );
            self.note_leadership(context);
            quiet &= !self.judge(context);
            if quiet {
                break;
            }
        }
        if self.order.has_stopped() && !std::mem::replace(&mut self.has_told_stop, true) {
            context.record(|| What::ReplicaStopped);
        }
        let mut letters = Vec::new();
        self.order.take_letters(&mut letters);
        let nodes = &self.nodes;
        self.outgoing.letters.extend(letters.into_iter().map(|(to, about, letter)| (nodes[to], about, letter)));
    }

    /// Notes whether it has begun to lead, or ceased to.
    fn note_leadership(&mut self, context: &ServiceContext<'_>) {
        match (self.order.leads(), self.leading.is_some()) {
            (true, false) => {
                self.leading = Some(Leading::default());
                context.record(|| What::LeaderElected);
                self.order.propose(Command::Reign { leader: context.node });
            }
            // Whoever is sure of itself without asking goes on judging until it hears of the next reign.
            (false, true) if self.revokes_unsure() => {
                self.leading.iter_mut().for_each(Leading::carry_on);
            }
            (false, true) => self.leading = None,
            _ => {}
        }
    }

    /// Carries a command out that is in order.
    fn carry_out(&mut self, command: Command, context: &ServiceContext<'_>) {
        let (told, effect) = self.machine.apply(command);
        if let Command::Reign { leader } = command
            && leader != context.node
        {
            self.leading = None;
        }
        if let (Effect::Granted(_), Some(leading)) = (effect, &mut self.leading) {
            leading.grants += 1;
        }
        self.keep_time(command, effect, context);
        let epoch = match (effect, told) {
            (Effect::Granted(held), _) => Some(self.epoch(&held, context)),
            // A retry of the request by which the lease was granted.
            (_, LeaseTold::Granted { token }) => {
                let held = self.machine.lease.filter(|held| held.token == token);
                held.map(|held| self.epoch(&held, context))
            }
            _ => None,
        };
        self.record(command, effect, context);
        let response = match command {
            Command::Open { client, nonce } => self.machine.opened(client, nonce).map(ReplicaResponse::Opened),
            _ => Some(ReplicaResponse::Told { told, epoch }),
        };
        let Some(response) = response else { return };
        for (ticket, _) in self.awaited.extract_if(.., |(_, awaited)| awaited.is(&command)) {
            self.outgoing.answers.push((ticket, response));
        }
    }

    fn epoch(&self, held: &Held, context: &ServiceContext<'_>) -> Epoch {
        self.notes.borrow_mut().epoch(held, || context.next_epoch())
    }

    /// What a command means for the timers.
    fn keep_time(&mut self, command: Command, effect: Effect, context: &ServiceContext<'_>) {
        if self.by_deadlines() {
            return;
        }
        let (mono, wall) = (context.mono().as_nanos(), context.wall().as_nanos());
        let watchers = [(self.leading.as_mut(), mono), (Some(&mut self.following), wall)];
        for (watcher, now) in watchers {
            let Some(watcher) = watcher else { continue };
            match (command, effect) {
                (_, Effect::Granted(held) | Effect::Renewed(held)) => watcher.watch(&held, now),
                // A new leader doesn't know how much of the lease is over.
                (Command::Reign { .. }, _) => match self.machine.lease {
                    Some(held) => watcher.watch(&held, now),
                    None => watcher.forget(),
                },
                (_, Effect::Revoked(held)) => {
                    watcher.forget();
                    if let Ending::LockDelay(span) = self.spec.ending {
                        watcher.delay(held.by.client, now, span);
                    }
                }
                (_, Effect::Released(_)) => watcher.forget(),
                _ => {}
            }
        }
    }

    /// Has the lease taken away if it has run out: whether it did anything about it.
    fn judge(&mut self, context: &ServiceContext<'_>) -> bool {
        let run_out = match &mut self.leading {
            Some(leading) => leading.run_out(context.mono().as_nanos()),
            None if self.spec.flaw == Some(Flaw::FollowersJudge) => {
                self.following.run_out(context.wall().as_nanos())
            }
            None => None,
        };
        let Some((lease, renewed)) = run_out else { return false };
        let sure = (!self.revokes_unsure()).then_some((renewed, self.machine.reign));
        self.order.propose(Command::Revoke { lease, sure });
        true
    }

    /// Has a step of the order taken, and all that follows from it.
    fn step(&mut self, context: &ServiceContext<'_>, act: impl FnOnce(&mut dyn Order)) {
        self.noting(|replica| {
            act(&mut *replica.order);
            replica.go_on(context);
        });
    }

    /// Does something, and notes how to take back what that changed on disk.
    fn noting<T>(&mut self, act: impl FnOnce(&mut Replica) -> T) -> T {
        let before = self.journal.is_open().then(|| (self.order.writes(), self.order.fork()));
        let done = act(self);
        if let Some((writes, order)) = before
            && self.order.writes() != writes
        {
            self.journal.note(|| order);
        }
        done
    }

    fn place(&self, node: NodeId) -> usize {
        self.nodes.iter().position(|of| *of == node).expect("replicas write to each other only")
    }
}

impl Service for Replica {
    type Request = ReplicaRequest;
    type Response = ReplicaResponse;
    type Undo = Box<dyn Order>;

    fn about(request: &ReplicaRequest) -> &'static str {
        match request {
            ReplicaRequest::Open { .. } | ReplicaRequest::Ask { ask: LeaseAsk::Come, .. } => "lease.open",
            ReplicaRequest::Ask { ask: LeaseAsk::Acquire { .. }, .. } => "lease.acquire",
            ReplicaRequest::Ask { ask: LeaseAsk::Renew { .. }, .. } => "lease.renew",
            ReplicaRequest::Ask { ask: LeaseAsk::Release { .. }, .. } => "lease.release",
            ReplicaRequest::Ask { ask: LeaseAsk::Read, .. } => "lease.read",
        }
    }

    fn handle(&mut self, request: ReplicaRequest, context: &ServiceContext<'_>) -> Answer<Replica> {
        if !self.is_connected || !self.order.leads() {
            return Answer::Now(self.not_leader());
        }
        self.noting(|replica| {
            // What has run out by now is taken away before anything else is put into the order.
            replica.judge(context);
            match request {
                ReplicaRequest::Open { nonce } => {
                    replica.order.propose(Command::Open { client: context.from, nonce });
                    replica.park(Awaited::Opening(context.from, nonce), context)
                }
                ReplicaRequest::Ask { by, number, ask } => replica.ask(by, number, ask, context),
            }
        })
    }

    /// All that it keeps in memory comes anew when it begins anew.
    fn crash(&mut self) {
        if self.has(Flaw::TruncatesAtRestart) {
            self.order.lose_disk();
        }
    }

    fn journal(&mut self) -> &mut Journal<Box<dyn Order>> {
        &mut self.journal
    }

    fn undo(&mut self, before: Box<dyn Order>) {
        self.order = before;
    }

    fn fork(&self) -> Replica {
        Replica {
            spec: self.spec,
            me: self.me,
            nodes: self.nodes.clone(),
            order: self.order.fork(),
            is_connected: false,
            machine: Machine::default(),
            leading: None,
            has_told_stop: false,
            following: Leading::default(),
            awaited: Vec::new(),
            outgoing: Outgoing::default(),
            journal: Journal::default(),
            notes: self.notes.clone(),
        }
    }
}

impl Peer for Replica {
    type Letter = Letter;

    fn receive(&mut self, from: NodeId, letter: Letter, context: &ServiceContext<'_>) {
        let (from, mono) = (self.place(from), context.mono().as_nanos());
        self.step(context, |order| order.receive(from, letter, mono));
    }

    fn reconnected(&mut self, to: NodeId, context: &ServiceContext<'_>) {
        let to = self.place(to);
        self.step(context, |order| order.reconnected(to));
    }

    fn tick(&mut self, context: &ServiceContext<'_>) {
        let mono = context.mono().as_nanos();
        self.step(context, |order| order.tick(mono));
    }

    fn begin(&mut self, context: &ServiceContext<'_>) {
        self.machine = Machine::default();
        self.leading = None;
        self.has_told_stop = false;
        self.following = Leading::default();
        self.awaited.clear();
        self.outgoing = Outgoing::default();
        let mono = context.mono().as_nanos();
        self.step(context, |order| order.begin(mono));
    }

    fn outgoing(&mut self) -> &mut Outgoing<Replica> {
        &mut self.outgoing
    }
}
