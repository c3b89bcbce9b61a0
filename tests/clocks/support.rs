//! Runs in which nothing happens but what a test injects: one worker that holds the lease and waits for its job.

use holdover::scenario::Scenario;
use holdover::sim::clock::ClockLine;
use holdover::sim::fault::{Anchor, Fault, Pause, PauseClocks, PlannedFault};
use holdover::sim::history::{History, What};
use holdover::sim::id::NodeId;
use holdover::sim::protocol::Naive;
use holdover::sim::run::run;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{Discipline, TimeDaemon, WorldSpec, worker_node};

/// The first worker, and the second.
pub(crate) const A: NodeId = worker_node(0);
pub(crate) const B: NodeId = worker_node(1);

/// How long the job is waited for, in seconds.
pub(crate) const DUE: i64 = 1_200;

/// The world.
pub(crate) fn world() -> WorldSpec {
    let text = "title = \"Waiting\"\nstart = 2026-01-15T02:00:00Z\nend = \"+30m\"\n\
        [lease]\nttl = \"40s\"\nrenew_every = \"10s\"\n\
        [job]\noperations = 1\ndue = \"+20m\"\nfinish_within = \"10m\"\n\
        [network]\ninternal = \"2ms\"\nprovider = \"20ms\"\n\
        [[worker]]\nname = \"worker-a\"\n[[worker]]\nname = \"worker-b\"\nstarts = \"+1s\"\n";
    Scenario::parse("waiting", text).expect("a scenario").world
}

/// The world with the clocks of the first worker under `daemon`, which polls every `poll` seconds.
pub(crate) fn disciplined(daemon: TimeDaemon, poll: i64) -> WorldSpec {
    let mut world = world();
    world.workers[0].clock.discipline = Some(Discipline { daemon, poll: Span::secs(poll) });
    world
}

/// `seconds` after the start.
pub(crate) fn at(seconds: i64) -> TrueTime {
    TrueTime::START + Span::secs(seconds)
}

/// A fault that strikes `seconds` after the start.
pub(crate) fn from(seconds: i64, inject: impl Into<Fault>) -> PlannedFault {
    PlannedFault { when: Anchor::At(at(seconds)), inject: inject.into(), note: None, name: None }
}

/// A freeze of the first worker for two seconds.
pub(crate) fn freeze() -> Pause {
    Pause::of(A, Span::secs(2), PauseClocks::Frozen)
}

pub(crate) fn history_of(world: &WorldSpec, plan: &[PlannedFault], seed: u64) -> History {
    run(world, &Naive, plan, holdover::sim::seed::Seed(seed))
}

/// When the clocks of the first worker were stepped by what disciplines them, and by how much.
pub(crate) fn corrections(history: &History) -> Vec<(TrueTime, Span)> {
    let of_a = history.events.iter().filter(|event| event.node == A);
    of_a.filter_map(|event| match event.what {
        What::ClockCorrected { by } => Some((event.at, by)),
        _ => None,
    })
    .collect()
}

/// When the daemon of the first worker began to slew by another rate, and by how many parts per billion.
pub(crate) fn slews(history: &History) -> Vec<(TrueTime, i32)> {
    let of_a = history.events.iter().filter(|event| event.node == A);
    of_a.filter_map(|event| match event.what {
        What::ClockSlewed { ppb } => Some((event.at, ppb)),
        _ => None,
    })
    .collect()
}

pub(crate) fn clocks(history: &History, node: NodeId) -> &ClockLine {
    &history.node(node).clocks
}

/// How far the wall clock of `node` is ahead at `at`.
pub(crate) fn error(history: &History, node: NodeId, at: TrueTime) -> Span {
    clocks(history, node).wall_error(history.start, at)
}

/// Whether two spans are within a millisecond of each other.
pub(crate) fn close(one: Span, other: Span) -> bool {
    (one - other).as_nanos().abs() <= 1_000_000
}
