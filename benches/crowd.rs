//! How long the largest worlds take: a thousand workers, and ten thousand operations; and what it costs there that a
//! service may have to go back to what it had on disk an hour ago.
//!
//! These runs write up to a million events each, so there are few samples. An event may cost more in them than in a small
//! world, but not as many times more as the world is larger.

use divan::Bencher;
use divan::counter::ItemsCount;
use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::fault::{Anchor, Failover, PlannedFault};
use holdover_sim::limits::{Ending, Limits};
use holdover_sim::protocol;
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{LEDGER, WorkerSpec};

const QUIET_NIGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump-no-fault.toml");

fn main() {
    divan::main();
}

/// The incident's world without its faults, with `workers` workers a millisecond apart and `operations` operations, and
/// with as much time and as many steps as that takes.
fn world(workers: i64, operations: u32) -> Scenario {
    let mut scenario = Scenario::load(QUIET_NIGHT).expect("the incident's control is a valid scenario");
    let first = scenario.world.workers.first().expect("it has workers").clone();
    scenario.world.workers = (0..workers)
        .map(|n| WorkerSpec {
            name: format!("worker-{n}"),
            starts: first.starts + Span::millis(n),
            ..first.clone()
        })
        .collect();
    scenario.world.job.operations = operations;
    scenario.world.lease.poll_every = Span::secs(8);
    scenario.world.limits = Limits { end: TrueTime::START + Span::secs(3_600), steps: 10_000_000 };
    scenario
}

/// A run with all checkers, and how many events a second that is.
#[divan::bench(
    args = [("fenced", 1_000, 14), ("fenced", 2, 10_000), ("fenced", 1_000, 10_000), ("naive", 1_000, 10_000)],
    sample_count = 10,
    sample_size = 1
)]
fn with_all_checkers(bencher: Bencher<'_, '_>, (protocol, workers, operations): (&str, i64, u32)) {
    let scenario = world(workers, operations);
    let protocol = protocol::find(protocol).expect("a protocol of the registry");
    let run = || run(&scenario.world, protocol, &scenario.plan, Seed(7));
    let history = run();
    assert!(history.ending == Ending::Finished, "{:?}", history.ending);
    bencher.counter(ItemsCount::new(history.events.len())).bench_local(|| check::judge(&run()));
}

/// A run at whose end the ledger fails over to a replica that is an hour behind, or not.
#[divan::bench(args = [false, true], sample_count = 10, sample_size = 1)]
fn that_may_go_back(bencher: Bencher<'_, '_>, fails_over: bool) {
    let scenario = world(2, 10_000);
    let protocol = protocol::find("fenced").expect("a protocol of the registry");
    let failover = PlannedFault {
        when: Anchor::Event {
            event: "export-published".to_owned(),
            node: None,
            after: TrueTime::START,
            nth: 1,
            delay: Span::ZERO,
        },
        inject: Failover { node: LEDGER, lag: Span::secs(3_600), lasting: Span::secs(1) }.into(),
        note: None,
        name: None,
    };
    let plan: Vec<PlannedFault> = fails_over.then_some(failover).into_iter().collect();
    let run = || run(&scenario.world, protocol, &plan, Seed(7));
    let history = run();
    assert!(history.ending == Ending::Finished, "{:?}", history.ending);
    bencher.counter(ItemsCount::new(history.events.len())).bench_local(run);
}
