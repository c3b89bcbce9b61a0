//! How long the incident takes, and what its parts take.
//!
//! divan and not criterion, because it brings four small crates to build and tells what is needed: fastest, slowest and
//! median. One thread throughout; seeds go 0, 1, 2 …, so every execution does the same work.

use std::hint::black_box;

use divan::Bencher;
use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::clock::{Clock, ClockLine, Rate, Segment};
use holdover_sim::history::History;
use holdover_sim::protocol;
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime, WallTime};

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");

/// So many that the seeds' differences even out within a sample.
const SEEDS_A_SAMPLE: u32 = 100;

fn main() {
    divan::main();
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

    #[divan::bench(args = ["naive", "fenced"])]
    fn with_all_checkers(bencher: Bencher<'_, '_>, protocol: &str) {
        each_seed(bencher, &incident(), protocol, |history| check::judge(&history));
    }

    #[divan::bench(args = ["naive", "fenced"])]
    fn without_checkers(bencher: Bencher<'_, '_>, protocol: &str) {
        each_seed(bencher, &incident(), protocol, drop);
    }

    #[divan::bench(args = ["naive", "fenced"])]
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
