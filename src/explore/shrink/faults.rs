//! Fewer faults: many at once, then one by one, then the smallest sets of all.

use super::super::Parts;
use super::super::subset::{combinations, next_combination};
use super::search::Search;
use crate::scenario::Scenario;

/// So many sets are looked at at the most that are smaller than what is left when no fault can be spared any more: all
/// pairs of thirty-two.
const MOST_SETS: u64 = 528;

/// Takes faults away.
pub(super) fn fewer(search: &mut Search<'_>) -> Option<()> {
    // Nothing may be needed at all.
    search.attempt(only(search.best(), &[]))?;
    let whole = search.best().clone();
    without_chunks(search)?;
    smallest_sets(search, &whole)?;
    unused_names(search)
}

/// Takes halves away, then quarters, and so on down to single faults, until no single one can be spared.
fn without_chunks(search: &mut Search<'_>) -> Option<()> {
    let mut size = search.best().plan.len().div_ceil(2);
    while size > 0 {
        let before = search.best().plan.len();
        // From behind, so that the places of those before stay as they are.
        let mut until = before;
        while until > 0 {
            let from = until.saturating_sub(size);
            let chunk: Vec<usize> = (from..until.min(search.best().plan.len())).collect();
            search.attempt(without(search.best(), &chunk))?;
            until = from;
        }
        if size > 1 || search.best().plan.len() == before {
            size /= 2;
        }
    }
    Some(())
}

/// Where no fault can be spared there may still be fewer that are enough: looks through sets of those in `whole`, the
/// smallest first, as far as there are few enough.
fn smallest_sets(search: &mut Search<'_>, whole: &Scenario) -> Option<()> {
    let parts = Parts::of(&whole.plan);
    let mut looked_at = 0_u64;
    for size in 1..search.best().plan.len() {
        looked_at = looked_at.saturating_add(combinations(parts.len(), size));
        if looked_at > MOST_SETS {
            break;
        }
        let mut set: Vec<usize> = (0..size).collect();
        loop {
            if parts.is_closed(&set) && search.attempt(only(whole, &set))? {
                return Some(());
            }
            if !next_combination(&mut set, parts.len()) {
                break;
            }
        }
    }
    Some(())
}

/// A name is for faults that wait for it.
fn unused_names(search: &mut Search<'_>) -> Option<()> {
    let waited_for = Parts::of(&search.best().plan).waited_for();
    for fault in (0..search.best().plan.len()).filter(|fault| !waited_for[*fault]) {
        let mut unnamed = search.best().clone();
        unnamed.plan[fault].name = None;
        search.attempt(unnamed)?;
    }
    Some(())
}

fn only(scenario: &Scenario, kept: &[usize]) -> Scenario {
    Scenario { plan: Parts::of(&scenario.plan).only(kept), ..scenario.clone() }
}

/// `scenario` without some faults, and without those that wait for them.
fn without(scenario: &Scenario, taken: &[usize]) -> Scenario {
    only(scenario, &Parts::of(&scenario.plan).without(taken))
}
