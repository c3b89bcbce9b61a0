//! Runs a program's simulation again and again, and prints what that took as one line of JSON.

use std::hint::black_box;
use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};
use serde_json::json;

use crate::{Outcome, mix};

/// What a program is asked for.
pub struct Args {
    /// How many runs, with the seeds from 0 on.
    pub runs: u64,
    /// On how many threads.
    pub threads: u64,
    /// How many seeds are run a second time and compared.
    pub check: u64,
    /// Whether one run is shown, and nothing measured.
    pub show: bool,
    /// What only this program knows.
    pub more: Vec<String>,
}

impl Args {
    /// Whether `option` was given.
    pub fn has(&self, option: &str) -> bool {
        self.more.iter().any(|given| given == option)
    }
}

/// Reads `--runs N --threads N --check N --show`.
pub fn args(runs: u64) -> Args {
    let mut args = Args { runs, threads: 1, check: 100, show: false, more: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(option) = given.next() {
        let mut number = || given.next().and_then(|number| number.parse().ok()).expect("a number follows");
        match option.as_str() {
            "--runs" => args.runs = number(),
            "--threads" => args.threads = number(),
            "--check" => args.check = number(),
            "--show" => args.show = true,
            _ => args.more.push(option),
        }
    }
    args.check = args.check.clamp(1, args.runs.max(1));
    args
}

/// What was seen of many runs.
#[derive(Default)]
struct Sum {
    messages: u64,
    events: u64,
    wrong: u64,
    /// Over seeds and outcomes, in whatever order: the same on one thread and on two.
    all: u64,
}

impl Sum {
    fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.messages += u64::from(outcome.store.messages);
        self.events += outcome.events;
        self.wrong += u64::from(!outcome.is_right());
        self.all ^= mix(mix(seed, outcome.store.hash), outcome.end);
    }

    fn join(self, other: Sum) -> Sum {
        Sum {
            messages: self.messages + other.messages,
            events: self.events + other.events,
            wrong: self.wrong + other.wrong,
            all: self.all ^ other.all,
        }
    }
}

/// Times `args.runs` runs of `one`, each with its seed, and prints what they took.
pub fn measure(name: &str, args: &Args, one: impl Fn(u64) -> Outcome + Sync) {
    if args.threads <= 1 {
        return measure_on_one_thread(name, args, one);
    }
    warm_up(args, &one);
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let share = |first: u64| {
        let mut sum = Sum::default();
        (first..args.runs).step_by(args.threads as usize).for_each(|seed| sum.add(seed, &one(seed)));
        sum
    };
    let sum = std::thread::scope(|scope| {
        let share = &share;
        let threads: Vec<_> = (0..args.threads).map(|first| scope.spawn(move || share(first))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no run panics")).fold(Sum::default(), Sum::join)
    });
    print(name, args, &sum, (wall.elapsed(), cpu.elapsed()), None);
}

fn measure_on_one_thread(name: &str, args: &Args, one: impl Fn(u64) -> Outcome) {
    if args.show {
        println!("{:?}", one(0));
        return;
    }
    warm_up(args, &one);
    let mut sum = Sum::default();
    let mut first = Vec::with_capacity(args.check as usize);
    let (wall, cpu) = (Instant::now(), ThreadTime::now());
    for seed in 0..args.runs {
        let outcome = one(seed);
        sum.add(seed, &outcome);
        if seed < args.check {
            first.push(outcome);
        }
    }
    let took = (wall.elapsed(), cpu.elapsed());
    let same = first.iter().zip(0..).all(|(outcome, seed)| one(seed) == *outcome);
    print(name, args, &sum, took, Some(same));
}

/// The same for what makes its runs by itself: `batch` makes about so many from a seed, on so many threads.
pub fn measure_batch(name: &str, args: &Args, batch: impl Fn(u64, u64, usize) -> Vec<Outcome>) {
    if args.show {
        println!("{:?}", batch(0, 2, 1).first());
        return;
    }
    batch(1, args.runs / 20, 1);
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let outcomes = batch(0, args.runs, args.threads as usize);
    let took = (wall.elapsed(), cpu.elapsed());
    let mut sum = Sum::default();
    outcomes.iter().zip(0..).for_each(|(outcome, place)| sum.add(place, outcome));
    let again = batch(0, args.check, 1);
    let same = args.threads <= 1 && !again.is_empty() && outcomes.starts_with(&again);
    let args = Args { runs: outcomes.len() as u64, more: Vec::new(), ..*args };
    print(name, &args, &sum, took, Some(same));
}

fn warm_up(args: &Args, one: impl Fn(u64) -> Outcome) {
    (0..(args.runs / 20).max(5).min(args.runs)).for_each(|seed| drop(black_box(one(seed))));
}

fn print(name: &str, args: &Args, sum: &Sum, (wall, cpu): (Duration, Duration), same: Option<bool>) {
    let runs = args.runs.max(1) as f64;
    let line = json!({
        "name": name,
        "threads": args.threads,
        "runs": args.runs,
        "wall_us_a_run": wall.as_secs_f64() * 1e6 / runs,
        "cpu_us_a_run": cpu.as_secs_f64() * 1e6 / runs,
        "messages_a_run": sum.messages as f64 / runs,
        "events_a_run": sum.events as f64 / runs,
        "wrong": sum.wrong,
        "same_seed_same_result": same,
        "all": format!("{:016x}", sum.all),
        "resident_kib": resident_kib(),
    });
    println!("{line}");
}

/// What of this process is in memory, or `None` where the system doesn't tell.
fn resident_kib() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * 4)
}
