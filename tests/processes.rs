//! Workers that are killed, begin anew, or are told to stop: what becomes of them, of what they had sent, and of the run.

use holdover::scenario::Scenario;
use holdover::sim::check::{CHECKERS, judge_one};
use holdover::sim::fault::{Anchor, Crash, Fault, Pause, PauseClocks, PlannedFault, Shutdown};
use holdover::sim::history::{History, What};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::sim::point::{POINTS, Point};
use holdover::sim::protocol::{Fenced, PROTOCOLS};
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

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
starts = "+1s"
"#;

const A: NodeId = NodeId(3);
const B: NodeId = NodeId(4);

fn at(millis: i64) -> Anchor {
    Anchor::At(TrueTime::START + Span::millis(millis))
}

fn when(node: NodeId, point: Point) -> Anchor {
    Anchor::Point {
        point: point.0.to_owned(),
        node: Some(node),
        after: TrueTime::START,
        nth: 1,
        delay: Span::ZERO,
    }
}

fn crash(node: NodeId, millis: i64) -> Fault {
    Crash { node, lasting: Some(Span::millis(millis)) }.into()
}

fn kill(node: NodeId) -> Fault {
    Crash { node, lasting: None }.into()
}

fn shutdown(node: NodeId, millis: i64) -> Fault {
    Shutdown { node, lasting: Span::millis(millis) }.into()
}

fn pause(node: NodeId, millis: i64) -> Fault {
    Pause::of(node, Span::millis(millis), PauseClocks::Suspended).into()
}

fn run_fenced(plan: &[(Anchor, Fault)]) -> History {
    let scenario = Scenario::parse("processes.rs", WORLD).expect("a scenario");
    let planned = |(when, inject): &(Anchor, Fault)| PlannedFault {
        when: when.clone(),
        inject: inject.clone(),
        note: None,
        name: None,
    };
    let plan: Vec<_> = plan.iter().map(planned).collect();
    run(&scenario.world, &Fenced, &plan, Seed(3))
}

/// The life of `node`: `s`tarted, `d`ied, `f`inished.
fn life(history: &History, node: NodeId) -> String {
    let of_node = history.events.iter().filter(|event| event.node == node);
    of_node
        .filter_map(|event| match event.what {
            What::WorkerStarted => Some('s'),
            What::WorkerDied => Some('d'),
            What::WorkerFinished => Some('f'),
            _ => None,
        })
        .collect()
}

/// The lives of A and of B, how the run ends, and what becomes of progress.
#[track_caller]
fn check(plan: &[(Anchor, Fault)], lives: [&str; 2], ending: Ending, progress: &str) -> History {
    let history = run_fenced(plan);
    assert_eq!([life(&history, A), life(&history, B)], lives);
    assert_eq!(history.ending, ending);
    let checker = CHECKERS.iter().find(|checker| checker.name == "progress").expect("a rule of the registry");
    assert_eq!(judge_one(checker, &history).name(), progress);
    history
}

#[test]
fn a_worker_that_was_killed_begins_anew() {
    check(&[], ["sf", "sf"], Ending::Finished, "holds");
    check(&[(at(2_300), crash(A, 500))], ["sdsf", "sf"], Ending::Finished, "holds");
    check(&[(when(A, Point::WRITE_DONE), crash(A, 500))], ["sdsf", "sf"], Ending::Finished, "holds");
    // By whoever's doing.
    check(&[(when(B, Point::LEASE_WANTED), crash(A, 500))], ["sdsf", "sf"], Ending::Finished, "holds");
    // Twice, one in the other.
    let twice = [(at(2_300), crash(A, 500)), (when(B, Point::LEASE_WANTED), crash(A, 3_000))];
    check(&twice, ["sdsf", "sf"], Ending::Finished, "holds");
}

#[test]
fn a_worker_that_is_gone_for_good_is_not_waited_for() {
    check(&[(at(2_300), kill(A))], ["sd", "sf"], Ending::Finished, "holds");
    check(&[(at(2_300), kill(A)), (at(2_400), kill(B))], ["sd", "sd"], Ending::Finished, "violated");
    // One that dies while it is down for a while doesn't come back.
    let both = [(at(2_300), crash(A, 500)), (at(2_500), kill(A))];
    check(&both, ["sd", "sf"], Ending::Finished, "holds");
    // One that has nothing more to do can't die.
    check(&[(when(B, Point::TAKEOVER_DONE), kill(A))], ["sf", "sf"], Ending::Finished, "holds");
}

#[test]
fn a_worker_that_is_down_when_it_should_begin_is_late() {
    check(&[(at(500), crash(B, 1_000))], ["sf", "sf"], Ending::Finished, "holds");
    let history = run_fenced(&[(at(500), crash(B, 1_000))]);
    let begun = history.events.iter().find(|event| event.node == B && event.what == What::WorkerStarted);
    assert_eq!(begun.map(|event| event.at), Some(TrueTime::START + Span::millis(1_500)));
    check(&[(at(500), kill(B))], ["sf", ""], Ending::Finished, "holds");
    check(&[(at(500), crash(B, 100))], ["sf", "sf"], Ending::Finished, "holds");
}

#[test]
fn what_the_dead_had_sent_still_happens() {
    // Killed with a write under way, each at a latency of its own: some write is sent and nobody left to hear of it.
    for millis in 2_000..2_100 {
        let history = run_fenced(&[(at(millis), kill(A)), (at(millis), kill(B))]);
        let sent =
            |event: &&holdover::sim::history::Event| matches!(event.what, What::MessageSent { answer: false, .. });
        let delivered = history.events.iter().filter(|event| {
            matches!(event.what, What::MessageDelivered { .. }) && event.node != A && event.node != B
        });
        assert_eq!(history.events.iter().filter(sent).count(), delivered.count(), "{millis}");
        // And nobody takes in what comes back.
        let died = history.events.iter().position(|event| event.what == What::WorkerDied).expect("both died");
        let heard = history.events[died..].iter().filter(|event| {
            matches!(event.what, What::MessageDelivered { .. }) && (event.node == A || event.node == B)
        });
        assert_eq!(heard.count(), 0, "{millis}");
        assert_eq!(history.ending, Ending::Finished);
    }
}

#[test]
fn a_process_that_begins_on_a_paused_machine_waits() {
    let plan = [(at(2_300), pause(A, 2_000)), (at(2_500), crash(A, 500))];
    let history = check(&plan, ["sdsf", "sf"], Ending::Finished, "holds");
    let works = history.events.iter().find(|event| {
        event.node == A
            && event.at > TrueTime::START + Span::millis(2_500)
            && matches!(event.what, What::PointPassed(_))
    });
    assert_eq!(works.map(|event| event.at), Some(TrueTime::START + Span::millis(4_300)));
}

#[test]
fn a_worker_that_is_told_to_stop_gives_its_lease_back_and_does_not_return() {
    let history = check(&[(at(2_300), shutdown(A, 300))], ["sd", "sf"], Ending::Finished, "holds");
    let released =
        history.events.iter().position(|event| matches!(event.what, What::LeaseReleased { worker: A, .. }));
    let died = history.events.iter().position(|event| event.what == What::WorkerDied);
    assert!(released < died && released.is_some());
    // One without the lease asks for it no more.
    let history = check(&[(at(1_500), shutdown(B, 30_000))], ["sf", "sd"], Ending::Finished, "holds");
    assert!(!history.events.iter().any(|event| matches!(event.what, What::LeaseGranted { worker: B, .. })));
    // One that gets done in time is done.
    check(&[(at(2_300), shutdown(A, 20_000))], ["sf", "sf"], Ending::Finished, "holds");
    check(&[(when(A, Point::EXPORT_DONE), shutdown(A, 20_000))], ["sf", "sf"], Ending::Finished, "holds");
    // One that is killed meanwhile doesn't come back, and one that hasn't begun doesn't begin.
    let both = [(at(2_300), shutdown(A, 2_000)), (at(2_400), crash(A, 500))];
    check(&both, ["sd", "sf"], Ending::Finished, "holds");
    check(&[(at(500), shutdown(B, 1_000))], ["sf", ""], Ending::Finished, "holds");
}

#[test]
fn death_at_any_point_ends_well() {
    let scenario = Scenario::parse("processes.rs", WORLD).expect("a scenario");
    for (point, _) in POINTS {
        for inject in [crash(A, 1), crash(A, 15_000), kill(A), shutdown(A, 1), shutdown(A, 15_000)] {
            for protocol in PROTOCOLS {
                let plan =
                    [PlannedFault { when: when(A, *point), inject: inject.clone(), note: None, name: None }];
                let history = run(&scenario.world, *protocol, &plan, Seed(1));
                assert_eq!(history.ending, Ending::Finished, "{point} {inject:?} {}", protocol.name());
            }
        }
    }
}

/// A worker that is told to stop while its job is at its end gives its lease back twice, by what each of its tasks knows of
/// it; whichever is done first ends the process.
#[test]
fn nothing_happens_in_a_process_that_is_over() {
    let world = WORLD.replace("[job]", "service = \"async-replica\"\n\n[job]");
    let scenario = Scenario::parse("processes.rs", &world).expect("a scenario");
    let mut given_back_twice = 0;
    for micros in (0..10_000).step_by(100) {
        let mut when = when(A, Point::EXPORT_CHECKED);
        if let Anchor::Point { delay, .. } = &mut when {
            *delay = Span::micros(micros);
        }
        let plan = [PlannedFault { when, inject: shutdown(A, 20_000), note: None, name: None }];
        let history = run(&scenario.world, &Fenced, &plan, Seed(3));
        let finished =
            history.events.iter().position(|event| event.node == A && event.what == What::WorkerFinished);
        let finished = finished.expect("it has the time to");
        let releases = history.events.iter().filter(|event| {
            event.node == A && matches!(event.what, What::MessageSent { about: "lease.release", .. })
        });
        given_back_twice += u32::from(releases.count() > 1);
        for event in history.events[finished + 1..].iter().filter(|event| event.node == A) {
            // Its machine takes in what is sent to it all the same.
            let is_outside = matches!(
                event.what,
                What::FaultBegan { .. } | What::FaultEnded { .. } | What::MessageDelivered { .. }
            );
            assert!(is_outside, "{micros} us: {event:?}");
        }
    }
    assert!(given_back_twice > 0);
}
