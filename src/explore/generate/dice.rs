//! Draws in whole numbers: the distributions that faults are drawn from. They give the same on every machine, which
//! floats needn't.

use holdover_sim::seed::{Purpose, Seed, Stream};
use holdover_sim::time::Span;

/// The fixed point of logarithms: 1 is this.
const ONE: u64 = 1 << 16;
/// The fixed point of a number between 1 and 2.
const UNIT: u64 = 1 << 32;

/// The square root of 2, the fourth root of it, and so on: what each bit of a logarithm's fraction multiplies by.
const ROOTS: [u64; 16] = {
    let mut roots = [0; 16];
    let mut root = 2 * UNIT;
    let mut n = 0;
    while n < roots.len() {
        root = (root as u128 * UNIT as u128).isqrt() as u64;
        roots[n] = root;
        n += 1;
    }
    roots
};

/// What is drawn for one purpose.
pub(super) struct Dice(Stream);

impl Dice {
    /// Those that `seed` has for `purpose`.
    pub(super) fn new(seed: Seed, purpose: Purpose) -> Dice {
        Dice(Stream::new(seed, purpose))
    }

    /// A number below `bound`, or 0 if that is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// A number from `low` to `high`.
    pub(super) fn count(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high.saturating_sub(low) + 1) as usize) as u32
    }

    /// Whether one of the `percent` cases of a hundred comes up.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// One of `choices`, of which there is at least one.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// One of `choices`, each as likely as its weight says; the last one if no weight is above zero.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let weights = choices.iter().map(|(weight, _)| *weight);
        choices[self.index_by(weights)].1
    }

    /// The index of one of `weights`, each as likely as it is large; the last one if none is above zero.
    pub(super) fn index_by(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let mut rest = self.below(weights.clone().map(|weight| weight as usize).sum());
        let mut last = 0;
        for (index, weight) in weights.enumerate() {
            if rest < weight as usize {
                return index;
            }
            rest -= weight as usize;
            last = index;
        }
        last
    }

    /// A span from `low` to `high`, each as likely as any other.
    pub(super) fn uniform(&mut self, low: Span, high: Span) -> Span {
        self.0.between(low, high)
    }

    /// A span from `low`, which is above zero, to `high`, of which each order of magnitude is as likely as any other.
    pub(super) fn log_uniform(&mut self, low: Span, high: Span) -> Span {
        let (from, to) = (log2(size(low)), log2(size(high)));
        let log = from + self.0.below(to.saturating_sub(from) + 1);
        rounded(Span::nanos(exp2(log) as i64)).min(high).max(low)
    }

    /// A number of the normal distribution around zero with this standard deviation: the sum of twelve uniform ones.
    pub(super) fn normal(&mut self, deviation: i64) -> i64 {
        let z = i128::from(self.standard_normal());
        (z * i128::from(deviation) / i128::from(ONE)) as i64
    }

    /// A span of the log-normal distribution that has this median, with 99 of a hundred below `high`.
    pub(super) fn log_normal(&mut self, median: Span, high: Span) -> Span {
        // The normal distribution has 99 of a hundred below 2.3263.
        let width = (log2(size(high)).saturating_sub(log2(size(median)))) as i64 * 10_000 / 23_263;
        let log = log2(size(median)) as i64 + self.standard_normal() * width / ONE as i64;
        rounded(Span::nanos(exp2(log.max(0) as u64) as i64))
    }

    /// The span or its opposite.
    pub(super) fn either_sign(&mut self, span: Span) -> Span {
        if self.chance(50) { -span } else { span }
    }

    fn standard_normal(&mut self) -> i64 {
        let sum = |bits: u64| (0..4).map(|n| (bits >> (16 * n) & 0xffff) as i64).sum::<i64>();
        let twelve = sum(self.0.next()) + sum(self.0.next()) + sum(self.0.next());
        twelve - 6 * ONE as i64 + 6
    }
}

/// A span with no more than three digits that aren't zero, as a person would write it, and no finer than a microsecond.
pub(super) fn rounded(span: Span) -> Span {
    let nanos = span.as_nanos();
    let digits = nanos.unsigned_abs().checked_ilog10().unwrap_or(0);
    let unit = 10_i64.pow(digits.saturating_sub(2)).max(1_000);
    Span::nanos((nanos / unit * unit).max(1_000))
}

fn size(span: Span) -> u64 {
    span.as_nanos().max(1) as u64
}

/// The logarithm to base 2, in fixed point; of 0 as of 1.
fn log2(n: u64) -> u64 {
    let n = n.max(1);
    let whole = n.ilog2();
    // Between 1 and 2; each squaring shows one more bit of the fraction.
    let mut rest = if whole >= 32 { n >> (whole - 32) } else { n << (32 - whole) };
    let mut log = u64::from(whole);
    for _ in 0..ONE.ilog2() {
        rest = ((u128::from(rest) * u128::from(rest)) >> 32) as u64;
        log <<= 1;
        if rest >= 2 * UNIT {
            rest >>= 1;
            log |= 1;
        }
    }
    log
}

/// 2 to the power of `log`, which is in fixed point; at most 2⁶².
fn exp2(log: u64) -> u64 {
    let log = log.min(62 * ONE);
    let (whole, fraction) = (log / ONE, log % ONE);
    let bits = ROOTS.iter().enumerate().filter(|(n, _)| fraction >> (15 - n) & 1 == 1);
    let factor = bits.fold(u128::from(UNIT), |factor, (_, root)| (factor * u128::from(*root)) >> 32);
    ((factor << whole) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dice(seed: u64) -> Dice {
        Dice::new(Seed(seed), Purpose::Swarm)
    }

    /// The values at these percentiles of 100,000 draws, in milliseconds.
    fn percentiles(mut draw: impl FnMut(&mut Dice) -> Span, at: &[usize]) -> Vec<i64> {
        let mut dice = dice(1);
        let mut drawn: Vec<_> = (0..100_000).map(|_| draw(&mut dice).as_nanos() / 1_000_000).collect();
        drawn.sort_unstable();
        at.iter().map(|percent| drawn[percent * (drawn.len() - 1) / 100]).collect()
    }

    #[track_caller]
    fn check(found: &[i64], expected: &[i64]) {
        let is_near = |(found, expected): (&i64, &i64)| (found - expected).abs() * 20 <= expected.abs().max(20);
        assert!(found.iter().zip(expected).all(is_near), "{found:?} and not {expected:?}");
    }

    #[test]
    fn logarithms_and_powers_undo_each_other() {
        for n in [1, 2, 3, 7, 1_000, 999_999, 38_000_000_000, 31_622_400_000_000_000, 1 << 61] {
            let back = exp2(log2(n));
            assert!(back.abs_diff(n) <= n / 10_000 + 1, "{n} came back as {back}");
        }
        assert_eq!((log2(0), log2(1), log2(8), exp2(0), exp2(3 * ONE)), (0, 0, 3 * ONE, 1, 8));
        assert_eq!(exp2(u64::MAX), 1 << 62);
    }

    #[test]
    fn each_distribution_is_where_it_should_be() {
        let (low, high) = (Span::millis(10), Span::secs(10));
        check(&percentiles(|dice| dice.uniform(low, high), &[0, 25, 50, 100]), &[10, 2_507, 5_005, 10_000]);
        // Three orders of magnitude: a third of the draws in each.
        check(&percentiles(|dice| dice.log_uniform(low, high), &[0, 33, 67, 100]), &[10, 98, 1_023, 10_000]);
        let log_normal = |dice: &mut Dice| dice.log_normal(Span::millis(20), Span::millis(500));
        check(&percentiles(log_normal, &[1, 50, 84, 99]), &[1, 20, 79, 500]);
        let normal = |dice: &mut Dice| Span::millis(dice.normal(1_000));
        check(&percentiles(normal, &[2, 16, 50, 84, 98]), &[-2_050, -990, 0, 1_000, 2_050]);
    }

    #[test]
    fn a_chance_comes_up_if_the_number_that_is_drawn_is_below_it() {
        for percent in 0..=100 {
            let (mut drawn, mut numbers) = (dice(3), dice(3));
            for _ in 0..300 {
                assert_eq!(drawn.chance(percent), numbers.below(100) < percent as usize, "{percent} %");
            }
        }
    }

    #[test]
    fn weights_are_kept_and_zero_never_comes() {
        let mut dice = dice(2);
        let mut seen = [0; 4];
        for _ in 0..8_000 {
            seen[dice.weighted(&[(1, 0), (0, 1), (5, 2), (2, 3)])] += 1;
        }
        assert_eq!(seen[1], 0);
        check(&[seen[0], seen[2], seen[3]], &[1_000, 5_000, 2_000]);
        assert_eq!(dice.weighted(&[(0, 'a'), (0, 'b')]), 'b');
    }

    #[test]
    fn what_is_drawn_is_short_to_write() {
        for (nanos, text) in [
            (37_951_234_567, "37.9s"),
            (1_234_567, "1.23ms"),
            (599_999_999_999, "9m59s"),
            (12_345, "12µs"),
            (3, "1µs"),
        ] {
            assert_eq!(rounded(Span::nanos(nanos)).to_string(), text);
        }
    }
}
