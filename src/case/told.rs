//! From a shrunk scenario to one that tells its story and says what is expected of it.

use std::collections::BTreeMap;

use holdover_sim::protocol::AnyProtocol;

use crate::explore::shrink::Shrunk;
use crate::replay::{JudgedRun, Replay};
use crate::report::shrink::{story, title};
use crate::scenario::{Expectation, Expected, Scenario};
use crate::sim::check::Verdict;

/// A shrunk scenario as it is written, and whether its runs repeat themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The scenario: its title says what it shows, its story how that comes about, and what is expected is what its runs
    /// came to.
    pub scenario: Scenario,
    /// Whether a second run gave the same, under each protocol.
    pub repeats: bool,
}

/// Tells the story of what was shrunk under `protocol`, and notes what its runs come to: under the protocols of the scenario,
/// and under `protocol` if scenario files know it.
pub fn told(shrunk: &Shrunk, protocol: &'static dyn AnyProtocol) -> Told {
    let mut scenario = shrunk.scenario.clone();
    let suite = scenario.suite.clone();
    if suite.has(protocol) && !scenario.protocols.iter().any(|name| name == protocol.name()) {
        scenario.protocols.insert(0, protocol.name().to_owned());
    }
    let others = scenario.protocols.iter().filter(|name| *name != protocol.name());
    let others = others.filter_map(|name| suite.find(name));
    let all: Vec<&'static dyn AnyProtocol> = std::iter::once(protocol).chain(others).collect();
    let replay = Replay::new(&scenario, &all, scenario.seed);
    let repeats = replay.runs.iter().all(|run| run.repeats);
    let (own, others) = replay.runs.split_first().expect("it was run under its protocol");
    let story = story(shrunk, own, &others.iter().collect::<Vec<_>>());
    // A protocol of a program's own may only be called like one of the suite's.
    let known = replay.runs.iter().filter(|run| run.protocol.code().is_some_and(|code| suite.has(code)));
    let expect: BTreeMap<String, Expectation> =
        known.map(|run| (run.protocol.name().to_owned(), expectation(run))).collect();
    scenario.title = title(protocol.name(), shrunk.signature);
    scenario.story = Some(story);
    scenario.expect = expect;
    Told { scenario, repeats }
}

/// What a run came to, as what is expected of it: every verdict, and all that it has seen.
fn expectation(run: &JudgedRun) -> Expectation {
    let verdict = |verdict: &Verdict| match verdict {
        Verdict::Holds { .. } => Expected::Holds,
        Verdict::Violated { .. } => Expected::Violated,
        Verdict::Unknown { .. } => Expected::Unknown,
    };
    Expectation {
        verdicts: run.verdicts.iter().map(|(checker, found)| (checker.name.to_owned(), verdict(found))).collect(),
        seen: run
            .sightings
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(sighting, _)| sighting.name.to_owned())
            .collect(),
    }
}
