//! How much a search may run, counted in what is the same on every machine.

use holdover_sim::fault::PlannedFault;
use holdover_sim::limits::Ending;
use serde::Serialize;

use super::{Subject, Trial};

/// How much a search may run: it ends when either is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs.
    pub runs: u64,
    /// Events of all runs together, which is what takes the time: a long run has many.
    pub events: u64,
}

/// What a search has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Runs.
    pub runs: u64,
    /// Events of all of them together.
    pub events: u64,
    /// Whether a run was asked for when the budget was used up.
    pub used_up: bool,
    /// Runs in which code panicked: what they would have come to can't be told.
    pub panicked: u64,
}

/// Makes runs of anything until its budget is used up.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    budget: Budget,
    spent: Spent,
}

impl Meter {
    /// A meter with nothing used yet.
    pub fn new(budget: Budget) -> Meter {
        Meter { budget, spent: Spent::default() }
    }

    /// Runs `subject` under `plan`; `None` if the budget is used up.
    pub fn run(&mut self, subject: Subject<'_>, plan: &[PlannedFault]) -> Option<Trial> {
        if self.spent.runs >= self.budget.runs || self.spent.events >= self.budget.events {
            self.spent.used_up = true;
            return None;
        }
        let trial = subject.run(plan);
        self.spent.runs += 1;
        self.spent.events += trial.history.events.len() as u64;
        self.spent.panicked += u64::from(matches!(trial.history.ending, Ending::Panicked { .. } | Ending::Bug(_)));
        Some(trial)
    }

    /// What has been used.
    pub fn spent(&self) -> Spent {
        self.spent
    }
}

/// Makes trials of one subject until its budget is used up.
pub struct Trials<'a> {
    subject: Subject<'a>,
    meter: Meter,
}

impl<'a> Trials<'a> {
    /// Trials of `subject`.
    pub fn new(subject: Subject<'a>, budget: Budget) -> Trials<'a> {
        Trials { subject, meter: Meter::new(budget) }
    }

    /// Runs it under `plan`; `None` if the budget is used up.
    pub fn run(&mut self, plan: &[PlannedFault]) -> Option<Trial> {
        self.meter.run(self.subject, plan)
    }

    /// What has been used.
    pub fn spent(&self) -> Spent {
        self.meter.spent()
    }
}
