//! What a node's clocks read, at a glance: most of the time nothing bends them, and then each is ahead of true time by as
//! much all along.

use std::cell::Cell;

use crate::clock::{Clock, Segment};
use crate::time::{TrueTime, sum};

/// By how much each clock of a node is ahead of true time, while that stays the same.
#[derive(Default)]
pub(super) struct Glance {
    /// Whether it does.
    is_clear: Cell<bool>,
    ahead: [Cell<i64>; 4],
}

impl Glance {
    /// The clocks run like `segment` from now on.
    pub(super) fn look(&self, segment: &Segment) {
        self.is_clear.set(true);
        for (clock, ahead) in CLOCKS.into_iter().zip(&self.ahead) {
            match segment.ahead(clock) {
                Some(by) => ahead.set(by),
                None => self.is_clear.set(false),
            }
        }
    }

    /// What `clock` reads at `at`, if that is clear.
    #[inline(always)]
    pub(super) fn read(&self, clock: Clock, at: TrueTime) -> Option<i64> {
        self.is_clear.get().then(|| sum(at.as_nanos(), self.ahead[clock as usize].get()))
    }

    /// When `clock` reads `reading`, or did so in the stretch before, if that is clear.
    #[inline(always)]
    pub(super) fn when(&self, clock: Clock, reading: i64) -> Option<TrueTime> {
        if !self.is_clear.get() {
            return None;
        }
        reading.checked_sub(self.ahead[clock as usize].get()).filter(|at| *at < i64::MAX).map(TrueTime::from_nanos)
    }
}

/// By their numbers.
const CLOCKS: [Clock; 4] = [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::{Motion, Rate};
    use crate::time::{Span, WallTime};

    proptest! {
        /// All three ways to look at a clock say the same, as far as a glance says anything.
        #[test]
        fn a_glance_is_what_the_clocks_read(
            (wall, step, passed, rest) in (any::<i32>(), any::<i32>(), 0..1_000_000i64, 0..1_000_000i64),
            (drift, is_frozen) in (-1..=1i32, any::<bool>()),
        ) {
            let rate = Rate::from_ppb(drift).expect("it is small");
            let mut segment = Segment::boot(WallTime::from_nanos(i64::from(wall)), rate);
            segment = segment.cut(TrueTime::from_nanos(passed));
            segment.step(Span::nanos(i64::from(step)));
            if is_frozen {
                segment.motion = Motion::Frozen;
            }
            let (glance, at) = (Glance::default(), TrueTime::from_nanos(passed + rest));
            glance.look(&segment);
            for clock in CLOCKS {
                let read = segment.read(clock, at);
                let is_clear = drift == 0 && !is_frozen;
                prop_assert_eq!(glance.read(clock, at), is_clear.then_some(read));
                prop_assert_eq!(glance.when(clock, read), is_clear.then_some(at));
                if is_clear {
                    prop_assert_eq!(segment.when(clock, read), Some(at));
                }
            }
        }
    }
}
