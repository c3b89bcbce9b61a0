//! What the programs say that the formats are written for: Mermaid itself, and two parsers of the Trace Event Format,
//! Chrome's own among them.
//!
//! They are npm packages in `tests/parsers`, and need Node.js. Where they aren't installed these tests say so and check
//! nothing, unless HOLDOVER_PARSERS is `required`, as it is in `.ci/run`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use holdover::replay::Replay;
use holdover::scenario::Scenario;
use serde_json::Value;

use crate::hostile::{texts, with};
use crate::record::{replay, written_in};

/// Where the packages are.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parsers");

/// What a parser understands of each of `texts`; `None` where there is no parser.
pub(crate) fn understood(kind: &str, texts: &[String]) -> Option<Vec<Value>> {
    let node = Command::new("node").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !node.is_ok_and(|status| status.success()) || !Path::new(FOLDER).join("node_modules").is_dir() {
        let hint = "tests/parsers isn't installed; with Node.js, run `npm ci` in it";
        let required = std::env::var_os("HOLDOVER_PARSERS").is_some_and(|value| value == "required");
        assert!(!required, "{hint}");
        let mut line = io::stderr().lock();
        writeln!(line, "SKIPPED: {hint}").expect("stderr takes a line");
        return None;
    }
    let mut child = Command::new("node")
        .args(["read.mjs", kind])
        .current_dir(FOLDER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let texts_as_json = serde_json::to_vec(texts).expect("texts are JSON");
    stdin.write_all(&texts_as_json).expect("node reads all of it");
    drop(stdin);
    let output = child.wait_with_output().expect("node ends");
    assert!(output.status.success(), "a {kind} isn't understood; the first is:\n{:.3000}", texts[0]);
    Some(serde_json::from_slice(&output.stdout).expect("what was understood is JSON"))
}

fn incident() -> Scenario {
    Scenario::load(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml"))
        .expect("a scenario")
}

fn texts_of(lines: &Value) -> Vec<&str> {
    lines.as_array().into_iter().flatten().filter_map(|line| line["text"].as_str()).collect()
}

#[test]
fn mermaid_understands_the_incident() {
    let incident = incident();
    let Some(diagrams) = understood("mermaid", &[written_in("mermaid", &Replay::of(&incident))]) else { return };
    let [diagram] = &diagrams[..] else { panic!("one diagram") };
    assert_eq!(diagram["type"], "sequence");
    assert_eq!(diagram["title"], "A clock jump creates two lease holders");
    assert_eq!(
        diagram["actors"],
        serde_json::json!(["worker-a", "worker-b", "lease-store", "ledger", "provider"])
    );
    let texts = texts_of(&diagram["lines"]);
    let has = |text: &str| texts.iter().any(|line| line.contains(text));
    assert!(has("02:00:28.101 STALE: worker-a's entry for operation 11 accepted"), "{texts:?}");
    assert!(has("REJECTED: worker-a's entry for operation 11: its token 1 is below 2"), "{texts:?}");
    assert!(has("more steps"), "{texts:?}");
    let kinds =
        |kind: &str| diagram["lines"].as_array().into_iter().flatten().filter(|line| line["kind"] == kind).count();
    assert!(kinds("cross") > 0 && kinds("arrow") > 20, "{texts:?}");
    assert_eq!(kinds("rect"), kinds("end"));
    assert!(
        kinds("note") + kinds("arrow") + kinds("cross") + 2 * kinds("rect") == texts.len(),
        "all kinds are known"
    );
}

#[test]
fn mermaid_shows_hostile_text_as_text() {
    let kinds = |diagram: &Value| -> Vec<String> {
        diagram["lines"].as_array().into_iter().flatten().map(|line| line["kind"].to_string()).collect()
    };
    let written: Vec<String> =
        all_texts().iter().map(|text| written_in("mermaid", &replay(&with(text)))).collect();
    let Some(diagrams) = understood("mermaid", &written) else { return };
    for (text, diagram) in all_texts().iter().zip(&diagrams) {
        assert_eq!(kinds(diagram), kinds(&diagrams[0]), "{text:.40}");
        // Short and plain enough not to be cut or escaped, it is there as it was written.
        if text.is_ascii() && !text.contains(char::is_control) && (1..100).contains(&text.len()) {
            assert_eq!(diagram["title"], text.trim(), "{text:.40}");
            let noted = texts_of(&diagram["lines"]).into_iter().any(|line| line.contains(&format!("({text})")));
            assert!(noted, "{text}: {diagram}");
        }
    }
}

/// A usual text, and those that nobody means well by.
fn all_texts() -> Vec<String> {
    std::iter::once("usual".to_owned()).chain(texts()).collect()
}

#[test]
fn parsers_of_traces_understand_the_incident() {
    let incident = incident();
    let replay = Replay::of(&incident);
    let Some(traces) = understood("trace", &[written_in("perfetto", &replay)]) else { return };
    let [trace] = &traces[..] else { panic!("one trace") };
    let names: Vec<&str> = trace["processes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|process| process["name"].as_str())
        .collect();
    let nodes = ["faults", "worker-a", "worker-b", "lease-store", "ledger", "provider"];
    let expected: Vec<String> =
        ["naive", "fenced"].iter().flat_map(|run| nodes.map(|node| format!("{run}: {node}"))).collect();
    assert_eq!(names, expected, "in the order in which they are shown");
    for process in trace["processes"].as_array().into_iter().flatten() {
        assert_eq!(process["sameInChrome"], true, "{process}");
        let threads = serde_json::json!(["lease", "standstill", "messages", "events"]);
        assert!(
            process["threads"] == threads || process["name"].as_str().is_some_and(|name| name.ends_with("faults"))
        );
    }
    assert_eq!(trace["crossing"], serde_json::json!([]), "slices of a thread don't cross");
    assert_eq!(trace["warnings"], 0);
    let flows = trace["flows"].as_array().map_or(0, Vec::len);
    let sent = replay.runs.iter().flat_map(|run| &run.history.events);
    let sent = sent.filter(|event| event.what.kind() == "message-delivered").count();
    assert_eq!(flows, sent, "every message that arrives is a flow");
}

#[test]
fn parsers_of_traces_take_hostile_text() {
    let written: Vec<String> =
        all_texts().iter().map(|text| written_in("perfetto", &replay(&with(text)))).collect();
    let Some(traces) = understood("trace", &written) else { return };
    let flows = |trace: &Value| trace["flows"].as_array().map(Vec::len);
    for (text, trace) in all_texts().iter().zip(&traces) {
        assert_eq!(trace["instants"], traces[0]["instants"], "{text:.40}");
        assert_eq!(flows(trace), flows(&traces[0]), "{text:.40}");
    }
}
