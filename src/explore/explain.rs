//! Counterfactual replay: what each fault and each of its numbers is to what broke.
//!
//! Under each protocol that violates something, every fault is taken away alone and in pairs, the smallest sets of faults
//! that are enough are looked for, and every number is turned to find its edges. Where nothing is violated the numbers are
//! turned all the same, which shows how far it is to the edge. Everything is bounded, and counted in runs and events, so
//! the same scenario, seed and version give the same explanation on every machine.

use holdover_sim::check::Bite;
use holdover_sim::fault::PlannedFault;
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime};

use super::chain::{Chain, chain};
use super::edge::{Search, Stretches};
use super::knobs::{Knob, Unit, knobs, turned};
use super::trial::failures;
use super::{Budget, Measures, Parts, Signature, Spent, Subject, Sufficient, Trial, Trials};
use crate::replay::{JudgedRun, Replay};
use crate::scenario::Scenario;

/// What explaining one protocol may use where nothing else is said: some seconds.
pub const BUDGET: Budget = Budget { runs: 20_000, events: 40_000_000 };

/// What explaining may use beside something else that is asked for: less than a second, for a run of usual size.
pub const BRIEF: Budget = Budget { runs: 4_000, events: 4_000_000 };

/// So many pairs of faults are taken away at the most: all that there are of ninety.
pub const MOST_PAIRS: u64 = 4_005;

/// Why what broke in a scenario broke, under each protocol that was asked for.
pub struct Explanation<'a> {
    /// The scenario's runs: under the protocols that were asked for, then under all others of the registry.
    pub replay: Replay<'a>,
    /// What was learned under each protocol that was asked for, in the order of the runs.
    pub explained: Vec<Explained>,
    /// What each of them might use.
    pub budget: Budget,
}

/// What was learned under one protocol.
pub struct Explained {
    /// The signatures of all that the run violates, with how often it does. Empty if nothing is violated: then only
    /// `knobs` has anything.
    pub broken: Vec<(Signature, usize)>,
    /// How bad the run is.
    pub measures: Measures,
    /// What each fault is to it, in the plan's order; fewer if the budget was used up.
    pub faults: Vec<Role>,
    /// The pairs of faults of which either is enough for something.
    pub pairs: Vec<Pair>,
    /// How many pairs weren't taken away, because there are more than [`MOST_PAIRS`].
    pub pairs_left_out: u64,
    /// The smallest sets of faults that are enough for each of `broken`; empty if the budget was used up before.
    pub sufficient: Vec<Sufficient>,
    /// What each number is to it; fewer if the budget was used up.
    pub knobs: Vec<Turned>,
    /// How it comes about.
    pub chain: Chain,
    /// What it took.
    pub spent: Spent,
    /// Whether who watched ended it before all was looked at.
    pub stopped: bool,
}

/// Watches an explanation, which can take minutes.
pub trait Watch {
    /// Hears of another run under `protocol`, as part of what `doing` says, with what all of that protocol's took.
    fn ran(&self, protocol: &str, doing: &str, spent: Spent);

    /// Whether it is to end with what was learned so far.
    fn is_over(&self) -> bool;
}

/// Watches nothing.
struct Unwatched;

impl Watch for Unwatched {
    fn ran(&self, _: &str, _: &str, _: Spent) {}

    fn is_over(&self) -> bool {
        false
    }
}

/// The runs of an explanation, with who watches them.
struct Watched<'a> {
    trials: Trials<'a>,
    watch: &'a dyn Watch,
    protocol: &'a str,
    doing: &'static str,
    stopped: bool,
}

impl Watched<'_> {
    fn run(&mut self, plan: &[PlannedFault]) -> Option<Trial> {
        if self.watch.is_over() {
            self.stopped = true;
            return None;
        }
        let trial = self.trials.run(plan);
        self.watch.ran(self.protocol, self.doing, self.trials.spent());
        trial
    }
}

/// What one fault is to what broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// What became of it.
    pub bite: Bite,
    /// The faults that wait for it, and so were taken away with it.
    pub followers: Vec<usize>,
    /// The faults that it waits for, without which it never strikes.
    pub leaders: Vec<usize>,
    /// What breaks without it.
    pub without: Outcome,
    /// What breaks with it alone, and those that it waits for.
    pub alone: Outcome,
}

/// What came of a run, as far as it can be compared with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was violated, with how often.
    pub broken: Vec<(Signature, usize)>,
    /// How bad it was.
    pub measures: Measures,
}

/// What a fault is to what broke, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Without it nothing of what broke does.
    Necessary,
    /// Without it some of what broke doesn't.
    NecessaryForSome,
    /// Without it the same breaks, and less of it.
    Worse,
    /// Without it the same breaks, and more of it.
    Better,
    /// Without it the same breaks, some of it more and some less.
    Other,
    /// Without it all is the same.
    None,
}

/// Two faults of which either is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Their places in the plan.
    pub faults: [usize; 2],
    /// What breaks without either of them, and not without both.
    pub gone: Vec<Signature>,
}

/// What one number of one fault is to what broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The fault's place in the plan.
    pub fault: usize,
    /// The number.
    pub knob: Knob,
    /// Over which values it was turned.
    pub search: Search,
    /// What breaks at which values: of what the run itself violates, or anything if it violates nothing.
    pub found: Stretches<Vec<Signature>>,
}

impl<'a> Explanation<'a> {
    /// Explains `scenario` under `protocols` with `seed`, each within `budget`.
    pub fn new(
        scenario: &'a Scenario,
        protocols: &[&'static dyn AnyProtocol],
        seed: Seed,
        budget: Budget,
    ) -> Explanation<'a> {
        Explanation::watched(scenario, protocols, seed, budget, &Unwatched)
    }

    /// The same, while `watch` watches. Where it ends it there is as much as was learned until then.
    pub fn watched(
        scenario: &'a Scenario,
        protocols: &[&'static dyn AnyProtocol],
        seed: Seed,
        budget: Budget,
        watch: &dyn Watch,
    ) -> Explanation<'a> {
        let asked = |name: &str| protocols.iter().any(|protocol| protocol.name() == name);
        let others = scenario.suite.of_interest(&scenario.world.lease).filter(|other| !asked(other.name()));
        let all: Vec<&'static dyn AnyProtocol> = protocols.iter().copied().chain(others).collect();
        let replay = Replay::new(scenario, &all, seed);
        let asked = replay.runs.iter().zip(protocols);
        let explain = |(run, protocol): (&JudgedRun, &&'static dyn AnyProtocol)| {
            explain(Subject { world: &scenario.world, protocol: *protocol, seed }, scenario, run, (budget, watch))
        };
        let explained = asked.map(explain).collect();
        Explanation { replay, explained, budget }
    }

    /// What can be said of stored runs, of which none can be run again: how it came about, and how bad it is.
    pub fn of_stored(replay: Replay<'a>) -> Explanation<'a> {
        let explained = replay.runs.iter().map(|run| {
            let bit = |fault: &usize| run.bites.get(*fault) == Some(&Bite::Bit);
            let matters: Vec<usize> = (0..run.history.plan.len()).filter(bit).collect();
            Explained { chain: chain(run, &matters), ..Explained::of(run) }
        });
        Explanation { explained: explained.collect(), budget: Budget { runs: 0, events: 0 }, replay }
    }

    /// The runs under the protocols that were asked for, each with what was learned.
    pub fn asked(&self) -> impl Iterator<Item = (&JudgedRun, &Explained)> {
        self.replay.runs.iter().zip(&self.explained)
    }
}

impl Role {
    /// What the fault is to what the whole plan comes to.
    pub fn difference(&self, whole: &Outcome) -> Difference {
        let gone = self.gone(whole).len();
        match gone {
            0 => self.change(whole),
            all if all == whole.broken.len() => Difference::Necessary,
            _ => Difference::NecessaryForSome,
        }
    }

    /// How bad it is with the fault compared with how bad it is without.
    pub fn change(&self, whole: &Outcome) -> Difference {
        whole.against(&self.without)
    }

    /// What breaks with it and not without it.
    pub fn gone(&self, whole: &Outcome) -> Vec<Signature> {
        whole.signatures().filter(|signature| !self.without.has(*signature)).collect()
    }

    /// What breaks without it and not with it.
    pub fn instead(&self, whole: &Outcome) -> Vec<Signature> {
        self.without.signatures().filter(|signature| !whole.has(*signature)).collect()
    }
}

impl Outcome {
    fn of(trial: &Trial) -> Outcome {
        Outcome { broken: trial.failures(), measures: trial.measures() }
    }

    /// What was violated.
    pub fn signatures(&self) -> impl Iterator<Item = Signature> {
        self.broken.iter().map(|(signature, _)| *signature)
    }

    /// Whether `signature` was among it.
    pub fn has(&self, signature: Signature) -> bool {
        self.times(signature) > 0
    }

    /// How often it was violated.
    pub fn times(&self, signature: Signature) -> usize {
        self.broken.iter().find(|(known, _)| *known == signature).map_or(0, |(_, times)| *times)
    }

    /// How bad this is compared with `other`, by all that can be counted: how often each rule is broken, and the measures.
    fn against(&self, other: &Outcome) -> Difference {
        let mut rules: Vec<Signature> = self.signatures().chain(other.signatures()).collect();
        rules.sort_unstable();
        rules.dedup();
        let numbers = |outcome: &Outcome| -> Vec<i64> {
            let Measures { belief_overlap, stale_writes_tried, stale_writes_accepted, effects_doubled } =
                outcome.measures;
            let counts = [stale_writes_tried, stale_writes_accepted, effects_doubled];
            let times = rules.iter().map(|signature| outcome.times(*signature));
            let counts = counts.into_iter().chain(times).map(|count| count as i64);
            counts.chain([belief_overlap.as_nanos()]).collect()
        };
        let (with, without) = (numbers(self), numbers(other));
        let more = with.iter().zip(&without).any(|(with, without)| with > without);
        let less = with.iter().zip(&without).any(|(with, without)| with < without);
        match (more, less) {
            (true, false) => Difference::Worse,
            (false, true) => Difference::Better,
            (true, true) => Difference::Other,
            (false, false) => Difference::None,
        }
    }
}

impl Explained {
    /// What there is to say before anything was run.
    fn of(run: &JudgedRun) -> Explained {
        Explained {
            measures: Measures::of(&run.history),
            broken: failures(&run.verdicts),
            faults: Vec::new(),
            pairs: Vec::new(),
            pairs_left_out: 0,
            sufficient: Vec::new(),
            knobs: Vec::new(),
            chain: Chain::default(),
            spent: Spent::default(),
            stopped: false,
        }
    }

    /// What the whole plan comes to.
    pub fn whole(&self) -> Outcome {
        Outcome { broken: self.broken.clone(), measures: self.measures }
    }

    /// What was violated.
    pub fn signatures(&self) -> Vec<Signature> {
        self.broken.iter().map(|(signature, _)| *signature).collect()
    }
}

fn explain(
    subject: Subject<'_>,
    scenario: &Scenario,
    run: &JudgedRun,
    (budget, watch): (Budget, &dyn Watch),
) -> Explained {
    let trials = Trials::new(subject, budget);
    let mut trials = Watched { trials, watch, protocol: run.protocol.name(), doing: "", stopped: false };
    let parts = Parts::of(&scenario.plan);
    let mut explained = Explained::of(run);
    // A step that is cut short by the budget leaves what it had, and all later ones are.
    let _complete = learn(scenario, &parts, &mut trials, run, &mut explained);
    let matters: Vec<usize> = explained
        .faults
        .iter()
        .enumerate()
        .filter(|(_, role)| role.difference(&explained.whole()) != Difference::None)
        .map(|(fault, _)| fault)
        .collect();
    explained.chain = chain(run, &matters);
    explained.spent = trials.trials.spent();
    explained.stopped = trials.stopped;
    explained
}

/// Does all trials, until the budget is used up: then `None`.
fn learn(
    scenario: &Scenario,
    parts: &Parts<'_>,
    trials: &mut Watched<'_>,
    run: &JudgedRun,
    explained: &mut Explained,
) -> Option<()> {
    let signatures = explained.signatures();
    if !signatures.is_empty() {
        trials.doing = "taking each fault away";
        for fault in 0..parts.len() {
            let alone = parts.alone(fault);
            let leaders = alone.iter().copied().filter(|leader| *leader != fault).collect();
            let without = Outcome::of(&trials.run(&parts.only(&parts.without(&[fault])))?);
            let alone = Outcome::of(&trials.run(&parts.only(&alone))?);
            let followers = parts.followers(fault);
            explained.faults.push(Role { bite: run.bites[fault], followers, leaders, without, alone });
        }
        trials.doing = "taking pairs of faults away";
        pairs(parts, trials, explained)?;
        trials.doing = "looking for the fewest faults";
        explained.sufficient = parts
            .sufficient(&signatures, |set| trials.run(&parts.only(set)).map(|trial| trial.having(&signatures)))?;
    }
    trials.doing = "turning numbers";
    for (fault, planned) in scenario.plan.iter().enumerate() {
        // A program may make a fault that no file can say; its numbers have no range to be turned in.
        for knob in knobs(planned, scenario.world.limits.end).into_iter().filter(|knob| knob.takes(knob.value)) {
            explained.knobs.push(turn(scenario, trials, &signatures, fault, knob)?);
        }
    }
    Some(())
}

/// Takes each pair of faults away.
fn pairs(parts: &Parts<'_>, trials: &mut Watched<'_>, explained: &mut Explained) -> Option<()> {
    let whole = explained.whole();
    let mut looked_at = 0;
    for one in 0..parts.len() {
        for other in one + 1..parts.len() {
            looked_at += 1;
            if looked_at > MOST_PAIRS {
                explained.pairs_left_out += 1;
                continue;
            }
            // What is gone without one of them can't be told apart any more.
            let there = |fault: usize, signature| explained.faults[fault].without.has(signature);
            let open: Vec<Signature> =
                whole.signatures().filter(|wanted| there(one, *wanted) && there(other, *wanted)).collect();
            if open.is_empty() {
                continue;
            }
            let left = trials.run(&parts.only(&parts.without(&[one, other])))?.having(&open);
            let gone: Vec<Signature> = open.into_iter().filter(|signature| !left.contains(signature)).collect();
            if !gone.is_empty() {
                explained.pairs.push(Pair { faults: [one, other], gone });
            }
        }
    }
    Some(())
}

/// Turns one number of one fault over its range.
fn turn(
    scenario: &Scenario,
    trials: &mut Watched<'_>,
    signatures: &[Signature],
    fault: usize,
    knob: Knob,
) -> Option<Turned> {
    let end = scenario.world.limits.end;
    let search = range(&knob, end);
    let found = search.run(|value| {
        let mut plan = scenario.plan.clone();
        plan[fault] = turned(&plan[fault], end, knob.name, value)?;
        let trial = trials.run(&plan)?;
        Some(match signatures {
            [] => trial.failures().into_iter().map(|(signature, _)| signature).collect(),
            _ => trial.having(signatures),
        })
    })?;
    Some(Turned { fault, knob, search, found })
}

/// The values over which a number is turned: all that mean something in a run of this length.
fn range(knob: &Knob, end: TrueTime) -> Search {
    /// Which of several is counted to this at least.
    const COUNT: i64 = 20;
    let run = (end - TrueTime::START).max(Span::millis(1)).as_nanos();
    let reach = match knob.unit {
        Unit::Span => run,
        Unit::Count => COUNT,
        Unit::Time | Unit::Rate | Unit::Percent => i64::MAX,
    };
    // A zone is hours off or isn't one.
    let reach = if knob.grain > Unit::Span.grain() && knob.unit == Unit::Span { i64::MAX } else { reach };
    let value = knob.value;
    let least = if knob.unit == Unit::Span && knob.low > 0 { knob.low.max(knob.grain) } else { knob.low };
    Search {
        low: least.max(-reach).min(value),
        high: knob.high.min(reach).max(value),
        value,
        grain: knob.grain,
        not_zero: knob.not_zero,
    }
}
