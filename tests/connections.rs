//! What a crash does to the connections of a service: whatever is under way is lost, and whoever asked can't tell
//! whether it was carried out.
//!
//! All latencies are fixed, so that a crash can be put between two given messages: the first entry is sent at
//! 01:59:49.104, reaches the ledger at .106, and its answer would arrive at .108.

use holdover::replay::Replay;
use holdover::scenario::Scenario;
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::OpId;
use holdover::sim::time::TimeOfDay;

const WORLD: &str = r#"
title = "A crash and the connections"
start = 2026-01-15T01:59:30Z
[lease]
ttl = "40s"
renew_every = "10s"
[job]
operations = 2
due = "01:59:49.100"
[network]
internal = "2ms"
[[worker]]
name = "worker-a"
"#;

/// What happened to the first operation's entry, each with its time of day; and whether the rules are those `broken`.
#[track_caller]
fn check(faults: &[&str], protocol: &str, broken: &[&str], expected: &[&str]) {
    let faults: String = faults.iter().map(|fault| format!("[[fault]]\n{fault}\n")).collect();
    let text = format!("{WORLD}\n{faults}\n[expect.{protocol}]\n");
    let scenario = Scenario::parse("connections.toml", &text).expect("a scenario");
    let replay = Replay::of(&scenario);
    let run = &replay.runs[0];
    let violated = run.verdicts.iter().filter(|(_, verdict)| verdict.name() == "violated");
    assert_eq!(violated.map(|(checker, _)| checker.name).collect::<Vec<_>>(), broken);
    let told: Vec<String> = run.history.events.iter().filter_map(|event| tell(&run.history, event)).collect();
    assert_eq!(told, expected);
}

fn tell(history: &History, event: &Event) -> Option<String> {
    let what = match event.what {
        What::WriteAccepted { op: OpId(0), .. } => "accepted",
        What::WriteRepeated { op: OpId(0), .. } => "repeated",
        What::MessageLost { .. } => "lost",
        _ => return None,
    };
    Some(format!("{} {what}", TimeOfDay(history.utc(event.at))))
}

const CRASH_BEFORE: &str = r#"
when = { at = "01:59:49.105" }
inject = { restart = { node = "ledger", for = "50ms" } }"#;
const CRASH_AFTER: &str = r#"
when = { at = "01:59:49.107" }
inject = { restart = { node = "ledger", for = "50ms" } }"#;
const CRASH_LATER: &str = r#"
when = { at = "01:59:49.150" }
inject = { restart = { node = "ledger", for = "20ms" } }"#;
const PAUSE: &str = r#"
when = { at = "01:59:49.105" }
inject = { pause = { node = "ledger", for = "200ms" } }"#;

#[test]
fn a_request_that_meets_a_dead_service_is_not_carried_out() {
    for protocol in ["naive", "fenced"] {
        check(&[CRASH_BEFORE], protocol, &[], &["01:59:49.106 lost", "01:59:49.210 accepted"]);
    }
}

#[test]
fn an_answer_that_is_lost_leaves_the_request_carried_out() {
    let lost = ["01:59:49.106 accepted", "01:59:49.108 lost"];
    check(&[CRASH_AFTER], "naive", &["nothing-lost"], &[&lost[..], &["01:59:49.210 accepted"]].concat());
    check(&[CRASH_AFTER], "fenced", &[], &[&lost[..], &["01:59:49.210 repeated"]].concat());
}

#[test]
fn a_request_that_waits_for_a_paused_service_dies_with_it() {
    for protocol in ["naive", "fenced"] {
        check(&[PAUSE, CRASH_LATER], protocol, &[], &["01:59:49.150 lost", "01:59:49.305 accepted"]);
    }
}
