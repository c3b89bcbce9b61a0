//! An earlier end of the run.

use holdover_sim::limits::Ending;
use holdover_sim::time::TrueTime;

use super::search::Search;

/// What ends are multiples of, by the wall clock.
const STEP: i64 = 10 * 1_000_000_000;

/// Ends the run earlier. One that ends by itself isn't cut short: its end is only the next round time.
pub(super) fn earlier(search: &mut Search<'_>) -> Option<()> {
    let history = search.history()?;
    let now = search.best().world.limits.end;
    let least = match history.ending {
        Ending::Finished | Ending::Stuck => history.ended_at,
        Ending::TimeUp | Ending::StepsUsedUp | Ending::Panicked { .. } | Ending::Bug(_) => TrueTime::START,
    };
    let round_after = |at: TrueTime| {
        let since = search.best().world.start.as_nanos().saturating_add(at.as_nanos());
        TrueTime::from_nanos(at.as_nanos() + STEP - since.rem_euclid(STEP))
    };
    let first = round_after(least);
    let count = (now.as_nanos() - first.as_nanos()).div_euclid(STEP);
    let nth = |n: i64| TrueTime::from_nanos(first.as_nanos() + n * STEP);
    // The first is tried, then the way to it is halved.
    let (mut too_early, mut enough, mut next) = (-1, count + 1, 0);
    while too_early + 1 < enough {
        let mut proposal = search.best().clone();
        proposal.world.limits.end = nth(next);
        let is_enough = search.attempt(proposal)?;
        (too_early, enough) = if is_enough { (too_early, next) } else { (next, enough) };
        next = too_early + (enough - too_early) / 2;
    }
    Some(())
}
