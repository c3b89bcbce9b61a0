//! Builds all programs of lease-43, runs them in turn in one sitting, and prints how they compare.
//!
//! `cargo run --release -p sitting [-- --rounds N --threads-rounds N --only NAME,NAME]`
//!
//! In each round every program runs once, in an order that is another each time, and directly before and after it holdover
//! does: what is told is its time a run over the mean of those two, and the median over the rounds. A machine that becomes
//! faster or slower meanwhile changes no ratio that way.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// A way to run one of the programs.
struct Program {
    name: &'static str,
    binary: &'static str,
    options: &'static [&'static str],
    /// So many that it takes a good part of a second.
    runs: u64,
}

const HOLDOVER: Program =
    Program { name: "holdover", binary: "lease43-holdover", options: &[], runs: 15_000 };

const OTHERS: [Program; 7] = [
    Program { name: "floor", binary: "lease43-floor", options: &[], runs: 60_000 },
    Program { name: "stateright", binary: "lease43-stateright", options: &[], runs: 6_000 },
    Program { name: "madsim-light", binary: "lease43-madsim-light", options: &[], runs: 4_000 },
    Program { name: "madsim-rpc", binary: "lease43-madsim-rpc", options: &[], runs: 1_000 },
    Program { name: "moonpool", binary: "lease43-moonpool", options: &[], runs: 1_500 },
    Program { name: "turmoil-10ms", binary: "lease43-turmoil", options: &["--tick", "10"], runs: 20 },
    Program { name: "turmoil-1ms", binary: "lease43-turmoil", options: &["--tick", "1"], runs: 3 },
];

/// What a program prints.
#[derive(Deserialize)]
struct Printed {
    wall_us_a_run: f64,
    cpu_us_a_run: f64,
    messages_a_run: f64,
    events_a_run: f64,
    wrong: u64,
    same_seed_same_result: Option<bool>,
    all: String,
}

/// What was measured of a program.
struct Measured<'a> {
    program: &'a Program,
    /// Its time over holdover's, in each round.
    ratios: Vec<f64>,
    runs: Vec<Printed>,
}

struct Options {
    rounds: u64,
    threads_rounds: u64,
    only: Option<Vec<String>>,
}

impl Options {
    fn read() -> Result<Options, Box<dyn Error>> {
        let mut options = Options { rounds: 9, threads_rounds: 9, only: None };
        let mut given = std::env::args().skip(1);
        while let Some(option) = given.next() {
            let value = given.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--rounds" => options.rounds = value.parse()?,
                "--threads-rounds" => options.threads_rounds = value.parse()?,
                "--only" => options.only = Some(value.split(',').map(str::to_owned).collect()),
                _ => return Err(format!("{option} isn't known: --rounds, --threads-rounds, --only").into()),
            }
        }
        Ok(options)
    }

    fn others(&self) -> Vec<&'static Program> {
        let wanted = |name: &str| self.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name));
        OTHERS.iter().filter(|program| wanted(program.name)).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let binaries = build()?;
    let others = options.others();
    let mut measured: Vec<Measured> =
        others.iter().map(|program| Measured { program, ratios: Vec::new(), runs: Vec::new() }).collect();
    let mut own = vec![run(&binaries, &HOLDOVER, 1)?];
    for round in 0..options.rounds {
        for place in order(round, others.len()) {
            let before = own[own.len() - 1].wall_us_a_run;
            let printed = run(&binaries, others[place], 1)?;
            own.push(run(&binaries, &HOLDOVER, 1)?);
            let after = own[own.len() - 1].wall_us_a_run;
            measured[place].ratios.push(2.0 * printed.wall_us_a_run / (before + after));
            measured[place].runs.push(printed);
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    measured.push(Measured { program: &HOLDOVER, ratios: vec![1.0], runs: own });
    measured.retain(|measured| !measured.ratios.is_empty());
    measured.sort_by(|one, other| middle(&one.ratios).total_cmp(&middle(&other.ratios)));
    print_table(&measured);
    print_threads(&binaries, options.threads_rounds)
}

/// Builds all programs, and says where they are.
fn build() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").ok_or("run it by cargo, which it needs to build the others")?;
    let built = Command::new(cargo)
        .args(["build", "--release", "--locked", "--workspace", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    if !built.success() {
        return Err("not all programs can be built".into());
    }
    let own = std::env::current_exe()?;
    Ok(own.parent().ok_or("this program is in no folder")?.to_owned())
}

fn run(binaries: &Path, program: &Program, threads: u64) -> Result<Printed, Box<dyn Error>> {
    let output = Command::new(binaries.join(program.binary))
        .args(program.options)
        .args(["--runs", &(threads * program.runs).to_string(), "--check", "5"])
        .args(["--threads", &threads.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{} fails", program.name).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The numbers below `count` in another order for each `round`.
fn order(round: u64, count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by_key(|place| (round * 31 + *place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
    places
}

fn middle(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median, with the least and the most.
fn spread(values: impl Iterator<Item = f64>) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let [least, middle, most] = [0, values.len() / 2, values.len() - 1].map(|place| short(values[place]));
    format!("{middle} ({least}–{most})")
}

/// With three digits that count.
fn short(value: f64) -> String {
    let digits = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$}")
}

fn print_table(measured: &[Measured<'_>]) {
    println!("| program | time a run, × holdover | µs a run | messages a run | events a run | the same twice | wrong runs |");
    println!("|---|---|---|---|---|---|---|");
    for Measured { program, ratios, runs } in measured {
        let same = runs.iter().all(|run| run.same_seed_same_result != Some(false) && run.all == runs[0].all);
        println!(
            "| {} | {} | {} | {:.0} | {:.0} | {} | {} |",
            program.name,
            spread(ratios.iter().copied()),
            spread(runs.iter().map(|run| run.wall_us_a_run)),
            runs[0].messages_a_run,
            runs[0].events_a_run,
            if same { "yes" } else { "no" },
            runs.iter().map(|run| run.wrong).max().unwrap_or_default(),
        );
    }
}

/// From one thread to two: only rounds in which there were two processors tell anything.
fn print_threads(binaries: &Path, rounds: u64) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    for _ in 0..rounds {
        let (one, two) = (run(binaries, &HOLDOVER, 1)?, run(binaries, &HOLDOVER, 2)?);
        let processors = two.cpu_us_a_run / two.wall_us_a_run;
        let cpu = two.cpu_us_a_run / one.cpu_us_a_run;
        all.push((one.wall_us_a_run / two.wall_us_a_run, processors, cpu));
    }
    if all.is_empty() {
        return Ok(());
    }
    println!();
    println!(
        "holdover on two threads: {} times as fast as on one; it had {} processors, and a run took {} times the processor's time",
        spread(all.iter().map(|round| round.0)),
        spread(all.iter().map(|round| round.1)),
        spread(all.iter().map(|round| round.2)),
    );
    let fair: Vec<f64> = all.iter().filter(|round| round.1 >= 1.9).map(|round| round.0).collect();
    match fair.len() {
        0 => println!("in none of the {rounds} rounds it really had two processors"),
        count => println!("in the {count} of {rounds} rounds in which it really had two: {}", spread(fair.into_iter())),
    }
    Ok(())
}
