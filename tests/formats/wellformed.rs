//! What is written is what its format says, on every scenario that there is.

use std::collections::BTreeMap;
use std::thread;

use holdover::replay::Replay;
use holdover::report::history_schema;
use holdover::scenario::Scenario;
use jsonschema::Validator;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::foreign::understood;
use crate::record::{FORMATS, replay, scenario, written_in};

#[path = "../files/mod.rs"]
mod files;

#[test]
fn every_scenario_in_every_format() {
    let validator = jsonschema::draft7::new(&history_schema()).expect("it is a schema");
    let paths: Vec<String> = ["scenarios/incidents", "scenarios/faults"]
        .into_iter()
        .flat_map(|folder| files::below(folder, ".toml"))
        .filter(|path| !path.ends_with("-control.toml"))
        .collect();
    let diagram = |path: &String| {
        let scenario = Scenario::parse(path, &files::read(path)).expect("our own files are scenarios");
        check(path, &Replay::of(&scenario), &validator)
    };
    // It is the longest test of its program by far, so it takes two processors.
    let (some, others) = paths.split_at(paths.len() / 2);
    let mut diagrams: Vec<String> = thread::scope(|scope| {
        let others = scope.spawn(|| others.iter().map(diagram).collect::<Vec<_>>());
        let mut all: Vec<String> = some.iter().map(diagram).collect();
        all.extend(others.join().expect("no check fails"));
        all
    });
    assert!(diagrams.len() > 20, "{} scenarios are hardly all", diagrams.len());
    let scenario = scenario();
    diagrams.push(check("by hand", &replay(&scenario), &validator));
    if let Some(understood) = understood("mermaid", &diagrams) {
        assert_eq!(understood.len(), diagrams.len());
        assert!(understood.iter().all(|diagram| diagram["type"] == "sequence"));
    }
}

/// Sees that what is written of `replay` is what the formats say; `place` is where it is from. Returns its diagram, which
/// Mermaid has to see.
fn check(place: &str, replay: &Replay<'_>, validator: &Validator) -> String {
    check_picture(place, &written_in("svg", replay), replay);
    check_report(place, &written_in("markdown", replay), replay);
    check_trace(place, &written_in("perfetto", replay), replay);
    check_history(place, &written_in("jsonl", replay), validator);
    let diagram = written_in("mermaid", replay);
    check_diagram(place, &diagram);
    diagram
}

/// A picture is XML, and has a line for each violation.
fn check_picture(place: &str, text: &str, replay: &Replay<'_>) {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(document.root_element().tag_name().namespace(), Some("http://www.w3.org/2000/svg"), "{place}");
    let of_class = |class: &str| {
        let all = document.descendants().filter(|node| node.attribute("class") == Some(class));
        all.map(|node| node.text().unwrap_or_default().to_owned()).collect::<Vec<String>>()
    };
    // Coordinates are numbers, and nothing is where nobody sees it.
    let width: f64 = document.root_element().attribute("width").and_then(|it| it.parse().ok()).expect("a width");
    for (node, name) in document.descendants().flat_map(|node| ["x", "x1", "x2", "cx"].map(|name| (node, name))) {
        let Some(value) = node.attribute(name) else { continue };
        let x: f64 = value.parse().unwrap_or_else(|_| panic!("{place}: {name}={value}"));
        assert!((0.0..=width).contains(&x), "{place}: {name}={value} of {}", node.tag_name().name());
    }
    let violated =
        replay.runs.iter().flat_map(|run| &run.verdicts).filter(|(_, verdict)| verdict.name() == "violated");
    let rules: Vec<&str> = violated.map(|(checker, _)| checker.name).collect();
    let told: Vec<String> = of_class("bad strong").into_iter().filter(|text| !text.contains(' ')).collect();
    assert_eq!(told, rules, "{place}");
}

/// The texts of the cells of each table, by the heading above it.
fn tables(text: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut tables: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let (mut heading, mut text_here) = (String::new(), String::new());
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::TableCell) => text_here.clear(),
            Event::End(TagEnd::Heading(_)) => heading.clone_from(&text_here),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                tables.entry(heading.clone()).or_default().push(Vec::new())
            }
            Event::End(TagEnd::TableCell) => {
                let row = tables.get_mut(&heading).and_then(|rows| rows.last_mut()).expect("a cell is in a row");
                row.push(text_here.clone());
            }
            Event::Text(text) | Event::Code(text) => text_here += &text,
            _ => {}
        }
    }
    tables
}

/// A report has whole tables with all there is to tell, and a diagram.
fn check_report(place: &str, text: &str, replay: &Replay<'_>) {
    let tables = tables(text);
    for (heading, rows) in &tables {
        let columns = rows[0].len();
        assert!(rows.iter().all(|row| row.len() == columns), "{place}: {heading}");
    }
    let summary = &tables["Summary"];
    assert_eq!(summary[0].len(), 1 + replay.runs.len(), "{place}");
    assert_eq!(summary.len(), 1 + replay.runs[0].verdicts.len() + 1, "{place}");
    for run in &replay.runs {
        let rows = &tables[&format!("What happened under {}", run.protocol.name())];
        let told = holdover::report::timeline(&run.history);
        assert_eq!(rows.len() - 1, told.len().min(200), "{place}");
        for (row, told) in rows[1..].iter().zip(&told) {
            assert_eq!(row[2], told.text, "{place}");
        }
    }
    assert_eq!(text.matches("\n```mermaid\n").count(), 1, "{place}");
}

/// A trace is JSON whose flows and slices are in pairs.
fn check_trace(place: &str, text: &str, replay: &Replay<'_>) {
    let trace: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{place}: {error}"));
    let events = trace["traceEvents"].as_array().expect("an array");
    let mut open: BTreeMap<String, i64> = BTreeMap::new();
    for event in events {
        let by = match event["ph"].as_str().expect("a phase") {
            "b" => 1,
            "e" => -1,
            "s" => 1_000,
            // What is lost never arrives.
            "f" => -1_000,
            "X" => {
                assert!(event["dur"].as_f64().is_some_and(|dur| dur >= 0.0), "{place}: {event}");
                continue;
            }
            "i" => {
                assert!(matches!(event["s"].as_str(), Some("t" | "p")), "{place}: {event}");
                continue;
            }
            "C" | "M" => continue,
            other => panic!("{place}: {other}"),
        };
        let id = format!("{} {}", event["cat"], event["id"]);
        *open.entry(id).or_default() += by;
    }
    assert!(open.values().all(|left| matches!(left, 0 | 1_000)), "{place}: {open:?}");
    let named = events.iter().filter(|event| event["name"] == "process_name").count();
    let nodes: usize = replay.runs.iter().map(|run| run.history.nodes.len() + 1).sum();
    assert_eq!(named, nodes, "{place}");
}

/// A diagram is no longer than Mermaid takes, and what it opens it closes.
fn check_diagram(place: &str, text: &str) {
    assert!(text.starts_with("sequenceDiagram\n"), "{place}");
    assert!(text.chars().count() < 50_000, "{place}: {}", text.chars().count());
    assert_eq!(text.matches("\n    rect ").count(), text.matches("\n    end\n").count(), "{place}");
}

/// Lines fit the schema: of each kind the first few of a run, for all are alike.
fn check_history(place: &str, text: &str, validator: &Validator) {
    const OF_EACH: usize = 4;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let kind = line["what"].as_object().and_then(|what| what.keys().next());
        let count = seen.entry(format!("{} {:?}", line["line"], kind)).or_default();
        *count += 1;
        if *count <= OF_EACH {
            assert!(validator.is_valid(&line), "{place}: {line}");
        }
    }
}

#[test]
fn nothing_to_show_breaks_no_format() {
    let mut scenario = scenario();
    scenario.world.limits.steps = 0;
    for protocols in [&[][..], &crate::record::BOTH] {
        let replay = Replay::new(&scenario, protocols, scenario.seed);
        for (format, _) in FORMATS {
            let text = written_in(format, &replay);
            match format {
                "svg" => drop(roxmltree::Document::parse(&text).expect("XML")),
                "json" | "perfetto" => drop(serde_json::from_str::<Value>(&text).expect("JSON")),
                _ => {}
            }
        }
    }
}
