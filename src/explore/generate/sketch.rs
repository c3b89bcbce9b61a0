//! What a fault is drawn with: its own draws, the plan's swarm, the world's stage; and what all kinds draw alike.

use holdover_sim::clock::Rate;
use holdover_sim::fault::{Links, Part};
use holdover_sim::id::NodeId;
use holdover_sim::service::REPAIR_MESSAGES;
use holdover_sim::time::Span;
use holdover_sim::world::{LEASE_STORE, LEDGER, PROVIDER};

use super::dice::{Dice, rounded};
use super::profile::Profile;
use super::stage::{Repair, Stage};
use super::swarm::Swarm;

/// The longest span that a fault can have, as in scenario files: a year and a day.
pub(super) const LONGEST: Span = Span::secs(366 * 86_400);

/// The shortest that is drawn where one can't be zero.
pub(super) const SHORTEST: Span = Span::millis(1);

/// Messages that a worker sends again and again. The others are sent once in its turn, and only under some protocols.
const OFTEN_SENT: &[&str] = &["lease.renew", "ledger.write", "provider.pay", "ledger.move-checkpoint"];

/// What an operator asks again and again, or what moves money.
const ASKED_IN_REPAIRS: &[&str] =
    &["ledger.repair", "provider.status", "provider.void", "provider.refund", "provider.pay"];

/// How many of a hundred faults in a repair happen to an operator, and not to a worker that is still at it.
const ON_OPERATORS: u32 = 75;

/// A fault while it is drawn.
pub(super) struct Sketch<'a> {
    pub(super) dice: Dice,
    pub(super) swarm: &'a Swarm,
    pub(super) stage: &'a Stage,
    pub(super) scene: Scene<'a>,
}

/// What a fault is to disturb.
#[derive(Clone, Copy)]
pub(super) enum Scene<'a> {
    /// The settlement.
    Work,
    /// The repair of it.
    Repair(&'a Repair),
}

impl<'a> Sketch<'a> {
    /// One that is drawn from `dice`. Where nobody repairs anything, no draw is spent on whether it is to disturb that.
    pub(super) fn new(mut dice: Dice, swarm: &'a Swarm, stage: &'a Stage) -> Sketch<'a> {
        let scene = match &stage.repair {
            Some(repair) if dice.chance(swarm.at_repair) => Scene::Repair(repair),
            _ => Scene::Work,
        };
        Sketch { dice, swarm, stage, scene }
    }
}

impl Sketch<'_> {
    pub(super) fn profile(&self) -> Profile {
        self.swarm.profile
    }

    /// One of two values, by profile.
    pub(super) fn of<T>(&self, realistic: T, hostile: T) -> T {
        self.profile().of(realistic, hostile)
    }

    /// A worker: mostly the one that probably has the lease.
    pub(super) fn worker(&mut self) -> NodeId {
        let (at_holder, any) = (self.dice.chance(self.swarm.at_holder), self.dice.below(self.stage.workers.len()));
        let index = if at_holder { 0 } else { any };
        // A world that nobody works in is no world; its first node stands in.
        self.stage.workers.get(index).copied().unwrap_or(LEASE_STORE)
    }

    /// Somebody with a process of its own: a worker, or in a repair mostly an operator.
    pub(super) fn actor(&mut self) -> NodeId {
        let worker = self.worker();
        match self.scene {
            Scene::Work => worker,
            Scene::Repair(repair) => {
                let operator = self.dice.pick(&repair.operators);
                if self.dice.chance(ON_OPERATORS) { operator } else { worker }
            }
        }
    }

    /// A service whose replica may be put in its place.
    pub(super) fn promotable(&mut self) -> NodeId {
        let agree = &self.stage.replicas;
        if agree.is_empty() {
            return self.service();
        }
        let others = self.stage.services.iter().copied().filter(|service| !agree.contains(service));
        self.dice.pick(&others.collect::<Vec<_>>())
    }

    /// A machine: that of somebody with a process, or at times one of the lease service's replicas if there are any.
    pub(super) fn machine(&mut self) -> NodeId {
        let actor = self.actor();
        if self.stage.replicas.is_empty() || !self.dice.chance(40) { actor } else { self.replica() }
    }

    /// The lease store, or one of the replicas in its place.
    fn replica(&mut self) -> NodeId {
        if self.stage.replicas.is_empty() { LEASE_STORE } else { self.dice.pick(&self.stage.replicas) }
    }

    /// Whether a node is an operator's.
    pub(super) fn is_operator(&self, node: NodeId) -> bool {
        self.stage.repair.as_ref().is_some_and(|repair| repair.operators.contains(&node))
    }

    /// A service; in a repair mostly one that an operator depends on for long.
    pub(super) fn service(&mut self) -> NodeId {
        match self.scene {
            Scene::Work => self.dice.pick(&self.stage.services),
            Scene::Repair(_) => self.dice.weighted(&[(1, LEASE_STORE), (2, LEDGER), (3, PROVIDER)]),
        }
    }

    /// A node whose clocks somebody goes by: whoever acts, or at times the lease store.
    pub(super) fn clocked(&mut self) -> NodeId {
        let actor = self.actor();
        let percent = if self.stage.replicas.is_empty() { 10 } else { 30 };
        if self.dice.chance(percent) { self.replica() } else { actor }
    }

    /// How long something lasts: near the lengths of the lease or, from `low` to `high`, of any order of magnitude alike.
    /// Nothing lasts longer than the run.
    pub(super) fn length(&mut self, low: Span, high: Span) -> Span {
        let absolute = self.between(low, high);
        self.length_or(absolute)
    }

    /// How long something lasts: near the lengths of the lease, or `absolute`.
    pub(super) fn length_or(&mut self, absolute: Span) -> Span {
        let (is_relative, relative) = (self.dice.chance(self.swarm.relative), self.relative());
        if is_relative { relative } else { absolute.max(SHORTEST).min(self.stage.run()) }
    }

    /// Of any order of magnitude alike, and not above the length of the run.
    pub(super) fn between(&mut self, low: Span, high: Span) -> Span {
        self.dice.log_uniform(low, high.min(self.stage.run()).max(low))
    }

    /// A length that matters to the lease: just below, at or just above it, a part or a multiple of it; or the same of how
    /// often it is renewed or asked for, of what is left of it when it is renewed, of how long a caller waits.
    pub(super) fn relative(&mut self) -> Span {
        let lease = self.stage.lease;
        // (how often, base, the parts of it in eighths)
        const HALVES: &[i64] = &[4, 8, 8, 12];
        let left = lease.ttl - lease.renew_every;
        let choices: [(u32, (Span, &[i64])); 5] = match self.profile() {
            Profile::Realistic => [
                (1, (lease.ttl, &[1, 2, 4, 6, 8])),
                (4, (lease.renew_every, HALVES)),
                (5, (lease.poll_every, HALVES)),
                (3, (self.stage.timeout, HALVES)),
                (1, (left, &[1, 4, 8])),
            ],
            Profile::Hostile => [
                (8, (lease.ttl, &[4, 7, 8, 8, 8, 8, 9, 10, 12, 16])),
                (2, (lease.renew_every, &[4, 8, 8, 12, 16])),
                (1, (lease.poll_every, HALVES)),
                (2, (self.stage.timeout, HALVES)),
                (3, (left, &[8, 8, 9])),
            ],
        };
        let (mut base, mut eighths) = self.dice.weighted(&choices);
        if let Scene::Repair(repair) = self.scene {
            let length = self.dice.pick(&repair.lengths);
            if self.dice.chance(50) {
                (base, eighths) = (length, HALVES);
            }
        }
        let base = Span::nanos(base.times(self.dice.pick(eighths)).as_nanos() / 8).max(SHORTEST).min(LONGEST);
        let most = Span::nanos(base.as_nanos() / 16).max(SHORTEST);
        let near = self.dice.log_uniform(SHORTEST, most);
        let near = Span::millis(near.as_nanos() / 1_000_000);
        let span = match self.dice.below(8) {
            0 | 1 => base,
            2 => base - SHORTEST,
            3 => base + SHORTEST,
            4 | 5 => base - near,
            _ => base + near,
        };
        span.max(SHORTEST)
    }

    /// A distance by which a clock can be off: near the lengths of the lease or of any order of magnitude, ahead or behind.
    pub(super) fn jump(&mut self, low: Span, high: Span) -> Span {
        let far = self.between(low, high);
        let size = self.length_or(far);
        self.dice.either_sign(size)
    }

    /// A rate of so many parts per million, ahead or behind; never zero.
    pub(super) fn rate(&mut self, ppm: i64) -> Rate {
        rate_of(if self.dice.chance(50) { -ppm } else { ppm } * 1_000)
    }

    /// A rate around zero with this standard deviation, in parts per billion; never zero.
    pub(super) fn normal_rate(&mut self, deviation: i64, most: i64) -> Rate {
        // To the part per million, as people write it.
        let ppb = self.dice.normal(deviation).clamp(-most, most) / 1_000 * 1_000;
        rate_of(if ppb == 0 { 1_000 } else { ppb })
    }

    /// The links of whoever acts to one service, to several or to all others; or of a service to everybody.
    pub(super) fn links(&mut self) -> Links {
        if !self.stage.replicas.is_empty() && self.dice.chance(60) {
            return self.links_of_replicas();
        }
        let (actor, service) = (self.actor(), self.service());
        let (between, and) = match self.dice.below(8) {
            0..4 => (actor, vec![service]),
            4 => (actor, self.stage.services.iter().copied().filter(|other| *other != service).collect()),
            5 => (actor, self.stage.services.clone()),
            6 => (actor, Vec::new()),
            _ => (service, Vec::new()),
        };
        let one_way = self.dice.chance(30);
        let backwards = one_way && !and.is_empty() && self.dice.chance(50);
        let (between, and) = if backwards { (and, vec![between]) } else { (vec![between], and) };
        Links { between: between.into_iter().collect(), and: and.into_iter().collect(), one_way }
    }

    /// The links of one replica, or of two, to some of the others or to all; at times with a worker on their side.
    fn links_of_replicas(&mut self) -> Links {
        let mut others = self.stage.replicas.clone();
        let mut between = vec![others.swap_remove(self.dice.below(others.len()))];
        if others.len() > 1 && self.dice.chance(20) {
            between.push(others.swap_remove(self.dice.below(others.len())));
        }
        let worker = self.worker();
        let and = match self.dice.below(6) {
            0 | 1 => others,
            2 => vec![others[self.dice.below(others.len())]],
            3 => vec![worker],
            4 => {
                between.push(worker);
                others
                    .into_iter()
                    .chain(self.stage.workers.iter().copied().filter(|other| *other != worker))
                    .collect()
            }
            _ => Vec::new(),
        };
        let one_way = self.dice.chance(30);
        let backwards = one_way && !and.is_empty() && self.dice.chance(50);
        let (between, and) = if backwards { (and, between) } else { (between, and) };
        Links { between: between.into_iter().collect(), and: and.into_iter().collect(), one_way }
    }

    /// A message of whoever acts, one of its parts, who asks, and which of those that come.
    pub(super) fn message(&mut self) -> (String, Part, NodeId, u32) {
        let (any, usual) = (self.dice.pick(&self.stage.messages), self.dice.pick(OFTEN_SENT));
        let message = if self.dice.chance(40) { any } else { usual };
        let part = self.dice.pick(&Part::ALL);
        let node = self.actor();
        let message = if self.is_operator(node) { self.message_of_operator() } else { message };
        let later = self.dice.count(1, 4);
        let nth = if self.dice.chance(70) { 1 } else { later };
        (message.to_owned(), part, node, nth)
    }

    fn message_of_operator(&mut self) -> &'static str {
        let (any, usual) = (self.dice.pick(REPAIR_MESSAGES).0, self.dice.pick(ASKED_IN_REPAIRS));
        if self.dice.chance(40) { any } else { usual }
    }
}

/// A rate of so many parts per billion, or the nearest that there is.
pub(super) fn rate_of(ppb: i64) -> Rate {
    let most = i64::from(Rate::MAX_PPB);
    i32::try_from(ppb.clamp(-most, most)).ok().and_then(Rate::from_ppb).unwrap_or(Rate::EXACT)
}

/// A span as a person would write it, and never below zero.
pub(super) fn not_negative(span: Span) -> Span {
    if span <= Span::ZERO { Span::ZERO } else { rounded(span) }
}
