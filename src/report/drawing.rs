//! A run's timeline as lines for a terminal: the lanes with what happens in them, and the words beside that.

use std::io::{self, Write};

use holdover_sim::history::History;
use holdover_sim::id::NodeId;
use holdover_sim::time::{TimeOfDay, TrueTime, WallTime};

use super::excerpt::{Excerpt, LeftOut};
use super::lanes::{LANE_WIDTH, Lanes};
use super::layout::{NO_BREAK, columns, cut, paragraph, wrap};
use super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::timeline::{Mark, timeline};
use super::verbose::event_row;
use super::words;
use crate::replay::JudgedRun;

/// The columns to the left of the lanes, the time among them.
const MARGIN: usize = 16;

/// The lanes of one run, and how its rows are drawn beside them.
pub(super) struct Drawing<'a> {
    history: &'a History,
    excerpt: &'a Excerpt,
    lanes: Lanes,
    verbose: bool,
    width: usize,
    /// The day of the row before.
    day: i64,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(history: &'a History, verbose: bool, width: usize, excerpt: &'a Excerpt) -> Drawing<'a> {
        // The words need more than half of what is left beside the times.
        let most = width.saturating_sub(MARGIN) * 9 / 20 / LANE_WIDTH;
        let lanes = Lanes::new(history, most, excerpt);
        Drawing { history, excerpt, lanes, verbose, width, day: words::day(history.start) }
    }

    /// Draws it; with a `legend` if nothing above has told what the marks mean.
    pub(super) fn drawn(mut self, run: &JudgedRun, legend: bool) -> io::Result<Drawn<'a>> {
        let title = lines(|out| {
            write!(out, "{BOLD}▌ {}{BOLD:#}", run.protocol.name())?;
            let used = 2 + columns(run.protocol.name());
            paragraph(out, "  ", 2, run.protocol.summary(), DIM, self.width.saturating_sub(used).max(1))
        })?;
        let heads = lines(|out| self.write_heads(legend, out))?;
        let mut rows = Vec::new();
        let mut left_out = LeftOut::default();
        if self.verbose {
            for (id, event) in self.history.numbered() {
                let concerned = self.history.nodes.iter().enumerate().any(|(node, _)| {
                    let node = NodeId(node as u16);
                    self.excerpt.has(node) && event.concerns(node)
                });
                if left_out.shows(self.excerpt, event.at, concerned) {
                    let row = event_row(self.history, &self.lanes, id, event);
                    let drawn = lines(|out| self.write_row(event.at, &row.cells, row.mark, &row.text, out))?;
                    rows.push((event.at, drawn));
                }
            }
        } else {
            for row in timeline(self.history) {
                if !left_out.shows(self.excerpt, row.at, self.excerpt.concerns(&row)) {
                    continue;
                }
                let mut text = row.text.clone();
                if let Some((reading, _)) = row.wrong_clock {
                    text += &format!(" ‹{}›", words::clock(self.history, reading));
                }
                let cells = self.lanes.with(&row);
                rows.push((row.at, lines(|out| self.write_row(row.at, &cells, row.mark, &text, out))?));
            }
        }
        let thing = if self.verbose { "event" } else { "row" };
        let foot = lines(|out| self.write_left_out(&left_out, thing, out))?;
        Ok(Drawn { title, heads, rows, foot, drawing: self })
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

/// A timeline in lines, each with its colours.
pub(super) struct Drawn<'a> {
    /// The protocol, and what it is.
    pub(super) title: Vec<String>,
    /// The names of the lanes, and the legend.
    pub(super) heads: Vec<String>,
    /// What happens, and when.
    pub(super) rows: Vec<(TrueTime, Vec<String>)>,
    /// What isn't shown.
    pub(super) foot: Vec<String>,
    drawing: Drawing<'a>,
}

impl Drawn<'_> {
    /// The line of an instant in which nothing happens here.
    pub(super) fn idle(&self, at: TrueTime) -> String {
        let cells: String = self.drawing.lanes.idle(at).into_iter().collect();
        format!("{:1$}{cells}", "", self.drawing.margin())
    }

    /// Writes all of it.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.rows.iter().flat_map(|(_, lines)| lines);
        let mut lines = self.title.iter().chain(&self.heads).chain(rows).chain(&self.foot);
        lines.try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// The lines that `write` writes.
fn lines(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    write(&mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok(text.lines().map(str::to_owned).collect())
}
