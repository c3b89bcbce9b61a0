//! How long the incident takes, and what its parts take.
//!
//! divan and not criterion, because it brings four small crates to build and tells what is needed: fastest, slowest and
//! median. One thread throughout; seeds go 0, 1, 2 …, so every execution does the same work.

use std::hint::black_box;
use std::rc::Rc;

use divan::Bencher;
use divan::counter::ItemsCount;
use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::clock::{Clock, ClockLine, Rate, Segment};
use holdover_sim::history::History;
use holdover_sim::limits::Limits;
use holdover_sim::protocol::{self, Fenced, Protocol, Renewal};
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::service::lease_store::LeaseStoreRules;
use holdover_sim::service::ledger::{Checkpoint, LedgerRules};
use holdover_sim::service::provider::GatewayRules;
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::worker::{Lease, Setback, Worker};

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");

/// So many that the seeds' differences even out within a sample.
const SEEDS_A_SAMPLE: u32 = 100;

fn main() {
    divan::main();
}

/// Jobs of one thing, a thousand times.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// Sleeps for a millisecond.
    Sleeps,
    /// Sends a request and gets an answer, five hundred times.
    Asks,
}

impl Protocol for Job {
    fn name(&self) -> &'static str {
        "job"
    }

    fn summary(&self) -> &'static str {
        "fenced, with one thing to do"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(&Fenced)
    }

    fn ledger(&self) -> LedgerRules {
        Protocol::ledger(&Fenced)
    }

    fn gateway(&self) -> GatewayRules {
        Protocol::gateway(&Fenced)
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        Fenced.acquire(worker).await
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        Fenced.renew(worker, lease).await
    }

    fn holds(&self, lease: &Lease) -> bool {
        Fenced.holds(lease)
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        Fenced.take_over(worker, lease).await
    }

    async fn work(self, worker: Worker) {
        match self {
            Job::Sleeps => {
                for _ in 0..1_000 {
                    worker.sleep(Span::millis(1)).await;
                }
            }
            Job::Asks => {
                for _ in 0..500 {
                    black_box(worker.acquire(worker.lease_spec().ttl).await);
                }
            }
        }
        worker.finish();
    }
}

fn incident() -> Scenario {
    Scenario::load(INCIDENT).expect("the incident is a valid scenario")
}

/// The incident without its faults, with one operation that is due at once and one worker: what a run takes before
/// anything happens in it.
fn empty_world() -> Scenario {
    let mut scenario = incident();
    scenario.plan.clear();
    scenario.world.workers.truncate(1);
    scenario.world.job.operations = 1;
    scenario.world.job.due = scenario.world.start;
    scenario
}

/// Runs `scenario` under `protocol`, each time with the next seed, and has `look` look at the history.
fn each_seed<T>(
    bencher: Bencher<'_, '_>,
    scenario: &Scenario,
    protocol: &str,
    look: impl Fn(History) -> T + Sync,
) {
    let protocol = protocol::find(protocol).expect("a protocol of the registry");
    let mut seeds = (0..).map(Seed);
    bencher
        .with_inputs(move || seeds.next().unwrap_or(Seed(0)))
        .bench_local_values(|seed| look(run(&scenario.world, protocol, &scenario.plan, seed)));
}

#[divan::bench_group(sample_size = SEEDS_A_SAMPLE)]
mod incident_run {
    use super::*;

    #[divan::bench(args = ["naive", "monotonic", "fenced"])]
    fn with_all_checkers(bencher: Bencher<'_, '_>, protocol: &str) {
        each_seed(bencher, &incident(), protocol, |history| check::judge(&history));
    }

    #[divan::bench(args = ["naive", "monotonic", "fenced"])]
    fn without_checkers(bencher: Bencher<'_, '_>, protocol: &str) {
        each_seed(bencher, &incident(), protocol, drop);
    }

    #[divan::bench(args = ["naive", "monotonic", "fenced"])]
    fn checkers_alone(bencher: Bencher<'_, '_>, protocol: &str) {
        let scenario = incident();
        let protocol = protocol::find(protocol).expect("a protocol of the registry");
        let history = run(&scenario.world, protocol, &scenario.plan, scenario.seed);
        bencher.bench_local(|| check::judge(black_box(&history)));
    }
}

#[divan::bench(args = ["naive", "fenced"], sample_size = SEEDS_A_SAMPLE)]
fn empty_world_run(bencher: Bencher<'_, '_>, protocol: &str) {
    each_seed(bencher, &empty_world(), protocol, drop);
}

/// The checkers on a history of some 200,000 events.
#[divan::bench(args = ["naive", "fenced"], sample_count = 20)]
fn checkers_on_a_long_history(bencher: Bencher<'_, '_>, protocol: &str) {
    let mut scenario = incident();
    scenario.world.job.operations = 10_000;
    scenario.world.limits = Limits { end: TrueTime::START + Span::secs(10_000), steps: 10_000_000 };
    let protocol = protocol::find(protocol).expect("a protocol of the registry");
    let history = run(&scenario.world, protocol, &scenario.plan, scenario.seed);
    let events = ItemsCount::new(history.events.len());
    bencher.counter(events).bench_local(|| check::judge(black_box(&history)));
}

/// A thousand timers, one after the other, and as many messages: workers that do nothing else.
#[divan::bench(args = [Job::Sleeps, Job::Asks])]
fn thousand(bencher: Bencher<'_, '_>, job: &Job) {
    let scenario = empty_world();
    bencher.bench_local(|| run(&scenario.world, job, &[], scenario.seed));
}

#[divan::bench_group]
mod clock {
    use super::*;

    /// Clocks 20 ppm fast that were slewed, and stepped once.
    fn line() -> ClockLine {
        let mut line = ClockLine::new(WallTime::from_nanos(1_768_442_370_000_000_000), rate(20_000));
        line.change(at(10), |segment| segment.slew = rate(500_000));
        line.change(at(20), |segment| segment.step(Span::millis(-420)));
        line
    }

    fn rate(ppb: i32) -> Rate {
        Rate::from_ppb(ppb).expect("a small rate error")
    }

    fn at(seconds: i64) -> TrueTime {
        TrueTime::START + Span::secs(seconds)
    }

    #[divan::bench(args = [0, 15, 58])]
    fn read(bencher: Bencher<'_, '_>, second: i64) {
        let line = line();
        bencher.bench_local(|| black_box(&line).read(black_box(Clock::Wall), black_box(at(second))));
    }

    #[divan::bench(args = ["exact", "drifting"])]
    fn when(bencher: Bencher<'_, '_>, clock: &str) {
        let drift = if clock == "exact" { Rate::EXACT } else { rate(20_000) };
        let segment = Segment::boot(WallTime::default(), drift);
        let reading = Span::secs(40).as_nanos();
        bencher.bench_local(|| black_box(&segment).when(black_box(Clock::Wall), black_box(reading)));
    }
}
