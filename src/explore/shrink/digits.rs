//! Which numbers are round to people: those of two digits and zeros, and times of day of whole seconds.

use super::super::knobs::Unit;

/// Numbers of so many digits that aren't zeros at the end are round enough.
const FEW: u32 = 2;

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;

/// By how many digits a number is longer than a person would have written it. `clock` is what true time 0 is in
/// nanoseconds of a wall clock, which tells what times look like.
pub(super) fn too_many(unit: Unit, value: i64, clock: i64) -> u64 {
    let digits = match unit {
        Unit::Span | Unit::Rate => significant(value.unsigned_abs()),
        Unit::Time => significant(clock.saturating_add(value).rem_euclid(MINUTE).unsigned_abs()),
        // All or nothing is roundest; of what is in between tens.
        Unit::Percent => match value {
            100 => 0,
            value if value % 10 == 0 => FEW + 1,
            _ => FEW + 2,
        },
        Unit::Count => 0,
    };
    digits.saturating_sub(FEW).into()
}

/// How many digits are left of a number without the zeros at its end.
fn significant(mut value: u64) -> u32 {
    while value > 0 && value.is_multiple_of(10) {
        value /= 10;
    }
    value.checked_ilog10().map_or(0, |log| log + 1)
}

/// Rounder numbers near `value`, the roundest first.
pub(super) fn rounder(unit: Unit, value: i64, clock: i64) -> Vec<i64> {
    let mut steps = Vec::new();
    let offset = match unit {
        Unit::Count => return Vec::new(),
        Unit::Percent => return vec![100, value - value % 10, (value - value % 10).saturating_add(10)],
        Unit::Time => {
            steps.extend(powers_of_ten(SECOND));
            clock
        }
        Unit::Span | Unit::Rate => {
            // From two digits on: fewer aren't any rounder.
            let highest = value.unsigned_abs().checked_ilog10().unwrap_or(0);
            steps.extend(powers_of_ten(10_i64.pow(highest.saturating_sub(FEW - 1))));
            0
        }
    };
    let both = |step: i64| {
        let below = value.saturating_sub(value.saturating_add(offset).rem_euclid(step));
        // Nearer to zero first.
        if value < 0 { [below.saturating_add(step), below] } else { [below, below.saturating_add(step)] }
    };
    steps.into_iter().flat_map(both).collect()
}

/// A power of ten and all below it.
fn powers_of_ten(from: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(from), |power| Some(power / 10)).take_while(|power| *power > 0)
}

/// All numbers of at most two digits and zeros below `size`, from 1 on, in order.
pub(super) fn round_below(size: u64) -> Vec<i64> {
    let mut all: Vec<i64> = (1..10).collect();
    let mut power = 1_i64;
    while power.unsigned_abs().saturating_mul(10) < size {
        all.extend((10..100).filter_map(|digits: i64| digits.checked_mul(power)));
        let Some(next) = power.checked_mul(10) else { break };
        power = next;
    }
    all.retain(|value| value.unsigned_abs() < size);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_round() {
        for (unit, value, digits) in [
            (Unit::Span, 38 * SECOND, 0),
            (Unit::Span, 500_000_000, 0),
            (Unit::Span, -420_000_000, 0),
            (Unit::Span, 90 * SECOND, 0),
            (Unit::Span, 37_912_000_000, 3),
            (Unit::Span, 0, 0),
            (Unit::Rate, -200_000, 0),
            (Unit::Rate, 12_345, 3),
            (Unit::Percent, 100, 0),
            (Unit::Percent, 70, 1),
            (Unit::Percent, 71, 2),
            (Unit::Count, 12_345, 0),
            // The clock begins at half a minute.
            (Unit::Time, 30 * SECOND, 0),
            (Unit::Time, 28 * SECOND, 0),
            (Unit::Time, 28_150_000_000, 2),
        ] {
            assert_eq!(too_many(unit, value, 30 * SECOND), digits, "{unit:?} {value}");
        }
    }

    #[test]
    fn rounder_numbers_are_near() {
        let first = |unit, value, many: usize| {
            rounder(unit, value, 30 * SECOND).into_iter().take(many).collect::<Vec<_>>()
        };
        assert_eq!(first(Unit::Span, 37_912, 4), [37_000, 38_000, 37_900, 38_000]);
        assert_eq!(first(Unit::Span, -37_912, 2), [-37_000, -38_000]);
        assert_eq!(first(Unit::Span, 7, 2), [7, 8]);
        assert_eq!(first(Unit::Percent, 37, 3), [100, 30, 40]);
        let time = 58_150_000_000;
        let expected = [58_000, 59_000, 58_100, 58_200].map(|millis| millis * 1_000_000);
        assert_eq!(first(Unit::Time, time, 4), expected);
        for unit in [Unit::Span, Unit::Rate, Unit::Time] {
            for value in [i64::MAX, i64::MIN + 1, 0, 1, -1] {
                assert!(rounder(unit, value, 30 * SECOND).len() < 50);
            }
        }
    }

    #[test]
    fn all_round_numbers_in_order() {
        let below = round_below(1_234);
        assert_eq!(below.len(), 9 + 90 + 90 + 3);
        assert!(below.is_sorted_by(|one, other| one < other), "{below:?}");
        assert_eq!(below.last(), Some(&1_200));
        assert!(below.iter().all(|value| too_many(Unit::Span, *value, 0) == 0));
        assert_eq!(round_below(1), [0; 0]);
        assert!(round_below(u64::MAX).len() < 2_000);
    }
}
