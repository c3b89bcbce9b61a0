//! Leases end at the very instant that was promised: whoever asks a nanosecond earlier is refused, and whoever asks then gets
//! the lease. And whoever has one takes it for over at that instant of its own clock.

use holdover::replay::Replay;
use holdover::scenario::Scenario;
use holdover::sim::clock::Clock;
use holdover::sim::history::{History, What};
use holdover::sim::id::NodeId;
use holdover::sim::time::{Span, TrueTime};

const AROUND: [i64; 5] = [-1_000_000, -1, 0, 1, 1_000_000];

/// The row's services, each of which goes by another clock.
const ROWS: [&str; 3] = ["expiry = \"asker\"", "expiry = \"store\"", "expiry = \"transaction-start\""];

/// Replicas that agree, with each way in which a lease of theirs runs out.
const REPLICAS: [&str; 3] = [
    "service = \"consensus\"\nexpiry = \"leader-timers\"",
    "service = \"consensus\"\nexpiry = \"replicated-deadlines\"",
    "service = \"consensus\"\nexpiry = \"leader-timers\"\nconfirms_renewals = false",
];

const LOCK_DELAY: &str = "service = \"consensus\"\nexpiry = \"lock-delay\"\nlock_delay = \"15s\"";

/// A lease of 40 s, renewed after 20, for two workers. Messages take 2 ms, so nothing but instants decides.
fn history(protocol: &str, lease: &str, due: &str, starts: Span, stall: Option<(&str, Span)>) -> History {
    history_of(protocol, lease, due, starts, stall, "")
}

/// The same with another fault.
fn history_of(
    protocol: &str,
    lease: &str,
    due: &str,
    starts: Span,
    stall: Option<(&str, Span)>,
    fault: &str,
) -> History {
    let stall = stall.map(|(at, lasting)| {
        format!(
            "[[fault]]\nwhen = {{ at = \"{at}\" }}\n\
             inject = {{ pause = {{ node = \"worker-a\", for = \"{lasting}\" }} }}\n"
        )
    });
    let text = format!(
        "title = \"The very instant\"\nstart = 2026-01-15T02:00:00Z\nend = \"+200s\"\nprotocols = [\"{protocol}\"]\n\
         [lease]\nttl = \"40s\"\nrenew_every = \"20s\"\npoll_every = \"10s\"\n{lease}\n\
         [job]\noperations = 1\ndue = \"{due}\"\n[network]\ninternal = \"2ms\"\n\
         [[worker]]\nname = \"worker-a\"\n[[worker]]\nname = \"worker-b\"\nstarts = \"+{starts}\"\n{}{fault}",
        stall.unwrap_or_default(),
    );
    let scenario = Scenario::parse("instant", &text).expect("a scenario");
    let mut runs = Replay::of(&scenario).runs;
    runs.remove(0).history
}

fn worker(history: &History, name: &str) -> NodeId {
    let place = history.nodes.iter().position(|node| node.name == name).expect("it is there");
    NodeId(place as u16)
}

/// Which instant of a request counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instant {
    Sent,
    Came,
}

/// When worker-b first asked for the lease, and whether it was granted.
fn asked(history: &History, instant: Instant) -> (TrueTime, bool) {
    let b = worker(history, "worker-b");
    let is_sent =
        |what: &What| matches!(what, What::MessageSent { about, answer: false, .. } if *about == "lease.acquire");
    let sent = history.events.iter().find(|event| event.node == b && is_sent(&event.what));
    let sent = sent.expect("worker-b asks for the lease");
    let What::MessageSent { message: request, .. } = sent.what else { unreachable!("it was looked for") };
    let is_request = |what: &What| matches!(what, What::MessageDelivered { message, .. } if *message == request);
    let came = history.events.iter().position(|event| is_request(&event.what)).expect("it came");
    let granted = history.events[came..].iter().find_map(|event| match event.what {
        What::LeaseGranted { worker, .. } if worker == b => Some(true),
        What::LeaseRefused { worker, .. } if worker == b => Some(false),
        _ => None,
    });
    let at = if instant == Instant::Sent { sent.at } else { history.events[came].at };
    (at, granted.expect("it was told one or the other"))
}

/// Has worker-b ask for the first time so many nanoseconds from the end that a run shows, and compares whether it gets
/// the lease with what is expected.
#[track_caller]
fn check(
    about: &str,
    instant: Instant,
    run: impl Fn(Span) -> History,
    end: impl Fn(&History) -> TrueTime,
    nanos: i64,
    expected: bool,
) {
    let nanos = Span::nanos(nanos);
    let mut starts = Span::secs(30);
    // Twice, because a lease may end later if nobody asks for it before.
    for _ in 0..2 {
        let history = run(starts);
        starts = starts + ((end(&history) + nanos) - asked(&history, instant).0);
    }
    let history = run(starts);
    let (at, granted) = asked(&history, instant);
    assert_eq!(at, end(&history) + nanos, "{about}: it asks at the instant that is meant");
    assert_eq!(granted, expected, "{about}, {nanos} from the end");
}

/// The end that worker-a was promised last, by clocks that are all right.
fn promised(history: &History) -> TrueTime {
    let a = worker(history, "worker-a");
    let until = history.events.iter().rev().find_map(|event| match event.what {
        What::LeaseGranted { worker, until, .. } | What::LeaseRenewed { worker, until, .. } if worker == a => {
            Some(until)
        }
        _ => None,
    });
    TrueTime::START + (until.expect("it has the lease") - history.start)
}

/// When the event that `is_meant` tells happened.
fn event(history: &History, is_meant: fn(&What) -> bool) -> TrueTime {
    history.events.iter().find(|event| is_meant(&event.what)).expect("it happened").at
}

fn protocol_of(lease: &str) -> &'static str {
    if lease.contains("consensus") { "fenced-consensus" } else { "fenced" }
}

/// Of a lease that was granted, and of one that was renewed once as well.
#[test]
fn a_lease_that_runs_out_ends_at_the_very_instant() {
    for lease in ROWS.into_iter().chain(REPLICAS) {
        // An asker's clock is read as it asks.
        let instant = if lease == ROWS[0] { Instant::Sent } else { Instant::Came };
        for (stalls, lasts) in [("+1s", 40), ("+21s", 60)] {
            let run =
                |starts| history(protocol_of(lease), lease, "+120s", starts, Some((stalls, Span::secs(190))));
            let length = (promised(&run(Span::secs(100))) - TrueTime::START).as_nanos();
            assert_eq!(length / 1_000_000_000, lasts, "{lease}");
            for nanos in AROUND {
                check(&format!("{lease} that stalls at {stalls}"), instant, run, promised, nanos, nanos >= 0);
            }
        }
    }
}

#[test]
fn a_lock_delay_ends_at_the_very_instant() {
    let run = |starts| history("fenced-consensus", LOCK_DELAY, "+120s", starts, Some(("+1s", Span::secs(190))));
    let end =
        |history: &History| event(history, |what| matches!(what, What::LeaseRevoked { .. })) + Span::secs(15);
    for nanos in AROUND {
        check("a lock delay", Instant::Came, run, end, nanos, nanos >= 0);
    }
}

/// A leader's timers are in its memory, so the next one has the lease last for all of its time from when its reign is in
/// order: two messages after it was elected.
#[test]
fn a_lease_under_a_new_leader_ends_at_the_very_instant() {
    let stall =
        "[[fault]]\nwhen = { at = \"+5s\" }\ninject = { pause = { node = \"lease-1\", for = \"190s\" } }\n";
    let run = |starts| {
        history_of("fenced-consensus", REPLICAS[0], "+120s", starts, Some(("+1s", Span::secs(190))), stall)
    };
    let end = |history: &History| {
        event(history, |what| matches!(what, What::LeaderElected)) + Span::millis(4) + Span::secs(40)
    };
    for nanos in AROUND {
        check("under a new leader", Instant::Came, run, end, nanos, nanos >= 0);
    }
}

/// Nothing is left of a lease that was given back, neither a rest of its time nor a delay.
#[test]
fn a_lease_that_is_given_back_ends_then() {
    for lease in ROWS.into_iter().chain(REPLICAS).chain([LOCK_DELAY]) {
        let run = |starts| history(protocol_of(lease), lease, "+5s", starts, None);
        let end = |history: &History| event(history, |what| matches!(what, What::LeaseReleased { .. }));
        for nanos in [1, 1_000_000] {
            check(&format!("{lease} that is given back"), Instant::Came, run, end, nanos, true);
        }
        // A replicated request gets its place in the order a while after it came, and such a transaction waits.
        if !lease.contains("consensus") && !lease.contains("transaction-start") {
            check(&format!("{lease} that is given back"), Instant::Came, run, end, -1, false);
        }
    }
}

/// Whoever stalls and wakes up so many nanoseconds from the end of its lease takes it for over from that end on.
#[test]
fn its_holder_takes_it_for_over_at_the_very_instant() {
    for (protocol, lease, clock) in [
        ("fenced", ROWS[0], Clock::Wall),
        ("monotonic", ROWS[1], Clock::Monotonic),
        ("fenced-consensus", REPLICAS[0], Clock::Monotonic),
    ] {
        let run = |lasting| history(protocol, lease, "+10s", Span::secs(190), Some(("+9s", lasting)));
        let looked = |history: &History| {
            let a = worker(history, "worker-a");
            let (place, valid) = history
                .events
                .iter()
                .enumerate()
                .find_map(|(place, event)| match event.what {
                    What::LeaseChecked { valid, .. } if event.node == a => Some((place, valid)),
                    _ => None,
                })
                .expect("it looks");
            let until = history.events[..place].iter().rev().find_map(|event| match event.what {
                What::LeaseHeld { until, .. } if event.node == a => Some(until),
                _ => None,
            });
            let until = until.expect("it has the lease");
            assert_eq!(until.clock, clock, "{protocol}");
            let id = holdover::sim::id::EventId(place as u32);
            (until.reading - history.reading(id, a, clock), valid)
        };
        for nanos in AROUND {
            let first = Span::secs(20);
            let (left, _) = looked(&run(first));
            let (left, valid) = looked(&run(first + Span::nanos(left + nanos)));
            assert_eq!((left, valid), (-nanos, nanos < 0), "{protocol}, {nanos} ns from the end");
        }
    }
}
