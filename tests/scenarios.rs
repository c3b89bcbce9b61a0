//! Every scenario file does what it says it does; those of the incident, and those whose faults strike at what the workers
//! do, do so whatever the latencies are.
//!
//! To add one: a file in a folder of `scenarios`. Files in `scenarios/invalid` are for another test.

use std::path::Path;

use holdover::replay::{Deviation, Replay, protocols_of};
use holdover::scenario::Scenario;
use holdover::sim::check::CHECKERS;
use holdover::sim::fault::{Anchor, PlannedFault};
use holdover::sim::seed::Seed;

/// How many seeds beside its own a story of the incident must hold under.
const SEEDS: u64 = 200;

/// How many seeds beside its own every other scenario must hold under whose faults are tied to events.
const SEEDS_OF_ANCHORED: u64 = 100;

datatest_stable::harness! {
    { test = as_the_file_expects, root = "scenarios", pattern = r"^(?!invalid/).*\.toml$" },
    { test = runs_the_same_when_written_anew, root = "scenarios", pattern = r"^(?!invalid/).*\.toml$" },
    { test = leaves_no_verdict_unsaid, root = "scenarios/incidents", pattern = r"\.toml$" },
    { test = whatever_the_seed, root = "scenarios/incidents", pattern = r"\.toml$" },
    { test = whatever_the_seed_if_anchored, root = "scenarios", pattern = r"^(?!invalid/|incidents/|regressions/).*\.toml$" },
}

fn as_the_file_expects(path: &Path) -> datatest_stable::Result<()> {
    let scenario = Scenario::load(path)?;
    refuse(&scenario, scenario.seed, &Replay::of(&scenario).deviations())
}

/// A scenario that a program writes down is the one that it had, and not one like it.
fn runs_the_same_when_written_anew(path: &Path) -> datatest_stable::Result<()> {
    let scenario = Scenario::load(path)?;
    let written = Scenario::parse("written", &scenario.to_toml()?)?;
    let [original, anew] = [&scenario, &written].map(Replay::of);
    let fingerprints = |replay: &Replay| replay.runs.iter().map(|run| run.fingerprint).collect::<Vec<_>>();
    if fingerprints(&original).is_empty() || fingerprints(&original) != fingerprints(&anew) {
        return Err(format!("{:?} became {:?}", fingerprints(&original), fingerprints(&anew)).into());
    }
    Ok(())
}

/// A story of the incident is read by people: what isn't said there, they would have to know.
fn leaves_no_verdict_unsaid(path: &Path) -> datatest_stable::Result<()> {
    let scenario = Scenario::load(path)?;
    for protocol in &scenario.protocols {
        let said = scenario.expect.get(protocol).ok_or_else(|| format!("nothing is said of {protocol}"))?;
        if let Some(unsaid) = CHECKERS.iter().find(|checker| !said.verdicts.contains_key(checker.name)) {
            return Err(format!("nothing is said of {} under {protocol}", unsaid.name).into());
        }
    }
    Ok(())
}

fn whatever_the_seed(path: &Path) -> datatest_stable::Result<()> {
    holds_under(&Scenario::load(path)?, SEEDS)
}

/// A fault at an instant of its own may well come before or after what it is meant to hit; one that waits for an event
/// hits it under every seed. What was found and promoted is found again with its own seed.
fn whatever_the_seed_if_anchored(path: &Path) -> datatest_stable::Result<()> {
    let scenario = Scenario::load(path)?;
    let tied = |planned: &PlannedFault| matches!(planned.when, Anchor::Point { .. } | Anchor::Event { .. });
    if !scenario.plan.iter().any(tied) {
        return Ok(());
    }
    holds_under(&scenario, SEEDS_OF_ANCHORED)
}

fn holds_under(scenario: &Scenario, seeds: u64) -> datatest_stable::Result<()> {
    let protocols = protocols_of(scenario);
    (0..seeds)
        .map(Seed)
        .try_for_each(|seed| refuse(scenario, seed, &Replay::new(scenario, &protocols, seed).deviations()))
}

fn refuse(scenario: &Scenario, seed: Seed, deviations: &[Deviation]) -> datatest_stable::Result<()> {
    if deviations.is_empty() {
        return Ok(());
    }
    Err(format!("\"{}\" with seed {}: {deviations:#?}", scenario.title, seed.0).into())
}
