//! The laws of a node's clocks, held against random lines of changes.

use holdover_sim::clock::{Clock, ClockLine, Deadline, Motion, Rate, Segment};
use holdover_sim::time::{Span, TrueTime, WallTime};
use proptest::prelude::*;

const ALL: [Clock; 4] = [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime];
const NEVER_BACK: [Clock; 3] = [Clock::Monotonic, Clock::Raw, Clock::Boottime];
const EXACT: i32 = Rate::EXACT.as_ppb();

/// One change of a line.
#[derive(Clone, Copy, Debug)]
enum Change {
    Step(Span),
    Slew(Rate),
    Drift(Rate),
    Motion(Motion),
}

impl Change {
    fn apply(self, segment: &mut Segment) {
        match self {
            Change::Step(by) => segment.step(by),
            Change::Slew(rate) => segment.slew = rate,
            Change::Drift(rate) => segment.drift = rate,
            Change::Motion(motion) => segment.motion = motion,
        }
    }
}

fn rates() -> impl Strategy<Value = Rate> {
    let max = Rate::MAX_PPB;
    prop_oneof![Just(EXACT), Just(max), Just(-max), -max..=max]
        .prop_map(|ppb| Rate::from_ppb(ppb).expect("in range"))
}

fn motions() -> impl Strategy<Value = Motion> {
    prop::sample::select(vec![Motion::Running, Motion::Suspended, Motion::Frozen])
}

fn changes(step: impl Strategy<Value = i64>) -> impl Strategy<Value = Change> {
    prop_oneof![
        step.prop_map(|by| Change::Step(Span::nanos(by))),
        rates().prop_map(Change::Slew),
        rates().prop_map(Change::Drift),
        motions().prop_map(Change::Motion),
    ]
}

fn line(wall: i64, drift: Rate, changes: &[(TrueTime, Change)]) -> ClockLine {
    let mut line = ClockLine::new(WallTime::from_nanos(wall), drift);
    for &(at, change) in changes {
        line.change(at, |segment| change.apply(segment));
    }
    line
}

/// The whole range of a line in most tests: short enough that rounding and chance meetings show.
const RANGE: i64 = 2_000;

/// Lines with up to eight changes in the first [`RANGE`] nanoseconds, some of them at one instant.
fn lines() -> impl Strategy<Value = ClockLine> {
    let change = (0..RANGE, changes(-500..500i64));
    (0..RANGE, rates(), prop::collection::vec(change, 0..8)).prop_map(|(wall, drift, mut changes)| {
        changes.sort_by_key(|(at, _)| *at);
        let changes: Vec<_> = changes.into_iter().map(|(at, change)| (nanos(at), change)).collect();
        line(wall, drift, &changes)
    })
}

/// Lines over hours, with seconds between the changes.
fn long_lines() -> impl Strategy<Value = ClockLine> {
    let hour = 3_600_000_000_000i64;
    let change = (0..hour, changes(-hour..hour));
    (0..hour, rates(), prop::collection::vec(change, 0..8)).prop_map(|(wall, drift, mut changes)| {
        changes.sort_by_key(|(at, _)| *at);
        let changes: Vec<_> = changes.into_iter().map(|(at, change)| (nanos(at), change)).collect();
        line(wall, drift, &changes)
    })
}

/// Any number, the ends of the range and the neighbourhood of zero often.
fn extremes() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(i64::MAX - 1), -2..=2i64, any::<i64>()]
}

fn clocks() -> impl Strategy<Value = Clock> {
    prop::sample::select(ALL.to_vec())
}

fn nanos(nanos: i64) -> TrueTime {
    TrueTime::from_nanos(nanos)
}

fn read_all(line: &ClockLine, at: TrueTime) -> [i64; 4] {
    ALL.map(|clock| line.read(clock, at))
}

/// Whether `clock` advances at most as fast as true time.
fn at_most_true_rate(segment: &Segment, clock: Clock) -> bool {
    let slew = if clock == Clock::Raw { EXACT } else { segment.slew.as_ppb() };
    segment.motion != Motion::Running || segment.drift.as_ppb() + slew <= EXACT
}

/// One random line with two instants of true time, in order.
fn lines_and_two_instants() -> impl Strategy<Value = (ClockLine, TrueTime, TrueTime)> {
    let short = (lines(), 0..2 * RANGE, 0..2 * RANGE);
    let hours = 7_200_000_000_000i64;
    let long = (long_lines(), 0..hours, 0..hours);
    prop_oneof![short, long].prop_map(|(line, one, other)| (line, nanos(one.min(other)), nanos(one.max(other))))
}

proptest! {
    #[test]
    fn only_the_wall_clock_ever_goes_back((line, earlier, later) in lines_and_two_instants()) {
        for clock in NEVER_BACK {
            prop_assert!(line.read(clock, earlier) <= line.read(clock, later), "{:?}", clock);
        }
    }

    #[test]
    fn reads_are_pure((line, earlier, later) in lines_and_two_instants()) {
        let untouched = line.clone();
        let first = (read_all(&line, earlier), read_all(&line, later));
        let again = (read_all(&line, later), read_all(&line, earlier));
        prop_assert_eq!(first, (again.1, again.0));
        prop_assert_eq!(line, untouched);
    }

    #[test]
    fn the_typed_reads_agree_with_the_plain_one((line, at, _) in lines_and_two_instants()) {
        let typed = [
            line.wall(at).as_nanos(),
            line.mono(at).as_nanos(),
            line.raw(at).as_nanos(),
            line.boot(at).as_nanos(),
        ];
        prop_assert_eq!(typed, read_all(&line, at));
        let start = WallTime::from_nanos(7);
        prop_assert_eq!(start + (at - TrueTime::START) + line.wall_error(start, at), line.wall(at));
    }

    /// What holds at an instant is decided by the changes up to it; a change later on alters nothing before.
    #[test]
    fn a_change_leaves_the_past_alone(line in lines(), at in RANGE..2 * RANGE, change in changes(-500..500i64)) {
        let mut changed = line.clone();
        changed.change(nanos(at), |segment| change.apply(segment));
        for at in (0..at).map(nanos) {
            prop_assert_eq!(read_all(&changed, at), read_all(&line, at));
        }
    }

    #[test]
    fn a_step_moves_the_wall_clock_alone(
        line in lines(), by in -500..500i64, at in RANGE..2 * RANGE, after in 0..RANGE,
    ) {
        let (mut cut, mut stepped) = (line.clone(), line);
        cut.change(nanos(at), |_| ());
        stepped.change(nanos(at), |segment| segment.step(Span::nanos(by)));
        let at = nanos(at + after);
        prop_assert_eq!(stepped.wall(at) - cut.wall(at), Span::nanos(by));
        for clock in NEVER_BACK {
            prop_assert_eq!(stepped.read(clock, at), cut.read(clock, at));
        }
    }

    #[test]
    fn a_slew_bends_all_but_the_raw_clock(
        line in lines(), rate in rates(), at in RANGE..2 * RANGE, after in 0..2_000_000_000i64,
    ) {
        let (mut cut, mut slewed) = (line.clone(), line);
        let change = |line: &mut ClockLine, rate| {
            line.change(nanos(at), |segment| {
                segment.motion = Motion::Running;
                segment.slew = rate;
            });
        };
        change(&mut cut, Rate::EXACT);
        change(&mut slewed, rate);
        let (at, later) = (nanos(at), nanos(at + after));
        prop_assert_eq!(slewed.raw(later), cut.raw(later));
        let [wall, mono, boot] = [Clock::Wall, Clock::Monotonic, Clock::Boottime]
            .map(|clock| slewed.read(clock, later) - slewed.read(clock, at));
        prop_assert_eq!([mono, boot], [wall, wall]);
        let drift = i128::from(slewed.current().drift.as_ppb());
        let slope = 1_000_000_000 + drift + i128::from(rate.as_ppb());
        prop_assert_eq!(i128::from(wall), i128::from(after) * slope / 1_000_000_000);
    }

    #[test]
    fn a_drift_bends_all_clocks_alike(drift in rates(), after in 0..2_000_000_000i64) {
        let line = ClockLine::new(WallTime::default(), drift);
        let [wall, rest @ ..] = read_all(&line, nanos(after));
        prop_assert_eq!(rest, [wall; 3]);
    }

    #[test]
    fn frozen_clocks_stand_still(line in lines(), at in RANGE..2 * RANGE, after in 0..2_000_000_000i64) {
        let mut frozen = line;
        frozen.change(nanos(at), |segment| segment.motion = Motion::Frozen);
        prop_assert_eq!(read_all(&frozen, nanos(at + after)), read_all(&frozen, nanos(at)));
    }

    #[test]
    fn a_suspend_is_seen_by_wall_and_boottime_alone(
        line in lines(), at in RANGE..2 * RANGE, after in 0..2_000_000_000i64,
    ) {
        let mut suspended = line;
        suspended.change(nanos(at), |segment| segment.motion = Motion::Suspended);
        let [wall, mono, raw, boot] = read_all(&suspended, nanos(at));
        prop_assert_eq!(read_all(&suspended, nanos(at + after)), [wall + after, mono, raw, boot + after]);
    }

    /// A drift that comes and goes with a freeze in the middle, as a migration does it, never has a clock go back, and costs
    /// no clock more than the freeze.
    #[test]
    fn a_migration_loses_what_it_says(
        drift in rates(), change in rates(), lost in 0..1_000_000_000i64, before in 0..1_000_000_000i64,
    ) {
        let mut line = ClockLine::new(WallTime::default(), drift);
        let (stops, goes_on) = (nanos(before), nanos(before + lost));
        line.change(stops, |segment| segment.motion = Motion::Frozen);
        line.change(goes_on, |segment| {
            segment.motion = Motion::Running;
            segment.drift = change;
        });
        let unmoved = ClockLine::new(WallTime::default(), drift);
        prop_assert_eq!(read_all(&line, goes_on), read_all(&unmoved, stops));
        let later = goes_on + Span::secs(1);
        let advanced = 1_000_000_000 + i64::from(change.as_ppb());
        for (now, then) in read_all(&line, later).into_iter().zip(read_all(&line, goes_on)) {
            prop_assert_eq!(now - then, advanced);
        }
    }

    /// A clock that jumps away and back, however often, is where it would have been.
    #[test]
    fn a_strobe_leaves_nothing(line in lines(), by in -500..500i64, jumps in 0..10i64, every in 1..100i64) {
        let mut strobed = line.clone();
        for jump in 0..2 * jumps {
            let by = Span::nanos(if jump % 2 == 0 { by } else { -by });
            strobed.change(nanos(RANGE + jump * every), |segment| segment.step(by));
        }
        let mut cut = line;
        for jump in 0..2 * jumps {
            cut.change(nanos(RANGE + jump * every), |_| ());
        }
        let after = nanos(RANGE + 2 * jumps * every + 7);
        prop_assert_eq!(read_all(&strobed, after), read_all(&cut, after));
    }

    /// A cut keeps the reading where it is made, and costs no more than the part of a nanosecond that a reading drops.
    #[test]
    fn a_cut_is_continuous((line, at, later) in lines_and_two_instants()) {
        let segment = line.current();
        let (at, later) = (at.max(segment.from), later.max(segment.from));
        let cut = segment.cut(at);
        for clock in ALL {
            prop_assert_eq!(cut.read(clock, at), segment.read(clock, at));
            let behind = segment.read(clock, later) - cut.read(clock, later);
            prop_assert!(behind == 0 || behind == 1, "{:?} is {} ns behind", clock, behind);
        }
    }

    #[test]
    fn when_is_the_first_instant_at_or_past_the_deadline(
        (line, at, _) in lines_and_two_instants(), clock in clocks(), ahead in -100..5_000i64,
    ) {
        let segment = line.at(at);
        let reading = segment.read(clock, segment.from) + ahead;
        let Some(when) = segment.when(clock, reading) else {
            prop_assert_eq!(segment.read(clock, nanos(i64::MAX)), segment.read(clock, segment.from));
            return Ok(());
        };
        prop_assert!(when >= segment.from);
        prop_assert!(segment.read(clock, when) >= reading);
        prop_assert_eq!(when == segment.from, ahead <= 0);
        if when > segment.from {
            prop_assert!(segment.read(clock, when - Span::nanos(1)) < reading);
            if at_most_true_rate(segment, clock) {
                prop_assert_eq!(segment.read(clock, when), reading);
            }
        }
    }

    /// Nanosecond by nanosecond, being in one of the intervals means that the clock has not reached the deadline.
    #[test]
    fn before_agrees_with_a_look_at_every_instant(
        line in lines(), clock in clocks(), reading in -100..2 * RANGE, from in 0..RANGE, until in 0..2 * RANGE,
    ) {
        let mut intervals = Vec::new();
        let deadline = Deadline { clock, reading };
        line.before(deadline, nanos(from), nanos(until), |from, until| intervals.push((from, until)));
        for (from, until) in &intervals {
            prop_assert!(from < until);
        }
        for pair in intervals.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0);
        }
        for at in (0..2 * RANGE + 10).map(nanos) {
            let within = intervals.iter().any(|&(from, until)| from <= at && at < until);
            let expected = nanos(from) <= at && at < nanos(until) && line.read(clock, at) < reading;
            prop_assert_eq!(within, expected, "at {:?}", at);
        }
    }

    /// The same over hours, at the edges of the intervals.
    #[test]
    fn before_agrees_with_a_look_at_its_edges(
        (line, from, until) in lines_and_two_instants(), clock in clocks(), ahead in -1_000_000_000_000..1_000_000_000_000i64,
    ) {
        let deadline = Deadline { clock, reading: line.read(clock, from) + ahead };
        let mut intervals = Vec::new();
        line.before(deadline, from, until, |from, until| intervals.push((from, until)));
        let nano = Span::nanos(1);
        let reached = |at| line.read(clock, at) >= deadline.reading;
        let within = |at| intervals.iter().any(|&(from, until)| from <= at && at < until);
        for &(begin, end) in &intervals {
            prop_assert!(from <= begin && begin < end && end <= until);
            prop_assert!(!reached(begin) && !reached(end - nano));
            prop_assert!(begin == from || within(begin - nano) || reached(begin - nano));
            prop_assert!(end == until || within(end) || reached(end));
        }
        prop_assert!(from == until || within(from) != reached(from));
    }

    /// However absurd the numbers: an answer, and no overflow.
    #[test]
    fn extreme_numbers_saturate(
        wall in extremes(), drift in rates(), mut changed in prop::collection::vec((extremes(), changes(extremes())), 0..6),
        at in extremes(), clock in clocks(), reading in extremes(), from in extremes(), until in extremes(),
    ) {
        changed.retain(|(at, _)| *at >= 0);
        changed.sort_by_key(|(at, _)| *at);
        let changes: Vec<_> = changed.into_iter().map(|(at, change)| (nanos(at), change)).collect();
        let line = line(wall, drift, &changes);
        for clock in NEVER_BACK {
            prop_assert!(line.read(clock, nanos(at)) >= 0);
        }
        prop_assert_eq!(line.read(Clock::Wall, nanos(at)), line.wall(nanos(at)).as_nanos());
        line.wall_error(WallTime::from_nanos(reading), nanos(at));
        let deadline = Deadline { clock, reading };
        line.before(deadline, nanos(from), nanos(until), |begin, end| {
            assert!(nanos(from) <= begin && begin < end && end <= nanos(until));
            assert!(line.read(clock, begin) < reading);
        });
        for segment in line.segments() {
            if let Some(when) = segment.when(clock, reading) {
                prop_assert!(when >= segment.from && segment.read(clock, when) >= reading);
            }
            segment.cut(nanos(at));
        }
    }
}
