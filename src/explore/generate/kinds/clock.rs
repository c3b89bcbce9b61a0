//! What bends or moves the clocks of one node.

use holdover_sim::fault::{ClockDrift, ClockSlew, ClockStep, ClockStrobe, Fault, ZoneError};
use holdover_sim::time::Span;

use crate::explore::generate::profile::Profile;
use crate::explore::generate::sketch::{SHORTEST, Sketch};

/// From what offset on ntpd, timesyncd and chronyd step a clock instead of bending it.
const THRESHOLDS: [Span; 3] = [Span::millis(128), Span::millis(400), Span::secs(1)];

/// What clocks jumped by that were set by the wrong machine: 8 hours on a cloud's guests, days in tests of others.
const WILD: [Span; 2] = [Span::secs(8 * 3_600), Span::secs(5 * 86_400)];

/// How often a strobe jumps at the most. Each jump costs the run as much as a message.
const MOST_JUMPS: i64 = 400;

pub(super) fn step(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.clocked();
    let by = match sketch.profile() {
        Profile::Realistic => {
            let threshold = sketch.dice.pick(&THRESHOLDS);
            let offset = sketch.dice.log_uniform(threshold, threshold.times(4));
            sketch.dice.either_sign(offset)
        }
        Profile::Hostile => {
            let usual = sketch.jump(Span::millis(11), Span::secs(288));
            let wild = sketch.dice.pick(&WILD);
            let wild = sketch.dice.either_sign(wild);
            if sketch.dice.below(100) < 4 { wild } else { usual }
        }
    };
    ClockStep { node, by }.into()
}

/// ntpd bends a clock by 500 ppm at the most, timesyncd by 50,000 and chronyd by 83,333; Linux by 100,000.
pub(super) fn slew(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.clocked();
    let some = sketch.dice.log_uniform(Span::nanos(1_000), Span::nanos(83_333)).as_nanos();
    let ppm = match sketch.profile() {
        Profile::Realistic => sketch.dice.weighted(&[(6, 500), (1, some.min(50_000)), (1, some), (1, 83_333)]),
        Profile::Hostile => sketch.dice.weighted(&[(4, 100_000), (1, 83_333), (1, some), (1, 500)]),
    };
    let rate = sketch.rate(ppm);
    let lasting = sketch.length(Span::secs(1), Span::secs(300));
    ClockSlew { node, rate, lasting }.into()
}

/// Oscillators are off by some 30 ppm, bad ones by 200, and one was seen to be off by 6,700 for five minutes.
pub(super) fn drift(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.clocked();
    let usual = sketch.normal_rate(30_000, 100_000);
    let (some, most) = (sketch.dice.count(1, 200), sketch.dice.pick(&[2_000, 6_700, 100_000]));
    let is_far = sketch.dice.chance(25);
    let (some, far) = (sketch.rate(some.into()), sketch.rate(most));
    let rate = match sketch.profile() {
        Profile::Realistic => usual,
        Profile::Hostile if is_far => far,
        Profile::Hostile => some,
    };
    let lasting = sketch.length(Span::secs(1), Span::secs(300));
    let ends = sketch.dice.chance(60);
    ClockDrift { node, rate, lasting: ends.then_some(lasting) }.into()
}

/// A clock that two daemons fight over, as Jepsen's strobes.
pub(super) fn strobe(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.clocked();
    let by = sketch.jump(Span::millis(4), sketch.of(Span::secs(1), Span::secs(262)));
    let every = sketch.dice.log_uniform(Span::millis(1), Span::secs(1));
    let lasting = sketch.between(Span::millis(100), Span::secs(32));
    let lasting = lasting.max(every + SHORTEST).min(every.times(MOST_JUMPS));
    ClockStrobe { node, by, every, lasting }.into()
}

/// A wall clock that is set to local time, or to another zone's.
pub(super) fn zone(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.clocked();
    let quarters = sketch.dice.weighted(&[(4, 4), (2, 8), (1, 22), (1, 32), (1, 1), (1, 56)]);
    let by = sketch.dice.either_sign(Span::secs(900 * quarters));
    let lasting = sketch.length(Span::secs(1), Span::secs(3_600));
    ZoneError { node, by, lasting }.into()
}
