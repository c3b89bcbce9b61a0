//! Where a run changes as one number changes: looked at here and there, then halved to the two neighbouring values.

/// As many borders are found between two values at the most; where there are more, the number flickers.
const MOST_BORDERS: usize = 16;

/// How many parts the whole range is looked at in.
const PARTS: i64 = 24;

/// Over which whole numbers, and how closely, to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The lowest.
    pub low: i64,
    /// The highest.
    pub high: i64,
    /// The one that is known, and near which to look closely.
    pub value: i64,
    /// Neighbours are no further apart; found values are multiples of it, but for the three above.
    pub grain: i64,
    /// Whether zero isn't looked at.
    pub not_zero: bool,
}

/// A stretch of values that all come to the same, as far as they were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch<T> {
    /// The first value that was looked at in it.
    pub from: i64,
    /// The last.
    pub to: i64,
    /// How many values were looked at in it, those two among them. All of them came to `found`.
    pub looked: usize,
    /// What they come to.
    pub found: T,
}

/// What became of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretches<T> {
    /// The stretches in order: each ends where the next begins, a grain away, unless the search was cut short there.
    pub stretches: Vec<Stretch<T>>,
    /// Whether there were more borders than are looked for: then some stretches end and begin further apart.
    pub flickers: bool,
}

impl Search {
    /// Looks at values with `probe`, which says what one comes to, or nothing if it may look at no more; then the search
    /// ends without a result. What lies between two values that come to the same isn't looked at.
    pub fn run<T: Clone + PartialEq>(&self, mut probe: impl FnMut(i64) -> Option<T>) -> Option<Stretches<T>> {
        let mut looked: Vec<(i64, T)> = Vec::new();
        for value in self.samples() {
            looked.push((value, probe(value)?));
        }
        let mut borders = 0;
        let mut flickers = false;
        let mut done: Vec<(i64, T)> = Vec::new();
        // The values still to be walked, the next one last.
        looked.reverse();
        while let Some((value, found)) = looked.pop() {
            match done.last() {
                Some((before, was)) if *was != found => match self.between(*before, value) {
                    Some(middle) if borders < MOST_BORDERS => {
                        let there = probe(middle)?;
                        looked.push((value, found));
                        looked.push((middle, there));
                    }
                    unsplit => {
                        borders += usize::from(unsplit.is_none());
                        flickers |= unsplit.is_some();
                        done.push((value, found));
                    }
                },
                _ => done.push((value, found)),
            }
        }
        Some(Stretches { stretches: joined(done), flickers })
    }

    /// The values to look at first, in order: the ends, parts of the whole, and more and more closely about the value that
    /// is known and about the low end.
    fn samples(&self) -> Vec<i64> {
        let Search { low, high, value, grain, .. } = *self;
        let mut samples = vec![low, high, value];
        let width = high.saturating_sub(low);
        samples.extend((1..PARTS).map(|part| low.saturating_add(width / PARTS * part)));
        samples.extend([value / 2, value.saturating_mul(2)]);
        let mut reach = grain;
        while reach < width {
            samples.extend([value.saturating_sub(reach), value.saturating_add(reach), low.saturating_add(reach)]);
            if low < 0 && high > 0 {
                samples.extend([-reach, reach]);
            }
            reach = reach.saturating_mul(8);
        }
        let own = [low, high, value];
        let mut samples: Vec<i64> = samples
            .into_iter()
            .map(|sample| if own.contains(&sample) { sample } else { sample - sample.rem_euclid(grain) })
            .filter(|sample| (low..=high).contains(sample) && !(self.not_zero && *sample == 0))
            .collect();
        samples.sort_unstable();
        samples.dedup();
        samples
    }

    /// A value about half way between two, if there is one to look at.
    fn between(&self, low: i64, high: i64) -> Option<i64> {
        let middle = low + (high - low) / 2;
        let below = middle - middle.rem_euclid(self.grain);
        let fits = |value: &i64| low < *value && *value < high && !(self.not_zero && *value == 0);
        [below, below.saturating_add(self.grain)].into_iter().find(fits)
    }
}

fn joined<T: PartialEq>(looked: Vec<(i64, T)>) -> Vec<Stretch<T>> {
    let mut stretches: Vec<Stretch<T>> = Vec::new();
    for (value, found) in looked {
        match stretches.last_mut() {
            Some(last) if last.found == found => (last.to, last.looked) = (value, last.looked + 1),
            _ => stretches.push(Stretch { from: value, to: value, looked: 1, found }),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEARCH: Search = Search { low: 1, high: 120_000, value: 38_000, grain: 1, not_zero: false };

    /// The stretches as (from, to, what), and whether it flickers.
    #[track_caller]
    fn check(search: Search, breaks: impl Fn(i64) -> bool, expected: &[(i64, i64, bool)]) {
        let found = search.run(|value| Some(breaks(value))).expect("it may look as often as it likes");
        let stretches: Vec<_> = found.stretches.iter().map(|one| (one.from, one.to, one.found)).collect();
        assert_eq!((&stretches[..], found.flickers), (expected, false));
    }

    #[test]
    fn an_edge_is_found_to_its_two_neighbours() {
        check(SEARCH, |value| value >= 37_951, &[(1, 37_950, false), (37_951, 120_000, true)]);
        check(SEARCH, |value| value <= 2, &[(1, 2, true), (3, 120_000, false)]);
        check(
            SEARCH,
            |value| value == 38_000,
            &[(1, 37_999, false), (38_000, 38_000, true), (38_001, 120_000, false)],
        );
    }

    #[test]
    fn without_an_edge_there_is_one_stretch() {
        check(SEARCH, |_| true, &[(1, 120_000, true)]);
        check(Search { low: 5, high: 5, value: 5, ..SEARCH }, |_| true, &[(5, 5, true)]);
    }

    #[test]
    fn what_breaks_in_the_middle_has_two_edges() {
        let expected = [(1, 29_999, false), (30_000, 70_123, true), (70_124, 120_000, false)];
        check(SEARCH, |value| (30_000..=70_123).contains(&value), &expected);
    }

    #[test]
    fn zero_is_left_out_where_there_is_none() {
        let search = Search { low: -1_000, high: 1_000, value: -420, grain: 1, not_zero: true };
        let probe = |value| {
            assert_ne!(value, 0);
            value < 0
        };
        check(search, probe, &[(-1_000, -1, true), (1, 1_000, false)]);
    }

    #[test]
    fn values_are_multiples_of_the_grain_but_for_the_ends_and_the_one_that_is_known() {
        let search = Search { low: 1, high: 9_999, value: 3_333, grain: 1_000, not_zero: false };
        check(search, |value| value >= 2_500, &[(1, 2_000, false), (3_000, 9_999, true)]);
        check(search, |value| value >= 3_100, &[(1, 3_000, false), (3_333, 9_999, true)]);
    }

    #[test]
    fn what_flickers_is_cut_short_and_says_so() {
        let flickering = |value: i64| Some(value.count_ones().is_multiple_of(2));
        let found = SEARCH.run(flickering).expect("it may look as often as it likes");
        assert!(found.flickers && found.stretches.len() > 8);
    }

    #[test]
    fn who_may_look_no_more_finds_nothing() {
        for most in [0, 1, 30] {
            let mut looks = 0;
            let probe = |value| {
                looks += 1;
                (looks <= most).then_some(value > 777)
            };
            assert_eq!(SEARCH.run(probe), None);
        }
    }

    proptest! {
        #[test]
        fn a_single_edge_is_found_wherever_it_is(
            (low, width, at, edge) in (-1_000_000..1_000_000_i64, 0..5_000_000_i64, 0..=100_i64, 0..=100_i64),
            grain in 1..2_000_i64,
        ) {
            let high = low + width;
            let value = low + width / 100 * at;
            let edge = low + width / 100 * edge;
            let search = Search { low, high, value, grain, not_zero: false };
            let mut looks = 0;
            let found = search.run(|value| { looks += 1; Some(value >= edge) }).expect("it may look");
            prop_assert!(looks < 120, "{} looks", looks);
            prop_assert_eq!(found.stretches.iter().map(|one| one.looked).sum::<usize>(), looks);
            prop_assert!(found.stretches.len() <= 2 && !found.flickers);
            for one in &found.stretches {
                prop_assert_eq!((one.from >= edge, one.to >= edge), (one.found, one.found));
            }
            if let [holds, breaks] = &found.stretches[..] {
                prop_assert!(breaks.from - holds.to <= grain);
            }
        }
    }
}
