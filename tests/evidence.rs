//! The evidence of the incident, line by line, as the histories have it: events, clock lines, beliefs.
//!
//! Each line must be there whatever the latencies are, so it is looked for under many seeds.

use std::path::Path;

use holdover::scenario::Scenario;
use holdover::sim::clock::Clock;
use holdover::sim::history::{Belief, Event, History, Refusal, What, beliefs};
use holdover::sim::id::{EventId, FaultId, NodeId, OpId, Token};
use holdover::sim::protocol;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};

const A: NodeId = NodeId(3);
const B: NodeId = NodeId(4);
const MIGRATION: FaultId = FaultId(0);
const NTP: FaultId = FaultId(1);

/// How many seeds beside the file's own the evidence must be there under.
const SEEDS: u64 = 50;

/// Looks at what `protocol` does in the scenario `name`, with its own seed and with others.
#[track_caller]
fn check(name: &str, protocol: &str, look: impl Fn(&History)) {
    let path = Path::new("scenarios/incidents").join(name).with_extension("toml");
    let scenario = Scenario::load(path).expect("the incident's files are scenarios");
    let protocol = protocol::find(protocol).expect("the protocol is in the registry");
    for seed in [scenario.seed].into_iter().chain((0..SEEDS).map(Seed)) {
        look(&run(&scenario.world, protocol, &scenario.plan, seed));
    }
}

/// 02:00:28.150 is `utc(28_150)`: milliseconds after 02:00, which is 30 s after the start of all these scenarios.
fn utc(millis: i64) -> TrueTime {
    TrueTime::START + Span::secs(30) + Span::millis(millis)
}

/// When and where in the history a fault began and ended.
struct Strike {
    began: EventId,
    from: TrueTime,
    until: TrueTime,
}

fn strike(history: &History, fault: FaultId) -> Strike {
    let place = |what| history.numbered().find(|(_, event)| event.what == what).expect("the fault struck");
    let ((began, first), (_, last)) = (place(What::FaultBegan { fault }), place(What::FaultEnded { fault }));
    Strike { began, from: first.at, until: last.at }
}

/// The accepted entries of `worker`, in order.
fn entries(history: &History, worker: NodeId) -> impl Iterator<Item = (TrueTime, OpId)> {
    history.events.iter().filter_map(move |event| match event.what {
        What::WriteAccepted { claim, op, .. } if claim.worker == worker => Some((event.at, op)),
        _ => None,
    })
}

/// When the lease store granted the lease to `worker`.
fn grants(history: &History, worker: NodeId) -> Vec<TrueTime> {
    let granted = |what: &What| matches!(*what, What::LeaseGranted { worker: to, .. } if to == worker);
    history.events.iter().filter(|event| granted(&event.what)).map(|event| event.at).collect()
}

fn believes(all: &[Belief], worker: NodeId, at: TrueTime) -> bool {
    all.iter().any(|belief| belief.worker == worker && belief.from <= at && at < belief.until)
}

#[test]
fn worker_a_is_valid_through_02_00_28_000_and_paused_for_38_s() {
    check("clock-jump", "naive", |history| {
        let pause = strike(history, MIGRATION);
        let row = history.events[..pause.began.index()].iter().rev().find_map(|event| match event.what {
            What::LeaseRenewed { worker: A, until, .. } => Some(until),
            _ => None,
        });
        assert_eq!(row, Some(history.utc(utc(28_000))));
        assert_eq!((pause.from, pause.until), (utc(-9_900), utc(28_100)));
        assert_eq!(pause.until - pause.from, Span::secs(38));
        // It was in the middle of an operation: the lease checked, the entry not yet sent.
        let last = history.events[..pause.began.index()].iter().rfind(|event| event.node == A);
        assert!(
            matches!(last.map(|event| event.what), Some(What::PointPassed(point)) if point.0 == "write.checked")
        );
        assert!(!history.events.iter().any(|event| event.node == A
            && pause.from < event.at
            && event.at < pause.until
            && matches!(event.what, What::PointPassed(_) | What::MessageSent { .. })));
    });
}

#[test]
fn worker_b_is_granted_the_lease_after_that_expiry_while_worker_a_is_paused() {
    check("clock-jump", "naive", |history| {
        let pause = strike(history, MIGRATION);
        let [granted] = grants(history, B)[..] else { panic!("B is granted the lease once") };
        assert!(utc(28_000) < granted && granted < pause.until);
        // About 02:00:28.05: its first poll after the expiry.
        assert!(granted - utc(28_050) <= Span::millis(3));
    });
}

#[test]
fn worker_a_writes_with_its_old_lease_after_it_resumes_and_the_naive_ledger_accepts() {
    check("clock-jump", "naive", |history| {
        let resumed = strike(history, MIGRATION).until;
        let [granted] = grants(history, A)[..] else { panic!("A is granted the lease once") };
        assert!(granted < utc(0));
        let stale: Vec<_> =
            entries(history, A).filter(|(at, _)| *at >= resumed).map(|(_, op)| op.number()).collect();
        assert_eq!(stale, [11, 12, 13, 14]);
        // The first of them is not the first of its generation: B was there before.
        let (first_of_b, _) = entries(history, B).next().expect("B writes");
        let (first_stale, _) = entries(history, A).find(|(at, _)| *at >= resumed).expect("just seen");
        assert!(first_of_b < first_stale);
    });
}

#[test]
fn worker_a_s_wall_clock_steps_by_minus_420_ms_and_both_workers_report_valid_ownership_at_one_true_instant() {
    check("clock-jump", "naive", |history| {
        let step = strike(history, NTP).from;
        assert_eq!(step, utc(28_150));
        let clocks = &history.node(A).clocks;
        assert_eq!(clocks.wall(step - Span::nanos(1)), history.utc(utc(28_150)) - Span::nanos(1));
        assert_eq!(clocks.wall(step), history.utc(utc(27_730)));
        assert_eq!(history.node(B).clocks.wall(step), history.utc(step));

        let all = beliefs(history);
        assert!(!believes(&all, A, step - Span::nanos(1)) && believes(&all, B, step - Span::nanos(1)));
        assert!(believes(&all, A, step) && believes(&all, B, step));

        // Not only by its clock: it looked, and said so, at an instant at which B thought the same.
        let said = |worker| {
            move |event: &&Event| {
                event.node == worker
                    && event.at > step
                    && matches!(event.what, What::LeaseChecked { valid: true, .. })
            }
        };
        let report =
            history.events.iter().find(said(A)).expect("A looks after the step, and reports valid ownership");
        assert!(believes(&all, A, report.at) && believes(&all, B, report.at));
        let other =
            history.events.iter().find(said(B)).expect("B looks after the step, and reports valid ownership");
        assert!(clocks.wall(other.at) < history.utc(utc(28_000)), "A's wall clock is before the end of its lease");
    });
}

#[test]
fn both_workers_export_and_the_exports_conflict() {
    check("clock-jump", "naive", |history| {
        let exports: Vec<_> = history
            .events
            .iter()
            .filter_map(|event| match event.what {
                What::ExportPublished { claim, export } => Some((claim.worker, &history.exports[export.index()])),
                _ => None,
            })
            .collect();
        let [(one, of_one), (other, of_other)] = exports[..] else { panic!("two exports") };
        assert_eq!([one.min(other), one.max(other)], [A, B]);
        let differ = of_one.iter().zip(of_other).filter(|(one, other)| one != other);
        assert_eq!(differ.map(|(row, _)| row.op.number()).collect::<Vec<_>>(), [11, 12, 13, 14]);
        assert_eq!((of_one.len(), of_other.len()), (14, 14));
    });
}

#[test]
fn external_calls_are_made_twice() {
    check("clock-jump", "naive", |history| {
        let mut payers = vec![Vec::new(); history.batch.len()];
        for event in &history.events {
            if let What::PayoutMade { claim, op, .. } = event.what {
                payers[op.index()].push(claim.worker);
            }
        }
        for (index, mut payers) in payers.into_iter().enumerate() {
            payers.sort_unstable();
            assert_eq!(payers, if index < 10 { vec![A] } else { vec![A, B] }, "operation {}", index + 1);
        }
    });
}

#[test]
fn losing_the_renewal_does_not_stop_naive_workers() {
    // A's renewal falls due in the pause, is sent when it ends, and is refused; A goes on all the same.
    check("clock-jump", "naive", |history| {
        let refused =
            history.events.iter().find(|event| matches!(event.what, What::RenewalRefused { worker: A, .. }));
        let refused = refused.expect("A's late renewal is refused").at;
        assert!(entries(history, A).any(|(at, _)| at > refused));
    });
}

#[test]
fn the_fenced_ledger_rejects_the_stale_write_by_its_token() {
    for scenario in ["clock-jump", "clock-jump-only-pause", "frozen-guest-clock"] {
        check(scenario, "fenced", |history| {
            let resumed = strike(history, MIGRATION).until;
            let rejected: Vec<_> = history
                .events
                .iter()
                .filter_map(|event| match event.what {
                    What::WriteRejected { claim, op, why } => Some((event.at, claim, op.number(), why)),
                    _ => None,
                })
                .collect();
            let [(at, claim, 11, why)] = rejected[..] else { panic!("one write is rejected: {rejected:?}") };
            assert!(resumed < at);
            assert_eq!((claim.worker, claim.token), (A, Some(Token(1))));
            assert_eq!(why, Refusal::TokenTooLow { highest: Token(2) });
            assert!(entries(history, A).all(|(at, _)| at < resumed));
        });
    }
}

#[test]
fn worker_a_s_monotonic_clock_too_calls_the_lease_valid_after_the_resume() {
    check("frozen-guest-clock", "naive", |history| {
        let pause = strike(history, MIGRATION);
        assert_eq!(pause.until - pause.from, Span::secs(38));
        let held = history.events[..pause.began.index()]
            .iter()
            .rfind(|event| event.node == A && matches!(event.what, What::LeaseHeld { .. }))
            .expect("A renewed before the pause");
        let (asked, granted) = (held.at - Span::millis(6), grants(history, B)[0]);
        let clocks = &history.node(A).clocks;
        let ttl = Span::secs(40);
        for clock in [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime] {
            // Counted from before A asked for the renewal, so that no bookkeeping could do worse than this.
            let left = ttl.as_nanos() - (clocks.read(clock, pause.until) - clocks.read(clock, asked));
            assert!(left > Span::secs(30).as_nanos(), "{clock:?} has {} left", Span::nanos(left));
        }
        // And the lease had ended all the same: another one was granted before A woke up.
        assert!(granted < pause.until);
        assert!(entries(history, A).any(|(at, _)| at > pause.until));
        assert_eq!(history.node(A).clocks.wall_error(history.start, pause.until), Span::secs(-38));
    });
}

/// What a row says of a worker that finds its lease to hold fits what is said of who thinks so, under the traps too.
#[test]
fn whoever_finds_its_lease_to_hold_thinks_so_then() {
    let mut past_the_end = 0;
    for folder in ["incidents", "faults", "clocks", "monotonic", "traps", "regressions"] {
        for file in std::fs::read_dir(Path::new("scenarios").join(folder)).expect("the repository has this folder")
        {
            let scenario = Scenario::load(file.expect("a folder can be read").path()).expect("it is a scenario");
            for protocol in &scenario.protocols {
                let protocol = protocol::find(protocol).expect("the protocol is in the registry");
                let history = run(&scenario.world, protocol, &scenario.plan, scenario.seed);
                let all = beliefs(&history);
                for event in &history.events {
                    let What::LeaseChecked { epoch, valid: true } = event.what else { continue };
                    let (node, at) = (event.node, event.at);
                    // What befalls it at the same instant can end it.
                    let fits = |one: &&Belief| {
                        one.worker == node && one.epoch == epoch && one.from <= at && at <= one.until
                    };
                    assert!(all.iter().any(|one| fits(&one)), "{} under {}", scenario.title, protocol.name());
                    past_the_end += usize::from(protocol.name() == "check-once");
                }
            }
        }
    }
    assert!(past_the_end > 500, "{past_the_end}");
}
