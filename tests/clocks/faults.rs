//! What drift, strobe, zone error and leap second do to a clock, nanosecond by nanosecond where it matters.

use holdover::sim::clock::{Clock, Rate};
use holdover::sim::fault::{ClockDrift, ClockStrobe, Fault, LeapSecond, SMEAR_PPB, ZoneError};
use holdover::sim::history::What;
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::sim::time::{Span, TrueTime};

use crate::support::{A, B, at, clocks, close, error, from, history_of, world};

/// With `fault` from 100 s on: how far the wall clock of the first worker is ahead at each of these seconds, in ms.
#[track_caller]
fn wall(fault: impl Into<Fault>, expected: &[(i64, i64)]) {
    let history = history_of(&world(), &[from(100, fault)], 1);
    for (seconds, millis) in expected {
        let found = error(&history, A, at(*seconds)).as_nanos();
        assert_eq!(found, millis * 1_000_000, "at {seconds} s");
    }
}

#[test]
fn a_zone_error_is_there_and_gone() {
    let hour = 3_600_000;
    wall(
        ZoneError { node: A, by: Span::secs(7_200), lasting: Span::secs(30) },
        &[(99, 0), (100, 2 * hour), (129, 2 * hour), (130, 0), (200, 0)],
    );
}

/// Whatever else happens to the clock meanwhile, it is set back by what it was set off by, to the nanosecond.
#[test]
fn a_zone_error_takes_back_what_it_did() {
    let zone = |by| ZoneError { node: A, by, lasting: Span::secs(30) };
    let drift = || ClockDrift { node: A, rate: Rate::from_ppb(10_007).expect("in range"), lasting: None };
    for by in [Span::secs(900), Span::secs(-900), Span::secs(50_400)] {
        let plain = history_of(&world(), &[from(50, drift())], 1);
        let zoned = history_of(&world(), &[from(50, drift()), from(100, zone(by))], 1);
        let off = |at| error(&zoned, A, at) - error(&plain, A, at);
        let nanosecond = Span::nanos(1);
        for (at, expected) in [
            (at(100) - nanosecond, Span::ZERO),
            (at(100), by),
            (at(130) - nanosecond, by),
            (at(130), Span::ZERO),
            (at(1_000), Span::ZERO),
        ] {
            assert_eq!(off(at), expected, "{by} at {at:?}");
        }
        let lease_store = NodeId(0);
        assert_eq!(error(&zoned, B, at(110)), Span::ZERO);
        assert_eq!(error(&zoned, lease_store, at(110)), Span::ZERO);
    }
}

#[test]
fn a_drift_lasts_for_a_while_or_for_ever() {
    let rate = Rate::from_ppb(10_000_000).expect("in range");
    let drift = |lasting| ClockDrift { node: A, rate, lasting };
    wall(drift(Some(Span::secs(100))), &[(100, 0), (150, 500), (200, 1_000), (300, 1_000)]);
    wall(drift(None), &[(100, 0), (150, 500), (200, 1_000), (300, 2_000)]);
    let history = history_of(&world(), &[from(100, drift(None))], 1);
    let raw = clocks(&history, A).read(Clock::Raw, at(200));
    assert_eq!(raw, 201_000_000_000);
}

#[test]
fn a_strobe_jumps_to_and_fro_and_ends_where_it_began() {
    let strobe = |every, lasting| ClockStrobe {
        node: A,
        by: Span::millis(200),
        every: Span::secs(every),
        lasting: Span::secs(lasting),
    };
    wall(strobe(1, 4), &[(99, 0), (100, 200), (101, 0), (102, 200), (103, 0), (104, 0), (105, 0)]);
    wall(strobe(1, 3), &[(100, 200), (101, 0), (102, 200), (103, 0), (104, 0)]);
    wall(strobe(2, 3), &[(100, 200), (101, 200), (102, 0), (103, 0), (104, 0)]);
    for clock in [Clock::Monotonic, Clock::Raw, Clock::Boottime] {
        let history = history_of(&world(), &[from(100, strobe(1, 4))], 1);
        assert_eq!(clocks(&history, A).read(clock, at(110)), 110_000_000_000);
    }
}

#[test]
fn a_strobe_that_the_end_of_the_run_cuts_off_leaves_nothing() {
    for millis in [100, 150, 200, 250] {
        let mut world = world();
        world.limits.end = at(100) + Span::millis(millis);
        let strobe = ClockStrobe { node: A, by: Span::secs(1), every: Span::millis(100), lasting: Span::secs(60) };
        let history = history_of(&world, &[from(100, strobe)], 1);
        assert_eq!(history.ending, Ending::TimeUp);
        assert_eq!(error(&history, A, world.limits.end), Span::ZERO, "{millis} ms");
        assert!(history.events.iter().any(|event| matches!(event.what, What::FaultEnded { .. })));
    }
}

#[test]
fn a_leap_second_is_repeated_by_some_and_smeared_by_others() {
    let leap = LeapSecond { stepped: vec![A], smeared: vec![B] };
    let history = history_of(&world(), &[from(600, leap)], 1);
    // The second before the strike is there twice.
    let (before, after) = (at(600) - Span::nanos(1), at(600));
    assert_eq!(error(&history, A, before), Span::ZERO);
    assert_eq!(error(&history, A, after), Span::secs(-1));
    // UTC itself has the second: from the strike on it is a second behind what true time would be. So a smeared clock is
    // half a second behind UTC just before, and half a second ahead of it just after.
    for now in [before, after] {
        assert!(close(error(&history, B, now), Span::millis(-500)));
    }
    let slope = clocks(&history, B).at(TrueTime::START).slew.as_ppb();
    assert_eq!(slope, -SMEAR_PPB);
    let mono = clocks(&history, B).mono(at(1_000)).as_nanos();
    assert_eq!(mono, 1_000_000_000_000 - 1_000 * i64::from(SMEAR_PPB));
    let raw = clocks(&history, B).raw(at(1_000)).as_nanos();
    assert_eq!(raw, 1_000_000_000_000);
}

/// Each clock that is named is stepped, wherever it stands in the list, and no other.
#[test]
fn a_leap_second_is_on_every_clock_that_has_it() {
    let nodes = [A, B, NodeId(0), NodeId(1)];
    for stepped in [vec![A], vec![B], vec![A, B], vec![B, NodeId(1), A], vec![NodeId(0), B]] {
        let leap = LeapSecond { stepped: stepped.clone(), smeared: Vec::new() };
        let history = history_of(&world(), &[from(600, leap)], 1);
        for node in nodes {
            let expected = if stepped.contains(&node) { Span::secs(-1) } else { Span::ZERO };
            assert_eq!(error(&history, node, at(600) - Span::nanos(1)), Span::ZERO, "{node:?} of {stepped:?}");
            assert_eq!(error(&history, node, at(600)), expected, "{node:?} of {stepped:?}");
            assert_eq!(error(&history, node, at(900)), expected, "{node:?} of {stepped:?}");
        }
    }
}

/// Each clock that smears it runs as slow as if it were the only one, wherever it stands in the list, and no other does.
#[test]
fn a_leap_second_is_smeared_on_every_clock_that_smears_it() {
    let of = |smeared: &[NodeId]| LeapSecond { stepped: Vec::new(), smeared: smeared.to_vec() };
    let alone = history_of(&world(), &[from(600, of(&[A]))], 1);
    for smeared in [vec![A, B], vec![B, NodeId(1), A], vec![NodeId(0), B]] {
        let history = history_of(&world(), &[from(600, of(&smeared))], 1);
        for node in [A, B, NodeId(0), NodeId(1)] {
            for at in [at(0), at(600), at(1_000)] {
                let expected = if smeared.contains(&node) { error(&alone, A, at) } else { Span::ZERO };
                assert_eq!(error(&history, node, at), expected, "{node:?} of {smeared:?}");
            }
        }
    }
}
