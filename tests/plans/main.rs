//! Whatever the world, the plan and the seed: a run is in order, heals, repeats itself, and the fenced protocol stays
//! safe.

#[path = "../draws/mod.rs"]
mod draws;
mod night;
mod readings;
mod repairs;
mod written;

use std::thread;

use holdover::sim::check::{Bite, SIGHTINGS, Verdict, bites, broken_assumptions, judge, sightings};
use holdover::sim::clock::{Motion, Rate};
use holdover::sim::fault::{Anchor, ClockSlew, Fault, Pause, PauseClocks, PlannedFault, SMEAR_PPB};
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::{FaultId, NodeId};
use holdover::sim::lease::LeaseService;
use holdover::sim::limits::Ending;
use holdover::sim::protocol::{AnyProtocol, Fenced, PROTOCOLS};
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use night::{FIRST_WORKER, Night, any_night, incident, night, night_of_losses};

/// Whether the newest of `events` is the sending of a message, or tells what becomes of that. A fault that waits for a
/// message ends there; if another fault has lost it already, it leaves no trace.
fn tells_of_a_message(events: &[Event]) -> bool {
    let follows = |what: &What| {
        matches!(
            what,
            What::MessageDropped { .. }
                | What::MessageDelayed { .. }
                | What::MessageRepeated { .. }
                | What::FaultEnded { .. }
        )
    };
    let newest = events.iter().rev().find(|event| !follows(&event.what));
    newest.is_some_and(|event| matches!(event.what, What::MessageSent { .. }))
}

/// Whether `event` is one that a fault with this anchor waits for.
fn sets_off(history: &History, when: &Anchor, event: &Event) -> bool {
    let named = |fault: FaultId, name: &String| history.plan[fault.index()].name.as_ref() == Some(name);
    match (when, event.what) {
        (Anchor::Point { point, node, after, .. }, What::PointPassed(passed)) => {
            event.at >= *after && passed.0 == point && node.is_none_or(|node| node == event.node)
        }
        (Anchor::Event { event: kind, node, after, .. }, what) => {
            event.at >= *after && what.kind() == kind && node.is_none_or(|node| event.concerns(node))
        }
        (Anchor::Fault { name, end: false, .. }, What::FaultBegan { fault }) => named(fault, name),
        (Anchor::Fault { name, end: true, .. }, What::FaultEnded { fault }) => named(fault, name),
        _ => false,
    }
}

/// Each fault that struck healed, once, when it should have or at the end of the run; and no clock is bent or stands
/// still for ever.
fn heals(history: &History) -> Result<(), TestCaseError> {
    for (n, planned) in history.plan.iter().enumerate() {
        let fault = FaultId(n as u16);
        let places = |what| {
            let found = history.events.iter().enumerate().filter(move |(_, event)| event.what == what);
            found.map(|(i, event)| (i, event.at, event.node)).collect::<Vec<_>>()
        };
        let (began, ended) = (places(What::FaultBegan { fault }), places(What::FaultEnded { fault }));
        prop_assert!(began.len() <= 1);
        prop_assert_eq!(began.len(), ended.len());
        let (Some(began), Some(ended)) = (began.first(), ended.first()) else { continue };
        prop_assert!(began.0 < ended.0);
        prop_assert_eq!((began.2, ended.2), (planned.inject.node(), planned.inject.node()));
        if planned.inject.ends_itself() {
            prop_assert!(ended.1 == history.ended_at || tells_of_a_message(&history.events[..ended.0]));
        } else {
            let lasting = planned.inject.lasting().unwrap_or(Span::ZERO);
            prop_assert_eq!(ended.1, (began.1 + lasting).min(history.ended_at));
        }
        let cause = history.events[began.0].cause.map(|cause| (cause, history.event(cause)));
        if let Anchor::At(at) = planned.when {
            prop_assert_eq!((began.1, cause), (at, None));
            continue;
        }
        let (set_off, event) = cause.expect("something set it off");
        prop_assert_eq!(began.1, event.at + planned.when.delay());
        let counts = |event: &Event| sets_off(history, &planned.when, event);
        let before = history.events[..=set_off.index()].iter().filter(|event| counts(event)).count();
        let nth = match planned.when {
            Anchor::Point { nth, .. } | Anchor::Event { nth, .. } => nth,
            _ => 1,
        };
        prop_assert!(counts(event) && before == nth as usize, "{:?} set off by {}", &planned.when, set_off);
    }
    for (n, node) in history.nodes.iter().enumerate() {
        prop_assert_eq!(node.clocks.current().motion, Motion::Running, "{}", &node.name);
        // A smear outlasts the run, and what a time daemon does is no fault.
        let (id, slew) = (NodeId(n as u16), node.clocks.current().slew.as_ppb());
        let smears = history.plan.iter().filter(|planned| {
            matches!((&planned.when, &planned.inject), (Anchor::At(_), Fault::LeapSecond(leap)) if leap.smeared.contains(&id))
        });
        let daemon = history.events.iter().rev().find_map(|event| match event.what {
            What::ClockSlewed { ppb } if event.node == id => Some(ppb),
            _ => None,
        });
        if daemon.is_none_or(|ppb| ppb == 0) {
            prop_assert_eq!(slew, -SMEAR_PPB * smears.count() as i32, "{}", &node.name);
        }
    }
    Ok(())
}

/// True time never goes back, and every cause is an earlier event.
fn is_in_order(history: &History) -> Result<(), TestCaseError> {
    let mut now = TrueTime::START;
    for (id, event) in history.numbered() {
        prop_assert!(now <= event.at, "{}", id);
        prop_assert!(event.cause.is_none_or(|cause| cause < id), "{}", id);
        now = event.at;
    }
    prop_assert!(now <= history.ended_at);
    Ok(())
}

/// Nothing of a node's own doing happens while it is paused, or hangs in a write; and nothing at all but what faults do while
/// its machine is stopped.
fn is_still_while_paused(history: &History) -> Result<(), TestCaseError> {
    let mut pauses = vec![0_i32; history.nodes.len()];
    let mut stops = pauses.clone();
    for (id, event) in history.numbered() {
        let paused = |fault: FaultId| match &history.plan[fault.index()].inject {
            Fault::Pause(pause) if pause.task.is_none() => pause.each_node().collect(),
            _ => Vec::new(),
        };
        let mut count = |fault: FaultId, by: i32| {
            let is_stop = !matches!(
                &history.plan[fault.index()].inject,
                Fault::Pause(Pause { clocks: PauseClocks::Running, .. })
            );
            for node in paused(fault) {
                pauses[node.index()] += by;
                stops[node.index()] += by * i32::from(is_stop);
            }
        };
        match event.what {
            What::FaultBegan { fault } => count(fault, 1),
            What::FaultEnded { fault } => count(fault, -1),
            What::Throttled { .. } | What::WriteHung { .. } => pauses[event.node.index()] += 1,
            What::Unthrottled { .. } | What::WriteReturned { .. } => pauses[event.node.index()] -= 1,
            What::WorkerDied | What::WorkerRestored { .. } => {}
            What::WritesLost { .. } | What::MessageLost { .. } => {}
            // A time daemon is another process, and sees to its clock while the worker stalls.
            What::ClockCorrected { .. } | What::ClockSlewed { .. } | What::TimeDaemonExited => {
                prop_assert_eq!(stops[event.node.index()], 0, "{}: {:?}", id, event);
            }
            // The kernel of a stalled worker takes answers in.
            What::MessageDelivered { .. } if event.node.0 >= FIRST_WORKER => {}
            _ => prop_assert_eq!(pauses[event.node.index()], 0, "{}: {:?}", id, event),
        }
    }
    Ok(())
}

/// None of the rules of safety is broken. What isn't finished isn't unsafe.
fn is_safe(history: &History) -> Result<(), TestCaseError> {
    for (checker, verdict) in judge(history) {
        let is_broken = checker.name != "progress" && matches!(verdict, Verdict::Violated { .. });
        prop_assert!(!is_broken, "{}: {:?}", checker.name, verdict);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_run_is_in_order_and_heals(night in any_night()) {
        for protocol in PROTOCOLS {
            let history = night.run(*protocol);
            prop_assert!(matches!(history.ending, Ending::Finished | Ending::TimeUp), "{:?}", history.ending);
            prop_assert!(history.ended_at <= night.world.limits.end);
            is_in_order(&history)?;
            heals(&history)?;
            is_still_while_paused(&history)?;
        }
    }

    #[test]
    fn a_fault_taken_away_leaves_every_other_draw_as_it_was(night in any_night(), n in any::<Index>()) {
        let mut fewer = night.clone();
        if !night.plan.is_empty() {
            // Those that wait for it never strike then.
            fewer.plan.remove(n.index(night.plan.len()));
        }
        for protocol in PROTOCOLS {
            draws::agree(&night.run(*protocol), &fewer.run(*protocol));
        }
    }

    /// Whatever goes wrong, one of the things that the protocol relies on wasn't so.
    #[test]
    fn what_breaks_a_rule_of_safety_breaks_an_assumption_first(night in night_of_losses()) {
        for protocol in PROTOCOLS {
            let history = night.run(*protocol);
            if broken_assumptions(&history, protocol.assumptions()).is_empty() {
                is_safe(&history)?;
            }
        }
    }

    #[test]
    fn fenced_is_safe(night in night()) {
        is_safe(&night.run(&Fenced))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// On a thread that is new, too: nothing may stay behind on the one that runs all the others. Replicas take many times
    /// as long as a table, and have nights of their own in `tests/consensus`.
    #[test]
    fn a_run_repeats_itself(night in any_night()) {
        let is_due = |protocol: &&&dyn AnyProtocol| {
            protocol.lease_service() == LeaseService::Table || night.seed.0.is_multiple_of(5)
        };
        for protocol in PROTOCOLS.iter().filter(is_due) {
            let here = night.run(*protocol).bytes();
            let there = thread::scope(|scope| scope.spawn(|| night.run(*protocol).bytes()).join());
            prop_assert!(there.is_ok_and(|there| there == here), "{}", protocol.name());
        }
    }
}

/// That nothing is ever wrong says little unless it could have been: of these nights many must put the rules to the test.
#[test]
fn the_nights_are_not_quiet() {
    let mut runner = TestRunner::deterministic();
    let mut seen = vec![0; SIGHTINGS.len()];
    let (mut struck, mut bit) = (0, 0);
    for _ in 0..600 {
        let night = night().new_tree(&mut runner).expect("nothing is filtered out").current();
        let history = night.run(&Fenced);
        for (count, (_, times)) in seen.iter_mut().zip(sightings(&history)) {
            *count += usize::from(times > 0);
        }
        for bite in bites(&history) {
            struck += usize::from(bite != Bite::NeverStruck);
            bit += usize::from(bite == Bite::Bit);
        }
    }
    let seen = SIGHTINGS.iter().zip(seen).filter(|(sighting, _)| sighting.is_anywhere);
    let seen: Vec<_> = seen.map(|(sighting, nights)| (sighting.name, nights)).collect();
    assert!(seen.iter().all(|(_, nights)| *nights >= 15), "{seen:?}");
    assert!(struck >= 700 && bit >= 400, "{struck} struck, {bit} bit, {seen:?}");
}

/// Not every night may be excused by an assumption that was broken: on many something must have gone wrong and all that
/// the protocol relies on have been so.
#[test]
fn not_every_night_is_excused() {
    let mut runner = TestRunner::deterministic();
    let mut hard = vec![0; PROTOCOLS.len()];
    let mut excused = vec![0; PROTOCOLS.len()];
    for _ in 0..2_400 {
        let night = night_of_losses().new_tree(&mut runner).expect("nothing is filtered out").current();
        for (index, protocol) in PROTOCOLS.iter().enumerate() {
            let history = night.run(*protocol);
            let kept = broken_assumptions(&history, protocol.assumptions()).is_empty();
            hard[index] += usize::from(kept && bites(&history).contains(&Bite::Bit));
            excused[index] += usize::from(!kept && is_safe(&history).is_err());
        }
    }
    assert!(hard.iter().all(|nights| *nights >= 15), "{hard:?} nights were hard, {excused:?} excused");
    assert!(excused.iter().all(|nights| *nights >= 3), "{hard:?} nights were hard, {excused:?} excused");
}

/// Found by chance: the clock was left slow, and while the second slew was still on it was not bent at all.
#[test]
fn slews_that_add_up_to_more_than_a_clock_can_be_bent_by_heal() {
    #[track_caller]
    fn check(slews: [(i64, i64, i32); 2], expected: &[(i64, i32)]) {
        let node = NodeId(FIRST_WORKER);
        let planned = |(from, lasting, ppm): (i64, i64, i32)| PlannedFault {
            when: Anchor::At(TrueTime::START + Span::secs(from)),
            inject: Fault::ClockSlew(ClockSlew {
                node,
                rate: Rate::from_ppb(ppm * 1_000).expect("it is in range"),
                lasting: Span::secs(lasting),
            }),
            note: None,
            name: None,
        };
        let night = Night { world: incident(), plan: slews.map(planned).to_vec(), seed: Seed(7) };
        let history = night.run(&Fenced);
        let bends = history.node(node).clocks.segments().iter();
        let bends: Vec<_> = bends
            .map(|segment| {
                ((segment.from - TrueTime::START).as_nanos() / 1_000_000_000, segment.slew.as_ppb() / 1_000)
            })
            .collect();
        assert_eq!(bends, expected);
    }
    check([(10, 10, 80_000), (15, 10, 70_000)], &[(0, 0), (10, 80_000), (15, 100_000), (20, 70_000), (25, 0)]);
    check(
        [(10, 10, -80_000), (15, 10, -70_000)],
        &[(0, 0), (10, -80_000), (15, -100_000), (20, -70_000), (25, 0)],
    );
    check([(10, 15, 100_000), (15, 5, 100_000)], &[(0, 0), (10, 100_000), (15, 100_000), (20, 100_000), (25, 0)]);
    check([(10, 10, 80_000), (15, 10, -70_000)], &[(0, 0), (10, 80_000), (15, 10_000), (20, -70_000), (25, 0)]);
}
