//! A throttle, stall by stall: when it stalls and when it runs, what its clocks do meanwhile, and what becomes of tasks,
//! messages and pauses.

use holdover::sim::clock::Clock;
use holdover::sim::fault::{Anchor, Crash, Fault, Pause, PauseClocks, PlannedFault, Throttle};
use holdover::sim::history::{History, What};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::LEASE_STORE;

use crate::support::{A, at, clocks, from, history_of, world};

fn throttle(node: NodeId, quota: i64, period: i64, lasting: i64) -> Throttle {
    Throttle { node, quota: Span::millis(quota), period: Span::millis(period), lasting: Span::millis(lasting) }
}

/// A fault that strikes so many milliseconds after 100 s.
fn later(millis: i64, inject: impl Into<Fault>) -> PlannedFault {
    let when = Anchor::At(at(100) + Span::millis(millis));
    PlannedFault { when, inject: inject.into(), note: None, name: None }
}

fn millis(at: TrueTime) -> i64 {
    (at - TrueTime::START).as_nanos() / 1_000_000
}

/// What is told of stalls from 100 s on: `s`talls and `g`oes on, with the milliseconds since then.
fn stalls(history: &History) -> Vec<(char, i64)> {
    let told = history.events.iter().filter_map(|event| match event.what {
        What::Throttled { .. } => Some(('s', event.at)),
        What::Unthrottled { .. } => Some(('g', event.at)),
        _ => None,
    });
    told.map(|(what, at)| (what, millis(at) - 100_000)).collect()
}

#[track_caller]
fn check(fault: Throttle, expected: &[(char, i64)]) {
    assert_eq!(stalls(&history_of(&world(), &[from(100, fault)], 1)), expected);
}

#[test]
fn it_stalls_when_it_strikes_and_then_in_every_period() {
    let two = [('s', 0), ('g', 80), ('s', 100), ('g', 180)];
    check(throttle(A, 20, 100, 200), &two);
    // Cut short while it stalls, when a stall is just over, and while it runs.
    check(throttle(A, 20, 100, 150), &[('s', 0), ('g', 80), ('s', 100), ('g', 150)]);
    check(throttle(A, 20, 100, 180), &two);
    check(throttle(A, 20, 100, 190), &two);
    check(throttle(LEASE_STORE, 1, 2, 3), &[('s', 0), ('g', 1), ('s', 2), ('g', 3)]);
}

#[test]
fn all_clocks_run() {
    let history = history_of(&world(), &[from(100, throttle(A, 20, 100, 10_000))], 1);
    for clock in [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime] {
        let line = clocks(&history, A);
        assert_eq!(line.read(clock, at(110)) - line.read(clock, at(100)), 10_000_000_000);
    }
    assert_eq!(clocks(&history, A).segments().len(), 1);
}

/// When the first worker sent the renewals that were due from 100 s to 130 s, in milliseconds.
fn renewals(history: &History) -> Vec<i64> {
    let of_a = history.events.iter().filter(|event| event.node == A);
    of_a.filter_map(|event| match event.what {
        What::MessageSent { about: "lease.renew", .. } => Some(millis(event.at)),
        _ => None,
    })
    .filter(|at| (100_000..130_000).contains(at))
    .collect()
}

#[test]
fn a_renewal_that_falls_into_a_stall_is_late_and_the_others_are_on_time() {
    assert_eq!(renewals(&history_of(&world(), &[], 1)), [100_000, 110_000, 120_000]);
    // Just before the renewal is due.
    let throttled = |lasting| history_of(&world(), &[later(-1, throttle(A, 400, 1_000, lasting))], 1);
    assert_eq!(renewals(&throttled(10_500)), [100_599, 110_499, 120_000]);
    assert_eq!(renewals(&throttled(9_900)), [100_599, 110_000, 120_000]);
    // It goes on because it has a new quota.
    let history = throttled(10_500);
    let resumed = history.events.iter().position(|event| matches!(event.what, What::Unthrottled { .. }));
    let passed = history.events.iter().find(|event| {
        event.node == A && millis(event.at) == 100_599 && matches!(event.what, What::PointPassed(_))
    });
    let cause = passed.and_then(|event| event.cause).map(|cause| cause.index());
    assert_eq!(cause, resumed);
}

/// A stalled service's kernel holds what comes in, and the service sees to it when it goes on.
#[test]
fn a_service_that_stalls_answers_late() {
    let answered = |plan: &[PlannedFault]| {
        let history = history_of(&world(), plan, 1);
        let renewed = history.events.iter().filter(|event| matches!(event.what, What::LeaseRenewed { .. }));
        renewed.map(|event| millis(event.at)).filter(|at| (100_000..110_000).contains(at)).collect::<Vec<_>>()
    };
    assert_eq!(answered(&[]), [100_002]);
    assert_eq!(answered(&[from(100, throttle(LEASE_STORE, 400, 1_000, 5_000))]), [100_600]);
    assert_eq!(answered(&[from(99, throttle(LEASE_STORE, 100, 500, 5_000))]), [100_400]);
}

#[test]
fn with_pauses_the_worker_runs_when_neither_has_it_stand_still() {
    let quick = |plan: &[PlannedFault]| {
        let mut world = world();
        world.lease.renew_every = Span::millis(1);
        let history = history_of(&world, plan, 1);
        let mut steps: Vec<i64> = history
            .events
            .iter()
            .filter(|event| event.node == A && matches!(event.what, What::PointPassed(_)))
            .map(|event| millis(event.at) - 100_000)
            .filter(|at| (0..500).contains(at))
            .collect();
        steps.dedup();
        // The first and the last step of each stretch of steps.
        let ends = |n: &usize| {
            let lone = |other: Option<&i64>| other.is_none_or(|other| (steps[*n] - other).abs() > 10);
            lone(n.checked_sub(1).and_then(|before| steps.get(before))) || lone(steps.get(n + 1))
        };
        (0..steps.len()).filter(ends).map(|n| steps[n] / 10 * 10).collect::<Vec<_>>()
    };
    let throttled = from(100, throttle(A, 50, 100, 400));
    assert_eq!(quick(std::slice::from_ref(&throttled)), [50, 90, 150, 190, 250, 290, 350, 490]);
    let stalled = later(70, Pause::of(A, Span::millis(200), PauseClocks::Running));
    assert_eq!(quick(&[throttled.clone(), stalled]), [50, 60, 270, 290, 350, 490]);
    let frozen = later(70, Pause::of(A, Span::millis(200), PauseClocks::Frozen));
    assert_eq!(quick(&[throttled, frozen]), [50, 60, 270, 290, 350, 490]);
}

#[test]
fn a_process_that_begins_anew_on_a_throttled_node_is_throttled_too() {
    let crash = later(110, Crash { node: A, lasting: Some(Span::millis(10)) });
    let history = history_of(&world(), &[from(100, throttle(A, 50, 200, 1_000)), crash], 1);
    let begins = |event: &&holdover::sim::history::Event| event.node == A && event.at > at(100);
    let steps = history.events.iter().filter(begins);
    let first = steps.clone().find(|event| event.what == What::WorkerStarted).map(|event| millis(event.at));
    // Its first instruction waits for the next quota.
    assert_eq!(first, Some(100_150));
    let works =
        steps.clone().find(|event| matches!(event.what, What::PointPassed(_))).map(|event| millis(event.at));
    assert_eq!(works, Some(100_150));
}

#[test]
fn a_throttle_that_the_end_of_the_run_cuts_off_leaves_nothing() {
    for after in [50, 90] {
        let mut world = world();
        world.limits.end = at(100) + Span::millis(after);
        let history = history_of(&world, &[from(100, throttle(A, 20, 100, 60_000))], 1);
        assert_eq!(history.ending, Ending::TimeUp);
        assert_eq!(stalls(&history).last(), Some(&('g', after.min(80))));
        assert!(history.events.iter().any(|event| matches!(event.what, What::FaultEnded { .. })));
    }
}
