//! proptest strategies: what they draw, and what it shrinks to when a property fails.

use std::cell::Cell;

use holdover::explore::Reducer;
use holdover::explore::generate::{Generator, Profile, Selection};
use holdover::explore::strategy::{Plans, plans, scenarios};
use holdover::scenario::Scenario;
use holdover::sim::check::{CHECKERS, Verdict, judge_one};
use holdover::sim::fault::{Fault, PlannedFault};
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::Span;
use holdover::sim::world::ClockSpec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

fn incident() -> Scenario {
    let file = include_str!("../scenarios/incidents/clock-jump.toml");
    Scenario::parse("clock-jump.toml", file).expect("the incident's file is a scenario")
}

/// What a property that holds where `is_fine` says so shrinks to.
fn shrunk<S: Strategy>(strategy: &S, is_fine: impl Fn(&S::Value) -> bool) -> S::Value {
    let config = Config { cases: 20_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRunner::deterministic().new_rng());
    let result = runner.run(strategy, |value| match is_fine(&value) {
        true => Ok(()),
        false => Err(TestCaseError::fail("planted")),
    });
    match result {
        Err(TestError::Fail(_, value)) => value,
        Err(TestError::Abort(reason)) => panic!("{reason}"),
        Ok(()) => panic!("it never fails"),
    }
}

/// The faults as a file has them.
fn written(base: &Scenario, plan: &[PlannedFault]) -> String {
    let text = Scenario { plan: plan.to_vec(), ..base.clone() }.to_toml().expect("a plan that a file can say");
    let faults = text.find("[[fault]]").map_or("", |from| &text[from..]);
    faults.split("\n[expect").next().unwrap_or_default().to_owned()
}

/// Of the plans for the incident the smallest for which `fails` says so is `expected`.
#[track_caller]
fn check(fails: impl Fn(&PlannedFault) -> bool, expected: &[&str]) {
    let base = incident();
    let plan = shrunk(&plans(&base.world, Profile::Hostile), |plan| !plan.iter().any(&fails));
    let written = written(&base, &plan);
    let injects: Vec<_> = written.lines().filter(|line| line.starts_with("inject")).collect();
    assert_eq!(injects, expected, "{written}");
}

#[test]
fn a_planted_failure_shrinks_to_the_smallest_plan() {
    check(
        |fault| matches!(&fault.inject, Fault::Pause(pause) if pause.lasting >= Span::secs(40)),
        &[r#"inject = { pause = { node = "worker-a", for = "40s" } }"#],
    );
    check(
        |fault| matches!(fault.inject, Fault::ClockStep(step) if step.by <= Span::millis(-250)),
        &[r#"inject = { clock-step = { node = "worker-a", by = "-250ms" } }"#],
    );
    // Rounder, where that makes it hardly longer.
    check(
        |fault| matches!(&fault.inject, Fault::Crash(crash) if crash.lasting.is_some_and(|it| it > Span::millis(3_861))),
        &[r#"inject = { crash = { node = "worker-a", for = "4s" } }"#],
    );
    check(
        |fault| matches!(&fault.inject, Fault::Loss(loss) if loss.percent > 23),
        &[r#"inject = { loss = { between = ["worker-a"], percent = 25, one_way = true, for = "1ms" } }"#],
    );
    // Whoever goes back needs a snapshot.
    check(
        |fault| matches!(fault.inject, Fault::Restore(_)),
        &[r#"inject = { snapshot = { node = "worker-a" } }"#, r#"inject = { restore = { node = "worker-a" } }"#],
    );
}

fn breaks(rule: &str, protocol: &dyn AnyProtocol, scenario: &Scenario) -> bool {
    let history = run(&scenario.world, protocol, &scenario.plan, scenario.seed);
    let checker = CHECKERS.iter().find(|checker| checker.name == rule).expect("a rule");
    matches!(judge_one(checker, &history), Verdict::Violated { .. })
}

#[test]
fn what_breaks_a_rule_shrinks_to_a_story() {
    let base = incident();
    let rules = [
        ("single-writer", "pause"),
        ("stale-write", "clocks"),
        ("export-agreement", "workers"),
        ("effect-once", "network"),
        ("nothing-lost", "stores"),
        ("token-order", "stores"),
    ];
    for (rule, kinds) in rules {
        let generator = Generator::new(&base.world, Profile::Hostile).only(kinds.parse().expect("kinds"));
        let strategy = Plans::of(generator, &base.world);
        let protocol: &dyn AnyProtocol = if rule == "token-order" { &Fenced } else { &Naive };
        let fails =
            |plan: &Vec<PlannedFault>| breaks(rule, protocol, &Scenario { plan: plan.clone(), ..base.clone() });
        let plan = shrunk(&strategy, |plan| !fails(plan));
        assert!(plan.len() <= 2, "{rule}: {plan:#?}");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots/strategies");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(rule, written(&base, &plan)));
    }
}

#[test]
fn a_scenario_gives_up_its_plan_and_its_clocks() {
    let base = incident();
    let shrunk =
        shrunk(&scenarios(&base, Profile::Hostile), |drawn| drawn.world.workers[1].clock.offset <= Span::secs(2));
    assert!(shrunk.plan.is_empty());
    assert_eq!(shrunk.world.workers[0], base.world.workers[0]);
    assert!(shrunk.world.service_clocks.is_empty());
    let offset = shrunk.world.workers[1].clock.offset;
    assert_eq!(shrunk.world.workers[1].clock, ClockSpec { offset, ..ClockSpec::default() });
    assert_eq!(Scenario { seed: base.seed, plan: base.plan.clone(), world: base.world.clone(), ..shrunk }, base);
}

#[test]
fn a_scenario_keeps_the_daemon_that_a_fault_needs() {
    let base = incident();
    let sources: Selection = "time-source".parse().expect("a kind");
    let strategy = scenarios(&base, Profile::Hostile).only(sources);
    let shrunk = shrunk(&strategy, |drawn| drawn.plan.is_empty());
    assert_eq!(shrunk.plan.len(), 1);
    shrunk.to_toml().expect("a scenario that a file can say");
}

/// Whatever the property is like, what it is asked about can be written, and it isn't asked for ever.
#[test]
fn every_plan_on_the_way_can_be_written() {
    let base = incident();
    let generator = Generator::new(&base.world, Profile::Hostile);
    let asked = Cell::new(0);
    for seed in 0..150 {
        let mut reducer = Reducer::new(generator.plan(Seed(seed)), base.world.limits.end);
        let mut answers = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut count = 0;
        while let Some(plan) = reducer.proposal() {
            count += 1;
            if count % 4 == 0 {
                written(&base, plan);
            }
            answers = answers.rotate_left(7).wrapping_mul(5).wrapping_add(3);
            if answers % 5 < 2 { reducer.accept() } else { reducer.reject() }
        }
        assert!(count < 2_000, "seed {seed} asked {count} times");
        written(&base, reducer.smallest());
        asked.set(asked.get() + count);
    }
    assert!(asked.get() > 2_000, "asked only {} times", asked.get());
}

/// proptest goes back to the last plan that failed when it has to stop in the middle.
#[test]
fn going_back_ends_at_what_failed_last() {
    let base = incident();
    let strategy = Plans::of(Generator::new(&base.world, Profile::Hostile), &base.world);
    let mut runner = TestRunner::deterministic();
    for _ in 0..50 {
        let mut tree = strategy.new_tree(&mut runner).expect("nothing is filtered out");
        let mut failed = tree.current();
        let mut is_another = tree.simplify();
        for fails in [false, true, false, false, true, true, false] {
            if !is_another {
                break;
            }
            if fails {
                failed = tree.current();
                is_another = tree.simplify();
            } else {
                is_another = tree.complicate();
            }
        }
        while tree.complicate() {}
        assert_eq!(tree.current(), failed);
        assert!(!tree.complicate());
    }
}
