//! Shorter and rounder values of every number.

use super::super::knobs::Unit;
use super::dials::{self, Dial};
use super::digits;
use super::search::Search;

/// Makes each number round, and then as short as it can be and stay round.
pub(super) fn rounder(search: &mut Search<'_>) -> Option<()> {
    for dial in dials::all(search.best()) {
        round(search, dial)?;
        shorten(search, dial)?;
    }
    Some(())
}

fn round(search: &mut Search<'_>, dial: Dial) -> Option<()> {
    let Some(dial) = dial.of(search.best()).filter(|dial| dial.digits() > 0) else { return Some(()) };
    for value in digits::rounder(dial.unit, dial.value, dial.clock) {
        if turn(search, dial, value)? {
            break;
        }
    }
    Some(())
}

/// The shortest first, and then by halving the way to it.
fn shorten(search: &mut Search<'_>, dial: Dial) -> Option<()> {
    let Some(dial) = dial.of(search.best()) else { return Some(()) };
    if !dial.shortens || dial.unit == Unit::Percent {
        return Some(());
    }
    let mut shorter: Vec<i64> = vec![0];
    shorter.extend(digits::round_below(dial.value.unsigned_abs()));
    let shorter: Vec<i64> = shorter.into_iter().map(|size| size * dial.value.signum()).collect();
    let can_be = |value: &i64| dial.suits(*value) && dial.turned(search.best(), *value).is_some();
    let shorter: Vec<i64> = shorter.into_iter().filter(can_be).collect();
    // The first is the shortest. The other ones that are tried before the halving begins are roundest: what happens every
    // second needs a whole number of them, and halving would miss that.
    let first = shorter.first().copied();
    for value in shorter.iter().copied().filter(|value| Some(*value) == first || is_one_and_zeros(*value)) {
        if turn(search, dial, value)? {
            return Some(());
        }
    }
    if shorter.is_empty() {
        return Some(());
    }
    let (mut too_short, mut enough) = (0, shorter.len());
    while too_short + 1 < enough {
        let middle = too_short + (enough - too_short) / 2;
        let is_enough = turn(search, dial, shorter[middle])?;
        (too_short, enough) = if is_enough { (too_short, middle) } else { (middle, enough) };
    }
    Some(())
}

/// Whether a number is 1, 10, 100 and so on.
fn is_one_and_zeros(value: i64) -> bool {
    let size = value.unsigned_abs();
    size.checked_ilog10().is_some_and(|log| size == 10_u64.pow(log))
}

fn turn(search: &mut Search<'_>, dial: Dial, value: i64) -> Option<bool> {
    let proposal = dial.turned(search.best(), value).filter(|_| value != dial.value);
    proposal.map_or(Some(false), |proposal| search.attempt(proposal))
}
