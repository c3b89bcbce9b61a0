//! What the reports on explanations read like.

use crate::support::{CLOCK_JUMP, document, explain, explain_within, scenario, snapshot, told, with_faults};
use holdover::explore::Budget;

const USUAL: usize = 100;

const PAUSE: (&str, &str, &str) = (
    "",
    "point = \"write.checked\", node = \"worker-a\", nth = 4",
    "pause = { node = \"worker-a\", for = \"12s\" }",
);
const LATE_PAUSE: (&str, &str, &str) = (
    "",
    "point = \"write.checked\", node = \"worker-a\", nth = 7",
    "pause = { node = \"worker-a\", for = \"12s\" }",
);

#[test]
fn the_incident_narrow_and_wide() {
    let scenario = scenario(CLOCK_JUMP);
    let explanation = explain(&scenario, &["naive"]);
    snapshot!("clock-jump-narrow", told(&explanation, 60));
    snapshot!("clock-jump-wide", told(&explanation, 140));
}

#[test]
fn three_faults_that_are_all_needed() {
    let scenario = scenario(include_str!("../../scenarios/faults/restart-unsynced.toml"));
    snapshot!("restart-unsynced", told(&explain(&scenario, &["fenced"]), USUAL));
}

#[test]
fn either_of_two_and_one_that_waits() {
    let follower = ("", "fault = \"second\", end = true", "clock-step = { node = \"worker-a\", by = \"-3s\" }");
    let second = ("second", LATE_PAUSE.1, LATE_PAUSE.2);
    let scenario = with_faults(&[PAUSE, second, follower]);
    snapshot!("either-of-two", told(&explain(&scenario, &["naive"]), USUAL));
}

#[test]
fn nothing_violated() {
    let pause = ("", PAUSE.1, "pause = { node = \"worker-a\", for = \"5s\" }");
    snapshot!("nothing-violated", told(&explain(&with_faults(&[pause]), &["naive"]), USUAL));
    snapshot!("no-faults", told(&explain(&with_faults(&[]), &["naive", "fenced"]), USUAL));
}

#[test]
fn not_finished() {
    let crash = ("", "at = \"+2.5s\"", "crash = { node = \"worker-a\" }");
    let other = ("", "at = \"+2.5s\"", "crash = { node = \"worker-b\" }");
    snapshot!("not-finished", told(&explain(&with_faults(&[crash, other]), &["fenced"]), USUAL));
}

#[test]
fn the_network() {
    let scenario = scenario(include_str!("../../scenarios/faults/latency.toml"));
    snapshot!("latency", told(&explain(&scenario, &["naive"]), USUAL));
}

#[test]
fn a_bound_that_is_hit() {
    let budget = Budget { runs: 40, events: 1_000_000 };
    let scenario = with_faults(&[PAUSE]);
    snapshot!("bound-hit", told(&explain_within(&scenario, &["naive"], budget), USUAL));
}

#[test]
fn json() {
    let scenario = scenario(include_str!("../../scenarios/faults/crash.toml"));
    let document = document(&explain(&scenario, &["naive", "fenced"]));
    snapshot!("crash-json", serde_json::to_string_pretty(&document).expect("it is JSON"));
}

/// All that the text says of faults and edges is in the document.
#[test]
fn the_document_has_what_the_text_says() {
    let scenario = scenario(CLOCK_JUMP);
    let document = document(&explain(&scenario, &["naive", "fenced"]));
    let naive = &document["explained"][0];
    assert_eq!(naive["faults"][0]["difference"], "necessary");
    assert_eq!(naive["faults"][1]["difference"], "necessary-for-some");
    assert_eq!(naive["faults"][1]["necessary_for"][0]["checker"], "export-agreement");
    assert_eq!(naive["sufficient"][2]["sets"], serde_json::json!([[0, 1]]));
    let pause = &naive["numbers"][0];
    assert_eq!((&pause["name"], &pause["unit"]), (&"for".into(), &"span".into()));
    assert_eq!(pause["stretches"][0]["to"], 37_949_000_000_i64);
    assert_eq!(pause["stretches"][1]["from"], 37_950_000_000_i64);
    let breaks = |step: &serde_json::Value| step["breaks"].as_array().map_or(0, Vec::len);
    assert_eq!(naive["chain"].as_array().expect("steps").iter().map(breaks).sum::<usize>(), 5);
    assert_eq!(document["explained"][1]["violated"], serde_json::json!([]));
    let fenced = &document["protocols"][1];
    assert_eq!(fenced["protocol"], "fenced");
    let text = fenced["refused"]["text"].as_str().expect("a sentence");
    assert_eq!(text, "the ledger turns worker-a's entry for operation 11 away: its token 1 is below 2");
    assert!(fenced["refused"]["accepted_as"].is_u64());
}
