//! An incident report in Markdown, as code hosts and trackers show it: what came out, what happened, why, and how to
//! repeat it.

use std::io::{self, Write};

use holdover_sim::check::{Bite, Verdict};
use holdover_sim::history::{History, overlaps};
use holdover_sim::time::Span;

use super::closing::{bite, ended, planned_fault};
use super::excerpt::{Excerpt, LeftOut};
use super::explain::chain;
use super::layout::harmless;
use super::timeline::{Mark, timeline};
use super::{closing, mermaid, summary, words};
use crate::explore::chain::chain as chain_of;
use crate::replay::{JudgedRun, Replay};

/// The most rows of a timeline.
const MOST_ROWS: usize = 200;

/// The most faults, and the most overlaps of belief.
const MOST_LISTED: usize = 40;

/// Writes the report on `replay`, with timelines of no more than `excerpt`. `file` is where the scenario was read, and
/// `command` what repeats it.
///
/// # Errors
/// What `out` says.
pub fn write(
    replay: &Replay<'_>,
    file: &str,
    command: &str,
    excerpt: &Excerpt,
    out: &mut impl Write,
) -> io::Result<()> {
    let premise = &replay.premise;
    let title = text(premise.title);
    writeln!(out, "# {}", if title.trim().is_empty() { "An incident" } else { title.trim() })?;
    let paragraphs = premise.story.iter().flat_map(|story| story.split("\n\n")).map(text);
    for paragraph in paragraphs.filter(|paragraph| !paragraph.trim().is_empty()) {
        writeln!(out, "\n{}", paragraph.trim())?;
    }
    let start = words::date(premise.start) + " " + &words::time_of_day(premise.start);
    writeln!(
        out,
        "\nScenario {} with seed {}, from {start} UTC. All times are true times, in UTC.",
        code(file),
        replay.seed.0
    )?;
    write_summary(replay, out)?;
    for run in &replay.runs {
        writeln!(out, "\n## What happened under {}", text(run.protocol.name()))?;
        writeln!(out, "\n{}.", text(&sentence(run.protocol.summary())))?;
        write_timeline(&run.history, excerpt, out)?;
    }
    if !replay.runs.is_empty() {
        writeln!(out, "\n## As a diagram\n\n```mermaid")?;
        mermaid::write(replay, excerpt, out)?;
        writeln!(out, "```")?;
    }
    writeln!(out, "\n## Causes")?;
    write_faults(replay, out)?;
    for run in &replay.runs {
        write_causes(run, out)?;
    }
    write_end(replay, command, out)
}

/// What came out, for each protocol and for each rule.
fn write_summary(replay: &Replay<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n## Summary\n")?;
    for run in &replay.runs {
        let told: Vec<String> = summary::told(run).iter().map(|(told, _)| text(told)).collect();
        writeln!(out, "- {} {}", strong(&text(run.protocol.name())), told.join("; "))?;
    }
    let deviations = replay.deviations();
    if deviations.is_empty() {
        writeln!(out, "- All is as the scenario expects.")?;
    }
    for told in closing::deviation_texts(&deviations) {
        writeln!(out, "- **Not as expected:** {}", text(&told))?;
    }
    let Some(first) = replay.runs.first() else { return Ok(()) };
    let row =
        |out: &mut dyn Write, head: &str, cells: Vec<String>| writeln!(out, "| {head} | {} |", cells.join(" | "));
    writeln!(out)?;
    row(out, "rule", replay.runs.iter().map(|run| text(run.protocol.name())).collect())?;
    row(out, "---", vec!["---".to_owned(); replay.runs.len()])?;
    for (index, (checker, _)) in first.verdicts.iter().enumerate() {
        let cells = replay.runs.iter().map(|run| {
            let verdict = &run.verdicts[index].1;
            let told = words::verdict(verdict);
            if matches!(verdict, Verdict::Holds { .. }) { told } else { strong(&told) }
        });
        row(out, &code(checker.name), cells.collect())?;
    }
    let overlap = replay.runs.iter().map(|run| match run.belief_overlap {
        Span::ZERO => "–".to_owned(),
        overlap => words::rounded(overlap).to_string(),
    });
    row(out, "time of belief overlap", overlap.collect())
}

fn write_timeline(history: &History, excerpt: &Excerpt, out: &mut impl Write) -> io::Result<()> {
    let mut left_out = LeftOut::default();
    let mut rows = timeline(history);
    rows.retain(|row| left_out.shows(excerpt, row.at, excerpt.concerns(row)));
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    writeln!(out, "\n| UTC | its own clock | what |\n| --- | --- | --- |")?;
    for row in &rows {
        let own = row.wrong_clock.map_or(String::new(), |(reading, _)| words::clock(history, reading));
        let told = text(&row.text);
        let told = if matches!(row.mark, Mark::Plain | Mark::Healed) { told } else { strong(&told) };
        writeln!(out, "| {} | {own} | {told} |", words::utc(history, row.at))?;
    }
    let mut not_shown: Vec<String> = Some(left_out.told(history, excerpt, "row")).into_iter().collect();
    if more > 0 {
        not_shown.push(format!("the last {}", words::many(more, "row", "rows")));
    }
    not_shown.retain(|told| !told.is_empty());
    if !not_shown.is_empty() {
        writeln!(out, "\nNot shown: {}.", not_shown.join(", "))?;
    }
    Ok(())
}

/// What the faults were, and what became of each.
fn write_faults(replay: &Replay<'_>, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = replay.runs.first() else { return writeln!(out, "\nNothing was run.") };
    let plan = &first.history.plan;
    if plan.is_empty() {
        return writeln!(out, "\nNo faults are planned.");
    }
    let names: Vec<String> = replay.runs.iter().map(|run| text(run.protocol.name())).collect();
    writeln!(out, "\n| fault | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len()))?;
    for (index, planned) in plan.iter().enumerate().take(MOST_LISTED) {
        let came_to: Vec<&str> = replay.runs.iter().map(|run| bite(run.bites[index])).collect();
        writeln!(out, "| {} | {} |", text(&planned_fault(&first.history, planned)), came_to.join(" | "))?;
    }
    if plan.len() > MOST_LISTED {
        writeln!(out, "\nAnd {}.", words::many(plan.len() - MOST_LISTED, "more fault", "more faults"))?;
    }
    Ok(())
}

/// What was broken in a run, how it came about, and when two thought that they hold the lease.
fn write_causes(run: &JudgedRun, out: &mut impl Write) -> io::Result<()> {
    let history = &run.history;
    let overlaps = overlaps(history);
    let broken: Vec<(&str, String)> = run
        .verdicts
        .iter()
        .filter_map(|(checker, verdict)| match verdict {
            Verdict::Holds { .. } => None,
            Verdict::Violated { witness, .. } => Some((checker.name, words::witness(history, witness))),
            Verdict::Unknown { reason } => Some((checker.name, format!("can't be told: {reason}"))),
        })
        .collect();
    if broken.is_empty() && overlaps.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### Under {}\n", text(run.protocol.name()))?;
    for (rule, told) in broken {
        writeln!(out, "- **{rule}**: {}.", text(&told))?;
    }
    for overlap in overlaps.iter().take(MOST_LISTED) {
        let (from, until) = (words::utc(history, overlap.from), words::utc(history, overlap.until));
        let [first, second] = [overlap.first, overlap.second].map(|worker| words::name(history, worker));
        let told = format!("{first} and {second} both thought that they hold the lease, from {from} to {until}");
        writeln!(out, "- **belief overlap**: {}.", text(&told))?;
    }
    if overlaps.len() > MOST_LISTED {
        writeln!(out, "- And {}.", words::many(overlaps.len() - MOST_LISTED, "more overlap", "more overlaps"))?;
    }
    write_chain(run, out)
}

/// How what was broken came about: the faults that bit, and the events that lead from them.
fn write_chain(run: &JudgedRun, out: &mut impl Write) -> io::Result<()> {
    let history = &run.history;
    let bit = run.bites.iter().enumerate().filter(|(_, bite)| **bite == Bite::Bit).map(|(index, _)| index);
    let chain = chain_of(run, &bit.collect::<Vec<_>>());
    if chain.steps.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nHow it came about:\n")?;
    for (index, step) in chain.steps.iter().enumerate() {
        let told = chain::told(history, step);
        let at = words::utc(history, told.at);
        let rules: Vec<&str> = step.breaks.iter().map(|signature| signature.checker()).collect();
        let breaks = if rules.is_empty() { String::new() } else { format!(": **breaks {}**", rules.join(", ")) };
        writeln!(out, "{}. {at} {}{breaks}", index + 1, text(&told.text))?;
    }
    if chain.left_out > 0 {
        writeln!(out, "\nNot told: {}.", words::many(chain.left_out, "more step", "more steps"))?;
    }
    Ok(())
}

fn write_end(replay: &Replay<'_>, command: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n## To repeat it\n\n```sh\n{command}\n```\n")?;
    for run in &replay.runs {
        writeln!(out, "- {} {}.", strong(&text(run.protocol.name())), text(&ended(run)))?;
    }
    writeln!(out, "\nMade by holdover {}.", env!("CARGO_PKG_VERSION"))
}

/// `text`, which is Markdown, so that it stands out. With a blank at an end it wouldn't.
fn strong(text: &str) -> String {
    format!("**{}**", text.trim())
}

/// A phrase with a capital letter.
fn sentence(phrase: &str) -> String {
    let mut chars = phrase.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// `raw` as Markdown shows it and does nothing else with it, on one line.
fn text(raw: &str) -> String {
    let plain = harmless(raw);
    let mut text = String::with_capacity(plain.len());
    let mut chars = plain.chars().peekable();
    let mut word = String::new();
    while let Some(char) = chars.next() {
        let next = chars.peek().copied();
        let first = text.is_empty();
        let means_something = match char {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' | '@' | '$' | '{' | '}' => true,
            // Between letters it does nothing.
            '_' => !(word.ends_with(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)),
            // A link, or the name of a picture.
            ':' => next.is_some_and(|next| next == '/' || next.is_alphabetic()),
            '.' => word.to_lowercase().ends_with("www") || first,
            // What begins a list, a heading or a rule.
            '-' | '+' | '=' => first,
            _ => false,
        };
        if means_something {
            text.push('\\');
        }
        text.push(char);
        if char.is_alphanumeric() {
            word.push(char);
        } else {
            word.clear();
        }
    }
    // A number with a point or a bracket behind it begins a list.
    let digits = text.len() - text.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    if digits > 0 && text[digits..].starts_with(['.', ')']) {
        text.insert(digits, '\\');
    }
    text
}

/// `raw` as code.
fn code(raw: &str) -> String {
    let plain = harmless(raw);
    let longest = plain.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if plain.starts_with('`') || plain.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{plain}{pad}{fence}")
}
