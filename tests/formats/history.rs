//! The schema of histories refuses what no history has. (That it takes what they have is seen in `wellformed`.)

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use holdover::replay::Replay;
use holdover::report::history_schema;
use holdover::scenario::Scenario;
use holdover::sim::history::{Claim, EVENTS, PayoutState, Refusal, What};
use holdover::sim::id::{Epoch, NodeId, OpId, PayoutId};
use serde_json::Value;

use crate::record::written_in;

#[test]
fn what_is_wrong_in_a_line_is_refused() {
    let validator = jsonschema::draft7::new(&history_schema()).expect("it is a schema");
    let scenario = crate::record::scenario();
    let text = written_in("jsonl", &crate::record::replay(&scenario));
    let mut changed = 0;
    for line in text.lines() {
        for (from, to) in [
            ("\"line\":\"event\"", "\"line\":\"evnt\""),
            ("\"seed\":7", "\"seed\":-7"),
            ("\"at\":", "\"when\":"),
            ("\"op\":1", "\"op\":0"),
            ("\"lease-granted\"", "\"lease-given\""),
            ("\"worker-started\"", "\"worker-began\""),
            ("\"valid\":true", "\"valid\":\"yes\""),
            ("\"epoch\":1,", ""),
            ("\"clock\":\"wall\"", "\"clock\":\"sun\""),
            ("\"ending\":\"finished\"", "\"ending\":\"well\""),
            ("\"token-too-low\"", "\"too-low\""),
            ("\"run\":\"naive\"", "\"run\":\"naive\",\"more\":1"),
        ] {
            let is_event = line.contains("\"line\":\"event\"");
            if !line.contains(from) || (from == "\"at\":" && !is_event) {
                continue;
            }
            changed += 1;
            let line: Value = serde_json::from_str(&line.replacen(from, to, 1)).expect("still JSON");
            assert!(!validator.is_valid(&line), "{line}");
        }
    }
    assert!(changed > 20, "{changed}");
}

/// The kind of event that a line is of, or the line's own.
fn kind(line: &str) -> &str {
    let (_, what) =
        line.split_once("\"what\":").or_else(|| line.split_once("\"line\":")).expect("each line has one");
    what.trim_start_matches('{').split('"').nth(1).expect("it begins with a name")
}

/// What histories have fits: of each kind of event the first few of each run, and what no scenario's run has.
#[test]
fn what_histories_have_fits() {
    const OF_EACH: usize = 3;
    let validator = jsonschema::draft7::new(&history_schema()).expect("it is a schema");
    let mut seen = BTreeSet::new();
    let mut event = Value::Null;
    for path in scenario_files() {
        let scenario = Scenario::load(&path).expect("it is one of ours");
        let text = written_in("jsonl", &Replay::of(&scenario));
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines() {
            let count = count.entry(kind(line)).or_default();
            *count += 1;
            if *count <= OF_EACH {
                let line: Value = serde_json::from_str(line).expect("a line is JSON");
                assert!(validator.is_valid(&line), "{}: {line}", path.display());
                if line["line"] == "event" {
                    event = line;
                }
            }
        }
        seen.extend(count.into_keys().map(str::to_owned));
    }
    let claim = Claim { worker: NodeId(3), epoch: Epoch(1), token: None };
    let (op, payout, why) = (OpId(0), PayoutId(1), Refusal::NoToken);
    let rare = [
        What::ExportRejected { claim, why },
        What::TimeDaemonExited,
        What::RepairLeft { claim },
        What::CompensationRefused { claim, op, payout, state: PayoutState::Failed },
        What::OperatorRejected { claim, why },
        What::ReplicaStopped,
    ];
    for what in rare {
        event["what"] = serde_json::to_value(what).expect("it can be written");
        assert!(validator.is_valid(&event), "{event}");
        seen.insert(what.kind().to_owned());
    }
    let unseen: Vec<&str> = EVENTS.iter().map(|(kind, _)| *kind).filter(|kind| !seen.contains(*kind)).collect();
    assert_eq!(unseen, [""; 0]);
}

pub(crate) fn scenario_files() -> Vec<PathBuf> {
    let folders = ["incidents", "faults", "clocks", "monotonic", "traps", "consensus", "regressions"];
    let files = folders.iter().flat_map(|folder| {
        std::fs::read_dir(format!("scenarios/{folder}")).expect("the repository has this folder")
    });
    files.map(|file| file.expect("a folder can be read").path()).collect()
}

#[test]
fn every_kind_of_event_is_in_it_with_what_it_means() {
    let schema = history_schema().to_string();
    for (kind, _) in EVENTS {
        assert!(schema.contains(&format!("\"{kind}\"")), "{kind}");
    }
}
