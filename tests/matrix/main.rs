//! Every command on every kind of world: drawn worlds, drawn commands, and laws that hold of whatever comes of them.
//!
//! Each combination comes from its number alone. `HOLDOVER_MATRIX=A..B` runs those numbers in place of the kept ones, says
//! which took long, and leaves the folders of those that failed.

mod commands;
mod dice;
mod laws;
mod worlds;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::panic;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use dice::Dice;
use holdover::sim::fault::FAULTS;
use holdover::sim::lease::LeaseService;
use holdover::sim::protocol;
use laws::run;
use worlds::{Bases, Drawn};

/// Says something to whoever runs it by hand.
macro_rules! tell {
    ($($part:tt)*) => {{
        // If nobody listens, there is nobody left to tell.
        let _told = writeln!(io::stdout().lock(), $($part)*);
    }};
}

/// Numbers with which something was wrong once.
const KEPT: [u64; 4] = [50, 448, 1_075, 3_014];

/// So many others are run: as many as take half a minute.
const OTHERS: Range<u64> = 0..250;

/// What came of a combination.
struct Came {
    number: u64,
    line: String,
    kind: String,
    status: Option<i32>,
    broken: Option<String>,
    seconds: u64,
}

/// Runs the combination of this number in `folder`, and looks at it.
fn combination(number: u64, bases: &Bases, schema: &jsonschema::Validator, folder: &Path) -> Came {
    let begun = Instant::now();
    let mut dice = Dice::new(number);
    let (kind, faults) = commands::kind(&mut dice);
    let drawn = bases.draw(&mut dice, faults);
    let drawing = commands::draw(kind, &drawn, &mut dice);
    fs::write(folder.join(drawn.file), &drawn.text).expect("the world can be written");
    let before = drawing.before.as_ref().map(|(words, kept)| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = laws::holdover(&words, folder).expect("what is stored is text");
        fs::write(folder.join(kept), ran.stdout).expect("it can be written");
        ran.status
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdover"));
    let ran = run(command.args(&drawing.words), folder, drawing.log);
    let status = ran.as_ref().ok().and_then(|ran| ran.status);
    let looked = || match &ran {
        Ok(ran) if before.is_some_and(|before| before != ran.status) => {
            Err(format!("the status is {:?}, and {before:?} of what was stored", ran.status))
        }
        Ok(ran) => laws::look_at(&drawing, ran, folder, schema).map_err(|law| {
            let tail = |text: &str| text.lines().rev().take(12).collect::<Vec<_>>().join("\n    ");
            format!(
                "{law}\n  stdout (last first):\n    {}\n  stderr:\n    {}",
                tail(&ran.stdout),
                tail(&ran.stderr)
            )
        }),
        Err(error) => Err(error.clone()),
    };
    // Laws run scenarios here as well.
    let looked = panic::catch_unwind(panic::AssertUnwindSafe(looked));
    let broken = looked.unwrap_or_else(|_| Err("a run in this process panicked".to_owned())).err();
    let line = format!("holdover {}", drawing.words.join(" "));
    let seconds = begun.elapsed().as_secs();
    Came { number, line, kind: drawing.words[0].clone(), status, broken, seconds }
}

/// Runs the combinations of these numbers on all cores.
fn combinations(numbers: &[u64], by_hand: bool) -> Vec<Came> {
    let (bases, schema) = (Bases::of_the_repository(), laws::schema());
    let (next, all) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let folder = tempfile::Builder::new()
                .prefix(&format!("matrix-{number}-"))
                .tempdir()
                .expect("a temporary folder can be made");
            let came = combination(*number, &bases, &schema, folder.path());
            if by_hand && (came.seconds > 20 || came.broken.is_some()) {
                tell!("{number} took {} s: {} {:?}", came.seconds, came.line, came.status);
            }
            if by_hand && let Some(broken) = &came.broken {
                tell!("FAILED {number} in {}: {broken}", folder.path().display());
                let _kept = folder.keep();
            }
            all.lock().expect("nobody panicked").push(came);
        }
    };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    let mut all = all.into_inner().expect("nobody panicked");
    all.sort_by_key(|came| came.number);
    all
}

#[test]
fn every_command_on_every_kind_of_world_keeps_its_promises() {
    let by_hand = std::env::var("HOLDOVER_MATRIX").ok();
    let numbers: Vec<u64> = match &by_hand {
        Some(range) => {
            let ends = range.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
            ends.unwrap_or_else(|| panic!("HOLDOVER_MATRIX is `{range}`, which isn't a range such as 0..1000"))
                .collect()
        }
        None => KEPT.into_iter().chain(OTHERS).collect(),
    };
    let all = combinations(&numbers, by_hand.is_some());
    let mut counts: BTreeMap<(&str, Option<i32>), usize> = BTreeMap::new();
    all.iter().for_each(|came| *counts.entry((&came.kind, came.status)).or_default() += 1);
    let counts: Vec<String> = counts
        .iter()
        .map(|((kind, status), count)| {
            format!("{kind} {}: {count}", status.map_or("-".to_owned(), |n| n.to_string()))
        })
        .collect();
    tell!("{} combinations: {}", all.len(), counts.join(", "));
    let broken = all.iter().filter_map(|came| {
        let broken = came.broken.as_ref()?;
        Some(format!("combination {}: {}\n  {broken}", came.number, came.line))
    });
    let broken: Vec<String> = broken.collect();
    assert!(broken.is_empty(), "{} of {}:\n\n{}", broken.len(), all.len(), broken.join("\n\n"));
}

/// What isn't drawn isn't looked at: every protocol, every kind of fault, every kind of lease service, and repairs.
#[test]
fn worlds_of_every_kind_are_drawn() {
    let bases = Bases::of_the_repository();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..150 {
        let Drawn { scenario, .. } = bases.draw(&mut Dice::new(number), 12);
        let service = scenario.world.lease.service.map_or("unsaid", LeaseService::name);
        let replicas = scenario.world.replicas().len();
        let operators = if scenario.world.operators.is_empty() { "none" } else { "some" };
        let kinds = scenario.plan.iter().map(|planned| planned.inject.name().to_owned());
        let others = [format!("{service} of {replicas}"), format!("operators: {operators}")];
        for thing in scenario.protocols.iter().cloned().chain(kinds).chain(others) {
            *seen.entry(thing).or_default() += 1;
        }
    }
    let protocols = protocol::named().map(|known| known.name());
    let faults = FAULTS.iter().map(|fault| fault.name);
    let worlds = ["unsaid of 0", "table of 0", "async-replica of 2", "async-replica of 3", "consensus of 3"];
    let worlds = worlds.into_iter().chain(["consensus of 5", "operators: some"]);
    let missing: Vec<&str> =
        protocols.chain(faults).chain(worlds).filter(|name| !seen.contains_key(*name)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}, but {seen:?}");
}
