//! A service of which there are two: which half serves which call, and what becomes of calls under way when the split
//! begins and when it ends, and of the halves when something else befalls the service meanwhile.
//!
//! All latencies are fixed, so that a fault can be put between two given messages: the first entry is sent at
//! 01:59:49.104, reaches the ledger at .106, and its answer arrives at .108.

use holdover::scenario::Scenario;
use holdover::sim::check::broken_assumptions;
use holdover::sim::fault::{Anchor, Fault, PlannedFault, SplitBrain};
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::{NodeId, OpId};
use holdover::sim::protocol::{AnyProtocol, Fenced, Monotonic, Naive, PROTOCOLS};
use holdover::sim::run::run;
use holdover::sim::time::{Span, TimeOfDay, TrueTime};
use holdover::sim::world::{LEASE_STORE, LEDGER, PROVIDER, worker_node};

const A: NodeId = worker_node(0);
const B: NodeId = worker_node(1);

const WORLD: &str = r#"
title = "Two halves"
start = 2026-01-15T01:59:30Z
end = "+3m"
[lease]
ttl = "40s"
renew_every = "10s"
[job]
operations = 2
due = "01:59:49.100"
[network]
internal = "2ms"
provider = "20ms"
[[worker]]
name = "worker-a"
[[worker]]
name = "worker-b"
starts = "+5s"
"#;

fn history_of(world: &str, faults: &[(&str, &str)], protocol: &dyn AnyProtocol) -> History {
    let faults: String = faults
        .iter()
        .map(|(when, inject)| {
            let (when, name) = when.split_once(" as ").unwrap_or((when, ""));
            let name = if name.is_empty() { String::new() } else { format!("name = \"{name}\"\n") };
            format!("[[fault]]\nwhen = {{ {when} }}\ninject = {{ {inject} }}\n{name}")
        })
        .collect();
    let text = format!("{world}\n{faults}");
    let scenario = Scenario::parse("split.toml", &text).unwrap_or_else(|error| panic!("{error:?}"));
    run(&scenario.world, protocol, &scenario.plan, scenario.seed)
}

/// What `tells` of `history`, each with its time of day, and with `old` behind what the old primary did.
fn told(history: &History, tells: impl Fn(&Event) -> Option<&'static str>) -> Vec<String> {
    let told = history.events.iter().filter_map(|event| {
        let old = if history.by_deposed(event) { " old" } else { "" };
        let time = TimeOfDay(history.utc(event.at)).to_string();
        tells(event).map(|what| format!("{} {what}{old}", &time[3..]))
    });
    told.collect()
}

/// What becomes of worker-a's entry for the first operation, and of the faults.
fn of_entry(event: &Event) -> Option<&'static str> {
    match event.what {
        What::WriteAccepted { op: OpId(0), claim, .. } if claim.worker == A => Some("accepted"),
        What::WriteRepeated { op: OpId(0), claim, .. } if claim.worker == A => Some("repeated"),
        What::MessageLost { .. } => Some("lost"),
        What::FaultBegan { .. } => Some("fault"),
        What::FaultEnded { .. } => Some("healed"),
        _ => None,
    }
}

#[track_caller]
fn check(faults: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(told(&history_of(WORLD, faults, &Fenced), of_entry), expected);
}

/// A split of the ledger in which the old primary answers `old`.
fn ledger(old: &str, lasting: &str) -> String {
    format!(r#"split-brain = {{ node = "ledger", old = ["{old}"], for = "{lasting}" }}"#)
}

const AT_48: &str = r#"at = "01:59:48""#;
const BEFORE: &str = r#"at = "01:59:49.103""#;
const SENT: &str = r#"at = "01:59:49.105""#;
const ANSWERED: &str = r#"at = "01:59:49.107""#;

#[test]
fn each_worker_is_served_by_its_half() {
    check(
        &[(BEFORE, &ledger("worker-a", "10s"))],
        &["59:49.103 fault", "59:49.106 accepted old", "59:59.103 healed"],
    );
    check(&[(BEFORE, &ledger("worker-b", "10s"))], &["59:49.103 fault", "59:49.106 accepted", "59:59.103 healed"]);
}

#[test]
fn what_is_under_way_when_it_begins_is_the_old_primarys() {
    // Whoever sent it, and the answer arrives.
    check(
        &[(SENT, &ledger("worker-b", "10s"))],
        &["59:49.105 fault", "59:49.106 accepted old", "59:59.105 healed"],
    );
    check(
        &[(ANSWERED, &ledger("worker-b", "10s"))],
        &["59:49.106 accepted", "59:49.107 fault", "59:59.107 healed"],
    );
    // Of the next message the new primary is asked, and it doesn't know the entry.
    let history = history_of(WORLD, &[(SENT, &ledger("worker-b", "10s"))], &Fenced);
    let moved = told(&history, |event| matches!(event.what, What::CheckpointMoved { .. }).then_some("moved"));
    assert_eq!(moved[..2], ["59:49.150 moved", "59:49.246 moved"]);
    // However late it is: the old primary may be gone by then.
    let late = r#"delay-message = { message = "ledger.write", part = "request", node = "worker-a", by = "1s" }"#;
    check(
        &[(BEFORE, late), (SENT, &ledger("worker-b", "500ms"))],
        &[
            "59:49.103 fault",
            "59:49.104 healed",
            "59:49.105 fault",
            "59:49.605 healed",
            "59:50.106 lost",
            "59:51.210 accepted",
        ],
    );
}

#[test]
fn what_is_under_way_to_or_from_the_old_primary_when_it_ends_is_lost() {
    let until = |end: &str| {
        let split = format!(r#"split-brain = {{ node = "ledger", old = ["worker-a"], for = "{end}" }}"#);
        told(&history_of(WORLD, &[(AT_48, &split)], &Fenced), of_entry)
    };
    assert_eq!(until("1.105s"), ["59:48.000 fault", "59:49.105 healed", "59:49.106 lost", "59:49.210 accepted"]);
    assert_eq!(
        until("1.107s"),
        ["59:48.000 fault", "59:49.106 accepted old", "59:49.107 healed", "59:49.108 lost", "59:49.210 accepted"]
    );
    assert_eq!(until("1.109s"), ["59:48.000 fault", "59:49.106 accepted old", "59:49.109 healed"]);
    // The new one's calls go on.
    let others = |lasting: &str| {
        let split = ledger("worker-b", lasting);
        told(&history_of(WORLD, &[(AT_48, &split)], &Fenced), of_entry)
    };
    assert_eq!(others("1.105s"), ["59:48.000 fault", "59:49.105 healed", "59:49.106 accepted"]);
    assert_eq!(others("1.107s"), ["59:48.000 fault", "59:49.106 accepted", "59:49.107 healed"]);
}

#[test]
fn a_copy_of_a_request_goes_where_the_request_goes() {
    let copies =
        r#"duplicate = { between = ["worker-a"], and = ["ledger"], one_way = true, percent = 100, for = "3ms" }"#;
    let history = history_of(WORLD, &[(AT_48, &ledger("worker-a", "10s")), (BEFORE, copies)], &Fenced);
    let entries = told(&history, |event| of_entry(event).filter(|told| told.ends_with("ed") && *told != "healed"));
    assert_eq!(entries, ["59:49.106 accepted old", "59:49.108 repeated old"]);
}

/// What the lease store does for worker-a, with a store that puts what it is asked for off by half a second.
#[track_caller]
fn check_put_off(faults: &[(&str, &str)], expected: &[&str]) {
    let world = WORLD.replace("renew_every", "expiry = \"transaction-start\"\nrenew_every");
    let of_lease = |event: &Event| match event.what {
        What::LeaseGranted { worker, .. } if worker == A => Some("granted"),
        What::LeaseRenewed { .. } => Some("renewed"),
        What::RenewalRefused { .. } => Some("refused"),
        What::MessageLost { .. } => Some("lost"),
        What::FaultEnded { .. } => Some("healed"),
        _ => None,
    };
    let history = history_of(&world, faults, &Naive);
    let told = told(&history, of_lease);
    assert_eq!(told[..expected.len().min(told.len())], *expected);
}

#[test]
fn what_was_put_off_stays_with_the_half_that_put_it_off() {
    let split = |old: &str, lasting: &str| {
        format!(r#"split-brain = {{ node = "lease-store", old = ["{old}"], for = "{lasting}" }}"#)
    };
    let at = r#"at = "01:59:30.100""#;
    check_put_off(&[(at, &split("worker-a", "12s"))], &["59:30.502 granted old", "59:40.502 renewed old"]);
    // Granted by the old primary to one that it doesn't answer from now on.
    check_put_off(&[(at, &split("worker-b", "12s"))], &["59:30.502 granted old", "59:40.502 refused"]);
    check_put_off(
        &[(at, &split("worker-b", "300ms"))],
        &["59:30.400 healed", "59:30.502 lost", "59:31.502 granted", "59:41.502 renewed"],
    );
    // Put off by the new one, the old one's end is nothing to it.
    let later = r#"at = "01:59:39""#;
    check_put_off(
        &[(later, &split("worker-b", "1.1s"))],
        &["59:30.502 granted", "59:40.100 healed", "59:40.502 renewed"],
    );
    check_put_off(
        &[(later, &split("worker-a", "1.1s"))],
        &["59:30.502 granted", "59:40.100 healed", "59:40.502 lost"],
    );
}

#[test]
fn a_pause_has_both_halves_stand_still() {
    let pause = r#"pause = { node = "ledger", for = "200ms" }"#;
    for (old, half) in [("worker-a", " old"), ("worker-b", "")] {
        check(
            &[(AT_48, &ledger(old, "10s")), (BEFORE, pause)],
            &[
                "59:48.000 fault",
                "59:49.103 fault",
                "59:49.303 healed",
                &format!("59:49.303 accepted{half}"),
                "59:58.000 healed",
            ],
        );
    }
    // What waits for the old one is lost with it.
    check(
        &[(AT_48, &ledger("worker-a", "1.150s")), (BEFORE, pause)],
        &[
            "59:48.000 fault",
            "59:49.103 fault",
            "59:49.150 healed",
            "59:49.150 lost",
            "59:49.303 healed",
            "59:49.303 accepted",
        ],
    );
}

#[test]
fn both_halves_go_by_the_clocks_of_the_service() {
    // A minute and a half ahead, the lease of 40 s is over at either.
    let step = r#"clock-step = { node = "lease-store", by = "90s" }"#;
    let world = WORLD.replace("renew_every", "expiry = \"transaction-start\"\nrenew_every");
    for (old, expected) in [("worker-b", "59:37.502 granted old"), ("worker-a", "59:37.502 granted")] {
        let split = format!(r#"split-brain = {{ node = "lease-store", old = ["{old}"], for = "20s" }}"#);
        let faults = [(r#"at = "01:59:36""#, &*split), (r#"at = "01:59:36.800""#, step)];
        let history = history_of(&world, &faults, &Naive);
        let granted = told(&history, |event| {
            matches!(event.what, What::LeaseGranted { worker, .. } if worker == B).then_some("granted")
        });
        assert_eq!(granted.first().map(String::as_str), Some(expected));
    }
}

#[test]
fn a_restart_ends_the_old_primary_and_the_new_one_comes_back() {
    let restart = r#"restart = { node = "ledger", for = "50ms", loses = "nothing" }"#;
    // What is under way to either is lost, and afterwards all get the new one.
    for old in ["worker-a", "worker-b"] {
        check(
            &[(AT_48, &ledger(old, "10s")), (SENT, restart)],
            &[
                "59:48.000 fault",
                "59:49.105 fault",
                "59:49.106 lost",
                "59:49.155 healed",
                "59:49.210 accepted",
                "59:58.000 healed",
            ],
        );
    }
    // The old one's entry is gone with it, the new one's isn't.
    let entered = |old, again: &str| {
        check(
            &[(AT_48, &ledger(old, "10s")), (ANSWERED, restart)],
            &[
                "59:48.000 fault",
                &format!("59:49.106 accepted{}", if old == "worker-a" { " old" } else { "" }),
                "59:49.107 fault",
                "59:49.108 lost",
                "59:49.157 healed",
                &format!("59:49.210 {again}"),
                "59:58.000 healed",
            ],
        );
    };
    entered("worker-a", "accepted");
    entered("worker-b", "repeated");
}

#[test]
fn a_failover_ends_the_old_primary_and_is_the_new_ones() {
    let failover = |lag: &str| format!(r#"failover = {{ node = "ledger", lag = "{lag}", for = "50ms" }}"#);
    let entered = |lag: &str, again: &str| {
        check(
            &[(AT_48, &ledger("worker-b", "10s")), (ANSWERED, &failover(lag))],
            &[
                "59:48.000 fault",
                "59:49.106 accepted",
                "59:49.107 fault",
                "59:49.108 lost",
                "59:49.157 healed",
                &format!("59:49.210 {again}"),
                "59:58.000 healed",
            ],
        );
    };
    entered("500us", "repeated");
    entered("2ms", "accepted");
    // Beyond the split too.
    entered("15s", "accepted");
}

#[test]
fn of_a_service_that_is_down_nobody_goes_on_answering() {
    let restart = r#"restart = { node = "ledger", for = "50ms" }"#;
    let faults = [
        (r#"at = "01:59:49.107" as down"#, restart),
        (r#"fault = "down", delay = "1ms""#, &*ledger("worker-a", "1s")),
    ];
    check(
        &faults,
        &[
            "59:49.106 accepted",
            "59:49.107 fault",
            "59:49.108 lost",
            "59:49.108 fault",
            "59:49.157 healed",
            "59:49.210 repeated",
            "59:50.108 healed",
        ],
    );
    // The replica still is behind.
    let behind = r#"split-brain = { node = "ledger", old = ["worker-a"], lag = "1s", for = "1s" }"#;
    let history = history_of(WORLD, &[faults[0], (faults[1].0, behind)], &Fenced);
    assert!(told(&history, of_entry).contains(&"59:49.210 accepted".to_owned()));
    assert!(!history.events.iter().any(|event| matches!(event.what, What::DeposedServed { .. })));
}

#[test]
fn a_second_split_leaves_only_the_newest_old_primary() {
    let second = r#"fault = "first", delay = "1s""#;
    let first = r#"at = "01:59:48" as first"#;
    // The second one's old primary is the first one's new one, which worker-b had been served by.
    let both = |old: &str| {
        let faults = [(first, &*ledger("worker-a", "1.5s")), (second, &*ledger(old, "10s"))];
        told(&history_of(WORLD, &faults, &Fenced), of_entry)
    };
    let rest = |entry: &str| {
        [
            "59:48.000 fault",
            "59:49.000 fault",
            &format!("59:49.106 accepted{entry}"),
            "59:49.500 healed",
            "59:59.000 healed",
        ]
        .map(str::to_owned)
    };
    assert_eq!(both("worker-a"), rest(" old"));
    assert_eq!(both("worker-b"), rest(""));
}

#[test]
fn a_worker_that_begins_anew_finds_its_half_again() {
    let crash = r#"crash = { node = "worker-a", for = "100ms" }"#;
    let history = history_of(WORLD, &[(AT_48, &ledger("worker-a", "2m")), (SENT, crash)], &Fenced);
    let by_a = told(&history, |event| match event.what {
        What::WriteAccepted { claim, .. } if claim.worker == A => Some("accepted"),
        _ => None,
    });
    assert!(!by_a.is_empty() && by_a.iter().all(|told| told.ends_with(" old")), "{by_a:?}");
}

#[test]
fn a_replica_that_is_behind_lacks_what_the_old_primary_has() {
    let split = |node: &str, lag: &str| {
        format!(r#"split-brain = {{ node = "{node}", old = ["worker-a"], lag = "{lag}", for = "10s" }}"#)
    };
    let lost = |node: &str, lag: &str| {
        let history = history_of(WORLD, &[(r#"at = "01:59:49.200""#, &split(node, lag))], &Fenced);
        told(&history, |event| matches!(event.what, What::WritesLost { .. }).then_some("lost"))
    };
    assert_eq!(lost("ledger", "1s"), ["59:49.200 lost"]);
    assert_eq!(lost("ledger", "1h"), ["59:49.200 lost"]);
    assert_eq!(lost("ledger", "0s"), [] as [&str; 0]);
}

/// The halves make up lease IDs of their own, so that none takes the other's lease for one that it granted.
#[test]
fn no_two_grants_have_the_same_lease() {
    let planned = |lag: i64, node| PlannedFault {
        when: Anchor::At(TrueTime::START + Span::secs(1)),
        inject: Fault::SplitBrain(SplitBrain {
            node,
            old: vec![A],
            lag: Span::secs(lag),
            lasting: Span::secs(30),
        }),
        note: None,
        name: None,
    };
    let text = WORLD.replace("40s", "2s").replace("10s", "500ms").replace("operations = 2", "operations = 200");
    let scenario = Scenario::parse("split.toml", &text).expect("a scenario");
    for protocol in PROTOCOLS {
        for lag in [0, 1, 100] {
            let history = run(&scenario.world, *protocol, &[planned(lag, LEASE_STORE)], scenario.seed);
            let mut leases: Vec<_> = history
                .events
                .iter()
                .filter_map(|event| match event.what {
                    What::LeaseGranted { lease, .. } => Some(lease),
                    _ => None,
                })
                .collect();
            assert!(leases.len() > 1);
            leases.sort_unstable();
            leases.dedup();
            let granted = history.events.iter().filter(|event| matches!(event.what, What::LeaseGranted { .. }));
            assert_eq!(leases.len(), granted.count(), "{} {lag}", protocol.name());
        }
    }
}

/// A split in which nobody asks the old primary breaks nothing that a protocol relies on.
#[test]
fn the_assumption_is_that_only_one_answers() {
    let names = |old: &str, node: NodeId, protocol: &dyn AnyProtocol| {
        let node = ["lease-store", "ledger", "provider"][node.index()];
        let split = format!(r#"split-brain = {{ node = "{node}", old = ["{old}"], for = "10s" }}"#);
        let history = history_of(WORLD, &[(r#"at = "01:59:30.500""#, &split)], protocol);
        let broken = broken_assumptions(&history, protocol.assumptions());
        broken.iter().map(|assumption| assumption.name).collect::<Vec<_>>()
    };
    for protocol in [&Naive as &dyn AnyProtocol, &Monotonic, &Fenced] {
        // By 01:59:40.500 nobody has asked the ledger or the provider.
        assert_eq!(names("worker-a", LEDGER, protocol), [] as [&str; 0]);
        assert_eq!(names("worker-a", PROVIDER, protocol), [] as [&str; 0]);
        assert_eq!(names("worker-b", LEASE_STORE, protocol), ["one-primary-answers"]);
    }
}
