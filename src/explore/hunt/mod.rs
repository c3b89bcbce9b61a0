//! Hunting: many seeds, each with a plan of faults of its own, and what broke under them.
//!
//! - [`Hunt`] says what is run; [`Seeds`] and [`Shard`] with which seeds
//! - `crew` has several threads work through the seeds, and takes what comes of them in the seeds' order
//! - [`Coverage`] counts what the runs went through, [`Findings`] what broke
//!
//! Nothing depends on how many threads there are: the same hunt finds the same.

mod coverage;
mod crew;
mod findings;
mod seeds;

pub use coverage::{Coverage, Strikes};
pub use findings::{Cause, Example, Failure, Findings, Hunted, NotOne, UnknownCause};
pub use seeds::{NoSeeds, NoShard, Seeds, Shard};

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread;

use holdover_sim::check::{self, Evidence, Verdict};
use holdover_sim::fault::PlannedFault;
use holdover_sim::limits::Ending;
use holdover_sim::panics::{self, Panic};
use holdover_sim::protocol::{self, AnyProtocol};
use holdover_sim::seed::Seed;
use holdover_sim::world::WorldSpec;

use self::coverage::Tally;
use self::findings::Part;
use super::generate::{Generator, Profile, Selection, with_drawn_clocks};
use super::{Signature, Subject, failures};
use crate::replay::{Blame, protocols_of, why_unrepeated};
use crate::scenario::Scenario;

/// The group of faults that are about clocks.
const CLOCKS: &str = "clocks";

/// So many seeds are one task. They take a few milliseconds, which is long beside the handing out of a task and short
/// beside anybody's patience.
const SEEDS_A_TASK: u64 = 32;

/// Every so many seeds are run twice, to see whether the runs repeat themselves; under a protocol of a program's own, also
/// every seed that fails.
const REPEATED_EVERY: u64 = 64;

/// What becomes of a scenario's own plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnPlan {
    /// Plans are drawn in its place.
    #[default]
    Replaced,
    /// Faults are drawn on top of it.
    Extended,
    /// It is the only plan, and nothing is drawn but the runs.
    Kept,
}

impl OwnPlan {
    /// All of them.
    pub const ALL: [OwnPlan; 3] = [OwnPlan::Replaced, OwnPlan::Extended, OwnPlan::Kept];

    /// The name that the command line uses.
    pub const fn name(self) -> &'static str {
        match self {
            OwnPlan::Replaced => "replaced",
            OwnPlan::Extended => "extended",
            OwnPlan::Kept => "kept",
        }
    }
}

/// Whoever watches a hunt.
pub trait Watch: Sync {
    /// Whether it is to take no more seeds. Asked by every thread before it takes some.
    fn is_over(&self) -> bool {
        false
    }

    /// More seeds were looked at; `findings` is what is known so far.
    fn looked(&self, _hunt: &Hunt<'_>, _findings: &Findings) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// A search for failures over many seeds. Each seed gives a plan of faults, the clocks of the workers if faults of clocks are
/// among what is drawn, and all that a run draws.
#[derive(Clone)]
pub struct Hunt<'a> {
    scenario: &'a Scenario,
    protocols: Vec<&'static dyn AnyProtocol>,
    profile: Profile,
    selection: Selection,
    own_plan: OwnPlan,
    seeds: Seeds,
    shard: Shard,
    jobs: NonZeroUsize,
    fail_fast: bool,
    keep_going: bool,
    inside_only: bool,
}

impl<'a> Hunt<'a> {
    /// A hunt in the world of `scenario` for failures of the protocols that it names: by hostile plans in place of its own,
    /// with the seeds from 0 to 2,000, on all cores.
    pub fn new(scenario: &'a Scenario) -> Hunt<'a> {
        Hunt {
            protocols: protocols_of(scenario),
            scenario,
            profile: Profile::Hostile,
            selection: Selection::ALL,
            own_plan: OwnPlan::Replaced,
            seeds: Seeds { from: 0, until: 2_000 },
            shard: Shard::WHOLE,
            jobs: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            fail_fast: false,
            keep_going: false,
            inside_only: false,
        }
    }

    /// For failures of these protocols alone, which needn't be known to scenarios.
    #[must_use]
    pub fn protocols(self, protocols: &[&'static dyn AnyProtocol]) -> Hunt<'a> {
        Hunt { protocols: protocols.to_vec(), ..self }
    }

    /// With these seeds.
    #[must_use]
    pub fn seeds(self, seeds: impl Into<Seeds>) -> Hunt<'a> {
        Hunt { seeds: seeds.into(), ..self }
    }

    /// With this share of the seeds.
    #[must_use]
    pub fn shard(self, shard: Shard) -> Hunt<'a> {
        Hunt { shard, ..self }
    }

    /// By plans that are as bad as that.
    #[must_use]
    pub fn profile(self, profile: Profile) -> Hunt<'a> {
        Hunt { profile, ..self }
    }

    /// By faults of these kinds.
    #[must_use]
    pub fn faults(self, selection: Selection) -> Hunt<'a> {
        Hunt { selection, ..self }
    }

    /// With this done to the scenario's own plan.
    #[must_use]
    pub fn own_plan(self, own_plan: OwnPlan) -> Hunt<'a> {
        Hunt { own_plan, ..self }
    }

    /// On so many threads. What is found doesn't depend on it.
    #[must_use]
    pub fn jobs(self, jobs: NonZeroUsize) -> Hunt<'a> {
        Hunt { jobs, ..self }
    }

    /// Until something fails.
    #[must_use]
    pub fn fail_fast(self) -> Hunt<'a> {
        Hunt { fail_fast: true, ..self }
    }

    /// Even if a protocol's code panics or a run doesn't repeat itself, which else ends the hunt.
    #[must_use]
    pub fn keep_going(self) -> Hunt<'a> {
        Hunt { keep_going: true, ..self }
    }

    /// For flaws of the protocols alone: failures that happen though all is as the protocol relies on. To be late is none; of
    /// a protocol that doesn't say what it relies on, every other failure is one. See [`Blame`].
    #[must_use]
    pub fn inside_only(self) -> Hunt<'a> {
        Hunt { inside_only: true, ..self }
    }

    /// The protocols for whose failures it is.
    pub fn hunted_protocols(&self) -> &[&'static dyn AnyProtocol] {
        &self.protocols
    }

    /// What draws its runs, as the calls that set it; nothing that is as [`Hunt::new`] has it.
    pub(crate) fn settings(&self) -> Vec<String> {
        // Each field, so that none is forgotten that runs are drawn from.
        let Hunt {
            profile,
            selection,
            own_plan,
            inside_only,
            scenario: _,
            protocols: _,
            seeds: _,
            shard: _,
            jobs: _,
            fail_fast: _,
            keep_going: _,
        } = self;
        let settings = [
            (*profile != Profile::Hostile).then(|| format!(".profile(Profile::{profile:?})")),
            (*selection != Selection::ALL).then(|| format!(".faults(\"{selection}\".parse().unwrap())")),
            (*own_plan != OwnPlan::Replaced).then(|| format!(".own_plan(OwnPlan::{own_plan:?})")),
            inside_only.then(|| ".inside_only()".to_owned()),
        ];
        settings.into_iter().flatten().collect()
    }

    /// On how many threads it runs.
    pub fn threads(&self) -> NonZeroUsize {
        self.jobs
    }

    /// How many seeds there are to look at.
    pub fn count(&self) -> u64 {
        self.shard.count(self.seeds)
    }

    /// The scenario with the plan and the clocks that `seed` gives it, for the protocol of this name alone.
    pub fn scenario_of(&self, seed: u64, protocol: &str) -> Scenario {
        let (world, plan) = self.night(seed);
        Scenario {
            seed: Seed(seed),
            world: world.into_owned(),
            plan: plan.into_owned(),
            protocols: vec![protocol.to_owned()],
            expect: Default::default(),
            ..self.scenario.clone()
        }
    }

    /// Looks at all seeds.
    pub fn run(&self) -> Findings {
        self.run_watched(&Unwatched)
    }

    /// Looks at all seeds, or as many as `watch` lets it. Those that were looked at are the first ones.
    pub fn run_watched(&self, watch: &dyn Watch) -> Findings {
        let mut findings = Findings::none(self.hunted(), self.shard);
        let (generator, count) = (self.generator(), self.count());
        let tasks = count.div_ceil(SEEDS_A_TASK);
        let work = |task: u64| {
            let first = task * SEEDS_A_TASK;
            self.look_at(&generator, first..(first + SEEDS_A_TASK).min(count))
        };
        crew::work_through(self.jobs, tasks, &|| watch.is_over(), &work, |part| {
            findings.add(part);
            watch.looked(self, &findings);
            let is_broken = |failure: &Failure| !matches!(failure.cause, Cause::Rule(_));
            let is_enough = (self.fail_fast && !findings.failures.is_empty())
                || (!self.keep_going && findings.failures.iter().any(is_broken));
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        findings.complete = findings.seeds == count;
        findings
    }

    fn hunted(&self) -> Hunted {
        let scenario = self.scenario.to_toml().unwrap_or_else(|_| self.scenario.title.clone());
        Hunted {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario,
            protocols: self.protocols.iter().map(|protocol| protocol.name().to_owned()).collect(),
            profile: self.profile.to_string(),
            faults: self.selection.to_string(),
            plan: self.own_plan.name().to_owned(),
            inside_only: self.inside_only,
            seeds: self.seeds,
        }
    }

    fn generator(&self) -> Generator {
        let generator = Generator::new(&self.scenario.world, self.profile).only(self.selection);
        match self.own_plan {
            OwnPlan::Extended => generator.on_top_of(&self.scenario.plan),
            OwnPlan::Replaced | OwnPlan::Kept => generator,
        }
    }

    /// The world and the plan that `seed` gives.
    fn night(&self, seed: u64) -> (Cow<'_, WorldSpec>, Cow<'_, [PlannedFault]>) {
        self.night_by(&self.generator(), seed)
    }

    fn night_by(&self, generator: &Generator, seed: u64) -> (Cow<'_, WorldSpec>, Cow<'_, [PlannedFault]>) {
        if self.own_plan == OwnPlan::Kept {
            return (Cow::Borrowed(&self.scenario.world), Cow::Borrowed(&self.scenario.plan));
        }
        // Who asks for pauses alone wants no clocks that are off either.
        let groups = Selection::groups();
        let clocks = groups.iter().find(|(group, _)| *group == CLOCKS).map_or(&[][..], |(_, kinds)| kinds);
        let plan = generator.plan(Seed(seed));
        let world = match clocks.iter().any(|kind| self.selection.has(kind)) {
            true => Cow::Owned(with_drawn_clocks(&self.scenario.world, &plan, self.profile, Seed(seed))),
            false => Cow::Borrowed(&self.scenario.world),
        };
        (world, Cow::Owned(plan))
    }

    /// Looks at the seeds that come at these places in the share.
    fn look_at(&self, generator: &Generator, places: std::ops::Range<u64>) -> Part {
        let mut part = Part { seeds: places.end - places.start, coverage: Vec::new(), failures: Vec::new() };
        let mut tallies = vec![Tally::default(); self.protocols.len()];
        for place in places {
            let seed = self.shard.seed(self.seeds, place);
            let drawn = panics::catch(|| self.night_by(generator, seed));
            for (protocol, tally) in self.protocols.iter().zip(&mut tallies) {
                let looked = drawn.as_ref().map_err(Panic::clone).and_then(|(world, plan)| {
                    let subject = Subject { world, protocol: *protocol, seed: Seed(seed) };
                    panics::catch(|| self.look_at_run(subject, plan, tally, &mut part))
                });
                if let Err(panic) = looked {
                    let faults = drawn.as_ref().map_or(0, |(_, plan)| plan.len());
                    let cause = if panic.is_own { Cause::Bug } else { Cause::Panicked };
                    part.note(failure(protocol.name(), cause, (seed, faults), None, Some(panic.to_string())));
                }
            }
        }
        let names = self.protocols.iter().map(|protocol| protocol.name().to_owned());
        part.coverage = names.zip(tallies.into_iter().map(Tally::coverage)).collect();
        part
    }

    fn look_at_run(&self, subject: Subject<'_>, plan: &[PlannedFault], tally: &mut Tally, part: &mut Part) {
        let trial = subject.run(plan);
        let evidence = Evidence::of(&trial.history);
        let verdicts = check::judge_by(&evidence);
        tally.note_plan(plan);
        let is_untold = verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Unknown { .. }));
        let counted = panics::catch(|| tally.note_run(&evidence, is_untold));
        let seed = subject.seed.0;
        let mut note = |cause: Cause, blame: Option<Blame>, message: Option<String>| {
            part.note(failure(subject.protocol.name(), cause, (seed, plan.len()), blame, message));
        };
        let signatures: Vec<Signature> = failures(&verdicts).into_iter().map(|(signature, _)| signature).collect();
        let panicked = matches!(trial.history.ending, Ending::Panicked { .. });
        let in_doubt = (panicked || !signatures.is_empty()) && !protocol::comes_along(subject.protocol);
        if (in_doubt || seed.is_multiple_of(REPEATED_EVERY)) && !subject.repeats(plan, &trial) {
            return note(Cause::Unrepeated, None, Some(why_unrepeated(subject.protocol).to_owned()));
        }
        let mut bug = verdicts.iter().find_map(|(_, verdict)| verdict.bug().map(str::to_owned));
        match &trial.history.ending {
            Ending::Panicked { message, .. } => note(Cause::Panicked, None, Some(message.clone())),
            Ending::Bug(panic) => bug = Some(panic.to_string()),
            Ending::Finished | Ending::TimeUp | Ending::Stuck | Ending::StepsUsedUp => {}
        }
        // The first one is told: the others mostly come of it.
        if let Some(bug) = bug.or(counted.err().map(|panic| panic.to_string())) {
            note(Cause::Bug, None, Some(bug));
        }
        if signatures.is_empty() {
            return;
        }
        // Whether it kept what it relies on is said of the run, so it is asked once.
        let broken = trial.first_broken_assumption();
        for signature in signatures {
            let Some(blame) = trial.blame(signature, broken.as_slice()) else { continue };
            if blame.is_flaw() || !self.inside_only {
                note(Cause::Rule(signature), Some(blame), None);
            }
        }
    }
}

/// One failure of `protocol`, found with a seed whose plan has so many faults.
fn failure(
    protocol: &str,
    cause: Cause,
    (seed, faults): (u64, usize),
    blame: Option<Blame>,
    message: Option<String>,
) -> Failure {
    Failure {
        protocol: protocol.to_owned(),
        cause,
        seeds: 1,
        inside: (blame == Some(Blame::Inside)).into(),
        outside: (blame == Some(Blame::Outside)).into(),
        example: Example { seed, faults, flaw: blame.is_none_or(Blame::is_flaw) },
        message,
    }
}
