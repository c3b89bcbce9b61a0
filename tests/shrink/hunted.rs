//! The planted bugs as a hunt finds them: each within 10,000 seeds, by a night that the protocol without the bug survives.

use std::fmt::Write;

use holdover::explore::hunt::Hunt;
use holdover::explore::shrink::{BUDGET, shrink};
use holdover::explore::{Signature, Subject};
use holdover::replay::Blame;
use holdover::scenario::Scenario;
use holdover::sim::protocol::AnyProtocol;

use crate::planted::cases;
use crate::protocol::Planted;
use crate::support::snapshot;

const SEEDS: u64 = 10_000;

/// How the rule is broken, if it is, and whether that's outside of what the protocol relies on.
fn breaks(night: &Scenario, protocol: &dyn AnyProtocol, rule: &str) -> Option<(Signature, bool)> {
    let trial = Subject { world: &night.world, protocol, seed: night.seed }.run(&night.plan);
    let mut failures = trial.failures().into_iter().map(|(signature, _)| signature);
    let signature = failures.find(|signature| signature.checker() == rule)?;
    Some((signature, trial.blame(signature, &trial.broken_assumptions()) == Some(Blame::Outside)))
}

#[test]
fn planted_bugs_are_found_by_drawn_nights() {
    let incident = Scenario::load("scenarios/incidents/clock-jump.toml").expect("the incident is a scenario");
    let hunt = Hunt::new(&incident);
    let mut table = String::new();
    for (bugs, _, rule) in cases() {
        let right = Planted { bugs: &[] };
        let wrong = Planted { bugs };
        let found = (0..SEEDS).find_map(|seed| {
            let night = hunt.scenario_of(seed, "fenced");
            let broken = breaks(&night, &wrong, rule)?;
            breaks(&night, &right, rule).is_none().then_some((seed, night, broken))
        });
        let Some((seed, night, (signature, outside))) = found else { panic!("{bugs:?} aren't found") };
        let shrunk = shrink(&night, &wrong, signature, BUDGET).expect("it was just broken");
        let (_, outside_still) = breaks(&shrunk.scenario, &wrong, rule).expect("it still is");
        assert!(outside || !outside_still, "{bugs:?} shrink to no flaw");
        let (before, after) = (night.plan.len(), shrunk.scenario.plan.len());
        let flaw = if outside_still { "outside" } else { "inside" };
        writeln!(table, "{bugs:?}, {rule}: seed {seed}, faults {before} → {after}, {flaw} of the assumptions")
            .expect("a text takes any text");
    }
    snapshot!("planted-hunted", table);
}
