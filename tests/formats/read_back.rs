//! Histories that are read back: what was written, was read and is written again is the same, and comes to the same.

use std::io::Cursor;

use holdover::replay::{Deviation, JudgedRun, Replay, StoredReplay, StoredReplays};
use holdover::report::{Excerpt, json, markdown, mermaid, perfetto, svg, text};
use holdover::scenario::Scenario;
use holdover::sim::protocol;
use holdover::stored::{Histories, ReadError};
use holdover::suite::Suite;

use crate::record::written_in;

/// The replays that are stored in `text`.
pub(crate) fn read(text: &[u8]) -> Result<Vec<StoredReplay>, ReadError> {
    StoredReplays::of(Histories::of("it.jsonl", Cursor::new(text))).collect()
}

/// All that is told of a replay, in every format that reads nothing else.
fn told(replay: &Replay<'_>) -> Vec<String> {
    let all = Excerpt::default();
    let layout = text::Layout { width: 100, verbose: true };
    let mut told = Vec::new();
    let mut add = |write: &mut dyn FnMut(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut out = Vec::new();
        write(&mut out).expect("a Vec takes any bytes");
        told.push(String::from_utf8(out).expect("reports are texts"));
    };
    add(&mut |out| text::write_excerpt(replay, "it", layout, &all, out));
    add(&mut |out| json::write(replay, "it", "repeat it", out));
    add(&mut |out| markdown::write(replay, "it", "repeat it", &all, out));
    add(&mut |out| mermaid::write(replay, &all, out));
    add(&mut |out| perfetto::write(replay, "it", "repeat it", out));
    add(&mut |out| svg::write(replay, &all, out));
    told
}

/// What a run comes to, but for what is told of it in another way.
fn came_to(run: &JudgedRun) -> impl PartialEq + std::fmt::Debug {
    let rules: Vec<_> = run.verdicts.iter().map(|(rule, verdict)| (rule.name, verdict.clone())).collect();
    let broken: Vec<_> = run.broken_assumptions.iter().map(|broken| broken.name).collect();
    let seen: Vec<_> = run.sightings.iter().map(|(sighting, count)| (sighting.name, *count)).collect();
    (run.fingerprint, rules, broken, seen, run.bites.clone(), run.belief_overlap, run.blame(), run.bugs.clone())
}

#[track_caller]
fn is_read_back(name: &str, scenario: &Scenario, replay: &Replay<'_>, with_reports: bool) {
    let written = written_in("jsonl", replay);
    let mut replays = read(written.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(replays.len(), 1, "{name}");
    let judged = replays[0].judge(&Suite::builtin());
    assert_eq!(judged.runs.len(), replay.runs.len(), "{name}");
    for (stored, run) in judged.runs.iter().zip(&replay.runs) {
        assert!(came_to(stored) == came_to(run), "{name}: {:?} and not {:?}", came_to(stored), came_to(run));
        if !matches!(run.history.ending, holdover::sim::limits::Ending::Bug(_)) {
            assert!(stored.history == run.history, "{name}: another history");
        }
    }
    assert_eq!(judged.deviations(), replay.deviations(), "{name}");
    assert!(written_in("jsonl", &judged) == written, "{name}: written again it isn't the same");
    if with_reports
        && scenario.world.lease.service.is_some() == replay.runs[0].history.lease_service.replicas().is_some()
    {
        for (stored, run) in told(&judged).iter().zip(told(replay)) {
            assert!(*stored == run, "{name}: other reports");
        }
    }
}

#[test]
fn every_scenario_is_read_back() {
    for (place, path) in crate::history::scenario_files().into_iter().enumerate() {
        let scenario = Scenario::load(&path).expect("it is one of ours");
        is_read_back(&path.display().to_string(), &scenario, &Replay::of(&scenario), place % 8 == 0);
    }
}

#[test]
fn drawn_runs_are_read_back() {
    for number in 0..250 {
        let (scenario, protocol) = crate::draw::scenario(number);
        let replay = Replay::new(&scenario, &[protocol], scenario.seed);
        is_read_back(&format!("number {number}"), &scenario, &replay, number % 10 == 0);
    }
}

#[test]
fn several_runs_are_told_apart() {
    let scenario = crate::record::scenario();
    let written = written_in("jsonl", &Replay::of(&scenario));
    let twice = format!("{written}{written}");
    let replays = read(twice.as_bytes()).expect("it can be read");
    assert_eq!(replays.len(), 2);
}

#[test]
fn what_was_concluded_is_compared() {
    let scenario = Scenario::load("scenarios/incidents/clock-jump.toml").expect("it is one of ours");
    let run = protocol::find("naive").expect("it comes along");
    let written = written_in("jsonl", &Replay::new(&scenario, &[run], scenario.seed));
    for (from, to, told) in [
        ("\"fingerprint\":\"", "\"fingerprint\":\"0", "the stored fingerprint"),
        (
            "\"single-writer\":{\"verdict\":\"violated\"",
            "\"single-writer\":{\"verdict\":\"holds\"",
            "single-writer is violated, and holds is stored",
        ),
        (
            "\"single-writer\":{\"verdict\":\"violated\",\"times\":",
            "\"single-writer\":{\"verdict\":\"violated\",\"times\":1",
            "as is stored",
        ),
        ("\"belief_overlap\":", "\"belief_overlap\":1", "for "),
        ("\"faults\":[\"bit\"", "\"faults\":[\"missed\"", "became of the faults"),
        ("\"stale-write-tried\":", "\"stale-write-tried\":1", "stale-write-tried was seen"),
    ] {
        assert!(written.contains(from), "{from}");
        let mut changed = written.replace(from, to);
        if from == "\"fingerprint\":\"" {
            // A digit more at the beginning, and one less at the end.
            changed = crate::mutated::shorter_fingerprints(&changed);
        }
        let mut replays = read(changed.as_bytes()).expect("it can be read");
        let judged = replays[0].judge(&Suite::builtin());
        let found = judged.deviations().into_iter().filter_map(|deviation| match deviation {
            Deviation::NotAsStored { what, .. } => Some(what),
            _ => None,
        });
        let found: Vec<String> = found.collect();
        assert!(found.len() == 1 && found[0].contains(told), "{to}: {found:?}");
    }
}
