//! `holdover replay`.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use serde_json::Value;

use crate::support::{CLOCK_JUMP, run, run_line, scenario, snapshot};

#[test]
fn the_incident_is_told() {
    let ran = run(["replay", CLOCK_JUMP]).ended(0);
    assert_eq!(ran.stderr, "");
    snapshot!("replay-clock-jump", &ran.stdout);
}

#[test]
fn a_verbose_report_has_each_event_with_its_cause() {
    let ran = run(["replay", CLOCK_JUMP, "--protocol", "fenced", "--verbose"]).ended(0);
    let events = run_line(&format!("replay {CLOCK_JUMP} --protocol fenced --format json")).json();
    let count = events["runs"][0]["events"].as_u64().expect("a number");
    for event in 0..count {
        assert!(ran.stdout.contains(&format!(" #{event} ")), "#{event} is told");
    }
    let first: Vec<&str> = ran.stdout.lines().take(60).collect();
    snapshot!("replay-verbose-beginning", &first.join("\n"));
}

#[test]
fn protocols_are_chosen_by_name() {
    for (arguments, protocols) in [
        ("", &["naive", "fenced"][..]),
        ("--protocol naive", &["naive"]),
        ("--protocol fenced", &["fenced"]),
        ("--protocol fenced --protocol naive", &["fenced", "naive"]),
        ("--protocol=fenced --protocol=fenced", &["fenced"]),
    ] {
        let line = format!("replay {CLOCK_JUMP} {arguments}");
        let ran = run_line(&line).ended(0);
        let heads = ran.stdout.lines().filter_map(|line| line.strip_prefix("▌ "));
        let heads: Vec<&str> = heads.filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(heads, protocols, "{line}");
        let json = run_line(&format!("{line} --format json")).ended(0).json();
        let runs: Vec<&str> = json["runs"]
            .as_array()
            .iter()
            .flat_map(|runs| runs.iter())
            .filter_map(|run| run["protocol"].as_str())
            .collect();
        assert_eq!(runs, protocols, "{line}");
    }
}

#[test]
fn an_unknown_protocol_is_refused_with_a_guess() {
    for (name, help) in [
        ("fencd", "did you mean `fenced`?"),
        ("Naive", "did you mean `naive`?"),
        ("zookeeper", "the protocols are: `naive`,"),
        ("", "the protocols are: `naive`,"),
        ("a\u{1b}[31m", "unknown protocol `a\\u{1b}[31m`"),
    ] {
        let ran = run(["replay", CLOCK_JUMP, "--protocol", name]).ended(2);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(help), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_protocol_that_keeps_the_lease_on_replicas_is_refused_where_an_operator_is_to_repair() {
    let repair = "scenarios/incidents/repair.toml";
    for command in ["replay", "explain", "hunt"] {
        let ran = run([command, repair, "--protocol", "fenced-consensus"]).ended(2);
        assert!(ran.stderr.contains("`fenced-consensus` can't be run here"), "{command}: {}", ran.stderr);
    }
    run(["hunt", repair, "--protocol", "all", "--seeds", "0..20"]).ended(1);
}

#[test]
fn another_seed_makes_another_run_and_the_same_seed_the_same() {
    let with_seed = |seed: &str| run(["replay", CLOCK_JUMP, "--seed", seed, "--format", "jsonl"]).stdout;
    assert_eq!(with_seed("7"), run(["replay", CLOCK_JUMP, "--format", "jsonl"]).stdout);
    assert_ne!(with_seed("7"), with_seed("8"));
    let greatest = run(["replay", CLOCK_JUMP, "--seed", "18446744073709551615"]);
    assert!(greatest.stdout.contains("seed 18446744073709551615"));
}

#[test]
fn the_json_document_tells_all_that_the_text_does() {
    let json = run(["replay", CLOCK_JUMP, "--format", "json"]).ended(0).json();
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    assert_eq!(
        keys(&json),
        [
            "holdover",
            "title",
            "file",
            "command",
            "seed",
            "start",
            "nodes",
            "outcome",
            "deviations",
            "plan",
            "runs"
        ]
    );
    assert_eq!(
        keys(&json["runs"][0]),
        [
            "protocol",
            "ending",
            "ended_at",
            "events",
            "fingerprint",
            "verdicts",
            "assumptions",
            "broken_assumptions",
            "belief_overlap",
            "seen",
            "faults",
            "timeline"
        ]
    );
    assert_eq!(keys(&json["runs"][0]["timeline"][0]), ["at", "utc", "event", "node", "mark", "text"]);
    assert_eq!(json["outcome"], "as-expected");
    assert_eq!(json["file"], CLOCK_JUMP);
    assert_eq!(json["command"], format!("holdover replay {CLOCK_JUMP}"));
    assert_eq!(json["nodes"], serde_json::json!(["lease-store", "ledger", "provider", "worker-a", "worker-b"]));
    assert_eq!(json["runs"][0]["verdicts"]["single-writer"]["verdict"], "violated");
    assert_eq!(json["runs"][1]["verdicts"]["single-writer"]["verdict"], "holds");
    assert_eq!(json["runs"][0]["assumptions"], "outside");
    assert_eq!(json["runs"][1]["assumptions"], Value::Null);
    assert_eq!(json["runs"][0]["faults"], serde_json::json!(["bit", "bit"]));
}

#[test]
fn json_lines_are_the_histories() {
    let ran = run(["replay", CLOCK_JUMP, "--format", "jsonl"]).ended(0);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    let protocols: BTreeSet<&str> = lines.iter().filter_map(|line| line["run"].as_str()).collect();
    assert_eq!(protocols, BTreeSet::from(["fenced", "naive"]));
    for protocol in ["naive", "fenced"] {
        let of_run: Vec<&Value> = lines.iter().filter(|line| line["run"] == protocol).collect();
        let [head, events @ .., end] = &of_run[..] else { panic!("a head, events and an end") };
        assert_eq!(head["nodes"][3]["name"], "worker-a");
        assert_eq!(head["seed"], 7);
        assert_eq!(end["ending"], "finished");
        let mut before = 0;
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event["id"], index);
            let at = event["at"].as_u64().expect("a true time");
            assert!(at >= before, "event {index} is in order");
            before = at;
            assert!(event["wall"].is_i64() && event["mono"].is_i64(), "event {index} has its node's clocks");
            assert!(event["utc"].is_string() && event["node"].is_u64() && !event["what"].is_null());
            let cause = event.get("cause").expect("a cause, if only null");
            assert!(cause.is_null() || cause.as_u64().is_some_and(|cause| cause < index as u64));
        }
        assert!(end["ended_at"].as_u64().is_some_and(|at| at >= before));
    }
    let head = lines.iter().position(|line| line["run"] == "fenced");
    let last = lines.iter().rposition(|line| line["run"] == "naive");
    assert_eq!(last.map(|last| last + 1), head, "one run after the other");
}

#[test]
fn the_export_is_in_the_line_of_its_event() {
    let ran = run(["replay", CLOCK_JUMP, "--format", "jsonl", "--protocol", "fenced"]).ended(0);
    let published = ran.stdout.lines().find(|line| line.contains("export-published")).expect("it publishes");
    let published: Value = serde_json::from_str(published).expect("JSON");
    assert_eq!(published["rows"].as_array().map(Vec::len), Some(14));
}

#[test]
fn a_run_over_midnight_says_which_day_it_is() {
    let text = crate::support::QUIET.replace("01:59:30Z", "23:59:59.990Z");
    let (_folder, path) = scenario("");
    std::fs::write(&path, text).expect("the file can be written");
    let ran = run([OsStr::new("replay"), path.as_os_str()]).ended(0);
    assert!(ran.stdout.contains("── 2026-01-16 ──"), "{}", ran.stdout);
    assert!(ran.stdout.contains("is granted lease 1 until 2026-01-16 00:00:39.990"), "{}", ran.stdout);
}
