//! The picture of a run: what its record has, and that it is the same each time. `tests/browser.rs` looks at it.

use std::path::Path;

use holdover::explore::Budget;
use holdover::explore::explain::Explanation;
use holdover::report::html::{self, Picture};
use holdover::scenario::Scenario;
use holdover::sim::check::CHECKERS;
use holdover::sim::history::History;
use holdover::sim::protocol::{self, AnyProtocol};
use serde_json::{Value, json};

use crate::support::{SMALL, Small};

const BRIEF: Budget = Budget { runs: 400, events: 1_000_000 };

/// The page on `scenario` under `protocols`, and the histories that it shows.
fn page(scenario: &Scenario, protocols: &[&str]) -> (String, Vec<History>) {
    let found: Vec<&'static dyn AnyProtocol> =
        protocols.iter().map(|name| protocol::find(name).expect("a known protocol")).collect();
    let explanation = Explanation::new(scenario, &found, scenario.seed, BRIEF);
    let picture = Picture {
        explanation: &explanation,
        protocols,
        file: "small.toml",
        command: "holdover replay small.toml",
    };
    let mut page = Vec::new();
    html::write(picture, &mut page).expect("a Vec takes any bytes");
    let histories = explanation.replay.runs.into_iter().take(protocols.len()).map(|run| run.history);
    (String::from_utf8(page).expect("a page is text"), histories.collect())
}

/// The record in a page.
fn record(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"record\">").expect("a record");
    let (record, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(record).expect("a record is JSON")
}

fn incident() -> Scenario {
    Scenario::load("scenarios/incidents/clock-jump.toml").expect("the incident is a scenario")
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let (one, _) = page(&incident(), &["naive", "fenced"]);
    let (other, _) = page(&incident(), &["naive", "fenced"]);
    assert_eq!(one, other);
    assert!(one.len() < 300_000, "{} bytes", one.len());
}

#[test]
fn the_incident_in_a_sentence() {
    let (page, _) = page(&incident(), &["naive", "monotonic", "fenced"]);
    let record = record(&page);
    let headlines: Vec<&Value> =
        record["runs"].as_array().expect("runs").iter().map(|run| &run["headline"]).collect();
    assert_eq!(
        json!(headlines),
        json!([
            {
                "state": "broke",
                "text": "worker-a went on writing after worker-b had taken over",
                "counts": "9 stale writes accepted, two exports that differ, 4 operations paid twice and 4 operations \
                           entered twice"
            },
            {
                "state": "broke",
                "text": "worker-a went on writing after worker-b had taken over",
                "counts": "2 stale writes accepted, 1 operation paid twice and 1 operation entered twice"
            },
            { "state": "held", "text": format!("held all {} rules", CHECKERS.len()), "counts": "1 stale write tried, none accepted" }
        ])
    );
}

#[test]
fn what_lasts_in_the_incident() {
    let (page, _) = page(&incident(), &["naive"]);
    let run = &record(&page)["runs"][0];
    let millis = |value: &Value| value.as_i64().expect("a time") / 1_000_000;
    let told = |name: &str, times: [usize; 2], others: &[usize]| -> Vec<Vec<i64>> {
        let stretches = run["bands"][name].as_array().expect("a list").iter();
        let stretch = |one: &Value| -> Vec<i64> {
            let numbers = others.iter().map(|index| one[*index].as_i64().expect("a number"));
            numbers.chain(times.map(|index| millis(&one[index]))).collect()
        };
        stretches.map(stretch).collect()
    };
    // worker-a is node 3, worker-b node 4; the run begins at 01:59:30.
    assert_eq!(
        told("beliefs", [2, 3], &[0, 1]),
        [[3, 1, 8_004, 20_100], [4, 2, 58_054, 58_418], [3, 1, 58_150, 58_349]]
    );
    assert_eq!(told("overlaps", [0, 1], &[2, 3]), [[4, 3, 58_150, 58_349]]);
    assert_eq!(told("paused", [1, 2], &[0]), [[3, 20_100, 58_100]]);
    let grants = run["bands"]["grants"].as_array().expect("a list").iter();
    let grants: Vec<[i64; 3]> = grants
        .map(|one| [one["epoch"].as_i64().expect("a number"), millis(&one["from"]), millis(&one["until"])])
        .collect();
    assert_eq!(grants, [[1, 8_001, 58_000], [2, 58_051, 58_420]]);
}

/// Each event is where the history has it, whatever happened.
#[test]
fn columns_are_the_history() {
    let files = ["faults/split-brain", "faults/restore-copy", "faults/duplicate", "incidents/frozen-guest-clock"];
    for file in files {
        let scenario =
            Scenario::load(Path::new("scenarios").join(file).with_extension("toml")).expect("a scenario");
        let (page, histories) = page(&scenario, &["naive", "fenced"]);
        let record = record(&page);
        for (run, history) in record["runs"].as_array().expect("runs").iter().zip(&histories) {
            let events = &run["events"];
            let column = |name: &str, index: usize| events[name][index].as_i64().expect("a number");
            let mut at = 0;
            for (id, event) in history.numbered() {
                let index = id.index();
                at += column("after", index);
                assert_eq!(at, event.at.as_nanos(), "{file} {id}");
                assert_eq!(column("node", index), i64::from(event.node.0), "{file} {id}");
                let cause = column("cause", index);
                let cause = (cause > 0).then(|| index as i64 - cause);
                assert_eq!(cause, event.cause.map(|cause| cause.index() as i64), "{file} {id}");
                let kind = &events["kinds"][column("kind", index) as usize]["name"];
                assert_eq!(kind, event.what.kind(), "{file} {id}");
            }
            for name in ["after", "worker", "mark", "epoch"] {
                assert_eq!(events[name].as_array().map(Vec::len), Some(history.events.len()), "{file} {name}");
            }
            let messages = run["messages"].as_array().expect("a list");
            assert!(messages.iter().filter(|message| message[1] != -1).count() > messages.len() / 2, "{file}");
        }
    }
}

#[test]
fn a_small_one() {
    let faults: &[(&str, &str)] =
        &[("point = \"write.checked\", node = \"worker-b\"", "pause = { node = \"worker-b\", for = \"41s\" }")];
    let (page, _) = page(&Small { faults, operations: 2, ..SMALL }.scenario(), &["naive"]);
    let mut record = record(&page);
    // What is there for each event is seen above, and each rule and sighting in the other reports.
    for list in ["rules", "sightings"] {
        record[list] = json!("…");
    }
    for list in ["events", "messages", "nodes", "seen"] {
        record["runs"][0][list] = json!("…");
    }
    let verdicts = record["runs"][0]["verdicts"].as_array_mut().expect("a list");
    verdicts.retain(|verdict| verdict["state"] != "holds");
    let text = serde_json::to_string_pretty(&record).expect("it was JSON");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("picture-of-a-small-one", crate::redact::redacted(&text)));
}
