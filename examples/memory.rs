//! Runs the incident many times in one process and shows that its memory stays as it is.
//!
//! `cargo run --release --example memory [RUNS]`. The protocols take turns. Linux only: elsewhere it
//! says that it can't tell.
#![expect(clippy::print_stdout, reason = "an example's output is what it is for")]

use holdover::scenario::Scenario;
use holdover_sim::check;
use holdover_sim::protocol::PROTOCOLS;
use holdover_sim::run::run;
use holdover_sim::seed::Seed;

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");
const RUNS: u64 = 200_000;

/// Pages are counted in this size on x86-64, and on most of 64-bit Arm. Where it is larger, all figures are too small by
/// the same factor, and flat is flat.
const PAGE: u64 = 4_096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs = std::env::args().nth(1).map_or(Ok(RUNS), |runs| runs.parse())?;
    let scenario = Scenario::load(INCIDENT)?;
    let Some(start) = resident_bytes() else {
        println!("This system has no /proc/self/statm, so what the runs leave in memory can't be told.");
        return Ok(());
    };
    let quarter_of_runs = runs / 4;
    let repeat = |seeds: std::ops::Range<u64>| {
        for seed in seeds {
            let protocol = PROTOCOLS[(seed % PROTOCOLS.len() as u64) as usize];
            let history = run(&scenario.world, protocol, &scenario.plan, Seed(seed));
            std::hint::black_box(check::judge(&history));
        }
        resident_bytes().unwrap_or_default()
    };
    let quarter = repeat(0..quarter_of_runs);
    let end = repeat(quarter_of_runs..runs);
    let growth = end as f64 - quarter as f64;
    println!("resident before the first run:     {} KiB", start / 1_024);
    println!("resident after {quarter_of_runs:>7} runs:        {} KiB", quarter / 1_024);
    println!("resident after {runs:>7} runs:        {} KiB", end / 1_024);
    println!(
        "growth over the last three quarters: {:.3} bytes a run",
        growth / (runs - quarter_of_runs).max(1) as f64
    );
    Ok(())
}

/// What of this process is in memory, or `None` where the system doesn't tell.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * PAGE)
}
