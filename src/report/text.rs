//! The report for a terminal: for each protocol the timeline in lanes, then all verdicts side by side.

use std::io::{self, Write};

use holdover_sim::history::History;
use holdover_sim::id::NodeId;
use holdover_sim::time::{TimeOfDay, TrueTime, WallTime};

use super::excerpt::{Excerpt, LeftOut};
use super::lanes::{LANE_WIDTH, Lanes};
use super::layout::{NO_BREAK, columns, cut, harmless, paragraph, wrap};
use super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::timeline::{Mark, timeline};
use super::verbose::event_row;
use super::{closing, summary, table, words};

use crate::replay::{JudgedRun, Replay};

pub use super::closing::deviation_texts;

/// The narrowest report: below this the words have no room beside the lanes.
pub const MIN_WIDTH: usize = 60;

/// The columns to the left of the lanes, the time among them.
const MARGIN: usize = 16;

/// How a text report is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns; at least [`MIN_WIDTH`] are used.
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
    let width = layout.width.max(MIN_WIDTH);
    paragraph(out, "", 0, &harmless(&replay.scenario.title), BOLD, width)?;
    let protocols: Vec<_> = replay.runs.iter().map(|run| run.protocol.name()).collect();
    let protocols = if protocols.is_empty() { "no protocol".to_owned() } else { protocols.join(", ") };
    let origin = format!("{} · seed {} · {protocols}", harmless(file), replay.seed.0);
    paragraph(out, "", 0, &origin, DIM, width)?;
    write_summary(replay, width, out)?;
    for (index, run) in replay.runs.iter().enumerate() {
        writeln!(out)?;
        Drawing::new(&run.history, layout.verbose, width, excerpt).write(run, index == 0, out)?;
    }
    table::write(replay, width, out)?;
    closing::write_violations(replay, width, out)?;
    closing::write_faults(replay, width, out)?;
    closing::write_ends(replay, width, out)
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

/// The lanes of one run, and how its rows are drawn beside them.
struct Drawing<'a> {
    history: &'a History,
    excerpt: &'a Excerpt,
    lanes: Lanes,
    verbose: bool,
    width: usize,
    /// The day of the row before.
    day: i64,
}

impl<'a> Drawing<'a> {
    fn new(history: &'a History, verbose: bool, width: usize, excerpt: &'a Excerpt) -> Drawing<'a> {
        // The words need more than half of what is left beside the times.
        let most = width.saturating_sub(MARGIN) * 9 / 20 / LANE_WIDTH;
        let lanes = Lanes::new(history, most, excerpt);
        Drawing { history, excerpt, lanes, verbose, width, day: words::day(history.start) }
    }

    fn write(mut self, run: &JudgedRun, legend: bool, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{BOLD}▌ {}{BOLD:#}", run.protocol.name())?;
        let used = 2 + columns(run.protocol.name());
        paragraph(out, "  ", 2, run.protocol.summary(), DIM, self.width.saturating_sub(used).max(1))?;
        self.write_heads(legend, out)?;
        let mut left_out = LeftOut::default();
        if self.verbose {
            for (id, event) in self.history.numbered() {
                let concerned = self.history.nodes.iter().enumerate().any(|(node, _)| {
                    let node = NodeId(node as u16);
                    self.excerpt.has(node) && event.concerns(node)
                });
                if left_out.shows(self.excerpt, event.at, concerned) {
                    let row = event_row(self.history, &self.lanes, id, event);
                    self.write_row(event.at, &row.cells, row.mark, &row.text, out)?;
                }
            }
            return self.write_left_out(&left_out, "event", out);
        }
        for row in timeline(self.history) {
            if !left_out.shows(self.excerpt, row.at, self.excerpt.concerns(&row)) {
                continue;
            }
            let mut text = row.text.clone();
            if let Some((reading, _)) = row.wrong_clock {
                text += &format!(" ‹{}›", words::clock(self.history, reading));
            }
            self.write_row(row.at, &self.lanes.with(&row), row.mark, &text, out)?;
        }
        self.write_left_out(&left_out, "row", out)
    }

    /// Says how many rows, which tell of a `thing` each, aren't part of what is shown.
    fn write_left_out(&self, left_out: &LeftOut, thing: &str, out: &mut impl Write) -> io::Result<()> {
        let told = left_out.told(self.history, self.excerpt, thing);
        if told.is_empty() {
            Ok(())
        } else {
            paragraph(out, "  ", 2, &format!("not shown: {told}"), DIM, self.width)
        }
    }

    /// The columns to the left of the lanes: a verbose report shows microseconds.
    fn margin(&self) -> usize {
        if self.verbose { MARGIN + 3 } else { MARGIN }
    }

    /// The lanes' names, each on a line of its own above its lane, and beside or above them what the marks mean.
    fn write_heads(&self, legend: bool, out: &mut impl Write) -> io::Result<()> {
        let keys: &[&str] = match (legend, self.verbose) {
            (false, _) => &[],
            (true, false) => &[
                "┃ thinks that it holds the lease",
                "░ paused",
                "▼ ▲ a fault strikes, heals",
                "● done   ✗ rejected or lost",
                "‹…› its own wall clock, where that is wrong",
            ],
            (true, true) => &[
                "┃ thinks that it holds the lease",
                "░ paused",
                "▼ ▲ a fault strikes, heals",
                "├▶ ◀┤ a message leaves",
                "● something happens   ✗ is refused or lost",
                "‹…› its own wall clock, where that is wrong",
                "← the event that led to this one",
            ],
        };
        let mut keys = keys.to_vec();
        if legend && self.lanes.has_task_pauses(self.history) {
            keys.insert(2, "╏ one of its tasks paused");
        }
        let margin = self.margin();
        let heads = self.lanes.heads(self.history).into_iter().enumerate().map(|(lane, name)| {
            let open = "│  ".repeat(lane);
            let room = self.width.saturating_sub(margin + columns(&open) + 2);
            format!("{open}┌ {}", cut(&name, room.max(1)))
        });
        let heads: Vec<String> = heads.collect();
        let beside = heads.iter().map(|head| columns(head) + 3).max().unwrap_or(0).max(36);
        let widest_key = keys.iter().map(|key| columns(key)).max().unwrap_or(0);
        let fits = margin + beside + widest_key <= self.width;
        if !fits {
            let keys: Vec<String> = keys.iter().map(|key| key.replace(' ', NO_BREAK)).collect();
            paragraph(out, "  ", 2, &keys.join(" · "), DIM, self.width)?;
        }
        let keys = if fits { keys } else { Vec::new() };
        let below = "│  ".repeat(heads.len());
        for line in 0..heads.len().max(keys.len()) {
            let label = if line == 0 { "UTC" } else { "" };
            let head = heads.get(line).unwrap_or(&below).trim_end();
            write!(out, "{DIM}  {label:<0$}{DIM:#}{head}", margin - 2)?;
            match keys.get(line) {
                Some(key) => writeln!(out, "{:1$}{DIM}{key}{DIM:#}", "", beside - columns(head))?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }

    fn write_row(
        &mut self,
        at: TrueTime,
        cells: &[char],
        mark: Mark,
        text: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let now = self.history.utc(at);
        if self.day != words::day(now) {
            self.day = words::day(now);
            writeln!(out, "  {DIM}── {} ──{DIM:#}", words::date(now))?;
        }
        let style = match mark {
            Mark::Plain => PLAIN,
            Mark::Fault | Mark::Healed => FAULT,
            Mark::Stale => BAD,
            Mark::Rejected => GOOD,
        };
        let (time, margin) = (self.time(now), self.margin());
        // The second line on is indented by two.
        let room = self.width.saturating_sub(margin + cells.len()).max(12);
        for (index, line) in wrap(text, room, room - 2).iter().enumerate() {
            if index == 0 {
                let cells: String = cells.iter().collect();
                writeln!(out, "  {DIM}{time}{DIM:#}  {cells}{style}{line}{style:#}")?;
            } else {
                let cells: String = self.lanes.idle(at).into_iter().collect();
                writeln!(out, "{:margin$}{cells}{style}  {line}{style:#}", "")?;
            }
        }
        Ok(())
    }

    fn time(&self, now: WallTime) -> String {
        if !self.verbose {
            return words::time_of_day(now);
        }
        let micros = WallTime::from_nanos(now.as_nanos().div_euclid(1_000).saturating_mul(1_000));
        let time = TimeOfDay(micros).to_string();
        // A time of day leaves out the last digits where they are zeros.
        format!("{time:0<15}")
    }
}
