//! Pauses: what each kind does to each clock, how pauses add up, and what becomes of messages and tasks.

use holdover::sim::clock::{Clock, Rate};
use holdover::sim::fault::{Anchor, ClockStep, Fault, Pause, PauseClocks, PlannedFault, WorkerTask};
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::{EventId, NodeId};
use holdover::sim::point::Point;
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{LEASE_STORE, LEDGER, PROVIDER, WorldSpec};
use proptest::prelude::*;

use crate::support::{A, B, at, clocks, corrections, error, freeze, from, history_of, world};

const ALL: [Clock; 4] = [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime];

fn migrated(lost: i64, ppb: i32) -> PauseClocks {
    let drift_change = Rate::from_ppb(ppb).expect("in range");
    PauseClocks::Migrated { lost: Span::millis(lost), drift_change }
}

/// What each clock, in the order of [`ALL`], lost in a pause of ten seconds, in milliseconds.
#[track_caller]
fn loses(kind: PauseClocks, lost: [i64; 4]) {
    let history = history_of(&world(), &[from(100, Pause::of(A, Span::secs(10), kind))], 1);
    let line = clocks(&history, A);
    let found = ALL.map(|clock| 10_000 - (line.read(clock, at(110)) - line.read(clock, at(100))) / 1_000_000);
    assert_eq!(found, lost);
}

#[test]
fn each_kind_loses_what_the_table_says() {
    loses(PauseClocks::Running, [0; 4]);
    loses(PauseClocks::Counted, [0; 4]);
    loses(PauseClocks::Suspended, [0, 10_000, 10_000, 0]);
    loses(PauseClocks::Frozen, [10_000; 4]);
    loses(PauseClocks::Corrected { after: Span::secs(2) }, [10_000; 4]);
    loses(migrated(0, 0), [0; 4]);
    loses(migrated(80, 0), [80; 4]);
    loses(migrated(10_000, 0), [10_000; 4]);
}

#[test]
fn a_migration_changes_the_rate_of_the_oscillator_when_it_is_over() {
    let history = history_of(&world(), &[from(100, Pause::of(A, Span::secs(10), migrated(80, 30_000)))], 1);
    for (from, until, drift) in [(0, 100, 0), (110, 160, 30_000)] {
        for clock in ALL {
            let line = clocks(&history, A);
            let ahead = line.read(clock, at(until)) - line.read(clock, at(from)) - (until - from) * 1_000_000_000;
            assert_eq!(ahead, (until - from) * drift);
        }
    }
}

#[test]
fn an_agent_of_the_host_gives_the_wall_clock_alone_what_it_lost() {
    let corrected = |after| Pause::of(A, Span::secs(10), PauseClocks::Corrected { after: Span::secs(after) });
    let history = history_of(&world(), &[from(100, corrected(2))], 1);
    assert_eq!(corrections(&history), [(at(112), Span::secs(10))]);
    assert_eq!(error(&history, A, at(111)), Span::secs(-10));
    assert_eq!(error(&history, A, at(112)), Span::ZERO);
    let mono = clocks(&history, A).mono(at(112)).as_nanos();
    assert_eq!(mono, Span::secs(102).as_nanos());
    assert_eq!(corrections(&history_of(&world(), &[from(100, corrected(0))], 1)), [(at(110), Span::secs(10))]);
    // A plain freeze stays as it is.
    assert_eq!(corrections(&history_of(&world(), &[from(100, freeze())], 1)), []);
}

#[test]
fn what_two_freezes_lost_together_is_given_back_once() {
    let corrected =
        |seconds, after| Pause::of(A, Span::secs(seconds), PauseClocks::Corrected { after: Span::secs(after) });
    // From 100 to 115, and from 110 to 120.
    let history = history_of(&world(), &[from(100, corrected(15, 20)), from(110, corrected(10, 1))], 1);
    assert_eq!(corrections(&history), [(at(121), Span::secs(20))]);
    assert_eq!(error(&history, A, at(200)), Span::ZERO);
}

#[test]
fn an_agent_waits_for_a_guest_that_is_frozen_again() {
    let plan = [
        from(100, Pause::of(A, Span::secs(10), PauseClocks::Corrected { after: Span::secs(5) })),
        from(112, Pause::of(A, Span::secs(10), PauseClocks::Frozen)),
    ];
    assert_eq!(corrections(&history_of(&world(), &plan, 1)), [(at(122), Span::secs(20))]);
}

/// Pauses of the first worker in the first minute, of whole seconds and any kinds, however they overlap.
fn many_pauses() -> impl Strategy<Value = Vec<PlannedFault>> {
    let kind = (0..6, 0..=100_i64, 0..30_i64);
    let one = (1..60_i64, 1..30_i64, kind).prop_map(|(begin, lasting, (kind, lost, after))| {
        let clocks = match kind {
            0 => PauseClocks::Running,
            1 => PauseClocks::Suspended,
            2 => PauseClocks::Frozen,
            3 => PauseClocks::Counted,
            4 => PauseClocks::Corrected { after: Span::secs(after) },
            _ => migrated(lasting * 10 * lost, 0),
        };
        from(begin, Pause::of(A, Span::secs(lasting), clocks))
    });
    prop::collection::vec(one, 1..6)
}

/// Whether any of `plan` has `clock` stand still at `now`.
fn stands_still(plan: &[PlannedFault], clock: Clock, now: TrueTime) -> bool {
    let mut frozen = false;
    let mut suspended = false;
    for planned in plan {
        let (Anchor::At(begin), Fault::Pause(pause)) = (&planned.when, &planned.inject) else { continue };
        let end = *begin + pause.lasting;
        let within = |from: TrueTime| from <= now && now < end;
        match pause.clocks {
            PauseClocks::Frozen | PauseClocks::Corrected { .. } => frozen |= within(*begin),
            PauseClocks::Migrated { lost, .. } => frozen |= within(end - lost),
            PauseClocks::Suspended => suspended |= within(*begin),
            PauseClocks::Running | PauseClocks::Counted => {}
        }
    }
    frozen || (suspended && matches!(clock, Clock::Monotonic | Clock::Raw))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The law of composition: across any pauses a clock advances by the time in which none of them has it stand still.
    #[test]
    fn pauses_add_up_to_the_time_in_which_no_clock_stands_still(plan in many_pauses()) {
        let history = history_of(&world(), &plan, 1);
        // All begins and ends lie on a hundredth of a second.
        let tick = Span::millis(10);
        let mut advanced = [0_i64; 4];
        let end = at(150);
        let mut now = TrueTime::START;
        while now < end {
            for (sum, clock) in advanced.iter_mut().zip(ALL) {
                *sum += if stands_still(&plan, clock, now) { 0 } else { tick.as_nanos() };
            }
            now = now + tick;
        }
        let line = clocks(&history, A);
        let corrected: i64 = corrections(&history).iter().map(|(_, by)| by.as_nanos()).sum();
        for (clock, advanced) in ALL.into_iter().zip(advanced) {
            let given_back = if clock == Clock::Wall { corrected } else { 0 };
            let found = line.read(clock, end) - line.read(clock, TrueTime::START);
            prop_assert_eq!(found, advanced + given_back, "{:?}", clock);
        }
        // Nobody gives back more than was lost.
        prop_assert!(error(&history, A, end) <= Span::ZERO);
    }
}

/// A world that settles at once, with latencies that are the same for every message.
fn busy() -> WorldSpec {
    let mut world = world();
    world.job.operations = 20;
    world.job.due = world.start + Span::secs(5);
    world
}

/// The `n`-th ledger write of the first worker under `protocol` with `plan`: its sending, and its arrival.
fn nth_write(history: &History, n: usize) -> (EventId, &Event, &Event) {
    let is_write = |event: &Event| {
        event.node == A && matches!(event.what, What::MessageSent { about: "ledger.write", answer: false, .. })
    };
    let (id, sent) = history.numbered().filter(|(_, event)| is_write(event)).nth(n).expect("that many writes");
    let arrives = |event: &&Event| event.cause == Some(id) && matches!(event.what, What::MessageDelivered { .. });
    (id, sent, history.events.iter().find(arrives).expect("it arrives"))
}

/// With these pauses, each so many microseconds after a write was sent and for so many: how long after the sending the
/// write arrives, in microseconds. Its latency is 2 ms.
#[track_caller]
fn arrives_after(kind: PauseClocks, pauses: &[(i64, i64)], expected: i64) {
    let world = busy();
    let sent = nth_write(&history_of(&world, &[], 1), 3).1.at;
    let planned = pauses.iter().map(|(after, lasting)| PlannedFault {
        when: Anchor::At(sent + Span::micros(*after)),
        inject: Pause::of(A, Span::micros(*lasting), kind).into(),
        note: None,
        name: None,
    });
    let history = history_of(&world, &planned.collect::<Vec<_>>(), 1);
    let (_, again, arrival) = nth_write(&history, 3);
    assert_eq!(again.at, sent);
    assert_eq!((arrival.at - sent).as_nanos() / 1_000, expected, "{kind:?} {pauses:?}");
}

/// The same with one pause of a second.
#[track_caller]
fn arrives(kind: PauseClocks, after: i64, expected: i64) {
    arrives_after(kind, &[(after, 1_000_000)], expected);
}

#[test]
fn what_had_not_left_a_frozen_node_leaves_at_the_resume() {
    for kind in [PauseClocks::Frozen, PauseClocks::Suspended, PauseClocks::Counted, migrated(0, 0)] {
        // Within a tenth of its latency it is still in the network card; what is left is nine tenths.
        arrives(kind, 1, 1 + 1_000_000 + 1_800);
        arrives(kind, 199, 199 + 1_000_000 + 1_800);
        arrives(kind, 200, 2_000);
        arrives(kind, 1_999, 2_000);
    }
    // What a stalled process has sent is its kernel's.
    arrives(PauseClocks::Running, 1, 2_000);
}

#[test]
fn a_short_freeze_delays_a_message_by_what_it_was_kept_and_no_more() {
    let check = |pauses: &[(i64, i64)], expected| arrives_after(PauseClocks::Frozen, pauses, expected);
    check(&[(199, 100)], 299 + 1_800);
    // It goes on before the message would have left anyway.
    check(&[(1, 50)], 2_000);
    // Once it has left, a second freeze doesn't get hold of it.
    check(&[(1, 50), (100, 1_000_000)], 2_000);
    check(&[(199, 100), (300, 1_000_000)], 299 + 1_800);
    // Two that overlap are one.
    check(&[(1, 500), (400, 1_000)], 1_400 + 1_800);
}

#[test]
fn answers_get_stuck_in_a_frozen_service_too() {
    let world = busy();
    let (answered, arrived) = {
        let history = history_of(&world, &[], 1);
        let is_answer = |event: &Event| {
            event.node == LEDGER
                && matches!(event.what, What::MessageSent { about: "ledger.write", answer: true, .. })
        };
        let (id, sent) = history.numbered().find(|(_, event)| is_answer(event)).expect("an answer");
        let arrives =
            |event: &&Event| event.cause == Some(id) && matches!(event.what, What::MessageDelivered { .. });
        (sent.at, history.events.iter().find(arrives).expect("it arrives").at)
    };
    assert_eq!(arrived - answered, Span::millis(2));
    let inject = Pause::of(LEDGER, Span::secs(1), PauseClocks::Frozen).into();
    let plan = [PlannedFault { when: Anchor::At(answered + Span::micros(1)), inject, note: None, name: None }];
    let history = history_of(&world, &plan, 1);
    let arrives = answered + Span::micros(1 + 1_000_000 + 1_800);
    let arrived = |event: &&Event| event.at == arrives && matches!(event.what, What::MessageDelivered { .. });
    assert_eq!(history.events.iter().find(arrived).map(|event| event.node), Some(A));
}

#[test]
fn a_late_write_with_an_old_token_is_taken_by_naive_and_turned_away_by_fenced() {
    fn late_writes(protocol: &dyn AnyProtocol) -> (usize, usize) {
        let mut world = busy();
        world.job.pace = Span::secs(1);
        let sent = {
            let history = run(&world, protocol, &[], Seed(1));
            nth_write(&history, 3).1.at
        };
        let inject = Pause::of(A, Span::secs(60), PauseClocks::Frozen).into();
        let plan = [PlannedFault { when: Anchor::At(sent + Span::micros(1)), inject, note: None, name: None }];
        let history = run(&world, protocol, &plan, Seed(1));
        let resumed = sent + Span::micros(1) + Span::secs(60);
        let just_after = history.events.iter().filter(|event| {
            event.node == LEDGER && event.at > resumed && event.at < resumed + Span::micros(1_900)
        });
        let taken = |event: &&Event| matches!(event.what, What::WriteAccepted { claim, .. } if claim.worker == A);
        let refused =
            |event: &&Event| matches!(event.what, What::WriteRejected { claim, .. } if claim.worker == A);
        (just_after.clone().filter(taken).count(), just_after.filter(refused).count())
    }
    assert_eq!(late_writes(&Naive), (1, 0));
    assert_eq!(late_writes(&Fenced), (0, 1));
}

fn count(history: &History, node: NodeId, within: (TrueTime, TrueTime), what: impl Fn(&What) -> bool) -> usize {
    let of_node = history.events.iter().filter(|event| event.node == node);
    of_node.filter(|event| within.0 < event.at && event.at < within.1 && what(&event.what)).count()
}

fn task(task: WorkerTask, seconds: i64) -> Pause {
    Pause { task: Some(task), ..Pause::of(A, Span::secs(seconds), PauseClocks::Running) }
}

#[test]
fn one_task_stands_still_and_the_other_goes_on() {
    let mut world = busy();
    world.job.operations = 60;
    world.job.pace = Span::secs(1);
    let stall = (at(15), at(45));
    for (plan, work, renewals) in [
        (vec![], true, 3),
        (vec![from(15, task(WorkerTask::Work, 30))], false, 3),
        (vec![from(15, task(WorkerTask::Renewal, 30))], true, 0),
        (vec![from(15, task(WorkerTask::Renewal, 30)), from(15, task(WorkerTask::Work, 30))], false, 0),
        (
            vec![
                from(15, task(WorkerTask::Renewal, 20)),
                from(20, Pause::of(A, Span::secs(30), PauseClocks::Running)),
            ],
            true,
            0,
        ),
    ] {
        let history = history_of(&world, &plan, 1);
        let worked = count(&history, A, stall, |what| *what == What::PointPassed(Point::WRITE_CHECKED)) > 0;
        let renewed = count(&history, A, stall, |what| *what == What::PointPassed(Point::RENEW_DUE));
        assert_eq!((worked, renewed), (work, renewals), "{plan:?}");
        // Whatever stood still goes on, and the settlement gets done.
        assert!(history.events.iter().any(|event| event.what == What::WorkerFinished && event.node == A));
    }
}

#[test]
fn a_task_stops_at_the_point_where_it_is_struck() {
    let world = busy();
    for (which, point) in [(WorkerTask::Work, Point::WRITE_CHECKED), (WorkerTask::Renewal, Point::RENEW_DUE)] {
        let when =
            Anchor::Point { point: point.0.to_owned(), node: Some(A), after: at(0), nth: 1, delay: Span::ZERO };
        let plan = [PlannedFault { when, inject: task(which, 3).into(), note: None, name: None }];
        let mut world = world.clone();
        world.job.pace = Span::secs(1);
        let history = history_of(&world, &plan, 1);
        let place = history.events.iter().position(|event| matches!(event.what, What::FaultBegan { .. }));
        let began = &history.events[place.expect("it strikes")];
        // The next step of that task comes when the stall is over.
        let next = match which {
            WorkerTask::Work => "ledger.write",
            WorkerTask::Renewal => "lease.renew",
        };
        let sends = |event: &&Event| {
            event.node == A
                && event.at >= began.at
                && matches!(event.what, What::MessageSent { about, answer: false, .. } if about == next)
        };
        let sent = history.events.iter().find(sends).expect("it goes on");
        assert_eq!(sent.at, began.at + Span::secs(3));
    }
}

#[test]
fn the_nodes_of_a_host_stop_and_go_on_together() {
    let mut world = busy();
    world.job.operations = 60;
    world.job.pace = Span::secs(1);
    for clocks in [PauseClocks::Running, PauseClocks::Frozen] {
        let pause = Pause { beside: vec![LEDGER], ..Pause::of(A, Span::secs(10), clocks) };
        let history = history_of(&world, &[from(15, pause)], 1);
        let during = (at(15), at(25));
        assert_eq!(count(&history, LEDGER, during, |_| true), 0);
        assert_eq!(count(&history, A, during, |what| matches!(what, What::PointPassed(_))), 0);
        let lost = if clocks == PauseClocks::Frozen { Span::secs(-10) } else { Span::ZERO };
        assert_eq!([error(&history, A, at(25)), error(&history, LEDGER, at(25))], [lost, lost]);
    }
}

/// When the first worker's renewals are due, in milliseconds from 100 s to 200 s.
fn renewals(plan: &[PlannedFault]) -> Vec<i64> {
    let history = history_of(&world(), plan, 1);
    let due =
        history.events.iter().filter(|event| event.node == A && event.what == What::PointPassed(Point::RENEW_DUE));
    let since = due.map(|event| (event.at - at(100)).as_nanos() / 1_000_000);
    since.filter(|millis| (0..60_000).contains(millis)).collect()
}

/// A timer goes off as late as the clock is that it waits for: by true time at the resume if that ran on, and by the whole
/// pause, with nothing to tell it, if that stood still.
#[test]
fn timers_are_late_by_what_their_clock_lost() {
    let pause = |kind| from(105, Pause::of(A, Span::secs(20), kind));
    assert_eq!(renewals(&[]), [0, 10_000, 20_000, 30_000, 40_000, 50_000]);
    // Those at 110 and at 120 come late, and the rest when they should.
    for kind in [PauseClocks::Running, PauseClocks::Counted, migrated(0, 0)] {
        assert_eq!(renewals(&[pause(kind)])[..4], [0, 25_000, 25_004, 30_000]);
    }
    for kind in [PauseClocks::Frozen, PauseClocks::Suspended] {
        assert_eq!(renewals(&[pause(kind)])[..3], [0, 30_000, 40_000]);
    }
}

/// When the work begins that is due at 1,200 s by the wall clock, in seconds.
#[track_caller]
fn begins(plan: &[PlannedFault], expected: i64) {
    let mut world = world();
    world.limits.end = at(3_000);
    let history = history_of(&world, plan, 1);
    let begun = |event: &&Event| event.node == A && event.what == What::PointPassed(Point::TAKEOVER_BEGUN);
    let begun = history.events.iter().find(begun).expect("it begins").at;
    assert_eq!((begun - TrueTime::START).as_nanos() / 1_000_000_000, expected, "{plan:?}");
}

#[test]
fn a_timer_by_the_wall_clock_moves_with_it() {
    let step = |seconds, by| from(seconds, ClockStep { node: A, by: Span::secs(by) });
    begins(&[], 1_200);
    begins(&[step(100, 100)], 1_100);
    begins(&[step(100, -100)], 1_300);
    // A step over the time that it waits for sets it off at once.
    begins(&[step(1_000, 1_000)], 1_000);
    let pause = |kind| from(100, Pause::of(A, Span::secs(20), kind));
    begins(&[pause(PauseClocks::Running)], 1_200);
    begins(&[pause(PauseClocks::Suspended)], 1_200);
    begins(&[pause(PauseClocks::Frozen)], 1_220);
    begins(&[pause(PauseClocks::Corrected { after: Span::secs(2) })], 1_200);
    // It passes unseen while the node stands still.
    begins(&[from(1_190, Pause::of(A, Span::secs(20), PauseClocks::Running))], 1_210);
}

/// All that was on a host goes to another one, and what stayed where it was is as it was.
#[test]
fn a_migrated_host_takes_the_clocks_of_all_its_nodes_along() {
    let host = Pause { beside: vec![B, LEDGER], ..Pause::of(A, Span::secs(10), migrated(2_000, 10_000_000)) };
    let history = history_of(&world(), &[from(100, host)], 1);
    for (node, moved) in [(A, true), (B, true), (LEDGER, true), (LEASE_STORE, false), (PROVIDER, false)] {
        let raw = |seconds| clocks(&history, node).read(Clock::Raw, at(seconds));
        let lost = 110_000_000_000 - raw(110);
        let runs_in_ten = raw(210) - raw(200);
        let expected = if moved { (2_000_000_000, 10_100_000_000) } else { (0, 10_000_000_000) };
        assert_eq!((lost, runs_in_ten), expected, "{node:?}");
    }
}

/// An agent of the host sets all its nodes right, each by what it lost.
#[test]
fn a_host_that_was_frozen_has_the_clocks_of_all_its_nodes_corrected() {
    let clocks = PauseClocks::Corrected { after: Span::secs(2) };
    let host = Pause { beside: vec![B, LEDGER], ..Pause::of(A, Span::secs(10), clocks) };
    let history = history_of(&world(), &[from(100, host)], 1);
    let nanosecond = Span::nanos(1);
    for (node, frozen) in [(A, true), (B, true), (LEDGER, true), (LEASE_STORE, false), (PROVIDER, false)] {
        let lost = if frozen { Span::secs(-10) } else { Span::ZERO };
        assert_eq!(error(&history, node, at(112) - nanosecond), lost, "{node:?}");
        assert_eq!(error(&history, node, at(112)), Span::ZERO, "{node:?}");
    }
}
