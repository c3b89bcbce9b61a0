//! What a hunt found, for a terminal: the failures, then what the runs went through.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::explain::listed;
use super::junit::{Case, Kind, Problem, TestGroup};
use super::layout::{columns, wrap};
use super::style::{BAD, BOLD, DIM, FAULT, GOOD};
use super::words;
use crate::explore::hunt::{Cause, Coverage, Failure, Findings, Hunted, OwnPlan, Strikes};

/// What a column has.
type Cell = (String, Style);

/// What was found, for JUnit: a case for each protocol, its first failure as what is wrong and all of them at length, each
/// with the `command` that finds it again.
pub(crate) fn suite(findings: &Findings, command: impl Fn(&Failure) -> String) -> TestGroup {
    let case = |protocol: &String| {
        let failures: Vec<&Failure> =
            findings.failures.iter().filter(|failure| failure.protocol == *protocol).collect();
        let text =
            |failure: &&Failure| format!("{}\n{}\n{}\n", failure.cause, of_failure(failure), command(failure));
        let nothing =
            |why: &str| Problem { kind: Kind::Error, sort: "hunt", message: why.to_owned(), text: why.to_owned() };
        let found = failures.first().map(|first| Problem {
            kind: if matches!(first.cause, Cause::Rule(_)) { Kind::Failure } else { Kind::Error },
            sort: "hunt",
            message: first.cause.to_string(),
            text: failures.iter().map(text).collect::<Vec<_>>().join("\n"),
        });
        let problem = found.or_else(|| says_nothing(findings).map(nothing));
        Case { name: protocol.clone(), problem }
    };
    let properties =
        vec![("seeds", findings.hunted.seeds.to_string()), ("profile", findings.hunted.profile.clone())];
    let cases = findings.hunted.protocols.iter().map(case).collect();
    TestGroup { name: "hunt".to_owned(), file: None, properties, cases }
}

/// Writes what was hunted, the failures, and the coverage if there is any.
pub(crate) fn write(findings: &Findings, width: usize, out: &mut impl Write) -> io::Result<()> {
    write_head(findings, width, out)?;
    write_failures(findings, width, out)?;
    if findings.seeds == 0 {
        return Ok(());
    }
    write_faults(findings, out)?;
    write_sightings(findings, out)?;
    write_never(findings, width, out)
}

fn write_head(findings: &Findings, width: usize, out: &mut impl Write) -> io::Result<()> {
    let hunted = &findings.hunted;
    let runs: u64 = findings.coverage.values().map(|coverage| coverage.runs).sum();
    let shares = match &findings.shards[..] {
        [one] if one.of == 1 => String::new(),
        shares => {
            let told: Vec<String> = shares.iter().map(ToString::to_string).collect();
            format!(", {} {}", if told.len() == 1 { "share" } else { "shares" }, listed(&told))
        }
    };
    let unfinished = if findings.complete { "" } else { ", not all that were asked for" };
    let seeds = words::many(findings.seeds as usize, "seed", "seeds");
    let text = format!(
        "{seeds} of {}{shares}{unfinished}: {} under {}, {}, in {} of true time",
        hunted.seeds,
        words::many(runs as usize, "run", "runs"),
        hunted.protocols.join(", "),
        plans(hunted),
        true_time(findings),
    );
    wrap(&text, width, width).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Which plans were run.
fn plans(hunted: &Hunted) -> String {
    let kinds = if hunted.faults == "all" { "all faults" } else { &hunted.faults };
    let drawn = format!("plans {}, of {kinds}", hunted.profile);
    match OwnPlan::ALL.into_iter().find(|plan| plan.name() == hunted.plan) {
        Some(OwnPlan::Kept) => "with the scenario's own plan".to_owned(),
        Some(OwnPlan::Extended) => format!("{drawn}, on top of the scenario's own"),
        Some(OwnPlan::Replaced) | None => drawn,
    }
}

/// In a few words, what has come of a hunt so far: how long it ran in true time, how many kinds of fault bit, and what failed.
pub(crate) fn so_far(findings: &Findings) -> String {
    let mut kinds = BTreeMap::new();
    for (kind, strikes) in findings.coverage.values().flat_map(|coverage| &coverage.faults) {
        *kinds.entry(kind).or_insert(0) += strikes.bit;
    }
    let bit = kinds.values().filter(|bit| **bit > 0).count();
    let failures = words::many(findings.failures.len(), "distinct failure", "distinct failures");
    format!("· {} of true time · {bit} of {} faults bit · {failures}", true_time(findings), kinds.len())
}

/// How long all the runs took together, in true time.
fn true_time(findings: &Findings) -> String {
    long_time(findings.coverage.values().map(|coverage| coverage.virtual_millis / 1_000).sum())
}

/// Seconds as days and hours.
fn long_time(seconds: u64) -> String {
    match seconds {
        0..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", words::grouped(seconds / 86_400)),
    }
}

fn write_failures(findings: &Findings, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    if let (Some(why), true) = (says_nothing(findings), findings.failures.is_empty()) {
        return writeln!(out, "  {FAULT}{why}{FAULT:#}");
    }
    if findings.failures.is_empty() {
        let holds = match findings.hunted.inside_only {
            true => "nothing failed inside the protocols' assumptions",
            false => "nothing failed",
        };
        return writeln!(out, "  {GOOD}{holds}{GOOD:#}");
    }
    for protocol in &findings.hunted.protocols {
        let of_protocol = || findings.failures.iter().filter(|failure| failure.protocol == *protocol);
        if of_protocol().next().is_none() {
            writeln!(out, "  {BOLD}{protocol}{BOLD:#}  {GOOD}nothing failed{GOOD:#}")?;
            continue;
        }
        writeln!(out, "  {BOLD}{protocol}{BOLD:#}")?;
        for failure in of_protocol() {
            writeln!(out, "    {BAD}{}{BAD:#}", failure.cause)?;
            wrap(&of_failure(failure), width.saturating_sub(6), width.saturating_sub(6))
                .iter()
                .try_for_each(|line| writeln!(out, "      {line}"))?;
        }
    }
    Ok(())
}

/// Why it says nothing that nothing failed, if that is so.
fn says_nothing(findings: &Findings) -> Option<&'static str> {
    match (findings.says_something(), findings.seeds, findings.complete) {
        (true, ..) => None,
        (false, 0, true) => {
            Some("nothing was run: there are fewer seeds than shares, and none is left for this one")
        }
        (false, 0, false) => Some("nothing was run: the hunt was ended before its first seeds were through"),
        (false, ..) => Some("nothing failed, but none of the faults that were asked for was drawn"),
    }
}

fn of_failure(failure: &Failure) -> String {
    let seeds = words::many(failure.seeds as usize, "seed", "seeds");
    let example = failure.example;
    let grouped = words::grouped;
    let blame = match (failure.inside, failure.outside) {
        (0, 0) => String::new(),
        (0, outside) if outside == failure.seeds => ", always outside the protocol's assumptions".to_owned(),
        (inside, 0) if inside == failure.seeds => ", always inside the protocol's assumptions".to_owned(),
        (0, outside) => format!(", {} of them outside the protocol's assumptions", grouped(outside)),
        (inside, _) => format!(", {} of them inside the protocol's assumptions", grouped(inside)),
    };
    let faults = words::many(example.faults, "fault", "faults");
    let message = failure.message.as_ref().map_or(String::new(), |message| format!(": {message}"));
    format!("{seeds}{blame}; such as seed {} with {faults}{message}", example.seed)
}

/// Each kind of fault that was drawn: for how many runs it was, how often it struck and bit under all protocols together.
fn write_faults(findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    let mut sum = Coverage::default();
    findings.coverage.values().for_each(|coverage| sum.add(coverage));
    let head = ["faults", "in runs", "struck", "bit"].map(|head| (head.to_owned(), BOLD));
    let mut rows = vec![head.to_vec()];
    let number = |count: u64, style: Style| match count {
        0 => ("never".to_owned(), FAULT),
        count => (words::grouped(count), style),
    };
    for kind in holdover_sim::fault::FAULTS {
        let strikes = sum.faults.get(kind.name).copied().unwrap_or_default();
        if strikes == Strikes::default() {
            continue;
        }
        rows.push(vec![
            (kind.name.to_owned(), Style::new()),
            (words::grouped(strikes.drawn), Style::new()),
            number(strikes.struck, Style::new()),
            number(strikes.bit, Style::new()),
        ]);
    }
    if rows.len() > 1 { write_table(&rows, out) } else { Ok(()) }
}

/// In how many runs each thing was seen, by protocol.
fn write_sightings(findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    let protocols = &findings.hunted.protocols;
    let head = std::iter::once("runs that saw").chain(protocols.iter().map(String::as_str));
    let mut rows: Vec<Vec<Cell>> = vec![head.map(|head| (head.to_owned(), BOLD)).collect()];
    for sighting in holdover_sim::check::SIGHTINGS {
        let mut row = vec![(sighting.name.to_owned(), Style::new())];
        for protocol in protocols {
            let seen = findings.coverage.get(protocol).and_then(|coverage| coverage.seen.get(sighting.name));
            row.push(match seen.copied().unwrap_or(0) {
                0 => ("–".to_owned(), DIM),
                runs => (words::grouped(runs), Style::new()),
            });
        }
        rows.push(row);
    }
    let mut stale = vec![("stale writes tried, rejected".to_owned(), Style::new())];
    for protocol in protocols {
        let coverage = findings.coverage.get(protocol);
        let (tried, rejected) =
            coverage.map_or((0, 0), |coverage| (coverage.stale_writes_tried, coverage.stale_writes_rejected));
        stale.push((format!("{}, {}", words::grouped(tried), words::grouped(rejected)), Style::new()));
    }
    rows.push(stale);
    write_table(&rows, out)
}

/// Rows of cells, the first of each to the left and the others to the right.
fn write_table(rows: &[Vec<Cell>], out: &mut impl Write) -> io::Result<()> {
    let widest = |column: usize| rows.iter().map(|row| columns(&row[column].0)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(widest).collect();
    writeln!(out)?;
    for row in rows {
        write!(out, "  ")?;
        for (column, ((text, style), width)) in row.iter().zip(&widths).enumerate() {
            let room = " ".repeat(width.saturating_sub(columns(text)));
            match column {
                0 => write!(out, "{style}{text}{style:#}{room}")?,
                _ => write!(out, "   {room}{style}{text}{style:#}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What the hunt says nothing about.
fn write_never(findings: &Findings, width: usize, out: &mut impl Write) -> io::Result<()> {
    let (kinds, sightings) = findings.never();
    let missing = findings.shares_missing();
    let bounds: u64 = findings.coverage.values().map(|coverage| coverage.bounds_hit).sum();
    let untold: u64 = findings.coverage.values().map(|coverage| coverage.untold).sum();
    let undrawn = findings.undrawn();
    let mut notes = Vec::new();
    if !undrawn.is_empty() {
        notes.push(format!("asked for, but never drawn: {}", undrawn.join(", ")));
    }
    if !kinds.is_empty() {
        notes.push(format!("drawn, but never struck: {}", kinds.join(", ")));
    }
    if !sightings.is_empty() {
        notes.push(format!("never seen in any run: {}", sightings.join(", ")));
    }
    if bounds > 0 {
        notes.push(format!(
            "a bound was hit, the steps used up: in {}",
            words::many(bounds as usize, "run", "runs")
        ));
    }
    if untold > 0 {
        notes.push(format!("a verdict can't be told: in {}", words::many(untold as usize, "run", "runs")));
    }
    if missing > 0 && findings.shards.len() > 1 {
        notes.push(format!("{} of the seeds missing", words::many(missing as usize, "share", "shares")));
    }
    if notes.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for note in notes {
        let room = width.saturating_sub(4);
        for (index, line) in wrap(&note, room, room).iter().enumerate() {
            let mark = if index == 0 { "!" } else { " " };
            writeln!(out, "  {FAULT}{mark}{FAULT:#} {line}")?;
        }
    }
    Ok(())
}
