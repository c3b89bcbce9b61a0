//! The report for a terminal: for each protocol the timeline in lanes, then all verdicts side by side.

use std::io::{self, Write};

use super::drawing::{Drawing, Drawn};
use super::excerpt::Excerpt;
use super::layout::{columns, cut, harmless, paragraph};
use super::style::{BOLD, DIM};
use super::{beside, closing, repair, summary, table};
use crate::replay::Replay;

pub use super::closing::deviation_texts;

/// The narrowest report: below this the words have no room beside the lanes.
pub const MIN_WIDTH: usize = 60;

/// The widest text: lines that are longer are hard to follow.
const MAX_WIDTH: usize = 140;

/// How a text report is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns; at least [`MIN_WIDTH`] are used. Where two timelines have room beside each other they are put so.
    pub width: usize,
    /// Whether to show every event, messages and points among them, instead of the story alone.
    pub verbose: bool,
}

/// Writes the report of `replay` with colours; who can't show colours strips them. `file` is where the scenario was
/// read.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, file: &str, layout: Layout, out: &mut impl Write) -> io::Result<()> {
    write_excerpt(replay, file, layout, &Excerpt::default(), out)
}

/// The same, with timelines of no more than `excerpt`.
///
/// # Errors
/// What `out` says.
pub fn write_excerpt(
    replay: &Replay<'_>,
    file: &str,
    layout: Layout,
    excerpt: &Excerpt,
    out: &mut impl Write,
) -> io::Result<()> {
    let width = layout.width.clamp(MIN_WIDTH, MAX_WIDTH);
    paragraph(out, "", 0, &harmless(replay.premise.title), BOLD, width)?;
    let protocols: Vec<_> = replay.runs.iter().map(|run| run.protocol.name()).collect();
    let protocols = if protocols.is_empty() { "no protocol".to_owned() } else { protocols.join(", ") };
    let origin = format!("{} · seed {} · {protocols}", harmless(file), replay.seed.0);
    paragraph(out, "", 0, &origin, DIM, width)?;
    write_summary(replay, width, out)?;
    write_timelines(replay, layout, excerpt, out)?;
    table::write(replay, width, out)?;
    closing::write_violations(replay, width, out)?;
    closing::write_faults(replay, width, out)?;
    closing::write_ends(replay, width, out)
}

/// The timelines: two beside each other where there is room for that, else one below the other; and below them how they were
/// repaired.
fn write_timelines(
    replay: &Replay<'_>,
    layout: Layout,
    excerpt: &Excerpt,
    out: &mut impl Write,
) -> io::Result<()> {
    let half = layout.width.saturating_sub(beside::GAP) / 2;
    let at_once = if half >= beside::MIN_WIDTH { 2 } else { 1 };
    for (index, runs) in replay.runs.chunks(at_once).enumerate() {
        writeln!(out)?;
        let width = if runs.len() == 2 { half } else { layout.width };
        let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
        let drawn = runs.iter().enumerate().map(|(side, run)| {
            let legend = index == 0 && side == 0;
            Drawing::new(&run.history, layout.verbose, width, excerpt).drawn(run, legend)
        });
        match &drawn.collect::<io::Result<Vec<Drawn>>>()?[..] {
            [left, right] => beside::write(left, right, width, out)?,
            all => all.iter().try_for_each(|drawn| drawn.write(out))?,
        }
        for run in runs {
            repair::write(&run.history, layout.width.clamp(MIN_WIDTH, MAX_WIDTH), out)?;
        }
    }
    Ok(())
}

/// What came out, before all the evidence: a line or two for each protocol.
fn write_summary(replay: &Replay<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    let widest = closing::widest_name(replay);
    let hang = widest + 4;
    for run in &replay.runs {
        let told = summary::told(run);
        for (index, (text, style)) in told.iter().enumerate() {
            let name = if index == 0 { cut(run.protocol.name(), widest) } else { String::new() };
            let head = format!("  {name}{:1$}  ", "", widest.saturating_sub(columns(&name)));
            paragraph(out, &head, hang, text, *style, width)?;
        }
    }
    Ok(())
}
