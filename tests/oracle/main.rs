//! Drawn runs of all kinds of world, judged once more by an oracle in another language: `judge.py` says the rules and the
//! laws of the engine a second time, as the documentation has them, over the lines of `replay --format jsonl`.
//!
//! Needs Python 3.11, and nothing beside. Where it isn't there the test says so and is skipped, unless HOLDOVER_ORACLE is
//! `required`, as it is in `.ci/run`. By hand, more of them: `HOLDOVER_ORACLE_RUNS=0..50000 cargo test --test oracle`. What
//! doesn't fit is written below `target/tmp/oracle`, with the command that repeats it; and
//! `holdover replay FILE --format jsonl | python3 tests/oracle/judge.py` judges any run.

mod draw;

use std::fs;
use std::io::{BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdover::replay::Replay;
use holdover::report::jsonl;

/// How many runs are judged where nobody says.
const RUNS: Range<u64> = 0..500;

/// In which of them mistakes are made.
const MISTAKEN: Range<u64> = 0..120;

/// Whether there is a Python to judge with; says so if there is none.
fn has_python() -> bool {
    let asked = Command::new("python3").args(["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).status();
    let is_there = asked.is_ok_and(|status| status.success());
    let is_required = std::env::var_os("HOLDOVER_ORACLE").is_some_and(|said| said == "required");
    assert!(is_there || !is_required, "there is no python3 of 3.11 or later, and HOLDOVER_ORACLE requires one");
    if !is_there {
        // Not by a macro: what those print is hidden where a test succeeds.
        let told = writeln!(
            std::io::stderr(),
            "SKIPPED: drawn runs weren't judged again: there is no python3 of 3.11 or later"
        );
        told.expect("stderr can be written to");
    }
    is_there
}

fn oracle(script: &str) -> Command {
    let mut python = Command::new("python3");
    python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(script));
    // Nothing is left lying about between the sources.
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

fn runs() -> Range<u64> {
    let Some(said) = std::env::var_os("HOLDOVER_ORACLE_RUNS") else { return RUNS };
    let said = said.into_string().expect("HOLDOVER_ORACLE_RUNS is text");
    let (from, to) = said.split_once("..").expect("HOLDOVER_ORACLE_RUNS is such as 0..50000");
    from.parse().expect("a number")..to.parse().expect("a number")
}

/// Where what doesn't fit is left.
fn left() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle")
}

/// The history of the run that is drawn from `number`, as lines.
fn history(number: u64) -> Vec<u8> {
    let (scenario, protocol) = draw::scenario(number);
    let replay = Replay::new(&scenario, &[protocol], scenario.seed);
    let mut lines = Vec::new();
    jsonl::write(&replay, &mut lines).expect("a Vec takes any bytes");
    lines
}

/// Whether a script finds that all is well with the histories of these numbers, and what it says.
fn feed(script: &str, numbers: impl Iterator<Item = u64>) -> (bool, String) {
    // A file takes whatever it says while it still has to read, and a pipe doesn't.
    let mut says = tempfile::tempfile().expect("room for what it says");
    let stdout = says.try_clone().expect("the same file");
    let mut judge = oracle(script).stdin(Stdio::piped()).stdout(stdout).spawn().expect("it starts");
    let mut to = BufWriter::new(judge.stdin.take().expect("it reads"));
    for number in numbers {
        let head = format!("{{\"line\":\"drawn\",\"number\":{number}}}\n");
        // One that reads no further has failed, and says why.
        if to.write_all(head.as_bytes()).and_then(|()| to.write_all(&history(number))).is_err() {
            break;
        }
    }
    drop(to);
    let status = judge.wait().expect("it ends");
    let mut said = String::new();
    says.rewind().and_then(|()| says.read_to_string(&mut said)).expect("it writes text");
    assert!(
        said.lines().last().is_some_and(|line| line.starts_with("judged ")),
        "{script} failed: {status}\n{said}"
    );
    (status.success(), said)
}

/// Writes the scenario that was drawn from `number`, and says how to see it again.
fn leave(number: u64) -> String {
    let (scenario, protocol) = draw::scenario(number);
    let file = left().join(format!("{number}.toml"));
    fs::create_dir_all(left()).expect("a folder");
    match scenario.to_toml() {
        Ok(text) => {
            fs::write(&file, text).expect("room");
            format!("holdover replay {} --protocol {}", file.display(), protocol.name())
        }
        Err(error) => format!("it can't be written as a file: {error}"),
    }
}

#[test]
fn what_drawn_runs_come_to_is_what_the_documentation_says() {
    if !has_python() {
        return;
    }
    let runs = runs();
    let halves = [0, 1].map(|half| {
        let numbers = runs.clone().skip(half).step_by(2);
        std::thread::spawn(move || feed("judge.py", numbers))
    });
    let mut unlike = 0;
    let mut shown = String::new();
    for half in halves {
        let (_, said) = half.join().expect("it was judged");
        for line in said.lines().filter(|line| line.starts_with("run ")) {
            let number = line.trim_start_matches("run ").split(':').next().and_then(|number| number.parse().ok());
            let repeat = number.map(leave).expect("it says which run it is about");
            shown.push_str(&format!("{line}\n  {repeat}\n"));
            unlike += 1;
        }
    }
    assert_eq!(unlike, 0, "these do not fit:\n{shown}");
}

#[test]
fn mistakes_in_histories_are_found() {
    if !has_python() {
        return;
    }
    let (all_found, said) = feed("planted.py", MISTAKEN);
    assert!(all_found, "{said}");
}
