//! What is told of a violation: whether all that the protocol relies on was so.

mod blame;
mod law;
mod settings;

use std::path::{Path, PathBuf};

use holdover::replay::{Blame, JudgedRun, Replay};
use holdover::scenario::Scenario;

fn load(path: &Path) -> Scenario {
    Scenario::load(path).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn broken(run: &JudgedRun) -> Vec<&'static str> {
    run.broken_assumptions.iter().map(|assumption| assumption.name).collect()
}

/// The run of the scenario in `file` under `protocol` violates something outside of what the protocol relies on: these.
#[track_caller]
fn check(file: &str, protocol: &str, expected: &[&str]) {
    let scenario = load(&Path::new("scenarios").join(file));
    let replay = Replay::of(&scenario);
    let run = replay.runs.iter().find(|run| run.protocol.name() == protocol).expect("it is run");
    assert_eq!(broken(run), expected, "{file} under {protocol}");
    assert_eq!(run.blame(), Some(Blame::Outside), "{file} under {protocol}");
}

#[test]
fn each_violation_is_told_with_what_it_took() {
    check("faults/failover.toml", "fenced", &["token-counter-survives-failover"]);
    check("faults/split-brain.toml", "fenced", &["one-primary-answers", "token-counter-survives-failover"]);
    check("faults/split-brain-no-lag.toml", "monotonic", &["one-primary-answers", "leases-survive-failover"]);
    check("faults/split-brain-of-ledger.toml", "fenced", &["one-primary-answers", "accepted-is-durable"]);
    check("faults/split-brain-of-provider.toml", "fenced", &["one-primary-answers", "accepted-is-durable"]);
    check("faults/restart-memory.toml", "fenced", &["highest-token-durable"]);
    check("faults/restart-unsynced.toml", "fenced", &["highest-token-durable", "accepted-is-durable"]);
    check("faults/crash.toml", "naive", &["operations-run-through"]);
    check("faults/crash.toml", "monotonic", &["operations-run-through"]);
    check("faults/shutdown.toml", "naive", &["released-when-done"]);
    check("faults/shutdown.toml", "monotonic", &["released-when-done"]);
    check("faults/clock-slew-of-holder.toml", "monotonic", &["checks-leave-time", "clock-rate"]);
    check("faults/clock-step-of-store.toml", "monotonic", &["expiry-as-meant"]);
    check("monotonic/stall-after-the-check.toml", "monotonic", &["pause-not-between-check-and-act"]);
    check("monotonic/freeze-before-the-check.toml", "monotonic", &["frozen-clocks-never"]);
    check(
        "incidents/clock-jump.toml",
        "naive",
        &["pause-not-between-check-and-act", "checks-leave-time", "clocks-agree"],
    );
}

/// No scenario shows a flaw of a protocol: all that breaks a rule breaks something that the protocol relies on first.
#[test]
fn no_scenario_breaks_a_rule_inside_the_assumptions() {
    let folders = ["incidents", "faults", "clocks", "monotonic", "traps", "consensus", "regressions"]
        .map(|folder| Path::new("scenarios").join(folder));
    let files = folders.iter().flat_map(|folder| folder.read_dir().expect("the repository has this folder"));
    let files: Vec<PathBuf> = files.map(|entry| entry.expect("a folder can be read").path()).collect();
    let mut violated = 0;
    for file in &files {
        let scenario = load(file);
        for run in Replay::of(&scenario).runs {
            let blame = run.blame();
            assert_ne!(blame, Some(Blame::Inside), "{} under {}", file.display(), run.protocol.name());
            violated += usize::from(blame == Some(Blame::Outside));
        }
    }
    assert!(violated >= 10, "{violated}");
}
