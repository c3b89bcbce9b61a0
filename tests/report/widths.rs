//! Narrow and wide terminals.

use holdover::replay::protocols_of;
use holdover::report::text::Layout;
use holdover::scenario::Scenario;

use crate::support::{snapshot, told};

fn incident() -> Scenario {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");
    Scenario::load(path).expect("the incident is a scenario")
}

#[test]
fn the_incident_at_60_columns() {
    let scenario = incident();
    let layout = Layout { width: 60, verbose: false };
    snapshot!("width-60", &told(&scenario, &protocols_of(&scenario), layout));
}

#[test]
fn every_width_is_kept_to() {
    let scenario = incident();
    let words = |text: &str| text.split_whitespace().filter(|word| word.contains("worker-")).count();
    let whole = [false, true]
        .map(|verbose| words(&told(&scenario, &protocols_of(&scenario), Layout { width: 1_000, verbose })));
    for width in [60, 61, 64, 72, 80, 99, 100, 101, 120, 140] {
        for verbose in [false, true] {
            let text = told(&scenario, &protocols_of(&scenario), Layout { width, verbose });
            // What is said is the same, however it is laid out.
            assert_eq!(words(&text), whole[usize::from(verbose)], "{width}");
        }
    }
}

#[test]
fn a_width_that_is_too_narrow_is_taken_as_the_narrowest() {
    let scenario = incident();
    let at = |width| {
        let replay = holdover::replay::Replay::of(&scenario);
        let mut text = Vec::new();
        holdover::report::text::write(&replay, "x", Layout { width, verbose: false }, &mut text)
            .expect("a Vec takes any bytes");
        text
    };
    assert_eq!(at(0), at(60));
    assert_eq!(at(59), at(60));
}
