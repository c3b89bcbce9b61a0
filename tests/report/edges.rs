//! Texts and numbers at their ends: nothing may panic or break the layout.

use holdover::replay::Replay;
use holdover::report::text::Layout;
use holdover::report::{json, jsonl, timeline};
use holdover::scenario::Scenario;
use holdover::sim::clock::Rate;
use holdover::sim::fault::{
    Anchor, ClockSlew, ClockStep, Fault, Loses, Pause, PauseClocks, PlannedFault, Restart,
};
use holdover::sim::id::NodeId;
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive};
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::worker_node;

use crate::support::{SMALL, Small, told};

const BOTH: [&dyn AnyProtocol; 2] = [&Naive, &Fenced];

/// The report at a narrow and at the usual width, in both kinds, and the JSON; the told text of one.
fn all_reports(scenario: &Scenario) -> String {
    for width in [60, 100] {
        for verbose in [true, false] {
            told(scenario, &BOTH, Layout { width, verbose });
        }
    }
    let replay = Replay::new(scenario, &BOTH, scenario.seed);
    let (mut document, mut lines) = (Vec::new(), Vec::new());
    json::write(&replay, "x", "y", &mut document).expect("a Vec takes any bytes");
    jsonl::write(&replay, &mut lines).expect("a Vec takes any bytes");
    serde_json::from_slice::<serde_json::Value>(&document).expect("one JSON document");
    told(scenario, &BOTH, Layout { width: 100, verbose: false })
}

#[test]
fn odd_titles_and_notes() {
    for text in [
        "x".repeat(10_000),
        "two words ".repeat(1_000),
        "日本語".repeat(3_000),
        "e\u{301}\u{302}\u{303}".repeat(2_000),
        "\u{301}".repeat(5_000),
        "\u{202e}\u{2066}مرحبا بالعالم\u{200f} ".repeat(300),
        "👩‍👩‍👧‍👦🏳️‍🌈 ".repeat(300),
        "\u{200b}\u{feff}".repeat(3_000),
        " ".repeat(1_000),
        "a\u{a0}b".repeat(1_000),
        String::new(),
        // A program may make a scenario that the reader of files would refuse.
        "a\nb\u{1b}[2J\u{0}\r\tc".to_owned(),
    ] {
        let mut scenario = SMALL.scenario();
        let inject: Fault = Pause::of(worker_node(0), Span::secs(1), PauseClocks::Running).into();
        let when = Anchor::At(TrueTime::START + Span::millis(100));
        scenario.title.clone_from(&text);
        scenario.plan = vec![PlannedFault { when, inject, note: Some(text), name: None }];
        let told = all_reports(&scenario);
        assert!(!told.chars().any(|char| char.is_control() && char != '\n'), "{told}");
    }
}

#[test]
fn odd_names_of_workers() {
    let longest = "a".repeat(32);
    let small = Small { workers: &[&longest, "w", "a-b-c"], ..SMALL };
    assert!(all_reports(&small.scenario()).contains(&longest), "where there is room it is whole");
    // Such names only a program can give.
    for name in ["", "日本語".repeat(100).as_str(), "x".repeat(10_000).as_str(), "e\u{301}".repeat(500).as_str()]
    {
        let mut scenario = SMALL.scenario();
        scenario.world.workers[0].name = name.to_owned();
        all_reports(&scenario);
    }
}

#[test]
fn many_workers_share_a_lane() {
    let names: Vec<String> = (0..40).map(|n| format!("worker-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let small = Small {
        top: "end = \"+3m\"\nsteps = 20000",
        workers: &names,
        faults: &[
            ("point = \"write.checked\"", "pause = { node = \"worker-0\", for = \"50s\" }"),
            ("at = \"+1s\"", "pause = { node = \"worker-39\", for = \"1s\" }"),
        ],
        ..SMALL
    };
    let told = all_reports(&small.scenario());
    assert!(told.contains("┌ worker-0\n") || told.contains("┌ worker-0 "), "{told}");
    assert!(told.contains("┌ worker-39"), "{told}");
    assert!(told.contains(" other workers"), "{told}");
}

#[test]
fn faults_that_only_a_program_can_plan() {
    let (a, ledger) = (worker_node(0), NodeId(1));
    let at = |span| Anchor::At(TrueTime::START + span);
    let most = Rate::from_ppb(Rate::MAX_PPB).expect("the greatest rate");
    let plan = [
        (at(Span::ZERO), Fault::ClockStep(ClockStep { node: a, by: Span::MAX })),
        (at(Span::nanos(1)), Fault::ClockStep(ClockStep { node: a, by: -Span::MAX })),
        (at(Span::nanos(2)), Fault::ClockStep(ClockStep { node: ledger, by: -Span::MAX })),
        (at(Span::nanos(3)), Fault::ClockSlew(ClockSlew { node: a, rate: most, lasting: Span::MAX })),
        (at(Span::secs(1)), Pause::of(a, Span::MAX, PauseClocks::Frozen).into()),
        (at(Span::secs(2)), Pause::of(a, Span::nanos(1), PauseClocks::Suspended).into()),
        (at(Span::MAX), Fault::Restart(Restart { node: ledger, lasting: Span::MAX, loses: Loses::Memory })),
        (
            Anchor::Point {
                point: "no.such".into(),
                node: None,
                after: TrueTime::NEVER,
                nth: u32::MAX,
                delay: Span::ZERO,
            },
            Fault::Restart(Restart { node: ledger, lasting: Span::nanos(1), loses: Loses::Memory }),
        ),
    ];
    let mut scenario = SMALL.scenario();
    scenario.plan =
        plan.map(|(when, inject)| PlannedFault { when, inject, note: Some(String::new()), name: None }).to_vec();
    all_reports(&scenario);
}

#[test]
fn a_history_with_nothing_in_it() {
    let mut scenario = SMALL.scenario();
    scenario.world.limits.steps = 0;
    let told = all_reports(&scenario);
    assert!(told.contains("can't tell any of the 9 rules") || told.contains("can't tell"), "{told}");
    scenario.world.limits.end = TrueTime::START;
    all_reports(&scenario);
}

#[test]
fn rows_of_the_timeline_are_in_order_and_never_empty() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");
    let scenario = Scenario::load(path).expect("the incident is a scenario");
    for seed in 0..50 {
        let replay = Replay::new(&scenario, &BOTH, holdover::sim::seed::Seed(seed));
        for run in &replay.runs {
            let rows = timeline(&run.history);
            assert!(rows.is_sorted_by_key(|row| (row.at, row.event)), "seed {seed}");
            assert!(rows.iter().all(|row| !row.text.is_empty()), "seed {seed}");
            assert!(rows.iter().all(|row| run.history.event(row.event).at == row.at), "seed {seed}");
        }
    }
}
