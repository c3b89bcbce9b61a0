//! The smallest scenario so far, and what a proposal has to be to take its place.

use holdover_sim::history::History;
use holdover_sim::panics;
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::seed::Seed;

use super::super::{Meter, Signature, Spent, Subject, Trial};
use super::{OTHER_SEEDS, Pass, Tally, Weight, is_cut_short};
use crate::replay::Blame;
use crate::scenario::Scenario;

/// A search for the smallest scenario. Where something says `None`, the budget is used up.
pub(super) struct Search<'a> {
    protocol: &'a dyn AnyProtocol,
    signature: Signature,
    allowed: Allowed,
    meter: Meter,
    best: Scenario,
    weight: Weight,
    /// Under how many of the other seeds the best one doesn't have the signature; `None` if nobody asked yet.
    fragile: Option<usize>,
    /// Whether there is a file that says the best one. Once there is, it stays so.
    is_writable: bool,
    passes: Vec<Tally>,
    rounds: usize,
}

/// What a run may be like, because the first one is.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// Whether it may hit its bound or panic.
    cut_short: bool,
    /// Whether something that the protocol relies on may be broken. A flaw of the protocol mustn't shrink to a failure that
    /// it never promised to be safe from.
    outside: bool,
}

impl Allowed {
    /// What runs that stand for `first` may be like.
    pub(super) fn by(first: &Trial, signature: Signature) -> Allowed {
        Allowed { cut_short: is_cut_short(&first.history.ending), outside: is_outside(first, signature) }
    }
}

/// A proposal that could take the place of the best one.
pub(super) struct Found {
    scenario: Scenario,
    weight: Weight,
    fragile: Option<usize>,
    is_writable: bool,
}

impl Found {
    /// What makes one better than another: that it depends less on the seed, and then that it weighs less.
    pub(super) fn rank(&self) -> (Option<usize>, Weight) {
        (self.fragile, self.weight)
    }
}

impl<'a> Search<'a> {
    /// A search that begins with `scenario`, which has the signature.
    pub(super) fn new(
        scenario: &Scenario,
        protocol: &'a dyn AnyProtocol,
        signature: Signature,
        allowed: Allowed,
        meter: Meter,
    ) -> Search<'a> {
        // What is said of a scenario has no part in this, and some of it no file can say.
        let best =
            Scenario { title: "smallest".to_owned(), story: None, expect: Default::default(), ..scenario.clone() };
        Search {
            protocol,
            signature,
            allowed,
            meter,
            weight: Weight::of(&best),
            fragile: None,
            is_writable: best.to_toml().is_ok(),
            best,
            passes: Vec::new(),
            rounds: 0,
        }
    }

    /// Goes through `passes` until none finds anything any more.
    pub(super) fn all_rounds(&mut self, passes: &[Pass]) -> Option<()> {
        self.passes = passes.iter().map(|(pass, _)| Tally { pass, tried: 0, kept: 0 }).collect();
        loop {
            let before = self.weight;
            self.rounds += 1;
            for (place, (name, pass)) in passes.iter().enumerate() {
                // The pass that is at work is the last in the list, where its proposals are counted.
                let at_work = self.passes.remove(place);
                debug_assert_eq!(at_work.pass, *name);
                self.passes.push(at_work);
                let complete = pass(self);
                let at_work = self.passes.pop();
                self.passes.splice(place..place, at_work);
                complete?;
            }
            if self.weight == before {
                return Some(());
            }
        }
    }

    /// The smallest scenario so far.
    pub(super) fn best(&self) -> &Scenario {
        &self.best
    }

    /// Runs the best one.
    pub(super) fn history(&mut self) -> Option<History> {
        let Search { meter, best, protocol, .. } = self;
        run(meter, *protocol, best, best.seed).map(|trial| trial.history)
    }

    /// Takes `proposal` in place of the best one if it can take it; says whether it did.
    pub(super) fn attempt(&mut self, proposal: Scenario) -> Option<bool> {
        let found = self.judge(proposal)?;
        let is_taken = found.is_some();
        found.into_iter().for_each(|found| self.take(found));
        Some(is_taken)
    }

    /// Runs `proposal`, if it weighs less than the best one: whether it could take its place. It has the same signature, it
    /// isn't cut short, it stays inside of what the protocol relies on, a file can say it, and unless a fault, a worker or an
    /// operator less is in it, it depends on the seed no more.
    pub(super) fn judge(&mut self, proposal: Scenario) -> Option<Option<Found>> {
        let weight = Weight::of(&proposal);
        if weight >= self.weight {
            return Some(None);
        }
        self.passes.last_mut().into_iter().for_each(|pass| pass.tried += 1);
        if !self.has_signature(&proposal, proposal.seed)? {
            return Some(None);
        }
        let is_writable = proposal.to_toml().is_ok();
        if self.is_writable && !is_writable {
            return Some(None);
        }
        let mut fragile = None;
        if weight.fewer() == self.weight.fewer() {
            let most = self.fragile()?;
            let found = self.count_without(&proposal, most)?;
            if found > most {
                return Some(None);
            }
            fragile = Some(found);
        }
        Some(Some(Found { scenario: proposal, weight, fragile, is_writable }))
    }

    /// Takes what was found in place of the best one.
    pub(super) fn take(&mut self, found: Found) {
        let Found { scenario, weight, fragile, is_writable } = found;
        (self.best, self.weight, self.fragile, self.is_writable) = (scenario, weight, fragile, is_writable);
        self.passes.last_mut().into_iter().for_each(|pass| pass.kept += 1);
    }

    /// Under how many of the other seeds the best one has the signature.
    pub(super) fn holds_under(&mut self) -> Option<usize> {
        self.fragile().map(|fragile| OTHER_SEEDS - fragile)
    }

    /// The smallest scenario, and what it took to find it.
    pub(super) fn into_parts(self) -> (Scenario, Vec<Tally>, usize, Spent) {
        (self.best, self.passes, self.rounds, self.meter.spent())
    }

    fn fragile(&mut self) -> Option<usize> {
        if self.fragile.is_none() {
            let best = self.best.clone();
            self.fragile = Some(self.count_without(&best, OTHER_SEEDS)?);
        }
        self.fragile
    }

    /// Under how many of the other seeds `scenario` doesn't have the signature; counted only until there are more than
    /// `most`.
    fn count_without(&mut self, scenario: &Scenario, most: usize) -> Option<usize> {
        let mut without = 0;
        for seed in (0..).map(Seed).filter(|seed| *seed != scenario.seed).take(OTHER_SEEDS) {
            if without > most {
                break;
            }
            without += usize::from(!self.has_signature(scenario, seed)?);
        }
        Some(without)
    }

    /// Whether `scenario` has the signature under `seed`. One on which something of ours panics hasn't: what was found until
    /// then is worth keeping.
    fn has_signature(&mut self, scenario: &Scenario, seed: Seed) -> Option<bool> {
        panics::catch(|| self.breaks(scenario, seed)).unwrap_or(Some(false))
    }

    fn breaks(&mut self, scenario: &Scenario, seed: Seed) -> Option<bool> {
        let trial = run(&mut self.meter, self.protocol, scenario, seed)?;
        let is_whole = self.allowed.cut_short || !is_cut_short(&trial.history.ending);
        let breaks = is_whole && trial.times(self.signature) > 0;
        Some(breaks && (self.allowed.outside || !is_outside(&trial, self.signature)))
    }
}

fn is_outside(trial: &Trial, signature: Signature) -> bool {
    trial.blame(signature, trial.first_broken_assumption().as_slice()) == Some(Blame::Outside)
}

fn run(meter: &mut Meter, protocol: &dyn AnyProtocol, scenario: &Scenario, seed: Seed) -> Option<Trial> {
    meter.run(Subject { world: &scenario.world, protocol, seed }, &scenario.plan)
}
