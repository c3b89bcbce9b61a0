//! A planted bug for each mistake that real lease services made: a night in which the rule that is meant for it is broken,
//! though all is as the protocol relies on, and in which every rule holds without it.

use holdover::scenario::Scenario;
use holdover::sim::check::{broken_assumptions, judge};
use holdover::sim::history::History;
use holdover::sim::lease::{Flaw, LeaseService, ReplicaSpec};
use holdover::sim::protocol::{FencedConsensus, Protocol};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;

use crate::support::load;

fn run_with(night: &Scenario, flaw: Option<Flaw>) -> History {
    let mut world = night.world.clone();
    world.lease.service = Some(LeaseService::Consensus(ReplicaSpec { flaw, ..ReplicaSpec::THREE }));
    run(&world, &FencedConsensus, &night.plan, night.seed)
}

fn violated(history: &History) -> Vec<&'static str> {
    let verdicts = judge(history).into_iter().filter(|(_, verdict)| verdict.name() == "violated");
    verdicts.map(|(checker, _)| checker.name).collect()
}

#[track_caller]
fn check(flaw: Flaw, night: &str, rules: &[&str]) {
    let night = load(night);
    let with = run_with(&night, Some(flaw));
    assert_eq!(violated(&with), rules, "with {flaw:?}");
    let broken = broken_assumptions(&with, FencedConsensus.assumptions());
    assert!(broken.is_empty(), "{flaw:?} is excused by {:?}", broken.first().map(|one| one.name));
    assert_eq!(violated(&run_with(&night, None)), [""; 0], "without {flaw:?}");
}

const TOKEN_ORDER: &str = "token-order";
const LINEARIZABLE: &str = "linearizable";

#[test]
fn a_deposed_leader_has_a_lease_taken_away() {
    check(Flaw::RevokesUnconfirmed, "leader-cut-off", &[LINEARIZABLE]);
}

#[test]
fn a_deposed_leader_renews() {
    check(Flaw::RenewsUnconfirmed, "leader-cut-off-with-holder", &[LINEARIZABLE]);
}

#[test]
fn each_leader_counts_tokens_itself() {
    check(Flaw::CountsTokensItself, "leader-restarted", &[TOKEN_ORDER]);
}

#[test]
fn a_request_that_comes_twice_is_carried_out_twice() {
    check(Flaw::ForgetsRetries, "answer-lost", &[LINEARIZABLE]);
}

#[test]
fn a_replica_comes_back_without_its_log() {
    check(Flaw::TruncatesAtRestart, "disk-lost-control", &[TOKEN_ORDER, LINEARIZABLE]);
}

#[test]
fn who_follows_judges_by_its_own_clock() {
    check(Flaw::FollowersJudge, "follower-clock-step", &[LINEARIZABLE]);
}

/// Each way to take one's leadership for granted has a key of its own, and a night that shows it; the first hides the second.
#[test]
fn each_thing_that_a_leader_does_not_confirm_has_a_key_of_its_own() {
    let check = |night: &str, renewals: bool, revocations: bool, expected: std::ops::RangeInclusive<usize>| {
        let mut night = load(night);
        let spec =
            ReplicaSpec { confirms_renewals: renewals, confirms_revocations: revocations, ..ReplicaSpec::THREE };
        night.world.lease.service = Some(LeaseService::Consensus(spec));
        let is_violated = |seed: &u64| {
            violated(&run(&night.world, &FencedConsensus, &night.plan, Seed(*seed))).contains(&LINEARIZABLE)
        };
        let times = (0..60).filter(is_violated).count();
        assert!(expected.contains(&times), "{times} of 60 with {spec:?}");
    };
    check("leader-stalled-revokes", true, true, 0..=0);
    check("leader-stalled-revokes", true, false, 60..=60);
    check("leader-stalled-revokes", false, true, 0..=0);
    check("leader-stalled-revokes", false, false, 0..=0);
    check("leader-cut-off-with-holder", true, true, 0..=0);
    check("leader-cut-off-with-holder", false, true, 30..=60);
    check("leader-cut-off-with-holder", true, false, 0..=0);
}
