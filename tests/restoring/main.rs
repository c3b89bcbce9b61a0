//! Workers that are put back to a snapshot, or copied from one: they go on from where they were, by the clocks of then,
//! and nothing that they remember happens again.

mod code;

use holdover::scenario::Scenario;
use holdover::sim::check::{CHECKERS, Checker, Verdict, bites, judge_one};
use holdover::sim::clock::Clock;
use holdover::sim::fault::{
    Anchor, Crash, Fault, Original, Pause, PauseClocks, PlannedFault, Restore, Shutdown, Snapshot, WorkerTask,
};
use holdover::sim::history::{History, What, beliefs};
use holdover::sim::id::{EventId, NodeId};
use holdover::sim::limits::Ending;
use holdover::sim::point::{POINTS, Point};
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive, PROTOCOLS};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};

const WORLD: &str = r#"
title = "Two workers"
start = 2026-01-15T02:00:00Z
end = "+2m"

[lease]
ttl = "10s"
renew_every = "2s"

[job]
operations = 8
due = "+2s"
pace = "500ms"

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
starts = "+1s"
"#;

const A: NodeId = NodeId(3);
/// Where the copy of A is.
const COPY: NodeId = NodeId(5);

fn at(millis: i64) -> Anchor {
    Anchor::At(TrueTime::START + Span::millis(millis))
}

fn when(point: Point, nth: u32) -> Anchor {
    Anchor::Point { point: point.0.to_owned(), node: Some(A), after: TrueTime::START, nth, delay: Span::ZERO }
}

/// So long after the snapshot.
fn later(millis: i64) -> Anchor {
    Anchor::Fault { name: "snapshot".to_owned(), end: false, delay: Span::millis(millis) }
}

fn snapshot() -> Fault {
    Snapshot { node: A }.into()
}

fn restore(original: Original) -> Fault {
    Restore { node: A, original }.into()
}

fn crash(millis: i64) -> Fault {
    Crash { node: A, lasting: Some(Span::millis(millis)) }.into()
}

fn pause(millis: i64, clocks: PauseClocks) -> Fault {
    Pause::of(A, Span::millis(millis), clocks).into()
}

/// Runs the plan; the first of its snapshots is called so.
fn run_under(protocol: &dyn AnyProtocol, plan: &[(Anchor, Fault)]) -> History {
    run_in(WORLD, protocol, plan)
}

fn run_in(world: &str, protocol: &dyn AnyProtocol, plan: &[(Anchor, Fault)]) -> History {
    let scenario = Scenario::parse("restoring.rs", world).expect("a scenario");
    let planned = |(when, inject): &(Anchor, Fault)| PlannedFault {
        when: when.clone(),
        inject: inject.clone(),
        note: None,
        name: matches!(inject, Fault::Snapshot(_)).then(|| "snapshot".to_owned()),
    };
    let plan: Vec<_> = plan.iter().map(planned).collect();
    run(&scenario.world, protocol, &plan, Seed(3))
}

/// Where each restoring is in the history, with the place of its snapshot.
fn restorings(history: &History) -> Vec<(EventId, EventId)> {
    let restoring = |(id, event): (EventId, &holdover::sim::history::Event)| match event.what {
        What::WorkerRestored { snapshot, .. } => Some((id, snapshot)),
        _ => None,
    };
    history.numbered().filter_map(restoring).collect()
}

/// The first point of the work task that `node` passes after `id`.
fn next_point(history: &History, node: NodeId, id: EventId) -> Option<Point> {
    history.events[id.index() + 1..].iter().find_map(|event| match event.what {
        What::PointPassed(point) if event.node == node && !point.0.starts_with("renew.") => Some(point),
        _ => None,
    })
}

/// The rules that the run broke.
fn broken(history: &History) -> Vec<&'static str> {
    let is_broken = |checker: &&Checker| matches!(judge_one(checker, history), Verdict::Violated { .. });
    CHECKERS.iter().filter(is_broken).map(|checker| checker.name).collect()
}

#[test]
fn wherever_the_snapshot_was_taken_a_worker_goes_on_from_there() {
    let mut restored = 0;
    for (point, _) in POINTS {
        for (nth, original) in
            [(1, Original::Gone), (3, Original::Gone), (1, Original::Alive), (3, Original::Alive)]
        {
            for protocol in PROTOCOLS {
                let plan = [(when(*point, nth), snapshot()), (later(20), restore(original))];
                let history = run_under(*protocol, &plan);
                let says = || format!("{} {point:?} {nth} {original:?}", protocol.name());
                assert!(!matches!(history.ending, Ending::Panicked { .. }), "{} {:?}", says(), history.ending);
                let Some(&(id, taken)) = restorings(&history).first() else { continue };
                restored += 1;
                let node = history.event(id).node;
                let name = if original == Original::Alive { "worker-a(2)" } else { "worker-a" };
                assert_eq!(history.node(node).name, name, "{}", says());
                for clock in [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime] {
                    let then = history.node(A).clocks.read(clock, history.event(taken).at);
                    assert_eq!(history.node(node).clocks.read(clock, history.event(id).at), then, "{}", says());
                }
                // The renewals go on beside the work, and who asks for the lease finds that it has it already.
                if !point.0.starts_with("renew.") && *point != Point::LEASE_WANTED {
                    let (then, now) = (next_point(&history, A, taken), next_point(&history, node, id));
                    assert_eq!(now, then, "{}", says());
                }
            }
        }
    }
    assert!(restored > 60, "only {restored}");
}

#[test]
fn a_snapshot_can_be_taken_in_the_middle_of_a_call() {
    // A's first write is on its way, or its answer is.
    for millis in 2_000..2_070 {
        for original in Original::ALL {
            let plan = [(at(millis), snapshot()), (later(1_000), restore(original))];
            let history = run_under(&Fenced, &plan);
            assert_eq!(history.ending, Ending::Finished);
            let (id, taken) = restorings(&history)[0];
            let node = history.event(id).node;
            assert_eq!(next_point(&history, node, id), next_point(&history, A, taken), "{millis} {original:?}");
        }
    }
}

#[test]
fn a_worker_that_is_put_back_believes_what_it_believed() {
    let plan = [(when(Point::WRITE_CHECKED, 2), snapshot()), (later(30_000), restore(Original::Gone))];
    let history = run_under(&Naive, &plan);
    let (id, _) = restorings(&history)[0];
    let restored = history.event(id).at;
    let of_a: Vec<_> = beliefs(&history).into_iter().filter(|belief| belief.worker == A).collect();
    assert!(of_a.iter().any(|belief| belief.from == restored), "{of_a:?}");
}

#[test]
fn a_slew_that_ends_as_a_worker_is_put_back_follows_from_that() {
    let daemon = "name = \"worker-a\"\nclock = { offset = \"990ms\", discipline = \"chrony\", poll = \"8s\" }";
    let world = WORLD.replace("name = \"worker-a\"", daemon).replace("operations = 8", "operations = 40");
    // It begins within the first 8 s, and takes 12.
    let plan = [(at(9_000), snapshot()), (at(10_000), restore(Original::Gone))];
    let history = run_in(&world, &Naive, &plan);
    let [(restored, _)] = restorings(&history)[..] else { panic!("it is put back once") };
    let [.., ended] = &history.events[..restored.index() + 2] else { panic!("something follows") };
    assert_eq!((&ended.what, ended.cause), (&What::ClockSlewed { ppb: 0 }, Some(restored)));
    let mono = |id: EventId| history.reading(id, A, Clock::Monotonic);
    assert_eq!(mono(EventId(restored.0 + 1)), mono(restored));
}

#[test]
fn an_agent_of_the_host_sets_the_clock_of_who_is_put_back_once_that_runs() {
    let agent = "name = \"worker-a\"\nclock = { discipline = \"host-agent\" }";
    let world = WORLD.replace("name = \"worker-a\"", agent);
    let check = |paused: Option<PauseClocks>, corrected: i64| {
        let pause = paused.map(|clocks| (at(2_500), pause(1_500, clocks)));
        let plan = [(at(2_000), snapshot()), (at(3_000), restore(Original::Gone))];
        let plan: Vec<_> = plan.into_iter().chain(pause).collect();
        let history = run_in(&world, &Naive, &plan);
        let first = times(&history, A, |what| matches!(what, What::ClockCorrected { .. })).into_iter().next();
        assert_eq!(first, Some(corrected), "{paused:?}");
    };
    check(None, 3_000);
    check(Some(PauseClocks::Running), 3_000);
    check(Some(PauseClocks::Frozen), 4_000);
    check(Some(PauseClocks::Suspended), 4_000);
    check(Some(PauseClocks::Counted), 4_000);
}

#[test]
fn what_was_not_running_does_not_run_again() {
    let restored = |plan: &[(Anchor, Fault)]| {
        let history = run_under(&Fenced, plan);
        assert_eq!(history.ending, Ending::Finished);
        assert_eq!(broken(&history), [""; 0]);
        let of_a = history.events.iter().filter(|event| event.node == A);
        let of_a = of_a.filter_map(|event| match event.what {
            What::WorkerStarted => Some('s'),
            What::WorkerFinished => Some('f'),
            What::WorkerDied => Some('d'),
            What::WorkerRestored { .. } => Some('r'),
            _ => None,
        });
        of_a.collect::<String>()
    };
    let gone = || restore(Original::Gone);
    assert_eq!(restored(&[(at(3_000), snapshot()), (at(4_000), gone())]), "sdrf");
    // Twice, and a snapshot of what was put back.
    assert_eq!(restored(&[(at(3_000), snapshot()), (at(4_000), gone()), (at(5_000), gone())]), "sdrdrf");
    let again = [(at(3_000), snapshot()), (at(4_000), gone()), (at(4_500), snapshot()), (at(6_000), gone())];
    assert_eq!(restored(&again), "sdrdrf");
    // At once, in the middle of its own step.
    for (point, _) in POINTS {
        let told = restored(&[(when(*point, 1), snapshot()), (later(0), gone())]);
        assert!(told == "sdrf" || told == "sf", "{point:?}: {told}");
    }
    // Without a snapshot nothing happens.
    assert_eq!(restored(&[(at(4_000), gone())]), "sf");
    assert_eq!(restored(&[(at(5_000), snapshot()), (at(4_000), gone())]), "sf");
    // It was dead when the snapshot was taken, and is dead now, or not.
    assert_eq!(restored(&[(at(3_000), crash(500)), (at(3_200), snapshot()), (at(3_300), gone())]), "sdsf");
    assert_eq!(restored(&[(at(3_000), crash(500)), (at(3_200), snapshot()), (at(4_000), gone())]), "sdsdsf");
    // It is dead, for a while or for good, when it is put back.
    assert_eq!(restored(&[(at(3_000), snapshot()), (at(3_100), crash(9_000)), (at(4_000), gone())]), "sdrf");
    let for_good = Fault::from(Crash { node: A, lasting: None });
    assert_eq!(restored(&[(at(3_000), snapshot()), (at(3_100), for_good), (at(4_000), gone())]), "sdrf");
    let shutdown = Fault::from(Shutdown { node: A, lasting: Span::millis(500) });
    assert_eq!(restored(&[(at(3_000), snapshot()), (at(3_100), shutdown.clone()), (at(5_000), gone())]), "sdrf");
    assert_eq!(restored(&[(at(3_000), snapshot()), (at(3_100), shutdown.clone()), (at(3_300), gone())]), "sdrf");
    // It had been told to stop, and remembers that.
    assert_eq!(restored(&[(at(3_000), shutdown), (at(3_200), snapshot()), (at(3_300), gone())]), "sdrd");
    // It had finished.
    assert_eq!(restored(&[(at(20_000), snapshot()), (at(21_000), gone())]), "sf");
}

/// Found by drawn plans: a worker that hears in the middle of its turn that it is to stop couldn't be put back.
#[test]
fn whoever_was_told_to_stop_at_a_point_goes_on_stopping() {
    let mut restored = 0;
    for (point, _) in POINTS {
        for (protocol, taken_after) in PROTOCOLS.iter().flat_map(|protocol| [(protocol, 0), (protocol, 150)]) {
            let stop = Fault::from(Shutdown { node: A, lasting: Span::secs(1) });
            let taken = match when(*point, 1) {
                Anchor::Point { point, node, after, nth, .. } => {
                    Anchor::Point { point, node, after, nth, delay: Span::millis(taken_after) }
                }
                other => other,
            };
            let plan = [(when(*point, 1), stop), (taken, snapshot()), (later(200), restore(Original::Gone))];
            let history = run_under(*protocol, &plan);
            let says = || format!("{} {point:?} {taken_after}", protocol.name());
            assert!(!matches!(history.ending, Ending::Panicked { .. }), "{} {:?}", says(), history.ending);
            restored += restorings(&history).len();
        }
    }
    assert!(restored >= 70, "{restored} were put back");
}

/// Found by drawn plans: whoever heard in the instant of being put back that it is to stop did so before it was put back.
#[test]
fn whoever_is_told_to_stop_while_it_is_put_back_stops_then() {
    let told = |millis| (later(millis), Fault::from(Shutdown { node: A, lasting: Span::millis(300) }));
    for (point, _) in POINTS {
        for (protocol, before, after) in PROTOCOLS.iter().flat_map(|of| [(of, 20, 20), (of, 10, 20), (of, 20, 30)])
        {
            let restored = (later(20), restore(Original::Gone));
            let plan = [(when(*point, 1), snapshot()), told(before), restored, told(after)];
            let history = run_under(*protocol, &plan);
            let says = || format!("{} {point:?} {before} {after}", protocol.name());
            assert!(!matches!(history.ending, Ending::Panicked { .. }), "{} {:?}", says(), history.ending);
            let Some(&(id, _)) = restorings(&history).first() else { continue };
            // It is gone 300 ms after it was told for the last time, if it hasn't finished before that.
            let gone = |what: &What| matches!(what, What::WorkerDied | What::WorkerFinished);
            let end = history.events[id.index() + 1..].iter().find(|event| event.node == A && gone(&event.what));
            let end = end.unwrap_or_else(|| panic!("{} is never gone", says()));
            assert!(end.at - history.event(id).at <= Span::millis(310), "{} {:?}", says(), end.at);
        }
    }
}

/// Found by drawn plans: a worker couldn't be put back at a point that it came to in the turn in which it was put back.
#[test]
fn whoever_is_put_back_again_in_the_same_turn_goes_on_from_there() {
    let mut restored = 0;
    for (point, _) in POINTS {
        for (again, _) in POINTS {
            let plan = [
                (when(*point, 1), snapshot()),
                (later(1), restore(Original::Gone)),
                (when(*again, 2), restore(Original::Gone)),
            ];
            let history = run_under(&Naive, &plan);
            assert!(
                !matches!(history.ending, Ending::Panicked { .. }),
                "{point:?} {again:?} {:?}",
                history.ending
            );
            restored += restorings(&history).len();
        }
    }
    assert!(restored >= 280, "{restored} were put back");
}

#[test]
fn a_pause_puts_off_what_a_restored_worker_does() {
    for clocks in [PauseClocks::Running, PauseClocks::Suspended, PauseClocks::Frozen, PauseClocks::Counted] {
        let plan =
            [(at(3_000), snapshot()), (at(3_500), pause(2_000, clocks)), (at(4_000), restore(Original::Gone))];
        let history = run_under(&Fenced, &plan);
        assert_eq!((&history.ending, broken(&history)), (&Ending::Finished, vec![]), "{clocks:?}");
        let (id, _) = restorings(&history)[0];
        let acts = history.events[id.index() + 1..].iter();
        let first = acts.filter(|event| event.node == A).find(|event| matches!(event.what, What::PointPassed(_)));
        assert!(first.expect("it goes on").at >= TrueTime::START + Span::millis(5_500), "{clocks:?}");
    }
}

#[test]
fn a_second_copy_takes_the_place_of_the_first() {
    let copy = || restore(Original::Alive);
    let history = run_under(&Naive, &[(at(3_000), snapshot()), (at(4_000), copy()), (at(5_000), copy())]);
    assert_eq!(restorings(&history).len(), 2);
    assert_eq!(history.nodes.len(), 6);
    assert_eq!(history.node(COPY).name, "worker-a(2)");
    assert!(history.events.iter().any(|event| event.node == COPY && event.what == What::WorkerDied));
    assert!(!history.events.iter().any(|event| event.node == A && event.what == What::WorkerDied));
}

#[test]
fn a_copy_that_is_taken_away_leaves_every_other_draw_as_it_was() {
    // Both workers may be copied; that A isn't changes nothing for the copy of B.
    let b = NodeId(4);
    let plan = |copies_a: bool| {
        let mut plan = vec![
            (at(3_000), Snapshot { node: b }.into()),
            (at(4_000), Restore { node: b, original: Original::Alive }.into()),
        ];
        if copies_a {
            plan.push((at(60_000), snapshot()));
            plan.push((at(61_000), restore(Original::Alive)));
        }
        plan
    };
    let latencies = |history: &History| {
        let copy = history.nodes.iter().position(|node| node.name == "worker-b(2)").expect("a copy");
        let sent = history.events.iter().filter(|event| event.node.index() == copy);
        let sent = sent.filter_map(|event| match event.what {
            What::MessageSent { latency, .. } => Some(latency),
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    let (with, without) = (run_under(&Naive, &plan(true)), run_under(&Naive, &plan(false)));
    let (with, without) = (latencies(&with), latencies(&without));
    assert!(without.len() > 2, "{without:?}");
    assert_eq!(with[..without.len()], without);
}

#[test]
fn restoring_bites_who_has_the_lease_or_remembers_it() {
    let says = |plan: &[(Anchor, Fault)]| {
        let bites = bites(&run_under(&Fenced, plan));
        bites.iter().map(|bite| format!("{bite:?}")).collect::<Vec<_>>().join(" ")
    };
    let gone = || restore(Original::Gone);
    assert_eq!(says(&[(at(3_000), snapshot()), (at(4_000), gone())]), "Bit Bit");
    assert_eq!(says(&[(at(3_000), snapshot()), (at(40_000), gone())]), "Bit Bit");
    assert_eq!(says(&[(when(Point::LEASE_WANTED, 1), snapshot()), (at(40_000), gone())]), "Missed Missed");
    assert_eq!(says(&[(at(3_000), snapshot())]), "Missed");
    assert_eq!(says(&[(at(4_000), gone())]), "Missed");
}

/// Found by a hunt: the second of two restores struck while the first was still building the memory again.
#[test]
fn who_is_put_back_at_a_point_can_be_put_back_at_the_next() {
    let again = (when(Point::EXPORT_CHECKED, 2), restore(Original::Gone));
    let plan = [(when(Point::EXPORT_BEGUN, 1), snapshot()), (later(100), restore(Original::Gone)), again];
    let history = run_under(&Fenced, &plan);
    assert_eq!((&history.ending, broken(&history)), (&Ending::Finished, vec![]));
    assert_eq!(restorings(&history).len(), 2);
    let killed = (when(Point::EXPORT_CHECKED, 2), crash(1_000));
    let plan = [(when(Point::EXPORT_BEGUN, 1), snapshot()), (later(100), restore(Original::Gone)), killed];
    let history = run_under(&Fenced, &plan);
    assert_eq!((&history.ending, broken(&history)), (&Ending::Finished, vec![]));
}

/// When each event of A that `tells` is recorded, in milliseconds.
fn times(history: &History, node: NodeId, tells: impl Fn(&What) -> bool) -> Vec<i64> {
    let told = history.events.iter().filter(|event| event.node == node && tells(&event.what));
    told.map(|event| (event.at - TrueTime::START).as_nanos() / 1_000_000).collect()
}

#[test]
fn a_task_that_stands_still_goes_no_further_by_being_put_back() {
    let mut seen = 0;
    let still = Pause { task: Some(WorkerTask::Work), ..Pause::of(A, Span::secs(5), PauseClocks::Running) };
    for (point, _) in POINTS.iter().filter(|(point, _)| !point.0.starts_with("renew.")) {
        for original in Original::ALL {
            let plan = [
                (when(*point, 1), snapshot()),
                (later(1_000), still.clone().into()),
                (later(2_000), restore(original)),
            ];
            let history = run_under(&Fenced, &plan);
            let Some(&(id, _)) = restorings(&history).first() else { continue };
            // A copy is another machine, which doesn't stand still.
            let goes_on = if original == Original::Gone { Span::secs(4) } else { Span::ZERO };
            let node = history.event(id).node;
            let of_work = |event: &&holdover::sim::history::Event| match event.what {
                What::PointPassed(point) => event.node == node && !point.0.starts_with("renew."),
                What::MessageSent { about, .. } => event.node == node && about != "lease.renew",
                _ => false,
            };
            // At the last point there is nothing left to do.
            let Some(first) = history.events[id.index()..].iter().find(of_work) else { continue };
            seen += 1;
            assert!(first.at >= history.event(id).at + goes_on, "{point:?} {original:?} {:?}", first.at);
        }
    }
    assert!(seen > 15, "only {seen}");
}

#[test]
fn what_had_a_worker_down_or_told_it_to_stop_does_not_count_once_it_is_put_back() {
    let gone = || restore(Original::Gone);
    let plan =
        [(at(3_000), snapshot()), (at(3_500), crash(4_000)), (at(4_000), gone()), (at(5_000), crash(20_000))];
    let history = run_under(&Fenced, &plan);
    assert_eq!(times(&history, A, |what| *what == What::WorkerStarted), [0, 25_000]);
    let stop = |millis| Fault::from(Shutdown { node: A, lasting: Span::millis(millis) });
    let plan = [(at(3_000), snapshot()), (at(3_200), stop(1_000)), (at(3_400), gone()), (at(3_600), stop(2_000))];
    let history = run_under(&Fenced, &plan);
    assert_eq!(times(&history, A, |what| *what == What::WorkerDied), [3_400, 5_600]);
}

#[test]
fn who_had_been_told_to_stop_has_the_time_that_was_left() {
    let stop = || Fault::from(Shutdown { node: A, lasting: Span::millis(1_000) });
    for original in Original::ALL {
        let plan = [(at(3_000), stop()), (at(3_600), snapshot()), (at(20_000), restore(original))];
        let history = run_under(&Fenced, &plan);
        let node = if original == Original::Gone { A } else { COPY };
        let died = times(&history, node, |what| *what == What::WorkerDied);
        assert_eq!(died.last(), Some(&20_400), "{original:?}");
        assert_eq!(history.ending, Ending::Finished, "{original:?}");
    }
}

#[test]
fn a_copy_of_a_machine_on_which_nothing_runs_does_nothing() {
    let plan = [(at(3_000), crash(5_000)), (at(3_500), snapshot()), (at(4_000), restore(Original::Alive))];
    let history = run_under(&Fenced, &plan);
    assert!(!history.events.iter().any(|event| event.node == COPY));
    assert_eq!(broken(&history), [""; 0]);
}

#[test]
fn telling_it_all_again_is_among_the_steps_that_bound_a_run() {
    let scenario = Scenario::parse("restoring.rs", WORLD).expect("a scenario");
    let planned = |(when, inject): (Anchor, Fault)| PlannedFault { when, inject, note: None, name: None };
    let restores = (0..2_000).map(|n| planned((at(4_500 + n), restore(Original::Gone))));
    let plan: Vec<_> = std::iter::once(planned((at(4_000), snapshot()))).chain(restores).collect();
    let mut world = scenario.world;
    world.limits.steps = 20_000;
    let history = run(&world, &Fenced, &plan, Seed(3));
    assert_eq!(history.ending, Ending::StepsUsedUp);
}

#[test]
fn a_copy_breaks_even_a_fence_and_going_back_does_not() {
    let breaks = |original| {
        broken(&run_under(
            &Fenced,
            &[(when(Point::WRITE_CHECKED, 4), snapshot()), (later(700), restore(original))],
        ))
    };
    assert_eq!(breaks(Original::Alive), ["single-writer"]);
    assert_eq!(breaks(Original::Gone), [""; 0]);
}
