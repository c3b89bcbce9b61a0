//! Letters between replicas: what a freeze keeps in the network card of their writer, and that none overtakes another for it.

use std::collections::BTreeMap;

use holdover::scenario::Scenario;
use holdover::sim::history::{History, What};
use holdover::sim::id::{MessageId, NodeId};
use holdover::sim::protocol::FencedConsensus;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::LEASE_STORE;

/// The first replica leads, and asks the others at every full second whether they live.
fn history_of(latency: &str, faults: &[(i64, &str, i64)], seed: u64) -> History {
    let faults = faults.iter().map(|(at, clocks, lasting)| {
        format!(
            "[[fault]]\nwhen = {{ at = \"+{at}ms\" }}\n\
             inject = {{ pause = {{ node = \"lease-1\", for = \"{lasting}ms\", clocks = \"{clocks}\" }} }}\n"
        )
    });
    let text = format!(
        r#"
        title = "Letters"
        start = 2026-01-15T01:59:30Z
        end = "+40s"
        lease = {{ ttl = "40s", renew_every = "10s", service = "consensus" }}
        job = {{ operations = 2, due = "+30s" }}
        network = {{ internal = "{latency}" }}
        worker = [{{ name = "worker-a" }}, {{ name = "worker-b", starts = "+5s" }}]
        {}"#,
        faults.collect::<String>()
    );
    let scenario = Scenario::parse("letters.toml", &text).unwrap_or_else(|error| panic!("{error:?}"));
    run(&scenario.world, &FencedConsensus, &scenario.plan, Seed(seed))
}

/// The letters that arrived: when each was sent, how long it took, and over which connection, in the order of arrival.
fn letters(history: &History) -> Vec<((NodeId, NodeId), TrueTime, Span)> {
    let mut sent: BTreeMap<MessageId, (NodeId, TrueTime)> = BTreeMap::new();
    let mut letters = Vec::new();
    for event in &history.events {
        match event.what {
            What::MessageSent { message, about: "lease.heartbeat" | "lease.agree", .. } => {
                sent.insert(message, (event.node, event.at));
            }
            What::MessageDelivered { message, .. } => {
                if let Some((from, at)) = sent.remove(&message) {
                    letters.push(((from, event.node), at, event.at - at));
                }
            }
            _ => {}
        }
    }
    letters
}

/// How many milliseconds the leader's letters of the third second take. Each takes 100 by itself, and has left after 10.
#[track_caller]
fn check(faults: &[(i64, &str, i64)], expected: [i64; 2]) {
    let all = letters(&history_of("100ms", faults, 0));
    let third = TrueTime::START + Span::secs(3);
    let took = all.iter().filter(|((from, _), at, _)| (*from, *at) == (LEASE_STORE, third));
    assert_eq!(took.map(|(.., took)| took.as_nanos() / 1_000_000).collect::<Vec<_>>(), expected);
}

#[test]
fn a_letter_that_has_not_left_when_its_writer_freezes_is_late() {
    check(&[], [100, 100]);
    for clocks in ["frozen", "suspended", "counted"] {
        check(&[(3_005, clocks, 300)], [395, 395]);
        check(&[(3_010, clocks, 300)], [100, 100]);
        // It leaves before the next freeze, or doesn't.
        check(&[(3_005, clocks, 50), (3_060, clocks, 500)], [145, 145]);
    }
    // The kernel of a process that stalls has it.
    check(&[(3_005, "running", 300)], [100, 100]);
}

#[test]
fn none_overtakes_another_on_its_connection() {
    let freezes: Vec<_> = (0..30).map(|n| (1_003 + 1_050 * n, "frozen", 70 + 13 * n)).collect();
    let mut late = 0;
    for seed in 0..40 {
        let mut newest: BTreeMap<(NodeId, NodeId), TrueTime> = BTreeMap::new();
        for (connection, sent, took) in letters(&history_of("1ms..300ms", &freezes, seed)) {
            let before = newest.insert(connection, sent);
            assert!(before.is_none_or(|before| before <= sent), "seed {seed}, {connection:?}: sent at {sent:?}");
            late += usize::from(connection.0 == LEASE_STORE && took > Span::millis(300));
        }
    }
    assert!(late > 80, "only {late} were late");
}
