//! How many seeds a second a hunt looks at, judged and counted, on one thread and on two.
//!
//! `cargo bench --bench hunt`. The time is that of all seeds of a sample together.

use std::num::NonZeroUsize;

use divan::Bencher;
use divan::counter::ItemsCount;
use holdover::explore::hunt::Hunt;
use holdover::scenario::Scenario;
use holdover_sim::protocol::{self, AnyProtocol};

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");

/// So many that the start of the threads doesn't matter.
const SEEDS: u64 = 4_000;

fn main() {
    divan::main();
}

fn hunt(bencher: Bencher<'_, '_>, protocol: &str, threads: usize) {
    let scenario = Scenario::load(INCIDENT).expect("the incident is a valid scenario");
    let protocol: &'static dyn AnyProtocol = protocol::find(protocol).expect("a protocol of the registry");
    let jobs = NonZeroUsize::new(threads).expect("above zero");
    let hunt = Hunt::new(&scenario).protocols(&[protocol]).seeds(0..SEEDS).jobs(jobs);
    bencher.counter(ItemsCount::new(SEEDS)).bench_local(|| hunt.run());
}

#[divan::bench(args = [1, 2], sample_count = 10)]
fn naive(bencher: Bencher<'_, '_>, threads: usize) {
    hunt(bencher, "naive", threads);
}

#[divan::bench(args = [1, 2], sample_count = 10)]
fn fenced(bencher: Bencher<'_, '_>, threads: usize) {
    hunt(bencher, "fenced", threads);
}
