//! Which clocks the standard library's are, for a protocol's code.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use holdover::sim::fault::{Anchor, ClockStep, PlannedFault};
use holdover::sim::run::run;
use holdover::sim::time::{Span, TrueTime, WallTime};
use holdover::sim::world::worker_node;

use crate::{Draws, draws, smallest};

/// What `SystemTime` read, and how long ago by `Instant` the first reading was. Only one test uses it.
static READ: Mutex<Vec<(Duration, Duration)>> = Mutex::new(Vec::new());

fn read() -> u64 {
    thread_local!(static FIRST: Instant = Instant::now());
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    READ.lock().expect("nobody panics with it").push((wall, FIRST.with(Instant::elapsed)));
    0
}

/// What was read in a run that begins at `start`, with the wall clock of the first worker set forward at once.
fn readings(start: &str) -> (WallTime, Vec<(Duration, Duration)>) {
    let mut scenario = smallest();
    scenario.world.start = start_of(start);
    scenario.world.job.due = scenario.world.start;
    let step = ClockStep { node: worker_node(0), by: Span::secs(3_600) };
    let plan = [PlannedFault { when: Anchor::At(TrueTime::START), inject: step.into(), note: None, name: None }];
    READ.lock().expect("nobody panics with it").clear();
    let protocol: Draws = draws(read);
    run(&scenario.world, &protocol, &plan, scenario.seed);
    (scenario.world.start, READ.lock().expect("nobody panics with it").clone())
}

fn start_of(text: &str) -> WallTime {
    let text = holdover::scenario::SMALLEST.replace("2026-01-15T01:59:30Z", text);
    holdover::scenario::Scenario::parse("x", &text).expect("a scenario").world.start
}

#[test]
fn they_are_true_time_from_the_scenarios_start_on_whatever_becomes_of_the_workers() {
    for start in ["2026-01-15T01:59:30Z", "2023-01-01T00:00:00Z", "2199-12-31T23:59:59.123456789Z"] {
        let (start, read) = readings(start);
        let start = Duration::from_nanos(start.as_nanos() as u64);
        // Both workers ask first at the start, and one of them again at every polling interval until the other has done.
        assert!(read.len() > 2, "{read:?}");
        assert_eq!(read[0], (start, Duration::ZERO));
        for (wall, elapsed) in &read {
            assert_eq!(*wall - start, *elapsed);
        }
        assert!(read.last().is_some_and(|(_, elapsed)| *elapsed >= Duration::from_secs(2)));
    }
    // Before madsim's earliest date it can't be had; what is documented is that.
    let (_, read) = readings("2019-06-01T00:00:00Z");
    let (first, _) = read[0];
    let day = Duration::from_secs(86_400);
    assert!((day * 365 * 52..day * 365 * 53).contains(&first), "{first:?}");
    let [(one, since), (other, until)] = [read[0], read[read.len() - 1]];
    assert_eq!(other - one, until - since);
}
