//! A panel's true time, from left to right.

use holdover_sim::history::History;
use holdover_sim::time::{Span, TimeOfDay, TrueTime, WallTime};

use super::super::words;
use super::canvas::Px;

/// The most ticks of an axis.
const MOST_TICKS: i64 = 12;

/// A stretch of true time, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) from: TrueTime,
    pub(super) until: TrueTime,
    pub(super) left: Px,
    pub(super) width: Px,
}

impl Axis {
    /// Where `at` is; at an end, if it is beyond that.
    pub(super) fn x(&self, at: TrueTime) -> Px {
        let length = i128::from((self.until - self.from).as_nanos().max(1));
        let into = i128::from((at - self.from).as_nanos()).clamp(0, length);
        let place = into * i128::from(self.width.0) / length;
        self.left + Px(i64::try_from(place).unwrap_or(self.width.0))
    }

    pub(super) fn right(&self) -> Px {
        self.left + self.width
    }

    pub(super) fn covers(&self, at: TrueTime) -> bool {
        self.from <= at && at <= self.until
    }

    /// The part of a stretch that is in it: from where to where.
    pub(super) fn part(&self, (from, until): (TrueTime, TrueTime)) -> Option<(Px, Px)> {
        (from <= self.until && until >= self.from && from <= until).then(|| (self.x(from), self.x(until)))
    }

    /// Its ticks, at round times of day, each with its label.
    pub(super) fn ticks(&self, history: &History) -> Vec<(Px, String)> {
        let length = (self.until - self.from).as_nanos();
        let step = round_step(length / MOST_TICKS);
        let start = history.start.as_nanos();
        let begin = i128::from(start) + i128::from(self.from.as_nanos());
        let first = begin.div_euclid(i128::from(step)) + i128::from(begin.rem_euclid(i128::from(step)) != 0);
        let mut ticks = Vec::new();
        for index in 0..=MOST_TICKS {
            let reading = (first + i128::from(index)) * i128::from(step);
            let Ok(reading) = i64::try_from(reading) else { break };
            let at = TrueTime::START + Span::nanos(reading.saturating_sub(start));
            if at > self.until {
                break;
            }
            ticks.push((self.x(at), label(WallTime::from_nanos(reading), step)));
        }
        ticks
    }
}

/// The time of day with as many digits as ticks that are `step` apart need.
fn label(reading: WallTime, step: i64) -> String {
    match step {
        1_000_000_000.. => words::time_of_day(reading)[..8].to_owned(),
        1_000_000.. => words::time_of_day(reading),
        _ => TimeOfDay(reading).to_string(),
    }
}

/// The smallest round number of nanoseconds that is no less than `least`.
fn round_step(least: i64) -> i64 {
    const SECOND: i64 = 1_000_000_000;
    let of_seconds = [10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];
    let decimal =
        std::iter::successors(Some(1_i64), |power| power.checked_mul(10).filter(|power| *power <= SECOND))
            .flat_map(|power| [power, 2 * power, 5 * power]);
    let below = decimal.take_while(|step| *step < 10 * SECOND).chain(of_seconds.map(|seconds| seconds * SECOND));
    let days = (1..).map(|days: i64| days.saturating_mul(86_400 * SECOND));
    below.chain(days).find(|step| *step >= least).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(from: i64, until: i64) -> Axis {
        let at = |nanos| TrueTime::START + Span::nanos(nanos);
        Axis { from: at(from), until: at(until), left: Px::of(100), width: Px::of(1_000) }
    }

    #[test]
    fn times_are_in_proportion_and_stay_in() {
        for (from, until, at, x) in [
            (0, 100, 50, 600),
            (0, 100, 0, 100),
            (0, 100, 100, 1_100),
            (0, 100, 900, 1_100),
            (0, 100, -5, 100),
            (7, 7, 7, 100),
        ] {
            assert_eq!(
                axis(from, until).x(TrueTime::START + Span::nanos(at)),
                Px::of(x),
                "{at} in {from}..{until}"
            );
        }
        let longest = axis(i64::MIN / 2, i64::MAX / 2);
        assert_eq!(longest.x(TrueTime::from_nanos(i64::MAX)), Px::of(1_100));
    }

    #[test]
    fn steps_are_round() {
        for (least, step) in [
            (0, 1),
            (1, 1),
            (3, 5),
            (30_000_000, 50_000_000),
            (4_166_666_666, 5_000_000_000),
            (6_000_000_000, 10_000_000_000),
            (11_000_000_000, 15_000_000_000),
            (3_700_000_000_000, 7_200_000_000_000),
            (90_000_000_000_000, 172_800_000_000_000),
        ] {
            assert_eq!(round_step(least), step, "{least}");
        }
    }
}
