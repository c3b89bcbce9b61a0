//! Runs the incident under one protocol, many times, and no more: what a profiler is pointed at.
//!
//! `cargo run --release --example incident PROTOCOL RUNS [judge]`. What a run costs is the difference of two counts:
//!
//! `valgrind --tool=callgrind target/release/examples/incident naive 1100 judge`, less the same with 100 runs, by 1,000.

use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::protocol;
use holdover_sim::run::run;
use holdover_sim::seed::Seed;

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let protocol = arguments.next().ok_or("which protocol?")?;
    let protocol = protocol::find(&protocol).ok_or("no such protocol")?;
    let runs: u64 = arguments.next().ok_or("how many runs?")?.parse()?;
    let judges = arguments.next().is_some();
    let scenario = Scenario::load(INCIDENT)?;
    for seed in 0..runs {
        let history = run(&scenario.world, protocol, &scenario.plan, Seed(seed));
        if judges {
            std::hint::black_box(check::judge(&history));
        }
        std::hint::black_box(history);
    }
    Ok(())
}
