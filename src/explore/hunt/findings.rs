//! What a hunt found: the failures, each once, however many seeds it has; and what the runs went through.

use std::collections::BTreeMap;
use std::fmt;

use holdover_sim::check::SIGHTINGS;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::OwnPlan;
use super::coverage::Coverage;
use super::seeds::{Seeds, Shard};
use crate::explore::Signature;
use crate::explore::generate::Selection;

/// What kind of failure it is, whatever seed has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Cause {
    /// Something of holdover's own panicked.
    Bug,
    /// A second run with the same seed gave another history: what the run broke isn't told then, as it means nothing.
    Unrepeated,
    /// The protocol's code panicked.
    Panicked,
    /// A rule was broken.
    Rule(Signature),
}

impl Cause {
    /// Its name, one word with dashes: `single-writer-two-writers`.
    pub fn name(self) -> String {
        match self {
            Cause::Bug => "bug".to_owned(),
            Cause::Unrepeated => "unrepeated".to_owned(),
            Cause::Panicked => "panicked".to_owned(),
            Cause::Rule(signature) => format!("{}-{}", signature.checker(), signature.kind()),
        }
    }
}

/// As a phrase: `single-writer: two workers in one generation`.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Bug => f.write_str("holdover itself panicked: this is a bug in holdover"),
            Cause::Unrepeated => f.write_str("the same seed gave another history"),
            Cause::Panicked => f.write_str("the protocol's code panicked"),
            Cause::Rule(signature) => signature.fmt(f),
        }
    }
}

/// The two names of a signature with a slash between, so that neither can be taken for a part of the other.
impl From<Cause> for String {
    fn from(cause: Cause) -> String {
        match cause {
            Cause::Rule(signature) => format!("{}/{}", signature.checker(), signature.kind()),
            cause => cause.name(),
        }
    }
}

/// No failure is called that.
#[derive(Debug, Error)]
#[error("no failure is called `{0}`; the file may be of another version")]
pub struct UnknownCause(String);

impl TryFrom<String> for Cause {
    type Error = UnknownCause;

    fn try_from(name: String) -> Result<Cause, UnknownCause> {
        let signature = name.split_once('/').and_then(|(checker, kind)| Signature::named(checker, kind));
        match (&*name, signature) {
            (_, Some(signature)) => Ok(Cause::Rule(signature)),
            ("bug", _) => Ok(Cause::Bug),
            ("unrepeated", _) => Ok(Cause::Unrepeated),
            ("panicked", _) => Ok(Cause::Panicked),
            _ => Err(UnknownCause(name)),
        }
    }
}

/// One seed that has a failure: of all of them the one that is easiest to understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The seed.
    pub seed: u64,
    /// How many faults its plan has.
    pub faults: usize,
    /// Whether it is a flaw of the protocol, as far as that can be told: see [`Blame::is_flaw`](crate::replay::Blame::is_flaw).
    pub flaw: bool,
}

impl Example {
    /// A flaw comes first, then a small plan, then a low seed.
    fn rank(self) -> (bool, usize, u64) {
        (!self.flaw, self.faults, self.seed)
    }
}

/// One failure, with how often it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The protocol that failed.
    pub protocol: String,
    /// How.
    pub cause: Cause,
    /// With so many seeds.
    pub seeds: u64,
    /// In so many of them all that the protocol relies on was so, and it was more than late.
    pub inside: u64,
    /// In so many of them something that the protocol relies on wasn't so. The others were only late, or the protocol doesn't
    /// say what it relies on.
    pub outside: u64,
    /// One of them.
    pub example: Example,
    /// What a panic said, of the example; or why a run may not repeat itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Failure {
    /// A name for it among the failures of a hunt, which will do for a folder: `single-writer-two-writers-naive`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.cause.name(), self.protocol)
    }

    fn add(&mut self, other: &Failure) {
        self.seeds += other.seeds;
        self.inside += other.inside;
        self.outside += other.outside;
        if other.example.rank() < self.example.rank() {
            self.example = other.example;
            self.message.clone_from(&other.message);
        }
    }
}

/// What was hunted. Only findings of the same can be joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunted {
    /// The version of holdover; another one may draw other runs from the same seeds.
    pub version: String,
    /// The scenario as a file, or its title if no file can say it.
    pub scenario: String,
    /// The protocols, in the order of reports.
    pub protocols: Vec<String>,
    /// How bad the nights were.
    pub profile: String,
    /// Which kinds of fault were drawn.
    pub faults: String,
    /// What became of the scenario's own plan.
    pub plan: String,
    /// Whether only failures count that happened though all was as the protocol relies on.
    pub inside_only: bool,
    /// Of which seeds.
    pub seeds: Seeds,
}

/// What a hunt found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// What was hunted.
    pub hunted: Hunted,
    /// Which shares of the seeds, in their order.
    pub shards: Vec<Shard>,
    /// How many seeds were looked at.
    pub seeds: u64,
    /// Whether all seeds of the shares were looked at.
    pub complete: bool,
    /// What the runs went through, by protocol.
    pub coverage: BTreeMap<String, Coverage>,
    /// The failures, in the order of reports.
    pub failures: Vec<Failure>,
}

/// Why findings can't be joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotOne {
    /// They are of something else.
    #[error("the {what} differs: `{one}` and `{other}`")]
    Other {
        /// What differs.
        what: &'static str,
        /// As the first have it.
        one: String,
        /// As the others have it.
        other: String,
    },
    /// They have seeds in common.
    #[error("share {0} of the seeds is there twice")]
    Twice(Shard),
    /// Shares of different sizes overlap.
    #[error("share {0} and share {1} have seeds in common")]
    Overlap(Shard, Shard),
}

impl Findings {
    pub(super) fn none(hunted: Hunted, shard: Shard) -> Findings {
        let coverage = hunted.protocols.iter().map(|protocol| (protocol.clone(), Coverage::default())).collect();
        Findings { hunted, shards: vec![shard], seeds: 0, complete: false, coverage, failures: Vec::new() }
    }

    /// Adds what other seeds came to.
    pub(super) fn add(&mut self, part: Part) {
        self.seeds += part.seeds;
        for (protocol, coverage) in part.coverage {
            self.coverage.entry(protocol).or_default().add(&coverage);
        }
        for failure in part.failures {
            self.add_failure(failure);
        }
    }

    fn add_failure(&mut self, failure: Failure) {
        match self.failures.iter_mut().find(|known| is_same(known, &failure)) {
            Some(known) => known.add(&failure),
            None => {
                self.failures.push(failure);
                let place = |name: &String| self.hunted.protocols.iter().position(|protocol| protocol == name);
                self.failures.sort_by_key(|failure| (place(&failure.protocol), failure.cause));
            }
        }
    }

    /// Joins what other shares of the same hunt found with this: the result is that of one hunt for all of them.
    ///
    /// # Errors
    /// If they aren't of the same hunt, or have seeds in common.
    pub fn join(&mut self, other: Findings) -> Result<(), NotOne> {
        let (one, two) = (&self.hunted, &other.hunted);
        let fields = [
            ("version of holdover", &one.version, &two.version),
            ("scenario", &one.scenario, &two.scenario),
            ("profile", &one.profile, &two.profile),
            ("list of faults", &one.faults, &two.faults),
            ("use of the scenario's plan", &one.plan, &two.plan),
            ("list of protocols", &one.protocols.join(", "), &two.protocols.join(", ")),
            ("range of seeds", &one.seeds.to_string(), &two.seeds.to_string()),
            ("kind of failure that counts", &one.inside_only.to_string(), &two.inside_only.to_string()),
        ];
        if let Some((what, one, other)) = fields.into_iter().find(|(_, one, other)| one != other) {
            let short = |text: &str| text.lines().next().unwrap_or_default().to_owned();
            return Err(NotOne::Other { what, one: short(one), other: short(other) });
        }
        for (one, two) in self.shards.iter().flat_map(|one| other.shards.iter().map(move |two| (*one, *two))) {
            match one.of == two.of {
                true if one == two => return Err(NotOne::Twice(one)),
                false => return Err(NotOne::Overlap(one, two)),
                true => {}
            }
        }
        self.shards.extend(&other.shards);
        self.shards.sort_by_key(|shard| shard.number);
        self.complete &= other.complete;
        self.add(Part {
            seeds: other.seeds,
            coverage: other.coverage.into_iter().collect(),
            failures: other.failures,
        });
        Ok(())
    }

    /// How many shares of the seeds are missing; none if all seeds were looked at.
    pub fn shares_missing(&self) -> u64 {
        let of = self.shards.first().map_or(0, |shard| shard.of);
        of.saturating_sub(self.shards.len() as u64)
    }

    /// The kinds of fault that were asked for by name and are in no plan: the world has no place for them, or no seed has
    /// come to them. Empty if all kinds may be drawn, or none.
    pub fn undrawn(&self) -> Vec<&str> {
        if self.hunted.faults == Selection::ALL.to_string() || self.hunted.plan == OwnPlan::Kept.name() {
            return Vec::new();
        }
        let is_undrawn = |kind: &&str| {
            let drawn = |coverage: &Coverage| coverage.faults.get(*kind).map_or(0, |strikes| strikes.drawn);
            self.coverage.values().all(|coverage| drawn(coverage) == 0)
        };
        self.hunted.faults.split(',').filter(is_undrawn).collect()
    }

    /// Whether there was anything to fail: at least one seed, and if kinds of fault were asked for by name, one of them.
    pub fn says_something(&self) -> bool {
        self.seeds > 0 && self.undrawn().len() < self.hunted.faults.split(',').count()
    }

    /// The kinds of fault that were drawn and never struck under any protocol, and the sightings that never were: what
    /// the hunt says nothing about.
    pub fn never(&self) -> (Vec<&str>, Vec<&str>) {
        let zero = |of: &dyn Fn(&Coverage) -> u64| self.coverage.values().all(|coverage| of(coverage) == 0);
        let Some(first) = self.coverage.values().next() else { return Default::default() };
        let is_quiet = |kind: &str| {
            zero(&|coverage| coverage.faults.get(kind).map_or(0, |strikes| strikes.struck))
                && !zero(&|coverage| coverage.faults.get(kind).map_or(0, |strikes| strikes.drawn))
        };
        let is_unseen = |name: &str| zero(&|coverage| coverage.seen.get(name).copied().unwrap_or(0));
        let kinds = first.faults.keys().map(String::as_str).filter(|kind| is_quiet(kind));
        let is_anywhere = |name: &str| SIGHTINGS.iter().all(|one| one.name != name || one.is_anywhere);
        let sightings = first.seen.keys().map(String::as_str).filter(|name| is_unseen(name) && is_anywhere(name));
        (kinds.collect(), sightings.collect())
    }
}

/// What a few seeds came to.
pub(super) struct Part {
    pub(super) seeds: u64,
    pub(super) coverage: Vec<(String, Coverage)>,
    pub(super) failures: Vec<Failure>,
}

impl Part {
    /// Adds a failure to those that are known.
    pub(super) fn note(&mut self, failure: Failure) {
        match self.failures.iter_mut().find(|known| is_same(known, &failure)) {
            Some(known) => known.add(&failure),
            None => self.failures.push(failure),
        }
    }
}

fn is_same(one: &Failure, other: &Failure) -> bool {
    one.cause == other.cause && one.protocol == other.protocol
}
