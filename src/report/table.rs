//! The table protocol × checker, and what was measured and seen beside it.

use std::io::{self, Write};

use anstyle::Style;
use holdover_sim::check::Verdict;
use holdover_sim::time::Span;

use super::layout::columns;
use super::style::{BAD, BOLD, DIM, FAULT, GOOD};
use super::words;
use crate::replay::{JudgedRun, Replay};

/// What stands in a place of the table.
type Cell = (String, Style);

/// Writes the table. Protocols that don't fit beside each other come below each other.
pub(super) fn write(replay: &Replay<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = replay.runs.first() else { return Ok(()) };
    let heads = heads(first);
    let bodies: Vec<Vec<Cell>> = replay.runs.iter().map(column).collect();
    let mut rest = &bodies[..];
    while !rest.is_empty() {
        let fitting = fitting(&heads, rest, width);
        writeln!(out)?;
        write_part(&heads, &rest[..fitting], out)?;
        rest = &rest[fitting..];
    }
    Ok(())
}

fn heads(run: &JudgedRun) -> Vec<Cell> {
    let mut heads = vec![("verdicts".to_owned(), BOLD)];
    heads.extend(run.verdicts.iter().map(|(checker, _)| (checker.name.to_owned(), Style::new())));
    heads.push(("seen".to_owned(), BOLD));
    heads.extend(run.sightings.iter().map(|(sighting, _)| (sighting.name.to_owned(), Style::new())));
    heads.push(("time of belief overlap".to_owned(), Style::new()));
    heads
}

fn column(run: &JudgedRun) -> Vec<Cell> {
    let mut cells = vec![(run.protocol.name().to_owned(), BOLD)];
    cells.extend(run.verdicts.iter().map(|(_, verdict)| {
        let style = match verdict {
            Verdict::Holds { .. } => GOOD,
            Verdict::Violated { .. } => BAD,
            Verdict::Unknown { .. } => FAULT,
        };
        (words::verdict(verdict), style)
    }));
    cells.push((String::new(), Style::new()));
    cells.extend(run.sightings.iter().map(|(_, count)| match count {
        0 => ("–".to_owned(), DIM),
        count => (format!("{}×", words::grouped(*count as u64)), Style::new()),
    }));
    cells.push(match run.belief_overlap {
        Span::ZERO => ("–".to_owned(), DIM),
        overlap => (words::rounded(overlap).to_string(), Style::new()),
    });
    cells
}

fn widest(cells: &[Cell]) -> usize {
    cells.iter().map(|(text, _)| columns(text)).max().unwrap_or(0)
}

/// How many of `bodies` fit beside `heads`; at least one.
fn fitting(heads: &[Cell], bodies: &[Vec<Cell>], width: usize) -> usize {
    let mut used = 2 + widest(heads);
    let fits = bodies.iter().take_while(|body| {
        used += 3 + widest(body);
        used <= width
    });
    fits.count().max(1)
}

fn write_part(heads: &[Cell], bodies: &[Vec<Cell>], out: &mut impl Write) -> io::Result<()> {
    for (row, (head, style)) in heads.iter().enumerate() {
        write!(out, "  {style}{head}{style:#}")?;
        let mut pad = widest(heads) - columns(head);
        for body in bodies {
            let (text, style) = &body[row];
            // Nothing is put behind the last text of a line.
            if !text.is_empty() {
                write!(out, "{:1$}{style}{text}{style:#}", "", pad + 3)?;
            }
            pad = widest(body) - columns(text);
        }
        writeln!(out)?;
    }
    Ok(())
}
