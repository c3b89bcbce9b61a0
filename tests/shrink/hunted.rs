//! The planted bugs as a hunt finds them: each within 10,000 seeds, by a night that the protocol without the bug survives.

use std::fmt::Write;

use holdover::explore::hunt::Hunt;
use holdover::explore::shrink::{BUDGET, shrink};
use holdover::explore::{Signature, Subject};
use holdover::scenario::Scenario;
use holdover::sim::protocol::AnyProtocol;

use crate::planted::cases;
use crate::protocol::Planted;
use crate::support::snapshot;

const SEEDS: u64 = 10_000;

/// How the rule is broken, if it is.
fn breaks(night: &Scenario, protocol: &dyn AnyProtocol, rule: &str) -> Option<Signature> {
    let trial = Subject { world: &night.world, protocol, seed: night.seed }.run(&night.plan);
    trial.failures().into_iter().map(|(signature, _)| signature).find(|signature| signature.checker() == rule)
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
            let signature = breaks(&night, &wrong, rule)?;
            breaks(&night, &right, rule).is_none().then_some((seed, night, signature))
        });
        let Some((seed, night, signature)) = found else { panic!("{bugs:?} aren't found") };
        let shrunk = shrink(&night, &wrong, signature, BUDGET).expect("it was just broken");
        let (before, after) = (night.plan.len(), shrunk.scenario.plan.len());
        writeln!(table, "{bugs:?}, {rule}: seed {seed}, faults {before} → {after}")
            .expect("a text takes any text");
    }
    snapshot!("planted-hunted", table);
}
