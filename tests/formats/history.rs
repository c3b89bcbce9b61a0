//! The schema of histories refuses what no history has. (That it takes what they have is seen in `wellformed`.)

use holdover::report::history_schema;
use holdover::sim::history::EVENTS;
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

#[test]
fn every_kind_of_event_is_in_it_with_what_it_means() {
    let schema = history_schema().to_string();
    for (kind, _) in EVENTS {
        assert!(schema.contains(&format!("\"{kind}\"")), "{kind}");
    }
}
