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
use holdover_sim::fault::{Anchor, ClockStep, Latency, Links, NodeSet, Pause, PauseClocks, PlannedFault};
use holdover_sim::limits::{Ending, Limits};
use holdover_sim::protocol::{Fenced, Protocol};
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{self, WorkerSpec, worker_node};

const QUIET_NIGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump-no-fault.toml");

/// How many times each is timed.
const TIMES: usize = 5;

struct Size {
    workers: usize,
    operations: u32,
    faults: usize,
}

impl Size {
    const fn of(workers: usize, operations: u32, faults: usize) -> Size {
        Size { workers, operations, faults }
    }
}

const SIZES: [Size; 12] = [
    Size::of(2, 20, 0),
    Size::of(2, 1_000, 0),
    Size::of(2, 10_000, 0),
    Size::of(2, 100_000, 0),
    Size::of(10, 1_000, 0),
    Size::of(100, 1_000, 0),
    Size::of(1_000, 1_000, 0),
    Size::of(2, 1_000, 10),
    Size::of(2, 1_000, 100),
    Size::of(2, 1_000, 1_000),
    Size::of(2, 10_000, 1_000),
    Size::of(1_000, 10_000, 1_000),
];

fn main() {
    println!("| workers | operations | faults | events | run | rules | bites | assumptions |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for size in &SIZES {
        println!("{}", row(size));
    }
}

fn row(size: &Size) -> String {
    let scenario = night(size);
    let live = || run(&scenario.world, &Fenced, &scenario.plan, Seed(7));
    let history = live();
    assert!(history.ending == Ending::Finished, "{:?}", history.ending);
    let events = history.events.len();
    let each = |took: Duration| format!("{:.1} ns", took.as_nanos() as f64 / events as f64);
    let [took, judged, bitten, assumed] = [
        least(|| drop(black_box(live()))),
        least(|| drop(black_box(check::judge(&history)))),
        least(|| drop(black_box(check::bites(&history)))),
        least(|| drop(black_box(check::broken_assumptions(&history, Protocol::assumptions(&Fenced))))),
    ]
    .map(each);
    let Size { workers, operations, faults } = size;
    format!("| {workers} | {operations} | {faults} | {events} | {took} | {judged} | {bitten} | {assumed} |")
}

fn least(mut what: impl FnMut()) -> Duration {
    let mut time = || {
        let began = Instant::now();
        what();
        began.elapsed()
    };
    (0..TIMES).map(|_| time()).min().unwrap_or_default()
}

/// The incident's world as large as that, with as much time and as many steps as it takes, and faults all through the job.
fn night(size: &Size) -> Scenario {
    let mut scenario = Scenario::load(QUIET_NIGHT).expect("the incident's control is a valid scenario");
    let first = scenario.world.workers.first().expect("it has workers").clone();
    let worker = |n: usize| WorkerSpec {
        name: format!("worker-{n}"),
        starts: first.starts + Span::millis(n as i64),
        ..first.clone()
    };
    scenario.world.workers = (0..size.workers).map(worker).collect();
    scenario.world.job.operations = size.operations;
    scenario.world.job.pace = Span::millis(20);
    scenario.world.lease.poll_every = Span::secs(8);
    scenario.world.limits = Limits { end: TrueTime::START + Span::secs(100_000), steps: 100_000_000 };
    let job = Span::millis(20).times(i64::from(size.operations));
    let due = scenario.world.job.due - scenario.world.start;
    scenario.plan = (0..size.faults).map(|n| fault(n, due + part(job, n, size.faults))).collect();
    scenario
}

fn part(of: Span, n: usize, all: usize) -> Span {
    Span::nanos(of.as_nanos() / all as i64 * n as i64)
}

/// Short pauses, small steps of the wall clock and stretches of latency, in turn.
fn fault(n: usize, at: Span) -> PlannedFault {
    let (node, lasting) = (worker_node(n % 2), Span::millis(15));
    let inject = match n % 3 {
        0 => Pause { node, beside: Vec::new(), lasting, clocks: PauseClocks::Running, task: None }.into(),
        1 => ClockStep { node, by: Span::micros([1, -1][n % 2]) }.into(),
        _ => {
            let between = [node].into_iter().collect();
            let links = Links { between, and: NodeSet::default(), one_way: false };
            let range = world::Latency { min: Span::millis(1), max: Span::millis(2) };
            Latency { links, range, lasting }.into()
        }
    };
    PlannedFault { when: Anchor::At(TrueTime::START + at), inject, note: None, name: None }
}
