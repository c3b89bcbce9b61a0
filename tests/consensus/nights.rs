//! Drawn nights: whatever befalls replicas, workers and ledger, nothing breaks inside of what the protocol relies on, and the
//! work gets done when all has healed.

use holdover::explore::generate::{Profile, Selection};
use holdover::explore::hunt::{Hunt, OwnPlan};
use holdover::scenario::Scenario;
use holdover::sim::check::{broken_assumptions, judge};
use holdover::sim::history::{History, What};
use holdover::sim::lease::{Ending, LeaseService, ReplicaSpec};
use holdover::sim::limits::Ending as RunEnding;
use holdover::sim::protocol::{FencedConsensus, Protocol};
use holdover::sim::run::run;
use holdover::sim::time::Span;

use crate::support::{incident, load};

/// The incident's world with such replicas, and time for more than one lease after the last fault.
fn world(spec: ReplicaSpec) -> Scenario {
    let mut scenario = incident();
    scenario.world.lease.service = Some(LeaseService::Consensus(spec));
    scenario.world.limits.end = scenario.world.limits.end + Span::secs(300);
    scenario.world.progress_within = Span::secs(200);
    // So that there is more than one leader to work under.
    scenario.world.job.pace = Span::secs(4);
    scenario
}

fn run_night(night: &Scenario) -> History {
    run(&night.world, &FencedConsensus, &night.plan, night.seed)
}

/// The rules that a night broke.
fn violated(history: &History) -> Vec<&'static str> {
    let verdicts = judge(history).into_iter().filter(|(_, verdict)| verdict.name() == "violated");
    verdicts.map(|(checker, _)| checker.name).collect()
}

/// How many of so many nights a test looks at: all of them in an optimised build, in which these tests are run as well.
fn many(nights: u64) -> u64 {
    if cfg!(debug_assertions) { nights / 10 } else { nights }
}

/// Nothing is violated in a night in which all is as the protocol relies on, and the work gets done in any; how many of the
/// nights are of the former, and in how many of these a leader was followed by another.
#[track_caller]
fn nothing_breaks(spec: ReplicaSpec, profile: Profile, seeds: std::ops::Range<u64>) -> (usize, usize) {
    let world = world(spec);
    let faults = "pause,throttle,restart,disk-stall,network".parse::<Selection>().expect("there are these groups");
    let hunt = Hunt::new(&world).profile(profile).faults(faults);
    let (mut inside, mut elected) = (0, 0);
    for seed in seeds {
        let night = hunt.scenario_of(seed, "fenced-consensus");
        let history = run_night(&night);
        assert!(!matches!(history.ending, RunEnding::Panicked { .. }), "seed {seed}: {:?}", history.ending);
        let violated = violated(&history);
        assert!(!violated.contains(&"progress"), "seed {seed} with {spec:?}");
        if !broken_assumptions(&history, FencedConsensus.assumptions()).is_empty() {
            continue;
        }
        assert_eq!(violated, [""; 0], "seed {seed} with {spec:?}");
        inside += 1;
        elected += usize::from(history.events.iter().any(|event| event.what == What::LeaderElected));
    }
    (inside, elected)
}

#[test]
fn hostile_nights_break_nothing() {
    let nights = many(5_000);
    let (inside, elected) = nothing_breaks(ReplicaSpec::THREE, Profile::Hostile, 0..nights);
    assert!(inside as u64 > nights / 3 && elected as u64 > nights / 25, "{inside} {elected}");
}

#[test]
fn realistic_nights_break_nothing() {
    let (inside, elected) = nothing_breaks(ReplicaSpec::THREE, Profile::Realistic, 0..200);
    assert!(inside > 120 && elected > 5, "{inside} {elected}");
}

#[test]
fn however_leases_end_and_however_many_replicas_there_are() {
    let (five, spec) = (5, ReplicaSpec::THREE);
    let endings = [
        ReplicaSpec { count: five, ..spec },
        ReplicaSpec { ending: Ending::ReplicatedDeadlines, ..spec },
        ReplicaSpec { ending: Ending::LockDelay(Span::secs(15)), ..spec },
    ];
    for spec in endings {
        let (inside, _) = nothing_breaks(spec, Profile::Hostile, 0..150);
        assert!(inside > 20, "{spec:?}: {inside}");
    }
}

/// Found by such nights: a leader that was cut off turned workers away by what it remembered.
#[test]
fn nor_does_what_comes_on_top_of_a_lock_delay() {
    let mut inside = 0;
    for file in ["lock-delay-given-back", "lock-delay-answer-lost"] {
        let scenario = load(file);
        let hunt = Hunt::new(&scenario).own_plan(OwnPlan::Extended);
        for seed in 0..many(3_000) {
            let history = run_night(&hunt.scenario_of(seed, "fenced-consensus"));
            if broken_assumptions(&history, FencedConsensus.assumptions()).is_empty() {
                assert!(!violated(&history).contains(&"linearizable"), "{file} with seed {seed}");
                inside += 1;
            }
        }
    }
    assert!(inside > many(1_000), "{inside}");
}

/// Also where nothing that the protocol relies on is left.
#[test]
fn the_same_seed_tells_the_same_history() {
    for spec in [
        ReplicaSpec::THREE,
        ReplicaSpec { confirms_renewals: false, confirms_revocations: false, ..ReplicaSpec::THREE },
    ] {
        let world = world(spec);
        let hunt = Hunt::new(&world);
        let nights: Vec<Scenario> =
            (0..many(2_000)).map(|seed| hunt.scenario_of(seed, "fenced-consensus")).collect();
        let first: Vec<_> = nights.iter().map(|night| run_night(night).fingerprint()).collect();
        let again: Vec<_> = nights.iter().rev().map(|night| run_night(night).fingerprint()).collect();
        assert!(first.iter().eq(again.iter().rev()));
    }
}

/// Whichever process tells them, of whichever build: these are kept here. They change whenever the histories do.
#[test]
fn the_histories_are_the_ones_that_another_process_told() {
    const KEPT: [&str; 10] = [
        "351a4dd14da75ede2d9743f322ada022",
        "c5b2b72cdd43e81d4d307b4b0b2e49de",
        "d68e47102010864a08ba017cf4ff1d20",
        "cdb32033b85301d4528d965afc772f3d",
        "ea2ac4b158c5673bbd5f88bfe6b41a69",
        "42f68098dc5db107b2eca7ad45fc0d42",
        "53ca476abbb81ce820a587a015da77f0",
        "a42154008c3ab5e3784f182f8c50028d",
        "2e2e9bf505a44c0dbc2b48cee0fa0b23",
        "399150dff0e63769b1364a395dd2efef",
    ];
    let world = world(ReplicaSpec::THREE);
    let hunt = Hunt::new(&world);
    let told = |part: u64| {
        (200 * part..200 * (part + 1)).fold(0_u128, |all, seed| {
            all.rotate_left(1) ^ run_night(&hunt.scenario_of(seed, "fenced-consensus")).fingerprint().0
        })
    };
    let told: Vec<_> = (0..many(10)).map(|part| format!("{:032x}", told(part))).collect();
    assert_eq!(told, KEPT[..told.len()]);
}

/// A primary that copies does break rules, so that agreement is what they hold by.
#[test]
fn copies_are_not_enough() {
    let mut world = world(ReplicaSpec::THREE);
    world.world.lease.service = Some(LeaseService::AsyncReplica(ReplicaSpec { count: 3, ..ReplicaSpec::PAIR }));
    // What takes it a while to copy, and what takes the primary away meanwhile.
    let faults = "partition,restart".parse::<Selection>().expect("there are these kinds");
    let hunt = Hunt::new(&world).faults(faults);
    let mut broken = std::collections::BTreeSet::new();
    for seed in 0..400 {
        broken.extend(violated(&run_night(&hunt.scenario_of(seed, "fenced-consensus"))));
    }
    assert!(broken.contains("token-order") && broken.contains("linearizable"), "{broken:?}");
}
