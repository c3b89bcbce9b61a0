//! How long it takes to shrink the incident and to explain it: some hundred runs each.

use divan::Bencher;
use holdover::explore::Signature;
use holdover::explore::explain::{self, Explanation};
use holdover::explore::shrink::{self, shrink};
use holdover::scenario::Scenario;
use holdover_sim::protocol::{AnyProtocol, Naive};

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");

fn main() {
    divan::main();
}

fn incident() -> Scenario {
    Scenario::load(INCIDENT).expect("the incident is a valid scenario")
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn shrink_the_incident(bencher: Bencher<'_, '_>) {
    let incident = incident();
    let two_writers = Signature::named("single-writer", "two-writers").expect("a known signature");
    bencher.bench_local(|| shrink(&incident, &Naive, two_writers, shrink::BUDGET));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn explain_the_incident(bencher: Bencher<'_, '_>) {
    let incident = incident();
    let naive: &'static dyn AnyProtocol = &Naive;
    bencher.bench_local(|| Explanation::new(&incident, &[naive], incident.seed, explain::BUDGET));
}
