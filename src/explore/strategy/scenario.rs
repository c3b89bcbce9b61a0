//! A strategy for scenarios: one that is there, with clocks, seed and plan drawn.

use holdover_sim::id::NodeId;
use holdover_sim::seed::Seed;
use holdover_sim::world::{ClockSpec, LEASE_STORE, WorldSpec, worker_node};
use proptest::arbitrary::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::PlanTree;
use crate::explore::generate::{Generator, Profile, Selection, with_drawn_clocks};
use crate::scenario::Scenario;

/// Scenarios like `base`: with a seed, clocks and a plan that are drawn. All else is as it is there.
pub fn scenarios(base: &Scenario, profile: Profile) -> Scenarios {
    Scenarios { base: base.clone(), profile, selection: Selection::ALL }
}

/// A strategy for scenarios.
#[derive(Clone, Debug)]
pub struct Scenarios {
    base: Scenario,
    profile: Profile,
    selection: Selection,
}

impl Scenarios {
    /// Those that have only kinds of fault that are in `selection`.
    pub fn only(self, selection: Selection) -> Scenarios {
        Scenarios { selection, ..self }
    }
}

impl Strategy for Scenarios {
    type Tree = ScenarioTree;
    type Value = Scenario;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Scenarios> {
        let seed = Seed(any::<u64>().new_tree(runner)?.current());
        let world = with_drawn_clocks(&self.base.world, &[], self.profile, seed);
        let plan = Generator::new(&world, self.profile).only(self.selection).plan(seed);
        // Operators' nodes come right behind the workers'.
        let processes = (0..world.workers.len() + world.operators.len()).map(worker_node);
        let nodes = processes.chain([LEASE_STORE]).chain(world.replicas().into_iter().skip(1));
        let parts = |node: NodeId| Part::ALL.map(|part| (node, part));
        let mut untried: Vec<_> = nodes.flat_map(parts).collect();
        untried.reverse();
        let end = world.limits.end;
        Ok(ScenarioTree {
            scenario: Scenario { seed, world, plan: Vec::new(), ..self.base.clone() },
            usual: self.base.world.clone(),
            plan: PlanTree::new(plan, end),
            untried,
            tried: None,
        })
    }
}

/// A part of a node's clocks that can be as it is in the scenario that others are like.
#[derive(Clone, Copy, Debug)]
enum Part {
    All,
    Discipline,
    Drift,
    Offset,
}

impl Part {
    /// In the order of trying.
    const ALL: [Part; 4] = [Part::All, Part::Discipline, Part::Drift, Part::Offset];
}

/// A scenario that can shrink: first its plan, then its clocks, which go back to what they are usually.
#[derive(Clone, Debug)]
pub struct ScenarioTree {
    /// All but the plan.
    scenario: Scenario,
    usual: WorldSpec,
    plan: PlanTree,
    /// The parts of clocks that are to be tried, the first last.
    untried: Vec<(NodeId, Part)>,
    /// The world with one part more as it is usually, while that is the current value.
    tried: Option<WorldSpec>,
}

impl ValueTree for ScenarioTree {
    type Value = Scenario;

    fn current(&self) -> Scenario {
        let world = self.tried.as_ref().unwrap_or(&self.scenario.world).clone();
        Scenario { world, plan: self.plan.current(), ..self.scenario.clone() }
    }

    fn simplify(&mut self) -> bool {
        match self.tried.take() {
            Some(world) => self.scenario.world = world,
            None if self.plan.simplify() => return true,
            None => {}
        }
        self.try_next()
    }

    fn complicate(&mut self) -> bool {
        if self.tried.take().is_none() && self.plan.complicate() {
            return true;
        }
        self.try_next()
    }
}

impl ScenarioTree {
    fn try_next(&mut self) -> bool {
        while let Some((node, part)) = self.untried.pop() {
            let mut world = self.scenario.world.clone();
            let from = self.usual.clock(node);
            let Some(to) = world.clock_mut(node) else { continue };
            match part {
                Part::All => *to = from,
                Part::Discipline => to.discipline = from.discipline,
                Part::Drift => to.drift = from.drift,
                Part::Offset => to.offset = from.offset,
            }
            // A time source is only there for who polls it.
            let needs_daemon = to.discipline.is_none() && self.polls(node);
            // What is said of no service's clocks is what they are anyway.
            if *to == ClockSpec::default() && !self.usual.service_clocks.contains_key(&node) {
                world.service_clocks.remove(&node);
            }
            if world != self.scenario.world && !needs_daemon {
                self.tried = Some(world);
                return true;
            }
        }
        false
    }

    fn polls(&self, node: NodeId) -> bool {
        self.plan.current().iter().any(|fault| fault.inject.polled_by().contains(&node))
    }
}
