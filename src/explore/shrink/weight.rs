//! What makes one scenario smaller than another.

use holdover_sim::fault::Anchor;
use holdover_sim::time::TrueTime;

use super::super::knobs::Unit;
use super::{dials, digits, plainer, world};
use crate::scenario::Scenario;

/// How much there is to a scenario. Of two the one with fewer faults is smaller; of two with as many the one with fewer
/// workers, and so on down the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    /// Faults.
    pub faults: usize,
    /// Workers.
    pub workers: usize,
    /// Operators.
    pub operators: usize,
    /// Operations of the batch.
    pub operations: u32,
    /// What is said of world and faults that could be left unsaid.
    pub settings: usize,
    /// By how much faults are tied to times, and not to what happens.
    pub times: usize,
    /// Which passing or which event faults wait for, all together.
    pub nth: u64,
    /// Digits of all numbers that a person wouldn't have written.
    pub digits: u64,
    /// How long or large all is together: spans in nanoseconds, rates in parts per billion, counts.
    pub length: u128,
}

impl Weight {
    /// How much there is to `scenario`.
    pub fn of(scenario: &Scenario) -> Weight {
        let mut weight = Weight {
            faults: scenario.plan.len(),
            workers: scenario.world.workers.len(),
            operators: scenario.world.operators.len(),
            operations: scenario.world.job.operations,
            settings: world::settings(&scenario.world),
            times: 0,
            nth: 0,
            digits: 0,
            length: 0,
        };
        for planned in &scenario.plan {
            weight.settings += plainer::settings(planned, scenario);
            weight.times += times(&planned.when) + usize::from(planned.name.is_some());
        }
        let end = scenario.world.limits.end.as_nanos();
        weight.digits += digits::too_many(Unit::Time, end, scenario.world.start.as_nanos());
        weight.length += u128::from(end.unsigned_abs());
        for dial in dials::all(scenario) {
            weight.nth += dial.nth();
            weight.digits += dial.digits();
            weight.length += dial.length();
        }
        weight
    }

    /// What robustness may be given up for: faults, workers and operators.
    pub(super) fn fewer(&self) -> (usize, usize, usize) {
        (self.faults, self.workers, self.operators)
    }
}

/// How far an anchor is from a place in a worker's path, which survives most changes: something else that happens is
/// nearly as good, and a time that has to be known from somewhere the worst.
fn times(anchor: &Anchor) -> usize {
    let of_kind = match anchor {
        Anchor::Point { .. } => 0,
        Anchor::Event { .. } | Anchor::Fault { .. } => 1,
        Anchor::At(_) => 5,
    };
    of_kind + if since(anchor) == TrueTime::START { 0 } else { 3 }
}

/// Whether an anchor names a time.
pub(super) fn is_timed(anchor: &Anchor) -> bool {
    matches!(anchor, Anchor::At(_)) || since(anchor) > TrueTime::START
}

fn since(anchor: &Anchor) -> TrueTime {
    match anchor {
        Anchor::Point { after, .. } | Anchor::Event { after, .. } => *after,
        Anchor::At(_) | Anchor::Fault { .. } => TrueTime::START,
    }
}
