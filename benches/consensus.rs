//! How long the incident takes on a lease service that is several: of three replicas that agree, of five, and of a primary
//! that copies.
//!
//! `cargo bench --bench consensus`. Seeds go 0, 1, 2 …, so every execution does the same work.

use divan::Bencher;
use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::history::History;
use holdover_sim::lease::{LeaseService, ReplicaSpec};
use holdover_sim::protocol::FencedConsensus;
use holdover_sim::run::run;
use holdover_sim::seed::Seed;

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/consensus/incident.toml");

const SEEDS_A_SAMPLE: u32 = 20;

const SERVICES: [&str; 3] = ["three", "five", "copies"];

fn main() {
    divan::main();
}

fn incident(service: &str) -> Scenario {
    let mut scenario = Scenario::load(INCIDENT).expect("the incident is a valid scenario");
    scenario.world.lease.service = Some(match service {
        "five" => LeaseService::Consensus(ReplicaSpec { count: 5, ..ReplicaSpec::THREE }),
        "copies" => LeaseService::AsyncReplica(ReplicaSpec::PAIR),
        _ => LeaseService::Consensus(ReplicaSpec::THREE),
    });
    scenario
}

fn each_seed<T>(bencher: Bencher<'_, '_>, service: &str, look: impl Fn(History) -> T + Sync) {
    let scenario = incident(service);
    let mut seeds = (0..).map(Seed);
    bencher
        .with_inputs(move || seeds.next().unwrap_or(Seed(0)))
        .bench_local_values(|seed| look(run(&scenario.world, &FencedConsensus, &scenario.plan, seed)));
}

#[divan::bench(args = SERVICES, sample_size = SEEDS_A_SAMPLE)]
fn with_all_checkers(bencher: Bencher<'_, '_>, service: &str) {
    each_seed(bencher, service, |history| check::judge(&history));
}

#[divan::bench(args = SERVICES, sample_size = SEEDS_A_SAMPLE)]
fn without_checkers(bencher: Bencher<'_, '_>, service: &str) {
    each_seed(bencher, service, drop);
}
