//! How what an event costs grows with the world: with the workers, the operations and the faults. Prints a table.
//!
//! `cargo bench --bench scaling`. A figure is the least of several runs, in nanoseconds for each event of the history. In
//! a larger world an event may cost a few times more, because less of it is in the processor's caches, but not as many
//! times more as the world is larger.
#![expect(clippy::print_stdout, reason = "a benchmark's output is what it is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::fault::{
    Anchor, ClockStep, Failover, Fault, Latency, Links, Loses, NodeSet, Original, Pause, PauseClocks,
    PlannedFault, Restart, Restore, Snapshot, SplitBrain, TimeSource,
};
use holdover_sim::limits::{Ending, Limits};
use holdover_sim::protocol::{Fenced, Protocol};
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{self, ClockSpec, Discipline, LEDGER, TimeDaemon, WorkerSpec, worker_node};

const QUIET_NIGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump-no-fault.toml");

/// How many times each is timed under `cargo bench`. `cargo test` only sees whether all of them end, as with every other
/// benchmark.
const TIMES: usize = 5;

struct Size {
    workers: usize,
    operations: u32,
    faults: usize,
    kinds: Kinds,
}

/// Kinds of fault, each with how its faults are made, which come in turn.
#[derive(Clone, Copy)]
struct Kinds {
    names: &'static str,
    nth: fn(usize) -> Fault,
}

const PASSING: Kinds = Kinds { names: "pause, clock-step, latency", nth: passing };
const OF_SERVICES: Kinds = Kinds { names: "time-source, restart, failover, split-brain", nth: of_services };
const PUT_BACK: Kinds = Kinds { names: "snapshot, restore", nth: put_back };

impl Size {
    const fn of(workers: usize, operations: u32, faults: usize, kinds: Kinds) -> Size {
        Size { workers, operations, faults, kinds }
    }
}

const SIZES: [Size; 18] = [
    Size::of(2, 20, 0, PASSING),
    Size::of(2, 1_000, 0, PASSING),
    Size::of(2, 10_000, 0, PASSING),
    Size::of(2, 100_000, 0, PASSING),
    Size::of(10, 1_000, 0, PASSING),
    Size::of(100, 1_000, 0, PASSING),
    Size::of(1_000, 1_000, 0, PASSING),
    Size::of(2, 1_000, 10, PASSING),
    Size::of(2, 1_000, 100, PASSING),
    Size::of(2, 1_000, 1_000, PASSING),
    Size::of(2, 10_000, 1_000, PASSING),
    Size::of(1_000, 10_000, 1_000, PASSING),
    Size::of(2, 1_000, 100, OF_SERVICES),
    Size::of(2, 1_000, 1_000, OF_SERVICES),
    Size::of(2, 10_000, 1_000, OF_SERVICES),
    Size::of(2, 1_000, 100, PUT_BACK),
    Size::of(2, 1_000, 1_000, PUT_BACK),
    Size::of(2, 10_000, 1_000, PUT_BACK),
];

fn main() {
    // Cargo says which of the two it is, and nothing else is asked of this program.
    let times = if std::env::args().any(|argument| argument == "--bench") { TIMES } else { 1 };
    println!("| workers | operations | faults | of these kinds | events | run | rules | bites | assumptions |");
    println!("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    for size in &SIZES {
        println!("{}", row(size, times));
    }
}

fn row(size: &Size, times: usize) -> String {
    let scenario = night(size);
    let live = || run(&scenario.world, &Fenced, &scenario.plan, Seed(7));
    let history = live();
    assert!(history.ending == Ending::Finished, "{:?}", history.ending);
    let events = history.events.len();
    let each = |took: Duration| format!("{:.1} ns", took.as_nanos() as f64 / events as f64);
    let [took, judged, bitten, assumed] = [
        least(times, || drop(black_box(live()))),
        least(times, || drop(black_box(check::judge(&history)))),
        least(times, || drop(black_box(check::bites(&history)))),
        least(times, || drop(black_box(check::broken_assumptions(&history, Protocol::assumptions(&Fenced))))),
    ]
    .map(each);
    let Size { workers, operations, faults, kinds } = size;
    let kinds = if *faults > 0 { kinds.names } else { "" };
    format!(
        "| {workers} | {operations} | {faults} | {kinds} | {events} | {took} | {judged} | {bitten} | {assumed} |"
    )
}

fn least(times: usize, mut what: impl FnMut()) -> Duration {
    let mut time = || {
        let began = Instant::now();
        what();
        began.elapsed()
    };
    (0..times).map(|_| time()).min().unwrap_or_default()
}

/// The incident's world as large as that, with as much time and as many steps as it takes, and faults all through the job.
fn night(size: &Size) -> Scenario {
    let mut scenario = Scenario::load(QUIET_NIGHT).expect("the incident's control is a valid scenario");
    let first = scenario.world.workers.first().expect("it has workers").clone();
    let clock = ClockSpec { discipline: Some(CHRONY), ..first.clock };
    let worker = |n: usize| WorkerSpec {
        name: format!("worker-{n}"),
        starts: first.starts + Span::millis(n as i64),
        clock: if size.kinds.names == OF_SERVICES.names { clock } else { first.clock },
    };
    scenario.world.workers = (0..size.workers).map(worker).collect();
    scenario.world.job.operations = size.operations;
    scenario.world.job.pace = Span::millis(20);
    scenario.world.lease.poll_every = Span::secs(8);
    scenario.world.limits = Limits { end: TrueTime::START + Span::secs(100_000), steps: 100_000_000 };
    let job = Span::millis(20).times(i64::from(size.operations));
    let due = scenario.world.job.due - scenario.world.start;
    let at = |n| Anchor::At(TrueTime::START + due + part(job, n, size.faults));
    let fault = |n| PlannedFault { when: at(n), inject: (size.kinds.nth)(n), note: None, name: None };
    scenario.plan = (0..size.faults).map(fault).collect();
    scenario
}

fn part(of: Span, n: usize, all: usize) -> Span {
    Span::nanos(of.as_nanos() / all as i64 * n as i64)
}

const CHRONY: Discipline = Discipline { daemon: TimeDaemon::Chrony, poll: Span::secs(16) };

/// How long those last that do.
const LASTING: Span = Span::millis(15);

/// Short pauses, small steps of the wall clock and stretches of latency.
fn passing(n: usize) -> Fault {
    let (node, lasting) = (worker_node(n % 2), LASTING);
    match n % 3 {
        0 => Pause { node, beside: Vec::new(), lasting, clocks: PauseClocks::Running, task: None }.into(),
        1 => ClockStep { node, by: Span::micros([1, -1][n % 2]) }.into(),
        _ => {
            let between = [node].into_iter().collect();
            let links = Links { between, and: NodeSet::default(), one_way: false };
            let range = world::Latency { min: Span::millis(1), max: Span::millis(2) };
            Latency { links, range, lasting }.into()
        }
    }
}

/// Wrong time sources, and a ledger that restarts, or that a replica takes the place of.
fn of_services(n: usize) -> Fault {
    let (node, worker, lasting, lag) = (LEDGER, worker_node(n % 2), LASTING, Span::millis(1));
    match n % 4 {
        0 => TimeSource { nodes: vec![worker], error: Span::millis(1), lasting }.into(),
        1 => Restart { node, lasting, loses: Loses::Memory }.into(),
        2 => Failover { node, lag, lasting }.into(),
        _ => SplitBrain { node, old: vec![worker], lag, lasting }.into(),
    }
}

/// Snapshots of a worker, and goings back to them.
fn put_back(n: usize) -> Fault {
    let node = worker_node(0);
    if n.is_multiple_of(2) { Snapshot { node }.into() } else { Restore { node, original: Original::Gone }.into() }
}
