//! What shrunk scenarios read like, and the accounts of how they were found.

use holdover::case::told;
use holdover::explore::shrink::{BUDGET, Shrunk, shrink};
use holdover::explore::{Signature, Subject};
use holdover::replay::Replay;
use holdover::report::shrink::{in_short, write_account};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{self, AnyProtocol};

use crate::support::{HOSTILE, NOISY, scenario, snapshot};

fn shrunk(scenario: &Scenario, protocol: &dyn AnyProtocol, rule: &str) -> Shrunk {
    let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
    let broken = subject.run(&scenario.plan).failures().into_iter().map(|(signature, _)| signature);
    let signature: Vec<Signature> = broken.filter(|signature| signature.checker() == rule).collect();
    shrink(scenario, protocol, signature[0], BUDGET).expect("it breaks this")
}

/// Shrinks what breaks of `rule`, and tells it: it has at most so many `faults`, comes to what it expects, is the same when
/// it is read back, and shrinks and is told the same again.
#[track_caller]
fn check(name: &str, night: &str, protocol: &str, rule: &str, faults: usize) {
    let night = scenario(night);
    let protocol = protocol::find(protocol).expect("a known protocol");
    let small = shrunk(&night, protocol, rule);
    assert!(small.scenario.plan.len() <= faults, "{}", in_short(&small));
    let told_small = told(&small, protocol);
    assert!(told_small.repeats);
    let text = told_small.scenario.to_toml().expect("it can be written");
    let read = scenario(&text);
    assert_eq!(read, told_small.scenario);
    assert_eq!(Replay::of(&read).deviations(), [], "it comes to what it expects");
    let again = shrunk(&read, protocol, rule);
    assert_eq!(told(&again, protocol).scenario.to_toml().expect("it can be written"), text);
    let mut account = Vec::new();
    write_account(&small, protocol.name(), &mut account).expect("a Vec takes any bytes");
    let account = String::from_utf8(account).expect("text");
    snapshot!(name, format!("{text}\n---\n{account}"));
}

#[test]
fn the_incident_in_ten_faults_of_noise() {
    check("noisy-single-writer", NOISY, "naive", "single-writer", 1);
    check("noisy-effect-once", NOISY, "naive", "effect-once", 1);
}

#[test]
fn two_faults_that_need_each_other() {
    let incident = include_str!("../../scenarios/incidents/clock-jump.toml");
    check("incident-export-agreement", incident, "naive", "export-agreement", 2);
}

#[test]
fn a_hostile_night() {
    check("hostile-export-agreement", HOSTILE, "monotonic", "export-agreement", 1);
}
