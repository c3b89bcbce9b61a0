//! A repair survives itself: operators crash, stall and are run twice at every point there is, and it comes to the same.
//!
//! The points come from the registry and the passings from a run without trouble, so a new point is covered by itself.

use holdover::sim::check::{Bite, Verdict, bites, judge};
use holdover::sim::fault::{Pause, PauseClocks};
use holdover::sim::id::{Amount, OpId};
use holdover::sim::point::REPAIR_POINTS;
use holdover::sim::time::{Span, TrueTime};

use crate::support::{Night, OPERATOR, Outcome, at_point, crash, events, not_made_good, outcome, passings};

const SEED: u64 = 7;

/// The nights that are repaired.
fn nights() -> [(&'static str, Night); 2] {
    [("incident", Night::incident()), ("midway", Night::midway())]
}

/// What the repair comes to when nothing befalls the operator; each operation has one entry and one effect.
fn undisturbed(night: &Night) -> Outcome {
    let history = night.run(SEED);
    let told = outcome(&history);
    assert_eq!(not_made_good(&history), []);
    for (op, amount) in history.batch.iter().enumerate().map(|(op, amount)| (OpId(op as u32), amount)) {
        assert_eq!(told.ledger[&op].iter().map(|(_, amount)| amount).collect::<Vec<_>>(), [amount], "{op}");
        assert_eq!(told.effects[&op], [*amount], "{op}");
    }
    told
}

/// Checks that `night` comes to `expected`, with everything made good.
#[track_caller]
fn check(night: &Night, expected: &Outcome, what: &str) {
    let history = night.run(SEED);
    let found = outcome(&history);
    assert_eq!(not_made_good(&history), [], "{what}");
    assert_eq!(found.effects, expected.effects, "{what}");
    assert_eq!(standing(&found), standing(expected), "{what}");
}

/// The amounts that stand, operation by operation; who of several workers enters what is left is up to who is elected.
fn standing(outcome: &Outcome) -> Vec<Vec<i64>> {
    let amounts = |entries: &Vec<(_, Amount)>| entries.iter().map(|(_, amount)| amount.0).collect();
    outcome.ledger.values().map(amounts).collect()
}

#[test]
fn the_incident_does_the_damage_that_is_repaired() {
    let damaged = |mut night: Night, rules: &[&str]| {
        undisturbed(&night);
        night.world.operators.clear();
        let verdicts = judge(&night.run(SEED));
        for rule in rules {
            let verdict = verdicts.iter().find(|(checker, _)| checker.name == *rule).map(|(_, verdict)| verdict);
            assert!(matches!(verdict, Some(Verdict::Violated { .. })), "{rule}: {verdict:?}");
        }
    };
    damaged(Night::incident(), &["export-agreement", "effect-once", "nothing-lost"]);
    damaged(Night::midway(), &["effect-once", "nothing-lost"]);
}

#[test]
fn a_repair_passes_every_point_of_the_registry() {
    for (name, night) in nights() {
        let passed = passings(&night.run(SEED));
        for (point, _) in REPAIR_POINTS {
            assert!(passed.iter().any(|(passed, _)| *passed == point.0), "{name}: {point} isn't passed");
        }
    }
}

#[test]
fn an_operator_that_crashes_at_any_passing_of_any_point_comes_to_the_same() {
    for (name, night) in nights() {
        let expected = undisturbed(&night);
        let passings = passings(&night.run(SEED));
        assert!(passings.len() > 60, "{name}: only {} passings", passings.len());
        for (point, nth) in passings {
            let crashing = night.clone().and(at_point(OPERATOR, point, nth, crash(OPERATOR)));
            check(&crashing, &expected, &format!("{name}: a crash at {point}, {nth}"));
        }
    }
}

#[test]
fn an_operator_that_crashes_twice_at_any_two_points_comes_to_the_same() {
    for (name, night) in nights() {
        let expected = undisturbed(&night);
        for (first, _) in REPAIR_POINTS {
            for (second, _) in REPAIR_POINTS {
                // The second crash is one of the process that came after the first.
                let nth = if first == second { 2 } else { 1 };
                let crashing = night.clone().and(at_point(OPERATOR, first.0, 1, crash(OPERATOR))).and(at_point(
                    OPERATOR,
                    second.0,
                    nth,
                    crash(OPERATOR),
                ));
                check(&crashing, &expected, &format!("{name}: crashes at {first} and {second}"));
            }
        }
    }
}

#[test]
fn an_operator_that_stalls_while_another_takes_over_comes_to_the_same() {
    for (name, night) in nights() {
        let expected = undisturbed(&night);
        for (point, _) in REPAIR_POINTS {
            for (lasting, other) in [(1, 63_000), (9, 63_000), (60, 64_000)] {
                let pause = Pause::of(OPERATOR, Span::secs(lasting), PauseClocks::Running);
                let stalling = night.clone().another_operator(other).and(at_point(OPERATOR, point.0, 1, pause));
                check(
                    &stalling,
                    &expected,
                    &format!("{name}: {lasting} s at {point}, another from {other} ms on"),
                );
            }
        }
    }
}

#[test]
fn two_operators_at_once_come_to_the_same_and_one_gives_way() {
    for (name, night) in nights() {
        let expected = undisturbed(&night);
        let first = night.world.operators[0].starts - TrueTime::START;
        let first = first.as_nanos() / 1_000_000;
        for other in (-50..400).step_by(7).map(|after| first + after) {
            let both = night.clone().another_operator(other);
            check(&both, &expected, &format!("{name}: another operator from {other} ms on"));
            let history = both.run(SEED);
            let counted = (events(&history, "repair-left").count(), events(&history, "repair-ended").count());
            assert_eq!(counted, (1, 1), "{name}: another operator from {other} ms on");
        }
    }
}

#[test]
fn a_repair_that_is_run_again_changes_nothing() {
    for (name, night) in nights() {
        let history = night.another_operator(200_000).run(SEED);
        assert_eq!(not_made_good(&history), []);
        let again = events(&history, "dispatch-stopped").nth(1).expect("the second operator stops dispatch").0;
        for kind in ["entry-superseded", "payout-made", "payout-voided", "refund-begun", "export-superseded"] {
            assert!(events(&history, kind).all(|(id, _)| id < again), "{name}: {kind} the second time");
        }
    }
}

#[test]
fn the_faults_of_these_tests_strike() {
    for (name, night) in nights() {
        for (point, _) in REPAIR_POINTS {
            let history = night.clone().and(at_point(OPERATOR, point.0, 1, crash(OPERATOR))).run(SEED);
            let bite = bites(&history).pop().expect("the crash is the last of the plan");
            assert_ne!(bite, Bite::NeverStruck, "{name}: a crash at {point}");
        }
    }
}
