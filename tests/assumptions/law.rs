//! No setting of a world makes a violation a flaw of the protocol: whatever a scenario takes away from what a protocol relies
//! on, one of its assumptions says so.

use std::collections::{BTreeMap, BTreeSet};

use holdover::explore::Subject;
use holdover::explore::generate::{Generator, Profile};
use holdover::replay::Blame;
use holdover::scenario::Scenario;
use holdover::sim::fault::Loses;
use holdover::sim::fault::{
    Anchor, Crash, DelayMessage, Fault, LoseMessage, Part, Pause, PauseClocks, PlannedFault, Restart,
};
use holdover::sim::id::NodeId;
use holdover::sim::protocol::{AnyProtocol, PROTOCOLS, can_run};
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{LEDGER, PayoutSpec, WorldSpec, worker_node};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::settings::{range, settings};

/// So many steps, so that a setting that makes a run long doesn't make this long.
const STEPS: u64 = 100_000;

/// How many plans there are that no seed draws.
const TOLD: u64 = 6;

fn load(file: &str) -> WorldSpec {
    let mut world = Scenario::load(format!("scenarios/{file}.toml")).expect("it is one of ours").world;
    world.limits.steps = STEPS;
    world
}

/// The incident's world on a table and on replicas, and with operators who come at once, and when all is over.
fn worlds() -> Vec<WorldSpec> {
    let mut at_once = load("incidents/repair-midway");
    at_once.operators[0].starts = TrueTime::START + Span::millis(19_600);
    at_once.provider.payouts =
        Some(PayoutSpec { known_in: range(1, 1), settles_in: range(10, 10), ..PayoutSpec::default() });
    at_once.repair.ask_every = Span::millis(1);
    let mut late = load("incidents/repair");
    late.operators[0].starts = TrueTime::START + Span::secs(170);
    let others = ["incidents/clock-jump", "incidents/repair-midway", "consensus/incident"].map(load);
    others.into_iter().chain([at_once, late]).collect()
}

fn planned(when: Anchor, inject: impl Into<Fault>) -> PlannedFault {
    PlannedFault { when, inject: inject.into(), note: None, name: None }
}

fn at_point(node: NodeId, point: &str, nth: u32, inject: impl Into<Fault>) -> PlannedFault {
    let (point, after, delay) = (point.to_owned(), TrueTime::START, Span::ZERO);
    planned(Anchor::Point { point, node: Some(node), after, nth, delay }, inject)
}

/// What befalls `world` with this number: nothing, one of the things that a protocol is there for, or what is drawn. Few
/// faults, so that most of what a protocol relies on is so.
fn plan(world: &WorldSpec, number: u64) -> Vec<PlannedFault> {
    let (one, other) = (worker_node(0), worker_node(1));
    let pay = || "provider.pay".to_owned();
    let at_start = || Anchor::At(TrueTime::START);
    let pause = |node| Pause::of(node, Span::secs(50), PauseClocks::Running);
    match number {
        0 => Vec::new(),
        1 => vec![planned(at_start(), LoseMessage { message: pay(), part: Part::Answer, node: one, nth: 3 })],
        2 => vec![at_point(one, "payout.done", 3, Crash { node: one, lasting: None })],
        // As late as a message may be where a protocol relies on quick ones.
        3 => {
            let (by, part) = (Span::millis(900), Part::Request);
            vec![planned(at_start(), DelayMessage { message: pay(), part, node: one, by, nth: 4 })]
        }
        4 => {
            let and_back = at_point(other, "write.begun", 3, pause(other));
            vec![at_point(one, "write.begun", 5, pause(one)), and_back]
        }
        5 => {
            let (lasting, loses) = (Span::millis(100), Loses::Memory);
            vec![
                at_point(one, "write.checked", 5, Pause::of(one, Span::secs(39), PauseClocks::Running)),
                at_point(other, "takeover.done", 1, pause(other)),
                at_point(other, "takeover.done", 1, Restart { node: LEDGER, lasting, loses }),
            ]
        }
        seed => {
            let profile = if seed.is_multiple_of(2) { Profile::Realistic } else { Profile::Hostile };
            let mut plan = Generator::new(world, profile).plan(Seed(seed));
            plan.truncate(1 + (seed % 3) as usize);
            plan
        }
    }
}

/// What came of some runs.
#[derive(Default)]
struct Tally {
    /// How many broke a rule.
    violated: usize,
    /// How many kept all that the protocol relies on.
    kept: usize,
    /// What alone wasn't so in a run that broke a rule.
    alone: BTreeSet<&'static str>,
}

impl Tally {
    /// Runs `protocol` in `world` under the plan with this number.
    ///
    /// # Errors
    /// The rules that it broke inside of what it relies on.
    fn add(
        &mut self,
        world: &WorldSpec,
        protocol: &dyn AnyProtocol,
        number: u64,
    ) -> Result<(), Vec<&'static str>> {
        let trial = Subject { world, protocol, seed: Seed(number) }.run(&plan(world, number));
        let (broken, failures) = (trial.broken_assumptions(), trial.failures());
        self.kept += usize::from(broken.is_empty());
        self.violated += usize::from(!failures.is_empty());
        let is_unsafe = failures.iter().any(|(signature, _)| signature.checker() != "progress");
        if let ([one], true) = (&broken[..], is_unsafe) {
            self.alone.insert(one.name);
        }
        let flaws = failures.iter().filter(|(one, _)| trial.blame(*one, &broken) == Some(Blame::Inside));
        let flaws: Vec<_> = flaws.map(|(signature, _)| signature.checker()).collect();
        if flaws.is_empty() { Ok(()) } else { Err(flaws) }
    }
}

#[test]
fn no_setting_makes_a_violation_a_flaw() {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (index, base) in worlds().into_iter().enumerate() {
        for (setting, to) in settings() {
            let mut world = base.clone();
            to(&mut world);
            for protocol in PROTOCOLS.iter().filter(|protocol| can_run(**protocol, &world)) {
                let tally = tallies.entry(protocol.name()).or_default();
                for number in 0..TOLD + 2 {
                    if let Err(rules) = tally.add(&world, *protocol, number) {
                        let told = format!("world {index}, {setting}: {} breaks {rules:?}", protocol.name());
                        found.entry(told).or_insert(number);
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    let count = |tally: &Tally| (tally.violated, tally.kept);
    let counts: Vec<_> = tallies.iter().map(|(protocol, tally)| (protocol, count(tally))).collect();
    assert!(counts.iter().all(|(_, (violated, kept))| *violated > 100 && *kept > 100), "{counts:?}");
    // Each of these is there for a setting, and without it that setting would be a flaw of the protocol.
    let alone: BTreeSet<_> = tallies.values().flat_map(|tally| tally.alone.iter().copied()).collect();
    for name in [
        "expiry-as-meant",
        "highest-token-durable",
        "keys-outlive-requests",
        "no-payout-fails",
        "gateway-wants-no-token",
        "repairs-outwait-requests",
        "repairs-delete-nothing",
        "replicas-agree",
        "replicas-clocks-keep-time",
    ] {
        assert!(alone.contains(name), "nothing shows what {name} is there for: {alone:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Nor do several of them together.
    #[test]
    fn no_settings_make_a_violation_a_flaw(
        base in select(worlds()),
        turned in prop::collection::vec(any::<Index>(), 1..4),
        protocol in any::<Index>(),
        number in 0..60_u64,
    ) {
        let settings = settings();
        let mut world = base;
        let mut names = Vec::new();
        for index in turned {
            let (name, to) = index.get(&settings);
            to(&mut world);
            names.push(name.clone());
        }
        world.limits.steps = world.limits.steps.min(STEPS);
        let protocol = protocol.get(PROTOCOLS);
        if can_run(*protocol, &world) {
            let came = Tally::default().add(&world, *protocol, number);
            prop_assert!(came.is_ok(), "{names:?}: {} breaks {came:?}", protocol.name());
        }
    }
}
