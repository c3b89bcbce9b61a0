//! Judges stored histories again, and says where that comes to something else than it did when they were stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use holdover_sim::check::{ASSUMPTIONS, Assumption, CHECKERS, SIGHTINGS};
use serde_json::Value;

use super::{Deviation, JudgedRun, Premise, Ran, Replay};
use crate::scenario::Expectation;
use crate::stored::{Concluded, StoredRun};
use crate::suite::Suite;

/// Stored runs of one scenario with one seed, one for each protocol.
pub struct StoredReplay {
    title: String,
    story: Option<String>,
    expect: BTreeMap<String, Expectation>,
    nodes: Vec<String>,
    runs: Vec<StoredRun>,
}

/// Replays of stored runs: runs of one scenario and seed that follow each other are told together, each protocol once. No more
/// is in memory than one replay, and the run behind it. After an error there are no more.
pub struct StoredReplays<I> {
    runs: I,
    next: Option<StoredRun>,
}

impl<I> StoredReplays<I> {
    /// Those of `runs`, in their order.
    pub fn of(runs: I) -> StoredReplays<I> {
        StoredReplays { runs, next: None }
    }
}

impl<E, I: Iterator<Item = Result<StoredRun, E>>> Iterator for StoredReplays<I> {
    type Item = Result<StoredReplay, E>;

    fn next(&mut self) -> Option<Result<StoredReplay, E>> {
        let first = match self.next.take() {
            Some(run) => run,
            None => match self.runs.next()? {
                Ok(run) => run,
                Err(error) => return Some(Err(error)),
            },
        };
        let mut replay = StoredReplay::begin(first);
        loop {
            match self.runs.next() {
                Some(Ok(run)) if replay.goes_on_with(&run) => replay.add(run),
                Some(Err(error)) => return Some(Err(error)),
                other => {
                    self.next = other.and_then(Result::ok);
                    return Some(Ok(replay));
                }
            }
        }
    }
}

impl StoredReplay {
    fn begin(run: StoredRun) -> StoredReplay {
        let nodes = run.history.nodes.iter().filter(|node| node.copy_of.is_none());
        let mut replay = StoredReplay {
            title: run.title.clone(),
            story: run.story.clone(),
            expect: BTreeMap::new(),
            nodes: nodes.map(|node| node.name.clone()).collect(),
            runs: Vec::new(),
        };
        replay.add(run);
        replay
    }

    fn add(&mut self, mut run: StoredRun) {
        if let Some(mut expect) = run.expect.take() {
            let is_known = |name: &str| SIGHTINGS.iter().any(|sighting| sighting.name == name);
            expect.seen.retain(|name| is_known(name));
            self.expect.insert(run.history.protocol.to_owned(), expect);
        }
        self.runs.push(run);
    }

    fn goes_on_with(&self, run: &StoredRun) -> bool {
        let alike = |first: &StoredRun| {
            let of = |run: &StoredRun| (run.history.seed, run.history.start, run.told.settings.end());
            of(first) == of(run) && first.history.plan == run.history.plan
        };
        let is_new = self.runs.iter().all(|known| known.history.protocol != run.history.protocol);
        is_new && (&self.title, &self.story) == (&run.title, &run.story) && self.runs.first().is_some_and(alike)
    }

    /// What has to be told beside the reports: what was stored that a program with `suite` doesn't know.
    pub fn notes(&self, suite: &Suite) -> Vec<String> {
        self.runs.iter().flat_map(|run| notes(run, suite)).collect()
    }

    /// Judges the runs, by the assumptions that there are in `suite`. They are taken out for that: a second time there are
    /// none.
    pub fn judge(&mut self, suite: &Suite) -> Replay<'_> {
        let known = assumptions(suite);
        let judged = |run: StoredRun| {
            let StoredRun { history, summary, relies_on, told, concluded, .. } = run;
            let ran = Ran::elsewhere(history.protocol, summary, relies_on, &known);
            JudgedRun { stored: Some(concluded), ..JudgedRun::judged(ran, history, told) }
        };
        let end = self.runs.first().map(|run| run.told.settings.end()).unwrap_or_default();
        let runs: Vec<JudgedRun> = std::mem::take(&mut self.runs).into_iter().map(judged).collect();
        let first = runs.first().map(|run| (run.history.seed, run.history.start, run.history.plan.clone()));
        let (seed, start, plan) = first.unwrap_or((holdover_sim::seed::Seed(0), Default::default(), Vec::new()));
        let premise = Premise {
            title: &self.title,
            story: self.story.as_deref(),
            start,
            end,
            nodes: self.nodes.iter().map(|name| Cow::Borrowed(name.as_str())).collect(),
            plan: Cow::Owned(plan),
            expect: Cow::Borrowed(&self.expect),
        };
        Replay { premise, seed, runs }
    }
}

/// All assumptions that there are in `suite`: the built-in ones, and what its protocols bring along.
fn assumptions(suite: &Suite) -> Vec<&'static Assumption> {
    let own = suite.named().flat_map(|protocol| protocol.assumptions());
    ASSUMPTIONS.iter().chain(own).copied().collect()
}

/// What this program doesn't know of what was stored of `run`.
fn notes(run: &StoredRun, suite: &Suite) -> Vec<String> {
    let name = run.history.protocol;
    let Concluded { holdover, verdicts, .. } = &run.concluded;
    let here = env!("CARGO_PKG_VERSION");
    let mut notes = Vec::new();
    if holdover != here {
        notes.push(format!("{name}: it was written by holdover {holdover}, and this is {here}"));
    }
    if suite.find(name).is_none() {
        notes.push(format!(
            "{name}: this program has no protocol of that name. The rules judge its history all the same, and what it \
             relies on is known by what the history says"
        ));
    }
    if run.relies_on.is_empty() {
        notes.push(format!(
            "{name}: it says of nothing that it relies on it, so a flaw can't be told from a bad night"
        ));
    }
    let mut unknown = |what: &str, name_of: &str| {
        notes.push(format!("{name}: this program has no {what} `{name_of}`, so nothing is told of it"));
    };
    let known = assumptions(suite);
    let is_assumption = |name: &String| known.iter().any(|known| known.name == *name);
    run.relies_on.iter().filter(|name| !is_assumption(name)).for_each(|name| unknown("assumption", name));
    let is_rule = |name: &String| CHECKERS.iter().any(|known| known.name == *name);
    let expected = run.expect.iter().flat_map(|expect| expect.verdicts.keys());
    let mut rules: Vec<&String> = verdicts.keys().chain(expected).filter(|name| !is_rule(name)).collect();
    rules.sort();
    rules.dedup();
    rules.into_iter().for_each(|name| unknown("rule", name));
    let new: Vec<&str> =
        CHECKERS.iter().map(|rule| rule.name).filter(|rule| !verdicts.contains_key(*rule)).collect();
    if !new.is_empty() {
        notes.push(format!("{name}: {} had not been judged when it was stored", new.join(", ")));
    }
    notes
}

/// In what `run` isn't as it was concluded when it was stored. What one side doesn't know at all isn't compared.
pub(super) fn differences(run: &JudgedRun) -> Vec<Deviation> {
    let Some(stored) = &run.stored else { return Vec::new() };
    let mut found = Vec::new();
    let fingerprint = run.fingerprint.to_string();
    if let Some(other) = stored.fingerprints.iter().find(|stored| **stored != fingerprint) {
        found.push(format!(
            "the stored fingerprint {other} is of another history than the stored events, whose fingerprint is {fingerprint}: \
             something was changed, or another version wrote it; what is told here is of the events"
        ));
    }
    for (rule, verdict) in &run.verdicts {
        let Some(was) = stored.verdicts.get(rule.name) else { continue };
        if serde_json::to_value(verdict).is_ok_and(|now| now == *was) {
            continue;
        }
        let (rule, is, name) =
            (rule.name, verdict.name(), was.get("verdict").and_then(Value::as_str).unwrap_or(""));
        found.push(match is == name {
            true => format!(
                "{rule} is {is}, as is stored, but the numbers or events that are stored for it are others"
            ),
            false => format!("{rule} is {is}, and {name} is stored"),
        });
    }
    let is_known = |name: &&String| run.protocol.assumptions().iter().any(|known| known.name == **name);
    let broken: Vec<&str> = run.broken_assumptions.iter().map(|broken| broken.name).collect();
    let was: Vec<&str> = stored.broken_assumptions.iter().filter(is_known).map(String::as_str).collect();
    if broken != was {
        found.push(format!("not so of what it relies on is {}, and {} is stored", listed(&broken), listed(&was)));
    }
    if run.belief_overlap != stored.belief_overlap {
        let (is, was) = (run.belief_overlap, stored.belief_overlap);
        found.push(format!("two workers both thought that they hold the lease for {is}, and {was} is stored"));
    }
    for (sighting, count) in &run.sightings {
        let was = stored.seen.get(sighting.name).filter(|was| *was != count);
        found.extend(was.map(|was| format!("{} was seen {count} times, and {was} is stored", sighting.name)));
    }
    let faults: Vec<Value> = run.bites.iter().filter_map(|bite| serde_json::to_value(bite).ok()).collect();
    if faults != stored.faults {
        found.push("what became of the faults isn't what is stored".to_owned());
    }
    let protocol = run.protocol.name();
    found.into_iter().map(|what| Deviation::NotAsStored { protocol, what }).collect()
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
