//! House rules that no compiler and no lint keeps: how files begin, how long they get, what isn't left lying about, which
//! way the modules point, and that the registries agree with each other and with what is written about them.
//!
//! Each test gathers everything that is untidy before it fails.

mod files;

use std::collections::BTreeSet;

use holdover::explore::knobs::knobs;
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::check::{ASSUMPTIONS, Bite, CHECKERS, SIGHTINGS, bites};
use holdover::sim::fault::{FAULTS, FaultInfo};
use holdover::sim::history::{EVENTS, What};
use holdover::sim::id::FaultId;
use holdover::sim::limits::Ending;
use holdover::sim::point::{POINTS, REPAIR_POINTS};
use holdover::sim::protocol::{AnyProtocol, PROTOCOLS, can_run};
use holdover::sim::repair::PROCEDURES;
use holdover::sim::run::run;
use holdover::sim::service::{MESSAGES, REPAIR_MESSAGES};

/// The folders with Rust code of ours.
const CODE: [&str; 6] = ["src", "sim", "host", "tests", "examples", "benches"];

/// The folders with scripts and styles of ours, and what their names end in.
const PAGES: [(&str, &[&str]); 3] = [
    ("src/report/html/assets", &[".js", ".css", ".html"]),
    ("tests/browser", &[".test.mjs"]),
    ("tests/oracle", &[".py"]),
];

/// Longer files are taken apart.
const MOST_LINES: usize = 500;

/// What must not be left in the code, each in two halves so that this file doesn't have it either.
const LEFTOVERS: [(&str, &str); 6] = [
    ("to", "do!("),
    ("unim", "plemented!("),
    ("db", "g!("),
    ("#[ig", "nore"),
    ("#[al", "low("),
    ("#![al", "low("),
];

/// Which way the modules point: code in the first must not mention any of the others.
const ONE_WAY: [(&str, &[&str]); 10] = [
    // Protocols, and the job that runs under them, can't see true time.
    ("sim/src/protocol", &["TrueTime", "crate::engine", "crate::history", "crate::fault"]),
    ("sim/src/settlement.rs", &["TrueTime", "crate::engine", "crate::fault"]),
    ("sim/src/worker.rs", &["TrueTime", "crate::fault"]),
    // Operators see their clocks and what they are answered, like workers.
    ("sim/src/repair", &["TrueTime", "crate::fault", "crate::check"]),
    // Services see no true time either: what they know they have from messages and their own clock.
    ("sim/src/service", &["TrueTime"]),
    // Clocks are functions of true time and of nothing else.
    ("sim/src/clock", &["crate::engine", "crate::history", "crate::fault", "crate::seed"]),
    // Recorded first, judged later, drawn last: nothing flows back.
    ("sim/src/history", &["crate::engine", "crate::run", "crate::worker", "crate::service", "crate::check"]),
    ("sim/src/check", &["crate::engine", "crate::run", "crate::worker", "crate::service", "crate::protocol"]),
    ("src/explore", &["crate::report", "crate::cli", "Scenario::load", "Scenario::parse"]),
    ("src/report", &["::run::", "::engine::", "Scenario::load", "Scenario::parse"]),
];

/// Where the files for the kinds of fault are: `KIND.toml`, the smallest story in which it bites, and
/// `KIND-control.toml`, the same without what makes it bite. There may be more beside them.
const FAULT_FILES: &str = "scenarios/faults";

/// Only this file touches madsim.
const HOST: &str = "host/src/simulated.rs";

fn pages() -> Vec<String> {
    let all = PAGES.iter().flat_map(|(folder, ends)| ends.iter().flat_map(|end| files::below(folder, end)));
    all.filter(|path| !path.contains("/node_modules/")).collect()
}

fn code() -> Vec<String> {
    CODE.iter().flat_map(|folder| files::below(folder, ".rs")).collect()
}

#[track_caller]
fn assert_tidy(untidy: &[String]) {
    assert!(untidy.is_empty(), "\n{}\n", untidy.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let is_silent = |path: &String| {
        let text = files::read(path);
        let first = text.lines().find(|line| !line.starts_with("#!["));
        !first.is_some_and(|line| line.starts_with("//! "))
    };
    let mut untidy: Vec<String> = code()
        .into_iter()
        .filter(is_silent)
        .map(|path| format!("{path} doesn't begin with //! and what it is for"))
        .collect();
    let scripts = pages().into_iter().filter(|path| path.ends_with("js"));
    let silent = scripts.filter(|path| !files::read(path).starts_with("// "));
    untidy.extend(silent.map(|path| format!("{path} doesn't begin with // and what it is for")));
    let modules = pages().into_iter().filter(|path| path.ends_with(".py"));
    let silent = modules.filter(|path| !files::read(path).starts_with("\"\"\""));
    untidy.extend(silent.map(|path| format!("{path} doesn't begin with a docstring on what it is for")));
    assert_tidy(&untidy);
}

#[test]
fn no_file_is_long() {
    let lines = |path: String| (files::read(&path).lines().count(), path);
    let untidy: Vec<String> = code()
        .into_iter()
        .chain(pages())
        .map(lines)
        .filter(|(lines, _)| *lines > MOST_LINES)
        .map(|(lines, path)| format!("{path} has {lines} lines; take it apart, {MOST_LINES} are the most"))
        .collect();
    assert_tidy(&untidy);
}

#[test]
fn nothing_is_left_lying_about() {
    let mut untidy = Vec::new();
    for path in code() {
        for (number, line) in files::read(&path).lines().enumerate() {
            for (one, other) in LEFTOVERS {
                let leftover = format!("{one}{other}");
                if line.contains(&leftover) {
                    untidy.push(format!("{path}:{} has {leftover}", number + 1));
                }
            }
        }
    }
    assert_tidy(&untidy);
}

#[test]
fn modules_point_one_way() {
    let mut untidy = Vec::new();
    for (place, forbidden) in ONE_WAY {
        let paths = match place.ends_with(".rs") {
            true => vec![place.to_owned()],
            false => files::below(place, ".rs"),
        };
        assert!(!paths.is_empty(), "{place} is gone");
        for path in paths {
            let text = files::read(&path);
            // Examples in the documentation are no part of the module.
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let found = forbidden.iter().filter(|name| code.iter().any(|line| line.contains(**name)));
            untidy.extend(found.map(|name| format!("{path} mentions {name}")));
        }
    }
    assert_tidy(&untidy);
}

#[test]
fn madsim_is_touched_in_one_file() {
    let touches = |path: &String| files::read(path).contains("madsim::");
    let untidy: Vec<String> = ["src", "sim/src", "host/src"]
        .iter()
        .flat_map(|folder| files::below(folder, ".rs"))
        .filter(|path| path != HOST && touches(path))
        .map(|path| format!("{path} touches madsim; only {HOST} does"))
        .collect();
    assert_tidy(&untidy);
    assert!(touches(&HOST.to_owned()), "{HOST} doesn't touch madsim, so this test proves nothing");
}

/// Whoever depends on holdover or holdover-sim needs no flag.
#[test]
fn nothing_but_the_crate_for_hosts_needs_the_flag_of_madsim() {
    let has_flag = |path: &String| files::read(path).contains("cfg(madsim)");
    let flagged = ["src", "sim"].iter().flat_map(|folder| files::below(folder, ".rs")).filter(has_flag);
    let mut untidy: Vec<String> = flagged.map(|path| format!("{path} needs the flag of madsim")).collect();
    for package in ["holdover", "holdover-sim"] {
        let depends = locked(package);
        assert!(!depends.is_empty(), "{package} depends on nothing, so this test proves nothing");
        let found = depends.iter().filter(|name| ["madsim", "holdover-host"].contains(&name.as_str()));
        untidy.extend(found.map(|name| format!("{package} has {name}, which needs a flag")));
    }
    assert_tidy(&untidy);
}

/// What `package` depends on by the lock file, in tests too.
fn locked(package: &str) -> Vec<String> {
    let lock: toml::Table = files::read("Cargo.lock").parse().expect("cargo writes TOML");
    let packages = lock["package"].as_array().expect("cargo lists packages");
    let found = packages.iter().find(|known| known["name"].as_str() == Some(package)).expect("it is locked");
    let depends = found.get("dependencies").and_then(|depends| depends.as_array());
    depends.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[test]
fn names_in_registries_are_unique_and_plain() {
    let registries: [(&str, Vec<&str>); 9] = [
        ("protocol", PROTOCOLS.iter().map(|protocol| protocol.name()).collect()),
        ("assumption", ASSUMPTIONS.iter().map(|assumption| assumption.name).collect()),
        ("fault", FAULTS.iter().map(|fault| fault.name).collect()),
        ("checker", CHECKERS.iter().map(|checker| checker.name).collect()),
        ("point", POINTS.iter().chain(REPAIR_POINTS).map(|(point, _)| point.0).collect()),
        ("sighting", SIGHTINGS.iter().map(|sighting| sighting.name).collect()),
        ("event", EVENTS.iter().map(|(event, _)| *event).collect()),
        ("message", MESSAGES.iter().chain(REPAIR_MESSAGES).map(|(message, _)| *message).collect()),
        ("procedure", PROCEDURES.iter().map(|procedure| procedure.name()).collect()),
    ];
    let mut untidy = Vec::new();
    for (kind, names) in registries {
        let mut known = BTreeSet::new();
        for name in names {
            if !known.insert(name) {
                untidy.push(format!("two {kind}s are called {name}"));
            }
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
            if !name.chars().all(is_plain) {
                untidy
                    .push(format!("the {kind} {name} has more than lower-case letters, digits, dashes and dots"));
            }
        }
    }
    assert_tidy(&untidy);
}

/// Where each kind of fault is explained, with an example.
const EXPLANATION: &str = "scenarios/README.md";

/// A scenario with faults, and what is written in it below `inject`: kind and keys.
struct Example {
    place: String,
    scenario: Scenario,
    injects: Vec<(String, Vec<String>)>,
    /// The keys of each fault whose values are numbers, times or lengths.
    numbers: Vec<BTreeSet<String>>,
}

impl Example {
    fn new(place: String, text: &str) -> Example {
        let scenario = Scenario::parse(&place, text).unwrap_or_else(|error| panic!("{place}: {error:?}"));
        let table: toml::Table = text.parse().expect("a scenario is TOML");
        let faults = || table.get("fault").and_then(toml::Value::as_array).into_iter().flatten();
        let injects = faults().filter_map(|fault| fault.get("inject")?.as_table()).flatten();
        let keys =
            |written: &toml::Value| written.as_table().into_iter().flat_map(toml::Table::keys).cloned().collect();
        let injects = injects.map(|(kind, written)| (kind.clone(), keys(written))).collect();
        let numbers = faults().map(|fault| {
            let when = fault.get("when").and_then(toml::Value::as_table).into_iter().flatten();
            let inject = fault.get("inject").and_then(toml::Value::as_table).into_iter().flatten();
            let inject = inject.filter_map(|(_, written)| written.as_table()).flatten();
            let written = when.map(|(key, value)| (format!("when.{key}"), value));
            let written = written.chain(inject.map(|(key, value)| (key.clone(), value)));
            written.filter(|(_, value)| is_number(value)).map(|(key, _)| key).collect()
        });
        Example { place, scenario, injects, numbers: numbers.collect() }
    }

    fn injects(&self, kind: &str) -> bool {
        self.injects.iter().any(|(written, _)| written == kind)
    }
}

/// Whether what is written is a number, or a text that counts something: a length, a time, a range.
fn is_number(written: &toml::Value) -> bool {
    let counts = |text: &str| text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
    written.is_integer() || written.is_float() || written.as_str().is_some_and(counts)
}

/// The scenarios in the explanation, and the files for the kinds of fault.
fn examples() -> Vec<Example> {
    let text = files::read(EXPLANATION);
    let blocks = text.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let explained = blocks.filter_map(|(info, block)| match info {
        "toml" => Some(Example::new(EXPLANATION.to_owned(), block)),
        "toml fragment" => Some(Example::new(EXPLANATION.to_owned(), &format!("{SMALLEST}\n{block}"))),
        _ => None,
    });
    let files = files::below(FAULT_FILES, ".toml");
    explained.chain(files.into_iter().map(|path| Example::new(path.clone(), &files::read(&path)))).collect()
}

#[test]
fn every_kind_of_fault_is_shown_with_all_its_keys() {
    let examples = examples();
    let mut untidy = Vec::new();
    for FaultInfo { name, fields, .. } in FAULTS {
        let all = examples.iter().flat_map(|example| &example.injects);
        let shown: BTreeSet<&str> =
            all.filter(|(kind, _)| kind == name).flat_map(|(_, keys)| keys).map(String::as_str).collect();
        let known: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
        let places = format!("{EXPLANATION} or {FAULT_FILES}/{name}.toml");
        untidy.extend(known.difference(&shown).map(|key| format!("{places} should show the key {key} of {name}")));
        untidy.extend(shown.difference(&known).map(|key| format!("FAULTS doesn't know the key {key} of {name}")));
        if !files::read(EXPLANATION).contains(&format!("**`{name}`**")) {
            untidy.push(format!("{EXPLANATION} doesn't explain **`{name}`**"));
        }
    }
    assert_tidy(&untidy);
}

/// The examples show every key of every kind, so together they have all the numbers that there are.
#[test]
fn every_number_of_a_fault_can_be_turned() {
    let mut untidy = BTreeSet::new();
    let mut compared = BTreeSet::new();
    for Example { scenario, numbers, .. } in examples() {
        assert_eq!(scenario.plan.len(), numbers.len());
        for (planned, numbers) in scenario.plan.iter().zip(numbers) {
            let kind = planned.inject.name();
            let knobs = knobs(planned, scenario.world.limits.end);
            // A range has a knob for each end.
            let key = |name: String| name.trim_end_matches(".min").trim_end_matches(".max").to_owned();
            let turned: BTreeSet<String> = knobs.iter().map(|knob| key(knob.name.to_string())).collect();
            untidy.extend(
                numbers.difference(&turned).map(|key| format!("src/explore/knobs.rs has no {key} of {kind}")),
            );
            compared.extend(numbers.iter().map(|key| format!("{kind} {key}")));
            let known = FAULTS.iter().find(|known| known.name == kind).expect("a kind of the registry");
            let unknown = turned.iter().filter(|key| !key.starts_with("when."));
            let unknown = unknown.filter(|key| !known.fields.iter().any(|field| field.name == **key));
            untidy.extend(
                unknown.map(|key| format!("src/explore/knobs.rs has {key} of {kind}, which has no such key")),
            );
        }
    }
    assert_tidy(&untidy.into_iter().collect::<Vec<_>>());
    assert!(compared.len() > 40, "{compared:?}");
}

#[test]
fn every_fault_of_the_registry_begins_and_ends() {
    let examples = examples();
    for FaultInfo { name, .. } in FAULTS {
        for protocol in PROTOCOLS {
            let mut struck = 0;
            let fitting = examples.iter().filter(|example| can_run(*protocol, &example.scenario.world));
            for Example { place, scenario, .. } in fitting.filter(|example| example.injects(name)) {
                let history = run(&scenario.world, *protocol, &scenario.plan, scenario.seed);
                for (index, planned) in scenario.plan.iter().enumerate() {
                    let fault = FaultId(index as u16);
                    let count = |what| history.events.iter().filter(|event| event.what == what).count();
                    let (began, ended) = (count(What::FaultBegan { fault }), count(What::FaultEnded { fault }));
                    let kind = planned.inject.name();
                    assert!(began <= 1 && began == ended, "{kind} in {place} under {}", protocol.name());
                    struck += usize::from(kind == *name && began == 1);
                }
            }
            assert!(struck > 0, "no example of {name} strikes under {}", protocol.name());
        }
    }
}

#[test]
fn every_worker_passes_every_point_and_one_between_each_check_and_what_follows() {
    // Slow enough for a renewal.
    let text = SMALLEST.replace("operations = 14", "operations = 14\npace = \"2s\"");
    let scenario = Scenario::parse("slow", &text).expect("a scenario");
    for protocol in PROTOCOLS {
        let history = run(&scenario.world, *protocol, &scenario.plan, scenario.seed);
        assert_eq!(history.ending, Ending::Finished);
        for (point, _) in POINTS {
            let passed = history.events.iter().any(|event| event.what == What::PointPassed(*point));
            assert!(passed, "{} never passes {point}", protocol.name());
        }
        for (id, event) in history.numbered() {
            let What::LeaseChecked { valid: true, .. } = event.what else { continue };
            let next =
                history.events.iter().find(|event| event.cause == Some(id)).expect("something follows a check");
            let is_point = matches!(next.what, What::PointPassed(_));
            assert!(is_point, "{}: {:?} follows the check {id}", protocol.name(), next.what);
        }
    }
}

/// Event kinds are named twice, in the registry and where histories are written; and what is sent is named by each service.
#[test]
fn events_and_messages_are_called_what_their_registries_say() {
    let mut sent = BTreeSet::new();
    let folders = ["scenarios/incidents", "scenarios/faults", "scenarios/consensus"];
    for path in folders.into_iter().flat_map(|folder| files::below(folder, ".toml")) {
        let scenario = Scenario::parse(&path, &files::read(&path)).expect("our own files are scenarios");
        for protocol in PROTOCOLS.iter().filter(|protocol| can_run(**protocol, &scenario.world)) {
            for event in run(&scenario.world, *protocol, &scenario.plan, scenario.seed).events {
                let written = serde_json::to_value(event.what).expect("an event has no keys that aren't text");
                let key = written.as_object().and_then(|event| event.keys().next().cloned());
                assert_eq!(key.as_deref().or(written.as_str()), Some(event.what.kind()));
                if let What::MessageSent { about, .. } = event.what {
                    sent.insert(about);
                }
            }
        }
    }
    assert_eq!(sent, MESSAGES.iter().chain(REPAIR_MESSAGES).map(|(message, _)| *message).collect());
}

#[test]
fn every_incident_is_in_the_table() {
    let table = files::read(EXPLANATION);
    let incidents = files::below("scenarios/incidents", ".toml");
    assert!(!incidents.is_empty());
    let is_in = |path: &String| {
        path.strip_prefix("scenarios/").is_some_and(|name| table.contains(&format!("| `{name}` |")))
    };
    let untidy: Vec<String> = incidents
        .into_iter()
        .filter(|path| !is_in(path))
        .map(|path| format!("{path} isn't in the table of {EXPLANATION}"))
        .collect();
    assert_tidy(&untidy);
}

#[test]
fn every_kind_of_fault_has_a_file_where_it_bites_and_a_control() {
    let mut untidy = Vec::new();
    for FaultInfo { name, .. } in FAULTS {
        let [path, control] = ["", "-control"].map(|which| format!("{FAULT_FILES}/{name}{which}.toml"));
        let there = files::below(FAULT_FILES, ".toml");
        let is_there = |path: &String| there.contains(path);
        match (is_there(&path), is_there(&control)) {
            (true, true) => {}
            (file, _) => {
                let missing = if file { control } else { path };
                untidy.push(format!("{missing} isn't there"));
                continue;
            }
        }
        let load = |path: &String| Scenario::parse(path, &files::read(path)).expect("examples are scenarios");
        let (scenario, control_scenario) = (load(&path), load(&control));
        let bites_under = |protocol: &dyn AnyProtocol| {
            let history = run(&scenario.world, protocol, &scenario.plan, scenario.seed);
            let bites = bites(&history);
            scenario.plan.iter().zip(bites).any(|(fault, bite)| fault.inject.name() == *name && bite == Bite::Bit)
        };
        if !PROTOCOLS.iter().any(|protocol| bites_under(*protocol)) {
            untidy.push(format!("{name} doesn't bite in {path}, under any protocol"));
        }
        if (&scenario.world, &scenario.plan) == (&control_scenario.world, &control_scenario.plan) {
            untidy.push(format!("{control} is the same as {path}, so it shows nothing"));
        }
    }
    assert_tidy(&untidy);
}

/// Whatever else came with it could draw, or read a clock, where no lint of ours looks.
#[test]
fn the_consensus_library_brings_nothing_along() {
    let lock: toml::Table = files::read("Cargo.lock").parse().expect("cargo writes TOML");
    let packages = lock["package"].as_array().expect("cargo lists packages");
    let found = packages.iter().find(|package| package["name"].as_str() == Some("omnipaxos"));
    let library = found.expect("the consensus library is locked");
    assert_eq!(library["version"].as_str(), Some("0.2.4"), "a new version may do something else with a seed");
    assert_eq!(library.get("dependencies"), None);
}
