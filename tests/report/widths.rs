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
fn two_timelines_of_the_incident_beside_each_other() {
    let scenario = incident();
    let layout = Layout { width: 200, verbose: false };
    snapshot!("width-200", &told(&scenario, &protocols_of(&scenario), layout));
}

#[test]
fn every_width_is_kept_to() {
    let scenario = incident();
    let words = |text: &str| text.split_whitespace().filter(|word| word.contains("worker-")).count();
    let whole = [false, true]
        .map(|verbose| words(&told(&scenario, &protocols_of(&scenario), Layout { width: 1_000, verbose })));
    for width in [60, 61, 64, 72, 80, 99, 100, 101, 120, 140, 178, 179, 200, 281, 400] {
        for verbose in [false, true] {
            let text = told(&scenario, &protocols_of(&scenario), Layout { width, verbose });
            // What is said is the same, however it is laid out.
            assert_eq!(words(&text), whole[usize::from(verbose)], "{width}");
        }
    }
}

/// Whatever stands beside it, each timeline has its rows in their order, and what is on one line is of one instant.
#[test]
fn timelines_beside_each_other_are_in_step() {
    let scenario = incident();
    let at = |width| told(&scenario, &protocols_of(&scenario), Layout { width, verbose: false });
    // A row's time, where it is in its line.
    let time = |line: &str, from: usize| -> Option<String> {
        let text: String = line.chars().skip(from).take(12).collect();
        text.starts_with("0").then_some(text).filter(|text| text.chars().nth(2) == Some(':'))
    };
    let below: Vec<String> = at(98).lines().filter_map(|line| time(line, 2)).collect();
    let wide = at(200);
    let beside: Vec<(Option<String>, Option<String>)> =
        wide.lines().map(|line| (time(line, 2), time(line, 2 + 98 + 3))).collect();
    let left = beside.iter().filter_map(|(left, _)| left.clone());
    let right = beside.iter().filter_map(|(_, right)| right.clone());
    assert_eq!(left.chain(right).collect::<Vec<_>>(), below);
    let both = beside.iter().filter_map(|(left, right)| left.as_ref().zip(right.as_ref()));
    assert!(both.clone().count() > 15, "{wide}");
    assert!(both.clone().all(|(left, right)| left == right), "{wide}");
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
