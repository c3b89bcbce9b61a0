//! The same seeds tell the same histories as in every other build. holdover's own tests have this file too: they are built
//! with an optimised simulator, and this crate's with one that isn't.

use holdover::explore::hunt::Hunt;
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::protocol::PROTOCOLS;
use holdover::sim::run::run;

/// The fingerprints of all histories in one. It changes whenever one of the histories does.
const KEPT: &str = "7fa49205e4810203d8890f3849b9c8e6";

#[test]
fn the_histories_are_those_of_every_other_build() {
    let scenario = Scenario::parse("two workers", SMALLEST).expect("a scenario");
    let hunt = Hunt::new(&scenario);
    let mut all = 0_u128;
    for seed in 0..200 {
        for protocol in PROTOCOLS {
            let night = hunt.scenario_of(seed, protocol.name());
            let history = run(&night.world, *protocol, &night.plan, night.seed);
            all = all.rotate_left(1) ^ history.fingerprint().0;
        }
    }
    assert_eq!(format!("{all:032x}"), KEPT);
}
