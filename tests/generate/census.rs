//! What comes of drawn plans, counted over many seeds.

use std::collections::BTreeMap;
use std::fmt;
use std::thread;

use holdover::explore::generate::{Generator, Profile};
use holdover::sim::check::{Bite, SIGHTINGS, Verdict, bites, broken_assumptions, judge, sightings};
use holdover::sim::fault::FAULTS;
use holdover::sim::limits::Ending;
use holdover::sim::protocol::AnyProtocol;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::world::WorldSpec;

/// Over how many threads the seeds are spread. What is counted doesn't depend on it.
const THREADS: u64 = 2;

/// What became of the faults of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) drawn: usize,
    pub(crate) struck: usize,
    pub(crate) bit: usize,
}

/// What was seen in many runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) runs: usize,
    /// By kind of fault.
    pub(crate) fates: BTreeMap<&'static str, Fate>,
    /// In how many runs each was seen.
    pub(crate) seen: BTreeMap<&'static str, usize>,
    /// In how many runs each rule was violated.
    pub(crate) violated: BTreeMap<&'static str, usize>,
    /// The seeds of runs that broke a rule of safety although the protocol's assumptions were kept.
    pub(crate) unexcused: Vec<u64>,
    /// The seeds of runs that ended with a panic.
    pub(crate) panicked: Vec<u64>,
    /// In how many runs some assumption of the protocol was broken.
    pub(crate) outside: usize,
}

impl Census {
    /// Runs `protocol` in `world` under the plans of all seeds below `seeds`.
    pub(crate) fn of(
        world: &WorldSpec,
        profile: Profile,
        protocol: &'static dyn AnyProtocol,
        seeds: u64,
    ) -> Census {
        let generator = Generator::new(world, profile);
        let part = |n| {
            let mut census = Census::default();
            (n..seeds).step_by(THREADS as usize).for_each(|seed| census.count(world, &generator, protocol, seed));
            census
        };
        let mut whole = Census::default();
        for kind in FAULTS {
            whole.fates.insert(kind.name, Fate::default());
        }
        thread::scope(|scope| {
            let parts: Vec<_> = (0..THREADS).map(|n| scope.spawn(move || part(n))).collect();
            for part in parts {
                whole.add(part.join().expect("a run never panics"));
            }
        });
        whole.unexcused.sort_unstable();
        whole.panicked.sort_unstable();
        whole
    }

    fn count(&mut self, world: &WorldSpec, generator: &Generator, protocol: &'static dyn AnyProtocol, seed: u64) {
        let history = run(world, protocol, &generator.plan(Seed(seed)), Seed(seed));
        self.runs += 1;
        for (planned, bite) in history.plan.iter().zip(bites(&history)) {
            let fate = self.fates.entry(planned.inject.name()).or_default();
            fate.drawn += 1;
            fate.struck += usize::from(bite != Bite::NeverStruck);
            fate.bit += usize::from(bite == Bite::Bit);
        }
        for (sighting, times) in sightings(&history) {
            *self.seen.entry(sighting.name).or_default() += usize::from(times > 0);
        }
        let mut is_safe = true;
        for (checker, verdict) in judge(&history) {
            let is_violated = matches!(verdict, Verdict::Violated { .. });
            *self.violated.entry(checker.name).or_default() += usize::from(is_violated);
            // What isn't finished isn't unsafe.
            is_safe &= !is_violated || checker.name == "progress";
        }
        if matches!(history.ending, Ending::Panicked { .. }) {
            self.panicked.push(seed);
        }
        let is_inside = broken_assumptions(&history, protocol.assumptions()).is_empty();
        self.outside += usize::from(!is_inside);
        if is_inside && !is_safe {
            self.unexcused.push(seed);
        }
    }

    fn add(&mut self, other: Census) {
        self.runs += other.runs;
        for (kind, fate) in other.fates {
            let sum = self.fates.entry(kind).or_default();
            sum.drawn += fate.drawn;
            sum.struck += fate.struck;
            sum.bit += fate.bit;
        }
        for (sum, counts) in [(&mut self.seen, other.seen), (&mut self.violated, other.violated)] {
            counts.into_iter().for_each(|(name, count)| *sum.entry(name).or_default() += count);
        }
        self.unexcused.extend(other.unexcused);
        self.panicked.extend(other.panicked);
        self.outside += other.outside;
    }

    /// How many of a hundred runs.
    pub(crate) fn percent(&self, runs: usize) -> usize {
        runs * 100 / self.runs.max(1)
    }
}

/// As a table, kinds in the order of the registry.
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} runs, in {} % of them an assumption was broken", self.runs, self.percent(self.outside))?;
        writeln!(f, "{:<24}{:>8}{:>8}{:>8}", "", "drawn", "struck", "bit")?;
        for kind in FAULTS {
            let Fate { drawn, struck, bit } = self.fates.get(kind.name).copied().unwrap_or_default();
            writeln!(f, "{:<24}{drawn:>8}{struck:>8}{bit:>8}", kind.name)?;
        }
        for sighting in SIGHTINGS {
            let runs = self.seen.get(sighting.name).copied().unwrap_or(0);
            writeln!(f, "{:<24}{runs:>8}{:>7} %", sighting.name, self.percent(runs))?;
        }
        for (rule, runs) in &self.violated {
            writeln!(f, "{:<24}{runs:>8}{:>7} %", format!("{rule} violated"), self.percent(*runs))?;
        }
        Ok(())
    }
}
