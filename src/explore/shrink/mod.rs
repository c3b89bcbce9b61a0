//! Shrinking: from a scenario in which something breaks to the smallest one in which the same breaks.
//!
//! What *the same* means is a [`Signature`]; what *smaller* means is a [`Weight`]. There are passes, each of which proposes
//! scenarios that weigh less, and a scenario that still has the signature is taken in place of the one before. Whatever is
//! taken weighs less, so it comes to an end; when a whole round of passes finds nothing any more, it is done. So what came
//! out shrinks to itself.
//!
//! - `search` is what all passes have in common: a proposal is run, and taken or not
//! - `faults` takes faults away, `plainer` makes those that are left plainer, and `anchors` ties them to what happens
//! - `world` takes workers, operators, operations and all that is out of the ordinary away, `nodes` renumbers what is left, and `end`
//!   ends the run earlier
//! - `values` makes every number shorter and rounder, and `digits` says what is round; `dials` are the numbers

mod anchors;
mod dials;
mod digits;
mod end;
mod faults;
mod nodes;
mod plainer;
mod search;
mod values;
mod weight;
mod world;

pub use nodes::without;
pub use weight::Weight;

use holdover_sim::limits::Ending;
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::time::TrueTime;
use serde::Serialize;
use thiserror::Error;

use super::{Budget, Meter, Signature, Spent, Subject};
use crate::scenario::Scenario;
use search::{Allowed, Search};

/// What shrinking may use where nothing else is said: seconds.
pub const BUDGET: Budget = Budget { runs: 20_000, events: 40_000_000 };

/// Under how many other seeds it is looked whether the same breaks.
pub const OTHER_SEEDS: usize = 4;

/// Something that makes a scenario smaller, with the name that accounts have for it.
type Pass = (&'static str, fn(&mut Search<'_>) -> Option<()>);

/// All passes, in their order. Those that take most away come first: what is left is run faster.
const PASSES: &[Pass] = &[
    ("fewer faults", faults::fewer),
    ("fewer workers", world::fewer_workers),
    ("fewer operators", world::fewer_operators),
    ("times to anchors", anchors::anchor),
    ("fewer operations", world::fewer_operations),
    ("an ordinary world", world::ordinary),
    ("plainer faults", plainer::plain),
    ("rounder values", values::rounder),
    ("an earlier end", end::earlier),
];

/// The smallest scenario that was found, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Shrunk {
    /// The scenario. Title, story and expectations are those of the one that was shrunk.
    pub scenario: Scenario,
    /// What breaks in both.
    pub signature: Signature,
    /// What was tried.
    pub account: Account,
}

/// What shrinking tried, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// What there was before.
    pub before: Counts,
    /// What is left.
    pub after: Counts,
    /// The passes in their order, each with all its rounds.
    pub passes: Vec<Tally>,
    /// How often all passes were gone through; the last time nothing was found any more, unless the budget was used up.
    pub rounds: usize,
    /// Under how many of [`OTHER_SEEDS`] other seeds the same breaks; `None` if the budget was used up before that was
    /// looked at.
    pub other_seeds: Option<usize>,
    /// What it took.
    pub spent: Spent,
}

/// What a scenario has, as far as an account tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Faults.
    pub faults: usize,
    /// Workers.
    pub workers: usize,
    /// Operations of the batch.
    pub operations: u32,
    /// Faults that strike at a time, or wait for one, and not only for what happens.
    pub timed: usize,
    /// When the run ends at the latest.
    pub end: TrueTime,
}

/// How often a pass proposed something, and how often that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The pass.
    pub pass: &'static str,
    /// Proposals that were run.
    pub tried: usize,
    /// Those of them that were taken.
    pub kept: usize,
}

/// There is nothing to shrink: the scenario doesn't have the signature, or the budget allows for no run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there is nothing to shrink: the run doesn't violate {signature}")]
pub struct NothingToShrink {
    /// What was looked for.
    pub signature: Signature,
}

impl Counts {
    fn of(scenario: &Scenario) -> Counts {
        Counts {
            faults: scenario.plan.len(),
            workers: scenario.world.workers.len(),
            operations: scenario.world.job.operations,
            timed: scenario.plan.iter().filter(|planned| weight::is_timed(&planned.when)).count(),
            end: scenario.world.limits.end,
        }
    }
}

/// Makes `scenario` as small as it gets while `protocol` still breaks the rule of `signature` in the same way, within
/// `budget`. If that is used up, what was found until then is the result, and the [account](Account::spent) says so.
///
/// A failure inside of what the protocol relies on stays one.
///
/// The same arguments give the same result on every machine. What a scenario file can say stays something that a file can
/// say.
///
/// # Errors
/// If the run doesn't have the signature.
pub fn shrink(
    scenario: &Scenario,
    protocol: &dyn AnyProtocol,
    signature: Signature,
    budget: Budget,
) -> Result<Shrunk, NothingToShrink> {
    let mut meter = Meter::new(budget);
    let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
    let nothing = NothingToShrink { signature };
    let first = meter.run(subject, &scenario.plan).ok_or(nothing)?;
    if first.times(signature) == 0 {
        return Err(nothing);
    }
    let mut search = Search::new(scenario, protocol, signature, Allowed::by(&first, signature), meter);
    // A step that is cut short by the budget leaves what it had.
    let _complete = search.all_rounds(PASSES);
    let other_seeds = search.holds_under();
    let (smallest, passes, rounds, spent) = search.into_parts();
    let account =
        Account { before: Counts::of(scenario), after: Counts::of(&smallest), passes, rounds, other_seeds, spent };
    let scenario = Scenario {
        title: scenario.title.clone(),
        story: scenario.story.clone(),
        expect: scenario.expect.clone(),
        ..smallest
    };
    Ok(Shrunk { scenario, signature, account })
}

/// Whether a run ended in a way that leaves open what would have become of it.
fn is_cut_short(ending: &Ending) -> bool {
    match ending {
        Ending::Finished | Ending::TimeUp | Ending::Stuck => false,
        Ending::StepsUsedUp | Ending::Panicked { .. } | Ending::Bug(_) => true,
    }
}
