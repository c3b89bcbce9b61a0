//! Runs a scenario under its protocols and judges what happened; and judges stored histories again.

use std::collections::BTreeMap;

use holdover_sim::check::{self, Assumption, Bite, Checker, Evidence, Sighting, Verdict};
use holdover_sim::history::{self, Fingerprint, History};
use holdover_sim::id::NodeId;
use holdover_sim::limits::Ending;
use holdover_sim::panics;
use holdover_sim::protocol::{self, AnyProtocol};
use holdover_sim::run::{self, run};
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{WorldSpec, worker_node};

use crate::scenario::{Expected, Scenario};
use crate::stored::lines::DisciplineLine;
use crate::stored::{Concluded, Settings, Told};

mod as_stored;
mod blame;
mod premise;

pub use as_stored::{StoredReplay, StoredReplays};
pub use blame::Blame;
pub use premise::{Premise, Ran};

/// A scenario's runs, one for each protocol, all under the same fault plan and seed.
pub struct Replay<'a> {
    /// What they start from.
    pub premise: Premise<'a>,
    /// The seed that was used: the scenario's own, or the one asked for instead.
    pub seed: Seed,
    /// The runs, in the order of the protocols.
    pub runs: Vec<JudgedRun>,
}

/// One run with everything that is told of it.
pub struct JudgedRun {
    /// The protocol.
    pub protocol: Ran,
    /// What happened.
    pub history: History,
    /// The hash of what happened.
    pub fingerprint: Fingerprint,
    /// Whether a second run with the same seed gave the same history.
    pub repeats: bool,
    /// What each checker concluded.
    pub verdicts: Vec<(&'static Checker, Verdict)>,
    /// What the protocol relies on, and the run didn't keep.
    pub broken_assumptions: Vec<&'static Assumption>,
    /// What became of each fault of the plan.
    pub bites: Vec<Bite>,
    /// How often each thing that may be seen was seen.
    pub sightings: Vec<(&'static Sighting, usize)>,
    /// For how long two workers both thought that they hold the lease.
    pub belief_overlap: Span,
    /// What of holdover's own panicked: where, and what it said. What it was to find out is left out.
    pub bugs: Vec<String>,
    /// What else is told of the world that it ran in.
    pub(crate) told: Told,
    /// What was concluded of it when it was stored, if it was.
    stored: Option<Concluded>,
}

/// A respect in which a run isn't what the scenario expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// A checker's verdict is another one.
    Verdict {
        /// The protocol.
        protocol: &'static str,
        /// The checker.
        checker: &'static str,
        /// What the scenario expects; a rule that it doesn't mention is expected to hold.
        expected: Expected,
        /// What came out.
        got: Verdict,
    },
    /// The run panicked.
    Panicked {
        /// The protocol.
        protocol: &'static str,
        /// The node whose code panicked.
        node: String,
        /// The panic's message.
        message: String,
    },
    /// Something that the run had to see wasn't seen: its verdicts prove nothing.
    NotSeen {
        /// The protocol.
        protocol: &'static str,
        /// The sighting.
        sighting: String,
    },
    /// A bound was hit.
    BoundHit {
        /// The protocol.
        protocol: &'static str,
        /// The bound on steps.
        steps: u64,
    },
    /// The same seed gave another history. What the first one shows means nothing, so it is all that is told of a run.
    NotDeterministic {
        /// The protocol.
        protocol: &'static str,
        /// What that usually comes from; see [`why_unrepeated`].
        why: &'static str,
    },
    /// Something of holdover's own panicked.
    Bug {
        /// The protocol.
        protocol: &'static str,
        /// What panicked: where, and what it said.
        bug: String,
    },
    /// Something isn't as it was concluded when the run was stored.
    NotAsStored {
        /// The protocol.
        protocol: &'static str,
        /// What, as a sentence without its full stop.
        what: String,
    },
}

/// What a replay comes to. The order is that of gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// All is as the scenario expects.
    AsExpected,
    /// It can't be told: a bound was hit, a verdict is unknown, or something that had to be seen wasn't.
    Inconclusive,
    /// A verdict isn't as expected.
    NotAsExpected,
    /// The same seed gave another history.
    NotDeterministic,
    /// Something of holdover's own panicked.
    Bug,
}

impl Deviation {
    /// The protocol under which it was so.
    pub fn protocol(&self) -> &'static str {
        match self {
            Deviation::Verdict { protocol, .. }
            | Deviation::Panicked { protocol, .. }
            | Deviation::NotSeen { protocol, .. }
            | Deviation::BoundHit { protocol, .. }
            | Deviation::NotDeterministic { protocol, .. }
            | Deviation::Bug { protocol, .. }
            | Deviation::NotAsStored { protocol, .. } => protocol,
        }
    }

    /// How grave it is.
    pub fn outcome(&self) -> Outcome {
        match self {
            Deviation::Verdict { got: Verdict::Unknown { .. }, .. }
            | Deviation::NotSeen { .. }
            | Deviation::BoundHit { .. } => Outcome::Inconclusive,
            Deviation::Verdict { .. } | Deviation::Panicked { .. } | Deviation::NotAsStored { .. } => {
                Outcome::NotAsExpected
            }
            Deviation::NotDeterministic { .. } => Outcome::NotDeterministic,
            Deviation::Bug { .. } => Outcome::Bug,
        }
    }
}

impl<'a> Replay<'a> {
    /// Runs `scenario` under `protocols`, each twice to see that the second run repeats the first.
    pub fn new(scenario: &'a Scenario, protocols: &[&'static dyn AnyProtocol], seed: Seed) -> Replay<'a> {
        let runs = protocols.iter().map(|protocol| JudgedRun::new(scenario, *protocol, seed)).collect();
        Replay { premise: Premise::of(scenario), seed, runs }
    }

    /// Runs `scenario` as it says itself.
    pub fn of(scenario: &'a Scenario) -> Replay<'a> {
        Replay::new(scenario, &protocols_of(scenario), scenario.seed)
    }

    /// In what respects the runs aren't as the scenario expects, in the order of the runs.
    pub fn deviations(&self) -> Vec<Deviation> {
        self.runs.iter().flat_map(|run| run.deviations(&self.premise)).collect()
    }

    /// What the replay comes to.
    pub fn outcome(&self) -> Outcome {
        self.deviations().iter().map(Deviation::outcome).max().unwrap_or(Outcome::AsExpected)
    }
}

/// The protocols that `scenario` names.
///
/// # Panics
/// If it names one that isn't in its suite; a scenario that was loaded from a file never does.
pub fn protocols_of(scenario: &Scenario) -> Vec<&'static dyn AnyProtocol> {
    let find = |name: &String| scenario.suite.find(name).expect("a scenario names protocols of its suite");
    scenario.protocols.iter().map(find).collect()
}

/// What it usually comes from that the same seed gave another history under `protocol`, and what to do about it: as the end of
/// a sentence. For a protocol that comes along it is a bug in holdover.
pub fn why_unrepeated(protocol: &dyn AnyProtocol) -> &'static str {
    match (protocol::comes_along(protocol), protocol.host()) {
        (true, _) => "this is a bug in holdover",
        (false, Some(_)) => {
            "its code isn't determined by the seed, so what it shows means nothing. Usually it depends on something that \
             outlasts a run: a `static` that counts or caches, an `Arc` in the protocol, `tokio::select!` without `biased;`, \
             `futures::select!`, a hasher whose keys are drawn once a process, numbers of threads, addresses in memory; or \
             it reads a file. Take that away, or make it anew in `work`"
        }
        (false, None) => {
            "its code isn't determined by the seed, so what it shows means nothing. Perhaps it, or a crate that it uses, reads a \
             clock of the system, draws random bytes, or goes by the order of a `HashMap`: then give it a simulated host, with \
             `Protocol::host` and the crate `holdover-host`. Or it depends on something that outlasts a run, such as a `static` \
             that counts or caches, or `tokio::select!` without `biased;`: take that away"
        }
    }
}

impl JudgedRun {
    fn new(scenario: &Scenario, protocol: &'static dyn AnyProtocol, seed: Seed) -> JudgedRun {
        let once = || run(&scenario.world, protocol, &scenario.plan, seed);
        let span =
            tracing::info_span!(target: history::LOG_TARGET, "run", protocol = protocol.name(), seed = seed.0);
        let history = span.in_scope(once);
        let repeats = run::repeats(&scenario.world, protocol, &scenario.plan, seed, &history);
        JudgedRun { repeats, ..JudgedRun::of(&scenario.world, protocol, history) }
    }

    /// Judges `history`, as what happened in `world` under `protocol`.
    pub fn of(world: &WorldSpec, protocol: &'static dyn AnyProtocol, history: History) -> JudgedRun {
        let told = told_of(world, protocol, &history);
        JudgedRun::judged(Ran::here(protocol), history, told)
    }

    /// Judges `history`, of whatever was run.
    fn judged(protocol: Ran, history: History, told: Told) -> JudgedRun {
        let evidence = Evidence::of(&history);
        let verdicts = check::judge_by(&evidence);
        let ended = match &history.ending {
            Ending::Bug(panic) => Some(panic.to_string()),
            _ => None,
        };
        let checkers = verdicts.iter().filter_map(|(_, verdict)| verdict.bug().map(str::to_owned));
        let mut bugs: Vec<String> = ended.into_iter().chain(checkers).collect();
        let bites = or_bug(&mut bugs, || check::bites(&history));
        JudgedRun {
            fingerprint: history.fingerprint(),
            repeats: true,
            broken_assumptions: or_bug(&mut bugs, || check::broken_assumptions(&history, protocol.assumptions())),
            sightings: or_bug(&mut bugs, || check::sightings_with(&evidence, &bites)),
            belief_overlap: or_bug(&mut bugs, || history::overlap_total(&history)),
            protocol,
            verdicts,
            bites,
            bugs,
            history,
            told,
            stored: None,
        }
    }

    /// Where what was violated stands to what the protocol relies on; `None` if nothing was, or another run gave another
    /// history.
    pub fn blame(&self) -> Option<Blame> {
        if !self.repeats {
            return None;
        }
        let is_violated = |verdict: &Verdict| matches!(verdict, Verdict::Violated { .. });
        let violated = self.verdicts.iter().filter(|(_, verdict)| is_violated(verdict));
        let rules = violated.map(|(checker, _)| checker.name);
        // What isn't known may not have been so, and then a flaw can't be told from a bad night.
        let known = self.protocol.unknown_assumptions().next().is_none();
        let assumptions = if known { self.protocol.assumptions() } else { &[] };
        Blame::of(rules, &self.history, assumptions, &self.broken_assumptions)
    }

    /// How often the thing named `sighting` was seen.
    pub fn seen(&self, sighting: &str) -> usize {
        self.sightings.iter().find(|(known, _)| known.name == sighting).map_or(0, |(_, count)| *count)
    }

    /// What it usually comes from that the same seed gave another history, if this run was made here; see [`why_unrepeated`].
    pub fn why_unrepeated(&self) -> &'static str {
        self.protocol.code().map_or("it was run elsewhere", why_unrepeated)
    }

    fn deviations(&self, premise: &Premise<'_>) -> Vec<Deviation> {
        let protocol = self.protocol.name();
        if !self.repeats {
            return vec![Deviation::NotDeterministic { protocol, why: self.why_unrepeated() }];
        }
        let mut deviations = Vec::new();
        match &self.history.ending {
            Ending::Panicked { node, message } => deviations.push(Deviation::Panicked {
                protocol,
                node: self.history.node(*node).name.clone(),
                message: message.clone(),
            }),
            Ending::StepsUsedUp => {
                deviations.push(Deviation::BoundHit { protocol, steps: self.told.settings.steps() });
            }
            // That is among the bugs.
            Ending::Bug(_) | Ending::Finished | Ending::TimeUp | Ending::Stuck => {}
        }
        deviations.extend(self.bugs.iter().map(|bug| Deviation::Bug { protocol, bug: bug.clone() }));
        let expectation = premise.expect.get(protocol);
        for (checker, verdict) in &self.verdicts {
            let stated = expectation.and_then(|expectation| expectation.verdicts.get(checker.name));
            let expected = stated.copied().unwrap_or(Expected::Holds);
            if !expected.is_met_by(verdict) {
                deviations.push(Deviation::Verdict {
                    protocol,
                    checker: checker.name,
                    expected,
                    got: verdict.clone(),
                });
            }
        }
        for sighting in expectation.iter().flat_map(|expectation| &expectation.seen) {
            if self.seen(sighting) == 0 {
                deviations.push(Deviation::NotSeen { protocol, sighting: sighting.clone() });
            }
        }
        deviations.extend(as_stored::differences(self));
        deviations
    }
}

/// What is told of the run of `history` beside that.
fn told_of(world: &WorldSpec, protocol: &dyn AnyProtocol, history: &History) -> Told {
    let processes = world.workers.iter().chain(&world.operators).zip(0..);
    let started_at: BTreeMap<NodeId, TrueTime> =
        processes.map(|(process, index)| (worker_node(index), process.starts)).collect();
    let nodes = history.nodes.iter().zip(0..).map(|(node, number)| {
        let number = NodeId(number);
        let clock = world.clock(node.copy_of.unwrap_or(number));
        (started_at.get(&number).copied(), clock.discipline.map(DisciplineLine::of))
    });
    Told { settings: Settings::of(world, protocol, history), nodes: nodes.collect() }
}

/// What `find` finds, or nothing if it panics, which is noted.
fn or_bug<T: Default>(bugs: &mut Vec<String>, find: impl FnOnce() -> T) -> T {
    panics::catch(find).unwrap_or_else(|panic| {
        bugs.push(panic.to_string());
        T::default()
    })
}

impl Expected {
    /// Whether `verdict` is this.
    pub fn is_met_by(self, verdict: &Verdict) -> bool {
        matches!(
            (self, verdict),
            (Expected::Holds, Verdict::Holds { .. })
                | (Expected::Violated, Verdict::Violated { .. })
                | (Expected::Unknown, Verdict::Unknown { .. })
        )
    }
}
