//! Time daemons: what each does about a clock that is off, and above all in the seconds and minutes after a freeze.

use holdover::sim::clock::{Clock, Rate};
use holdover::sim::fault::{
    Anchor, ClockDrift, ClockSlew, ClockStep, LeapSecond, Pause, PauseClocks, PlannedFault, TimeSource,
};
use holdover::sim::history::{History, What};
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{Discipline, LEDGER, TimeDaemon, WorldSpec};
use proptest::prelude::*;

use crate::support::{
    A, B, DUE, at, clocks, close, corrections, disciplined, error, freeze, from, history_of, slews, world,
};

/// The freeze lasts from here to there.
const FROZEN: (i64, i64) = (400, 402);

const SEEDS: std::ops::Range<u64> = 0..20;

#[test]
fn after_a_freeze_ntpd_waits_for_five_minutes_and_then_steps_once() {
    let world = disciplined(TimeDaemon::Ntpd, 64);
    for seed in SEEDS {
        let history = history_of(&world, &[from(FROZEN.0, freeze())], seed);
        let [(stepped, by)] = corrections(&history)[..] else { panic!("{:?}", corrections(&history)) };
        let waited = stepped - at(FROZEN.1);
        assert!(waited > Span::secs(300 - 64) && waited <= Span::secs(300 + 64), "{waited}");
        assert!(close(by, Span::secs(2)), "{by}");
        // All the while the clock was two seconds behind.
        for now in [at(FROZEN.1), at(500), stepped - Span::nanos(1)] {
            assert!(close(error(&history, A, now), Span::secs(-2)));
        }
        assert!(close(error(&history, A, stepped), Span::ZERO));
        // It never slews by more than 500 ppm, and the monotonic clock never gets its two seconds back.
        assert!(slews(&history).iter().all(|(_, ppb)| ppb.abs() <= 500_000));
        let mono = clocks(&history, A).mono(at(1_000)) - clocks(&history, A).mono(at(0));
        assert!(close(mono, Span::secs(998)), "{mono}");
    }
}

#[test]
fn after_a_freeze_chrony_slews_by_a_twelfth_for_24_seconds_monotonic_too() {
    let world = disciplined(TimeDaemon::Chrony, 64);
    for seed in SEEDS {
        let history = history_of(&world, &[from(FROZEN.0, freeze())], seed);
        assert_eq!(corrections(&history), []);
        let steep: Vec<_> = slews(&history).into_iter().filter(|(_, ppb)| ppb.abs() > 1_000_000).collect();
        let [(began, 83_333_333)] = steep[..] else { panic!("{steep:?}") };
        assert!(began - at(FROZEN.1) <= Span::secs(64));
        let ended = slews(&history).into_iter().find(|(at, _)| *at > began).expect("it ends").0;
        let took = ended - began;
        assert!(took >= Span::millis(23_990) && took <= Span::millis(24_010), "{took}");
        let line = clocks(&history, A);
        for clock in [Clock::Wall, Clock::Monotonic, Clock::Boottime] {
            let ahead = line.read(clock, ended) - line.read(clock, began) - took.as_nanos();
            assert!(close(Span::nanos(ahead), Span::secs(2)), "{clock:?}: {ahead}");
        }
        assert_eq!(line.read(Clock::Raw, ended) - line.read(Clock::Raw, began), took.as_nanos());
        assert!(close(error(&history, A, ended), Span::ZERO));
    }
}

#[test]
fn after_a_freeze_timesyncd_steps_at_the_next_poll() {
    let world = disciplined(TimeDaemon::Timesyncd, 32);
    for seed in SEEDS {
        let history = history_of(&world, &[from(FROZEN.0, freeze())], seed);
        let [(stepped, by)] = corrections(&history)[..] else { panic!("{:?}", corrections(&history)) };
        assert!(stepped - at(FROZEN.1) <= Span::secs(32) && close(by, Span::secs(2)));
    }
}

#[test]
fn after_a_freeze_the_agent_of_the_host_steps_at_once() {
    let history = history_of(&disciplined(TimeDaemon::HostAgent, 60), &[from(FROZEN.0, freeze())], 1);
    let [(stepped, by)] = corrections(&history)[..] else { panic!("{:?}", corrections(&history)) };
    assert!(stepped == at(FROZEN.1) && close(by, Span::secs(2)));
    // A stall stops no guest, so there is nothing to see to.
    let stall = Pause::of(A, Span::secs(2), PauseClocks::Running);
    assert_eq!(corrections(&history_of(&disciplined(TimeDaemon::HostAgent, 60), &[from(400, stall)], 1)), []);
}

/// The pause stops the machine and not its clocks.
fn stopped(from: TrueTime, lasting: Span) -> PlannedFault {
    let inject = Pause::of(A, lasting, PauseClocks::Counted).into();
    PlannedFault { when: Anchor::At(from), inject, note: None, name: None }
}

#[test]
fn chrony_ends_no_slew_while_its_machine_is_stopped() {
    let (world, off) = (disciplined(TimeDaemon::Chrony, 64), from(400, ClockStep { node: A, by: Span::secs(-2) }));
    for seed in SEEDS {
        let steep = |history: &History| slews(history).into_iter().find(|(_, ppb)| *ppb == 83_333_333);
        let (began, _) = steep(&history_of(&world, std::slice::from_ref(&off), seed)).expect("it slews");
        let pause = stopped(began + Span::secs(10), Span::secs(30));
        let history = history_of(&world, &[off.clone(), pause], seed);
        let ended = slews(&history).into_iter().find(|(at, _)| *at > began).expect("it ends");
        assert_eq!(ended, (began + Span::secs(40), 0));
        // It would have ended after 24 seconds.
        let ahead = error(&history, A, ended.0);
        assert!(ahead > Span::millis(1_330) && ahead < Span::millis(1_340), "{ahead}");
    }
}

#[test]
fn a_kernel_catches_up_with_its_slew_and_the_news_of_its_end_is_late() {
    let world = disciplined(TimeDaemon::Timesyncd, 64);
    let off = from(400, ClockStep { node: A, by: Span::millis(300) });
    for seed in SEEDS {
        let history = history_of(&world, &[off.clone(), stopped(at(470), Span::secs(500))], seed);
        let while_stopped = slews(&history).into_iter().filter(|(when, _)| *when >= at(470) && *when < at(970));
        assert_eq!(while_stopped.collect::<Vec<_>>(), []);
        let next = slews(&history).into_iter().find(|(when, _)| *when >= at(970));
        assert_eq!(next, Some((at(970), 0)));
        assert!(close(error(&history, A, at(969)), Span::ZERO));
    }
}

#[test]
fn a_clock_that_is_right_is_left_alone() {
    for daemon in TimeDaemon::ALL {
        let history = history_of(&disciplined(daemon, 16), &[], 3);
        assert_eq!(corrections(&history), []);
        assert!(slews(&history).iter().all(|(_, ppb)| ppb.abs() < 600_000), "{:?}", slews(&history));
        for seconds in (0..DUE).step_by(10) {
            assert!(close(error(&history, A, at(seconds)), Span::ZERO));
        }
    }
    assert_eq!(history_of(&world(), &[], 3).node(A).clocks.segments().len(), 1);
}

/// Whether and when, in seconds, the first correction of a clock comes that is off by so many milliseconds from 200 s on.
fn first_step(daemon: TimeDaemon, off: i64) -> Option<i64> {
    let step = ClockStep { node: A, by: Span::millis(off) };
    let history = history_of(&disciplined(daemon, 16), &[from(200, step)], 5);
    corrections(&history).first().map(|(at, _)| (*at - TrueTime::START).as_nanos() / 1_000_000_000 - 200)
}

#[test]
fn each_daemon_steps_from_its_own_threshold_on() {
    for off in [-120, 120] {
        assert_eq!(first_step(TimeDaemon::Ntpd, off), None);
    }
    for off in [-135, 135, 900_000] {
        let waited = first_step(TimeDaemon::Ntpd, off).expect("it steps");
        assert!((284..=316).contains(&waited), "{waited}");
    }
    for off in [-5_000, 5_000] {
        assert_eq!(first_step(TimeDaemon::Chrony, off), None);
    }
    for off in [-390, 390] {
        assert_eq!(first_step(TimeDaemon::Timesyncd, off), None);
    }
    for off in [-410, 410, 3_600_000] {
        assert!(first_step(TimeDaemon::Timesyncd, off).expect("it steps") <= 16);
    }
    assert_eq!(first_step(TimeDaemon::HostAgent, 99), None);
    assert!(first_step(TimeDaemon::HostAgent, -101).expect("it steps") <= 16);
}

#[test]
fn daemons_step_when_they_begin() {
    // What a clock is off by when its daemon begins, in milliseconds, and whether it steps then.
    for (daemon, off, steps) in [
        (TimeDaemon::Ntpd, 127, false),
        (TimeDaemon::Ntpd, 129, true),
        (TimeDaemon::Chrony, 990, false),
        (TimeDaemon::Chrony, -1_010, true),
    ] {
        let mut world = disciplined(daemon, 16);
        world.workers[0].clock.offset = Span::millis(off);
        let history = history_of(&world, &[], 1);
        let stepped = corrections(&history).first().is_some_and(|(stepped, _)| *stepped <= at(16));
        assert_eq!(stepped, steps, "{daemon:?} {off}");
    }
}

#[test]
fn ntpd_gives_up_on_a_clock_that_is_off_by_more_than_1000_seconds() {
    let step = |seconds| from(200, ClockStep { node: A, by: Span::secs(seconds) });
    let exits = |history: &holdover::sim::history::History| {
        history.events.iter().filter(|event| event.what == What::TimeDaemonExited).count()
    };
    let history = history_of(&disciplined(TimeDaemon::Ntpd, 16), &[step(1_001)], 1);
    assert_eq!((exits(&history), corrections(&history).len()), (1, 0));
    assert!(slews(&history).iter().all(|(slewed, _)| *slewed <= at(216)));
    assert_eq!(exits(&history_of(&disciplined(TimeDaemon::Ntpd, 16), &[step(999)], 1)), 0);
}

#[test]
fn timesyncd_has_the_kernel_take_off_a_part_each_second() {
    // A quarter with polls below 32 s, an eighth from there to 64 s, and so on.
    for (poll, part) in [(2, 4), (8, 4), (16, 4), (31, 4), (32, 8), (63, 8), (64, 16)] {
        let step = ClockStep { node: A, by: Span::millis(-240) };
        let history = history_of(&disciplined(TimeDaemon::Timesyncd, poll), &[from(200, step)], 1);
        let steep = |(_, ppb): &(TrueTime, i32)| ppb.abs() > 1_000_000;
        let (began, ppb) = slews(&history).into_iter().find(steep).expect("it slews");
        let most = 240_000_000 / part;
        assert!((most - 200_000..=most + 200_000).contains(&ppb), "{ppb} with polls of {poll} s");
        let mut expected = error(&history, A, began);
        // Until it polls once more.
        for second in 1..poll.min(10) {
            expected = Span::nanos(expected.as_nanos() - expected.as_nanos() / i64::from(part));
            let found = error(&history, A, began + Span::secs(second));
            assert!(close(found, expected), "{found} and not {expected} after {second} s of {poll}");
        }
    }
}

#[test]
fn polls_wait_for_the_end_of_a_freeze_and_not_for_that_of_a_stall() {
    let world = disciplined(TimeDaemon::Timesyncd, 8);
    let step = from(399, ClockStep { node: A, by: Span::secs(5) });
    for (clocks, within) in [
        (PauseClocks::Running, (at(400), at(408))),
        (PauseClocks::Counted, (at(460), at(460))),
        (PauseClocks::Frozen, (at(460), at(468))),
        (PauseClocks::Suspended, (at(460), at(468))),
    ] {
        let pause = from(400, Pause::of(A, Span::secs(60), clocks));
        // With this seed no poll lies between the step and the pause.
        let history = history_of(&world, &[step.clone(), pause], 2);
        let stepped = corrections(&history).first().expect("it steps").0;
        assert!(within.0 <= stepped && stepped <= within.1, "{clocks:?}: {stepped:?}");
    }
}

fn all_disciplined(daemon: TimeDaemon) -> WorldSpec {
    let mut world = disciplined(daemon, 16);
    let clock = world.workers[0].clock;
    world.workers[1].clock = clock;
    world.service_clocks.insert(LEDGER, clock);
    world
}

#[test]
fn a_bad_source_takes_along_all_who_poll_it() {
    let mut world = all_disciplined(TimeDaemon::Timesyncd);
    world.workers[1].clock.discipline = None;
    let source = TimeSource { nodes: vec![A, LEDGER], error: Span::secs(1), lasting: Span::secs(300) };
    let history = history_of(&world, &[from(200, source)], 1);
    for (node, expected) in [(A, Span::secs(1)), (LEDGER, Span::secs(1)), (B, Span::ZERO)] {
        assert!(close(error(&history, node, at(199)), Span::ZERO));
        assert!(close(error(&history, node, at(400)), expected));
        assert!(close(error(&history, node, at(600)), Span::ZERO));
    }
    // Who isn't listed sees the right time.
    let source = TimeSource { nodes: vec![LEDGER], error: Span::secs(1), lasting: Span::secs(300) };
    let history = history_of(&world, &[from(200, source)], 1);
    assert!(
        close(error(&history, A, at(400)), Span::ZERO) && close(error(&history, LEDGER, at(400)), Span::secs(1))
    );
}

#[test]
fn daemons_don_t_fight_a_leap_second() {
    for daemon in TimeDaemon::ALL {
        let leap = LeapSecond { stepped: vec![A], smeared: vec![B] };
        let history = history_of(&all_disciplined(daemon), &[from(600, leap)], 1);
        assert_eq!(history.events.iter().filter(|e| matches!(e.what, What::ClockCorrected { .. })).count(), 0);
        assert!(close(error(&history, A, at(1_000)), Span::secs(-1)), "{daemon:?}");
        let smeared = error(&history, B, at(600));
        assert!(close(smeared, Span::millis(-500)), "{daemon:?}: {smeared}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However much bends a node's clocks at once, they run within a fifth of the right rate, never back, and afterwards
    /// as they did before.
    #[test]
    fn rates_stay_sound(
        daemon in prop::sample::select(TimeDaemon::ALL.to_vec()),
        bends in prop::collection::vec((any::<bool>(), 1..900_i64, 1..200_i64, -Rate::MAX_PPB..=Rate::MAX_PPB), 0..8),
        steps in prop::collection::vec((1..900_i64, -3_000..3_000_i64), 0..4),
        drift in -200_000..200_000,
    ) {
        let mut world = disciplined(daemon, 16);
        world.workers[0].clock.drift = Rate::from_ppb(drift).expect("in range");
        let mut plan = Vec::new();
        for (drifts, begin, lasting, ppb) in bends {
            let (rate, lasting) = (Rate::from_ppb(ppb).expect("in range"), Span::secs(lasting));
            plan.push(match drifts {
                true => from(begin, ClockDrift { node: A, rate, lasting: Some(lasting) }),
                false => from(begin, ClockSlew { node: A, rate, lasting }),
            });
        }
        plan.extend(steps.into_iter().map(|(begin, by)| from(begin, ClockStep { node: A, by: Span::millis(by) })));
        let history = history_of(&world, &plan, 1);
        let most = Rate::MAX_PPB;
        for segment in history.node(A).clocks.segments() {
            prop_assert!(segment.drift.as_ppb().abs() <= most && segment.slew.as_ppb().abs() <= most);
        }
        prop_assert_eq!(history.node(A).clocks.current().drift.as_ppb(), drift);
        for clock in [Clock::Monotonic, Clock::Raw, Clock::Boottime] {
            let readings: Vec<i64> = (0..1_200).map(|s| clocks(&history, A).read(clock, at(s))).collect();
            let sound = |pair: &[i64]| (800_000_000..=1_200_000_000).contains(&(pair[1] - pair[0]));
            prop_assert!(readings.windows(2).all(sound));
        }
    }
}

#[test]
fn a_poll_draws_from_a_stream_of_its_own() {
    let sent = |world: &WorldSpec| {
        let history = history_of(world, &[], 1);
        let latencies = history.events.iter().filter_map(|event| match event.what {
            What::MessageSent { latency, .. } => Some(latency),
            _ => None,
        });
        (history.batch.clone(), latencies.take(20).collect::<Vec<_>>())
    };
    let discipline = Some(Discipline { daemon: TimeDaemon::HostAgent, poll: Span::secs(1) });
    let mut with = world();
    with.network.internal.max = Span::millis(9);
    let without = with.clone();
    with.workers[0].clock.discipline = discipline;
    assert_eq!(sent(&with), sent(&without));
}
