//! Hunts: what they find doesn't depend on how many threads or machines there are, and is there when one looks.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use holdover::explore::generate::{Profile, Selection};
use holdover::explore::hunt::{Cause, Findings, Hunt, OwnPlan, Seeds, Shard, Watch};
use holdover::explore::{Signature, Subject};
use holdover::scenario::Scenario;
use holdover::sim::fault::FAULTS;
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;

fn incident() -> Scenario {
    Scenario::load("scenarios/incidents/clock-jump.toml").expect("the incident is a scenario")
}

fn jobs(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("above zero")
}

fn both() -> [&'static dyn AnyProtocol; 2] {
    [&Naive, &Fenced]
}

/// All of a hunt's findings, as they are written.
fn written(findings: &Findings) -> String {
    serde_json::to_string_pretty(findings).expect("findings can be written")
}

#[test]
fn more_threads_find_the_same() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario).seeds(0..700);
    let alone = hunt.clone().jobs(jobs(1)).run();
    assert!(alone.complete && alone.failures.len() > 5, "{:?}", alone.failures);
    for count in [2, 5] {
        assert_eq!(written(&hunt.clone().jobs(jobs(count)).run()), written(&alone), "{count} threads");
    }
}

#[test]
fn shares_joined_are_one_hunt() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario).protocols(&both()).seeds(100..501);
    let whole = hunt.run();
    let share = |number| hunt.clone().shard(Shard::new(number, 4).expect("a share")).run();
    let mut joined = share(3);
    for number in [1, 4, 2] {
        joined.join(share(number)).expect("shares of one hunt");
    }
    assert_eq!(joined.shards.len(), 4);
    assert_eq!(joined.shares_missing(), 0);
    assert_eq!(joined, Findings { shards: joined.shards.clone(), ..whole });
}

#[test]
fn what_is_not_of_one_hunt_is_not_joined() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario).protocols(&[&Naive]).seeds(0..40);
    let share = |number, of| hunt.clone().shard(Shard::new(number, of).expect("a share")).run();
    #[track_caller]
    fn check(mut one: Findings, other: Findings, part: &str) {
        let before = one.clone();
        let why = one.join(other).expect_err("they aren't of one hunt").to_string();
        assert!(why.contains(part), "{why}");
        assert_eq!(one, before);
    }
    let one = || share(1, 2);
    check(one(), share(1, 2), "share 1/2 of the seeds is there twice");
    check(one(), share(2, 3), "share 1/2 and share 2/3 have seeds in common");
    check(one(), hunt.clone().seeds(0..41).run(), "the range of seeds differs: `0..40` and `0..41`");
    check(one(), hunt.clone().profile(Profile::Realistic).run(), "the profile differs");
    check(one(), hunt.clone().faults("pause".parse().expect("a kind")).run(), "the list of faults differs");
    check(one(), hunt.clone().own_plan(OwnPlan::Kept).run(), "the use of the scenario's plan differs");
    check(one(), hunt.clone().inside_only().run(), "the kind of failure that counts differs");
    check(one(), hunt.clone().protocols(&both()).run(), "the list of protocols differs");
}

#[test]
fn every_example_fails_as_it_is_said_to() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario).protocols(&both()).seeds(0..1_000);
    let findings = hunt.run();
    assert!(findings.failures.len() > 8);
    for failure in &findings.failures {
        let Cause::Rule(signature) = failure.cause else { panic!("{failure:?}") };
        let one = hunt.scenario_of(failure.example.seed, &failure.protocol);
        assert_eq!(one.plan.len(), failure.example.faults);
        let protocol = both().into_iter().find(|protocol| protocol.name() == failure.protocol).expect("hunted");
        let trial = Subject { world: &one.world, protocol, seed: one.seed }.run(&one.plan);
        assert!(trial.times(signature) > 0, "{failure:?}");
        assert!(1 <= failure.seeds && failure.inside <= failure.seeds);
    }
}

#[test]
fn a_scenarios_own_plan_is_replaced_or_extended_or_kept() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario).protocols(&[&Naive]).seeds(0..50);
    let single_writer = Signature::named("single-writer", "two-writers").expect("a signature");
    let fails = |findings: &Findings| {
        let failure = findings.failures.iter().find(|failure| failure.cause == Cause::Rule(single_writer));
        failure.map_or(0, |failure| failure.seeds)
    };
    let kept = hunt.clone().own_plan(OwnPlan::Kept);
    assert_eq!(fails(&kept.run()), 50);
    assert_eq!(kept.scenario_of(7, "naive").plan, scenario.plan);
    let extended = hunt.clone().own_plan(OwnPlan::Extended);
    assert!(fails(&extended.run()) > 10);
    assert!(extended.scenario_of(7, "naive").plan.starts_with(&scenario.plan));
    assert!(fails(&hunt.run()) < 10);
}

#[test]
fn only_what_was_asked_for_is_drawn() {
    let scenario = incident();
    let selection: Selection = "pause".parse().expect("a kind");
    let findings = Hunt::new(&scenario).protocols(&[&Naive]).seeds(0..100).faults(selection).run();
    let coverage = &findings.coverage["naive"];
    for kind in FAULTS {
        assert_eq!(coverage.faults[kind.name].drawn > 0, kind.name == "pause", "{}", kind.name);
    }
    assert_eq!(coverage.runs, 100);
    // Nor are clocks off that nobody asked for.
    let hunt = Hunt::new(&scenario).faults(selection);
    assert_eq!(hunt.scenario_of(7, "naive").world, scenario.world);
    assert_ne!(Hunt::new(&scenario).scenario_of(7, "naive").world, scenario.world);
}

#[test]
fn fast_failing_ends_with_the_first_failure_whatever_the_threads() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario).protocols(&[&Naive]).seeds(0..5_000).fail_fast();
    let one = hunt.clone().jobs(jobs(1)).run();
    assert!(!one.complete && one.seeds < 500 && !one.failures.is_empty());
    assert_eq!(hunt.jobs(jobs(4)).run(), one);
}

#[test]
fn inside_the_assumptions_fenced_holds_and_was_put_to_the_test() {
    let scenario = incident();
    let findings = Hunt::new(&scenario).protocols(&[&Fenced]).seeds(0..3_000).inside_only().run();
    let progress = |cause: Cause| matches!(cause, Cause::Rule(signature) if signature.checker() == "progress");
    let unsafe_ones: Vec<_> = findings.failures.iter().filter(|failure| !progress(failure.cause)).collect();
    assert!(unsafe_ones.is_empty(), "{unsafe_ones:?}");
    assert!(findings.coverage["fenced"].stale_writes_rejected > 100);
}

#[test]
fn what_was_looked_at_when_it_is_over_are_the_first_seeds() {
    struct Enough(AtomicU64);
    impl Watch for Enough {
        fn is_over(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 100
        }
        fn looked(&self, _: &Hunt<'_>, findings: &Findings) {
            self.0.store(findings.seeds, Ordering::Relaxed);
        }
    }
    let scenario = incident();
    let hunt = Hunt::new(&scenario).protocols(&[&Naive]);
    let some = hunt.clone().seeds(Seeds::ALL).jobs(jobs(3)).run_watched(&Enough(AtomicU64::new(0)));
    assert!(!some.complete && some.seeds > 100);
    let all = hunt.seeds(0..some.seeds).run();
    assert_eq!((&some.failures, &some.coverage), (&all.failures, &all.coverage));
}

#[test]
fn findings_are_read_as_they_were_written() {
    let scenario = incident();
    let findings = Hunt::new(&scenario).seeds(0..200).run();
    let read: Findings = serde_json::from_str(&written(&findings)).expect("what was written can be read");
    assert_eq!(read, findings);
    let other = written(&findings).replace("single-writer/two-writers", "single-writer/three-writers");
    let why = serde_json::from_str::<Findings>(&other).expect_err("there is no such failure").to_string();
    assert!(why.contains("no failure is called `single-writer/three-writers`"), "{why}");
}

/// The engine's own promise, for the nights that a hunt draws.
#[test]
fn drawn_nights_repeat_themselves_on_other_threads() {
    let scenario = incident();
    let hunt = Hunt::new(&scenario);
    for seed in 0..200 {
        let night = hunt.scenario_of(seed, "fenced");
        let once = || run(&night.world, &Fenced, &night.plan, Seed(seed)).bytes();
        let there = std::thread::scope(|scope| scope.spawn(once).join());
        assert!(there.is_ok_and(|there| there == once()), "seed {seed}");
    }
}

/// What `assert` panics with.
fn message(assert: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(assert).expect_err("it fails");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_test_that_fails_tells_the_smallest_scenario_and_why() {
    let scenario = incident();
    let told = message(|| Hunt::new(&scenario).protocols(&[&Naive]).seeds(0..300).assert_holds());
    assert!(told.starts_with("naive breaks single-writer: two workers in one generation\n"), "{told}");
    for part in [
        "title = \"naive breaks single-writer",
        "[[fault]]\n",
        "what each fault is to it",
        "To see it again: Hunt::new",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Whatever isn't as it is by itself is in the code, and the code finds the failure.
#[test]
fn the_code_that_finds_a_failure_again_is_whole() {
    let scenario = incident();
    let plain = || Hunt::new(&scenario).protocols(&[&Naive, &Fenced]).seeds(0..400);
    let pauses = || plain().faults("pause,throttle".parse().expect("kinds"));
    let naive = "Hunt::new(&scenario).protocols(&[protocol::find(\"naive\").unwrap()])";
    for (hunt, code) in [
        (plain(), ""),
        (plain().fail_fast().keep_going().jobs(jobs(1)), ""),
        (pauses(), ".faults(\"pause,throttle\".parse().unwrap())"),
        (
            plain().profile(Profile::Realistic).own_plan(OwnPlan::Extended),
            ".profile(Profile::Realistic).own_plan(OwnPlan::Extended)",
        ),
        (plain().own_plan(OwnPlan::Kept), ".own_plan(OwnPlan::Kept)"),
    ] {
        let findings = hunt.run();
        let failure = findings.failures.first().expect("naive fails");
        let seed = failure.example.seed;
        assert_eq!(hunt.code_for(failure), format!("{naive}{code}.seeds({seed}..{})", seed + 1));
        let again = hunt.clone().protocols(&[&Naive]).seeds(seed..seed + 1).run();
        assert!(again.failures.iter().any(|found| found.cause == failure.cause), "{code}");
    }
}

#[test]
fn a_test_that_says_nothing_fails_too() {
    let scenario = incident();
    let hunt = || Hunt::new(&scenario).protocols(&[&Fenced]).faults("zone-error".parse().expect("a kind"));
    let told = message(|| hunt().inside_only().seeds(0..1).assert_holds());
    assert!(told.contains("1 seed says nothing of fenced: no fault touched anything"), "{told}");
}

#[test]
fn a_right_protocol_holds() {
    let scenario = incident();
    Hunt::new(&scenario).protocols(&[&Fenced]).seeds(0..1_000).inside_only().assert_holds();
}
