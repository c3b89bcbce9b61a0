//! proptest strategies for fault plans and for scenarios, with the feature `proptest`.
//!
//! They draw by the [generator](super::generate), so a property sees the same nights as any search, and they shrink by the
//! [`Reducer`]: first faults are taken away, with those that wait for them, then numbers get smaller and rounder. What is
//! reported in the end is a plan that reads like a story.
//!
//! ```
//! use holdover::explore::generate::Profile;
//! use holdover::explore::strategy::plans;
//! use holdover::scenario::{SMALLEST, Scenario};
//! use holdover::sim::check::{Verdict, judge};
//! use holdover::sim::protocol::Fenced;
//! use holdover::sim::run::run;
//! use holdover::sim::seed::Seed;
//! use proptest::prelude::*;
//!
//! let world = Scenario::parse("smallest.toml", SMALLEST).expect("it is a scenario").world;
//! proptest!(ProptestConfig::with_cases(64), |(plan in plans(&world, Profile::Realistic), seed: u64)| {
//!     let history = run(&world, &Fenced, &plan, Seed(seed));
//!     let (_, verdict) = &judge(&history)[0];
//!     prop_assert!(!matches!(verdict, Verdict::Violated { .. }), "{verdict:?}");
//! });
//! ```

mod scenario;

pub use scenario::{ScenarioTree, Scenarios, scenarios};

use holdover_sim::fault::PlannedFault;
use holdover_sim::seed::Seed;
use holdover_sim::time::TrueTime;
use holdover_sim::world::WorldSpec;
use proptest::arbitrary::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::Reducer;
use super::generate::{Generator, Profile};

/// Plans of faults for `world`. With a generator that selects kinds or has faults to begin with, see [`Plans::of`].
pub fn plans(world: &WorldSpec, profile: Profile) -> Plans {
    Plans::of(Generator::new(world, profile), world)
}

/// A strategy for fault plans.
#[derive(Clone, Debug)]
pub struct Plans {
    generator: Generator,
    end: TrueTime,
}

/// A fault plan that can shrink.
#[derive(Clone, Debug)]
pub struct PlanTree {
    reducer: Reducer,
    /// Whether what is proposed next is the current value, and not the smallest that is known to fail.
    tries: bool,
}

impl Plans {
    /// The plans that `generator` draws, which must be one for `world`.
    pub fn of(generator: Generator, world: &WorldSpec) -> Plans {
        Plans { generator, end: world.limits.end }
    }
}

impl Strategy for Plans {
    type Tree = PlanTree;
    type Value = Vec<PlannedFault>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Plans> {
        let seed = any::<u64>().new_tree(runner)?.current();
        Ok(PlanTree::new(self.generator.plan(Seed(seed)), self.end))
    }
}

impl PlanTree {
    pub(super) fn new(plan: Vec<PlannedFault>, end: TrueTime) -> PlanTree {
        PlanTree { reducer: Reducer::new(plan, end), tries: false }
    }

    fn try_next(&mut self) -> bool {
        self.tries = self.reducer.proposal().is_some();
        self.tries
    }
}

impl ValueTree for PlanTree {
    type Value = Vec<PlannedFault>;

    fn current(&self) -> Vec<PlannedFault> {
        let proposal = self.reducer.proposal().filter(|_| self.tries);
        proposal.unwrap_or(self.reducer.smallest()).to_vec()
    }

    /// The current plan fails.
    fn simplify(&mut self) -> bool {
        if self.tries {
            self.reducer.accept();
        }
        self.try_next()
    }

    /// The current plan doesn't fail, so another one is tried.
    fn complicate(&mut self) -> bool {
        if self.tries {
            self.reducer.reject();
            return self.try_next();
        }
        false
    }
}
