//! How long it takes to draw a plan of faults, next to a run under it: searches draw one for every run.

use divan::Bencher;
use holdover::explore::generate::{Generator, Profile, Selection};
use holdover::scenario::Scenario;
use holdover_sim::protocol::Naive;
use holdover_sim::run::run;
use holdover_sim::seed::Seed;

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");

/// Plans differ much, so a sample has many.
const SEEDS_A_SAMPLE: u32 = 1_000;

fn main() {
    divan::main();
}

fn incident() -> Scenario {
    Scenario::load(INCIDENT).expect("the incident is a valid scenario")
}

#[divan::bench(args = Profile::ALL, sample_size = SEEDS_A_SAMPLE)]
fn plan(bencher: Bencher<'_, '_>, profile: &Profile) {
    let generator = Generator::new(&incident().world, *profile);
    let mut seeds = (0..).map(Seed);
    bencher.with_inputs(move || seeds.next().unwrap_or(Seed(0))).bench_local_values(|seed| generator.plan(seed));
}

#[divan::bench(args = ["pause", "network", "workers"], sample_size = SEEDS_A_SAMPLE)]
fn plan_of_some_kinds(bencher: Bencher<'_, '_>, kinds: &str) {
    let selection: Selection = kinds.parse().expect("a kind or a group");
    let generator = Generator::new(&incident().world, Profile::Hostile).only(selection);
    let mut seeds = (0..).map(Seed);
    bencher.with_inputs(move || seeds.next().unwrap_or(Seed(0))).bench_local_values(|seed| generator.plan(seed));
}

/// A plan and the incident's run under it, without checkers.
#[divan::bench(args = Profile::ALL, sample_size = SEEDS_A_SAMPLE)]
fn plan_and_run(bencher: Bencher<'_, '_>, profile: &Profile) {
    let world = incident().world;
    let generator = Generator::new(&world, *profile);
    let mut seeds = (0..).map(Seed);
    bencher
        .with_inputs(move || seeds.next().unwrap_or(Seed(0)))
        .bench_local_values(|seed| run(&world, &Naive, &generator.plan(seed), seed));
}
