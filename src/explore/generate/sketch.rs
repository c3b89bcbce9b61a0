//! What a fault is drawn with: its own draws, the plan's swarm, the world's stage; and what all kinds draw alike.

use holdover_sim::clock::Rate;
use holdover_sim::fault::{Links, Part};
use holdover_sim::id::NodeId;
use holdover_sim::time::Span;
use holdover_sim::world::LEASE_STORE;

use super::dice::{Dice, rounded};
use super::profile::Profile;
use super::stage::Stage;
use super::swarm::Swarm;

/// The longest span that a fault can have, as in scenario files: a year and a day.
pub(super) const LONGEST: Span = Span::secs(366 * 86_400);

/// The shortest that is drawn where one can't be zero.
pub(super) const SHORTEST: Span = Span::millis(1);

/// Messages that a worker sends again and again. The others are sent once in its turn, and only under some protocols.
const OFTEN_SENT: &[&str] = &["lease.renew", "ledger.write", "provider.pay", "ledger.move-checkpoint"];

/// A fault while it is drawn.
pub(super) struct Sketch<'a> {
    pub(super) dice: Dice,
    pub(super) swarm: &'a Swarm,
    pub(super) stage: &'a Stage,
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

    /// A service.
    pub(super) fn service(&mut self) -> NodeId {
        self.dice.pick(&self.stage.services)
    }

    /// A service whose replica may be put in its place.
    pub(super) fn promotable(&mut self) -> NodeId {
        let agree = &self.stage.replicas;
        let others = self.stage.services.iter().copied().filter(|service| !agree.contains(service));
        self.dice.pick(&others.collect::<Vec<_>>())
    }

    /// A machine: a worker's, or at times one of the lease service's replicas if there are any.
    pub(super) fn machine(&mut self) -> NodeId {
        let worker = self.worker();
        if self.stage.replicas.is_empty() || !self.dice.chance(40) { worker } else { self.replica() }
    }

    /// The lease store, or one of the replicas in its place.
    fn replica(&mut self) -> NodeId {
        if self.stage.replicas.is_empty() { LEASE_STORE } else { self.dice.pick(&self.stage.replicas) }
    }

    /// A node whose clocks somebody goes by: a worker, or at times the lease store.
    pub(super) fn clocked(&mut self) -> NodeId {
        let worker = self.worker();
        let percent = if self.stage.replicas.is_empty() { 10 } else { 30 };
        if self.dice.chance(percent) { self.replica() } else { worker }
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
        let (base, eighths) = self.dice.weighted(&choices);
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

    /// The links of a worker to one service, to several or to all others; or of a service to everybody.
    pub(super) fn links(&mut self) -> Links {
        if !self.stage.replicas.is_empty() && self.dice.chance(60) {
            return self.links_of_replicas();
        }
        let (worker, service) = (self.worker(), self.service());
        let (between, and) = match self.dice.below(8) {
            0..4 => (worker, vec![service]),
            4 => (worker, self.stage.services.iter().copied().filter(|other| *other != service).collect()),
            5 => (worker, self.stage.services.clone()),
            6 => (worker, Vec::new()),
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

    /// A message of a worker, one of its parts, the worker, and which of those that come.
    pub(super) fn message(&mut self) -> (String, Part, NodeId, u32) {
        let (any, usual) = (self.dice.pick(&self.stage.messages), self.dice.pick(OFTEN_SENT));
        let message = if self.dice.chance(40) { any } else { usual };
        let part = self.dice.pick(&Part::ALL);
        let node = self.worker();
        let later = self.dice.count(1, 4);
        let nth = if self.dice.chance(70) { 1 } else { later };
        (message.to_owned(), part, node, nth)
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
