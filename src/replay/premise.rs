//! What runs start from, as far as reports speak of it: of a scenario, or of histories that were stored.

use std::borrow::Cow;
use std::collections::BTreeMap;

use holdover_sim::check::Assumption;
use holdover_sim::fault::PlannedFault;
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::time::{TrueTime, WallTime};
use holdover_sim::world::node_names;

use crate::scenario::{Expectation, NoTime, Scenario, time_of_run};

/// What all runs of a replay start from.
#[derive(Clone, Debug)]
pub struct Premise<'a> {
    /// What the scenario shows, in one line.
    pub title: &'a str,
    /// The story behind it.
    pub story: Option<&'a str>,
    /// The wall time at true time 0.
    pub start: WallTime,
    /// When runs end at the latest.
    pub end: TrueTime,
    /// The names of the nodes, in the order of their numbers, but for copies of workers.
    pub nodes: Vec<Cow<'a, str>>,
    /// What is injected.
    pub plan: Cow<'a, [PlannedFault]>,
    /// What should come of it, by protocol.
    pub expect: Cow<'a, BTreeMap<String, Expectation>>,
}

impl<'a> Premise<'a> {
    /// What runs of `scenario` start from.
    pub fn of(scenario: &'a Scenario) -> Premise<'a> {
        Premise {
            title: &scenario.title,
            story: scenario.story.as_deref(),
            start: scenario.world.start,
            end: scenario.world.limits.end,
            nodes: node_names(&scenario.world),
            plan: Cow::Borrowed(&scenario.plan),
            expect: Cow::Borrowed(&scenario.expect),
        }
    }

    /// The time of a run that `text` names; see [`Scenario::time`].
    ///
    /// # Errors
    /// As there.
    pub fn time(&self, text: &str) -> Result<TrueTime, NoTime> {
        time_of_run(self.start, self.end, text)
    }
}

/// The protocol of a run, as far as it is known: of a stored one there is what it said of itself.
#[derive(Clone)]
pub struct Ran {
    name: &'static str,
    summary: Cow<'static, str>,
    /// The names of all assumptions that it relies on.
    relies_on: Vec<Cow<'static, str>>,
    /// Those of them that this program has.
    assumptions: Vec<&'static Assumption>,
    code: Option<&'static dyn AnyProtocol>,
}

impl Ran {
    /// `protocol`, which was run here.
    pub fn here(protocol: &'static dyn AnyProtocol) -> Ran {
        Ran {
            name: protocol.name(),
            summary: Cow::Borrowed(protocol.summary()),
            relies_on: protocol.assumptions().iter().map(|assumption| Cow::Borrowed(assumption.name)).collect(),
            assumptions: protocol.assumptions().to_vec(),
            code: Some(protocol),
        }
    }

    /// A protocol that was run elsewhere, and said this of itself; there are `known` assumptions.
    pub(super) fn elsewhere(
        name: &'static str,
        summary: String,
        relies_on: Vec<String>,
        known: &[&'static Assumption],
    ) -> Ran {
        let known = |name: &String| known.iter().copied().find(|assumption| assumption.name == *name);
        Ran {
            name,
            summary: Cow::Owned(summary),
            assumptions: relies_on.iter().filter_map(known).collect(),
            relies_on: relies_on.into_iter().map(Cow::Owned).collect(),
            code: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One sentence on how it works.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// What it relies on, as far as this program knows that.
    pub fn assumptions(&self) -> &[&'static Assumption] {
        &self.assumptions
    }

    /// The names of all that it relies on.
    pub fn relies_on(&self) -> impl Iterator<Item = &str> {
        self.relies_on.iter().map(|name| &**name)
    }

    /// What it relies on, and this program doesn't have: whether that was so can't be told.
    pub fn unknown_assumptions(&self) -> impl Iterator<Item = &str> {
        let is_known = |name: &str| self.assumptions.iter().any(|assumption| assumption.name == name);
        self.relies_on().filter(move |name| !is_known(name))
    }

    /// Its code, if it was run here.
    pub fn code(&self) -> Option<&'static dyn AnyProtocol> {
        self.code
    }
}
