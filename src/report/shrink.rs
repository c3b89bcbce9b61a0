//! What is told of a shrunk scenario: its title and its story, which go into its file, and what was tried to find it.

use std::io::{self, Write};

use holdover_sim::check::Verdict;
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::{History, What};
use holdover_sim::time::{TrueTime, WallTime};

use super::explain::{chain, listed};
use super::layout::harmless;
use super::words;
use crate::explore::chain::chain as chain_of;
use crate::explore::shrink::{OTHER_SEEDS, Shrunk};
use crate::explore::{Signature, failures};
use crate::replay::JudgedRun;

/// The columns of a story's lines.
const WIDTH: usize = 116;

/// So many steps lead to what breaks at the most; the last ones are told.
const MOST_STEPS: usize = 4;

/// What a shrunk scenario shows, in one line.
pub fn title(protocol: &str, signature: Signature) -> String {
    format!("{} breaks {signature}", harmless(protocol))
}

/// The story of a shrunk scenario in a few sentences: which faults it takes, what leads to what breaks, and what becomes of
/// the same under the other protocols. `run` is the one that breaks it.
pub fn story(shrunk: &Shrunk, run: &JudgedRun, others: &[&JudgedRun]) -> String {
    let history = &run.history;
    let mut sentences = vec![faults(history)];
    sentences.extend(steps(run, shrunk.signature));
    let broken = run.verdicts.iter().find(|(checker, _)| checker.name == shrunk.signature.checker());
    if let Some((_, Verdict::Violated { witness, .. })) = broken {
        let rule = shrunk.signature.checker();
        sentences.push(format!("That breaks {rule}: {}.", words::witness(history, witness)));
    }
    sentences.push(size(shrunk));
    sentences.extend(others.iter().map(|other| elsewhere(other, shrunk.signature)));
    let text = harmless(&sentences.join(" "));
    let options = textwrap::Options::new(WIDTH).break_words(false);
    textwrap::fill(&text, options.word_splitter(textwrap::WordSplitter::NoHyphenation)) + "\n"
}

fn faults(history: &History) -> String {
    let told = |planned: &PlannedFault| {
        let note = planned.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        let what = words::fault(history, &planned.inject);
        let name = planned.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
        format!("{name}{what}{note}, {}", words::anchor(history, planned))
    };
    let all: Vec<String> = history.plan.iter().map(told).collect();
    match all.split_last() {
        None => "No fault is needed.".to_owned(),
        Some((one, [])) => format!("One fault is enough: {one}."),
        Some((last, others)) => {
            let count = capital(&count_in_words(all.len()));
            format!("{count} faults are enough: {}; and {last}.", others.join("; "))
        }
    }
}

/// What leads to where the rule is broken, but for what the faults have told already.
fn steps(run: &JudgedRun, signature: Signature) -> Vec<String> {
    let history = &run.history;
    let all: Vec<usize> = (0..history.plan.len()).collect();
    let chain = chain_of(run, &all);
    let broken = chain.steps.iter().position(|step| step.breaks.contains(&signature));
    let before = chain.steps.iter().take(broken.unwrap_or(chain.steps.len()));
    let tells = |what: &What| {
        !matches!(
            what,
            What::FaultBegan { .. }
                | What::LeaseHeld { .. }
                | What::MessageDelayed { .. }
                | What::MessageDropped { .. }
                | What::MessageRepeated { .. }
        )
    };
    let told: Vec<chain::Told> = before
        .filter(|step| tells(&history.event(step.event).what))
        .map(|step| chain::told(history, step))
        .collect();
    let last = &told[told.len().saturating_sub(MOST_STEPS)..];
    last.iter().map(|step| format!("At {} {}.", words::utc(history, step.at), step.text)).collect()
}

/// How little it takes, and how much it depends on the seed.
fn size(shrunk: &Shrunk) -> String {
    let counts = shrunk.account.after;
    let workers = many(counts.workers, "worker", "workers");
    let operations = many(counts.operations as usize, "operation", "operations");
    let verb = if counts.workers + counts.operations as usize > 2 { "are" } else { "is" };
    let seeds = match shrunk.account.other_seeds {
        Some(OTHER_SEEDS) => format!(", and {} other seeds make no difference", count_in_words(OTHER_SEEDS)),
        Some(others) => {
            format!(", with {} of {} other seeds too", count_in_words(others), count_in_words(OTHER_SEEDS))
        }
        None => String::new(),
    };
    capital(&format!("{workers} and {operations} {verb} all it takes{seeds}."))
}

/// What the same comes to under another protocol.
fn elsewhere(run: &JudgedRun, signature: Signature) -> String {
    let name = harmless(run.protocol.name());
    let broken = failures(&run.verdicts);
    let unknown: Vec<String> = run
        .verdicts
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Unknown { .. }))
        .map(|(checker, _)| checker.name.to_owned())
        .collect();
    let mut told = match broken.iter().any(|(other, _)| *other == signature) {
        true => format!("Under {name} the same breaks"),
        false if broken.is_empty() && unknown.is_empty() => format!("Under {name} every rule holds"),
        false if broken.is_empty() => format!("Under {name} nothing breaks"),
        false => {
            let rules: Vec<String> = broken.iter().map(|(other, _)| other.checker().to_owned()).collect();
            let verb = if rules.len() == 1 { "breaks" } else { "break" };
            format!("Under {name} {} {verb} instead", listed(&rules))
        }
    };
    if !unknown.is_empty() {
        told += &format!("; of {} it can't be told", listed(&unknown));
    }
    told + "."
}

fn many(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", count_in_words(count), if count == 1 { one } else { more })
}

fn count_in_words(count: usize) -> String {
    const WORDS: [&str; 11] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    WORDS.get(count).map_or_else(|| words::grouped(count as u64), |word| (*word).to_owned())
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// What became smaller, in few words: `faults 14 → 2, workers 4 → 2, operations 20 → 3`. What stayed as it was has one
/// number.
pub fn in_short(shrunk: &Shrunk) -> String {
    let (before, after) = (shrunk.account.before, shrunk.account.after);
    let counts = [
        ("faults", before.faults, after.faults),
        ("workers", before.workers, after.workers),
        ("operations", before.operations as usize, after.operations as usize),
    ];
    let told = |(what, before, after): (&str, usize, usize)| match before == after {
        true => format!("{what} {after}"),
        false => format!("{what} {before} → {after}"),
    };
    counts.map(told).join(", ")
}

/// Writes what was tried and what came of it.
///
/// # Errors
/// What `out` says.
pub fn write_account(shrunk: &Shrunk, protocol: &str, out: &mut impl Write) -> io::Result<()> {
    let account = &shrunk.account;
    let (before, after) = (account.before, account.after);
    writeln!(out, "{}", title(protocol, shrunk.signature))?;
    let start = shrunk.scenario.world.start;
    let ends = [end(start, before.end), end(start, after.end)];
    let rows = [
        ("faults", before.faults.to_string(), after.faults.to_string()),
        ("of them timed", before.timed.to_string(), after.timed.to_string()),
        ("workers", before.workers.to_string(), after.workers.to_string()),
        ("operations", before.operations.to_string(), after.operations.to_string()),
        ("end", ends[0].clone(), ends[1].clone()),
    ];
    for (what, before, after) in rows {
        writeln!(out, "  {what:<17} {before:>12} → {after}")?;
    }
    writeln!(out)?;
    for tally in account.passes.iter().filter(|tally| tally.tried > 0) {
        writeln!(out, "  {:<17} {:>6} tried, {:>4} kept", tally.pass, tally.tried, tally.kept)?;
    }
    let rounds = words::many(account.rounds, "round", "rounds");
    let runs = words::many(account.spent.runs as usize, "run", "runs");
    let seeds = account
        .other_seeds
        .map_or(String::new(), |others| format!("; under {others} of {OTHER_SEEDS} other seeds the same breaks"));
    writeln!(out, "  {rounds}, {runs}{seeds}")?;
    if account.spent.used_up {
        writeln!(out, "  cut short by the bound on runs and events: there may be something smaller")?;
    }
    Ok(())
}

/// When a run ends, as a clock time; on another day with its date.
fn end(start: WallTime, end: TrueTime) -> String {
    let at = start + (end - TrueTime::START);
    let time = words::time_of_day(at);
    let time = time.trim_end_matches(".000").to_owned();
    if words::day(at) == words::day(start) { time } else { format!("{} {time}", words::date(at)) }
}
