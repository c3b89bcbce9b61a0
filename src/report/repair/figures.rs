//! Totals and sums, beside each other where there is room.

use std::io::{self, Write};

use anstyle::Style;
use holdover_sim::history::{Sums, Totals};
use holdover_sim::id::Amount;

use super::super::layout::columns;
use super::super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::super::words;

/// To the left of everything.
const MARGIN: usize = 2;
/// Between what something is and how much it is.
const INSIDE: usize = 3;
/// Between totals and sums.
const BETWEEN: usize = 4;

/// What something is, how much it is, and how that stands out.
pub(in crate::report) type Figure = (&'static str, String, Style);

/// Writes both.
pub(super) fn write(totals: &Totals, sums: Sums, width: usize, out: &mut impl Write) -> io::Result<()> {
    let of = if totals.affected == totals.operations { "sums" } else { "sums of what was affected" };
    let (totals, sums) = (Block::new("totals", counted(totals)), Block::new(of, added_up(sums)));
    let is_beside = MARGIN + totals.width() + BETWEEN + sums.width() <= width;
    writeln!(out)?;
    for line in 0..totals.lines() {
        write!(out, "{:MARGIN$}", "")?;
        let used = totals.write(line, out)?;
        if is_beside && line < sums.lines() {
            write!(out, "{:1$}", "", totals.width() + BETWEEN - used)?;
            sums.write(line, out)?;
        }
        writeln!(out)?;
    }
    if !is_beside {
        writeln!(out)?;
        for line in 0..sums.lines() {
            write!(out, "{:MARGIN$}", "")?;
            sums.write(line, out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Figures below each other, under a title.
struct Block {
    title: &'static str,
    figures: Vec<Figure>,
    widest_label: usize,
    widest_figure: usize,
}

impl Block {
    fn new(title: &'static str, figures: Vec<Figure>) -> Block {
        let widest_label = figures.iter().map(|(label, ..)| columns(label)).max().unwrap_or(0);
        let widest_figure = figures.iter().map(|(_, figure, _)| columns(figure)).max().unwrap_or(0);
        Block { title, figures, widest_label, widest_figure }
    }

    fn width(&self) -> usize {
        self.widest_label + INSIDE + self.widest_figure
    }

    /// With that of the title.
    fn lines(&self) -> usize {
        1 + self.figures.len()
    }

    /// Writes the line of this index, and says how many columns it takes.
    fn write(&self, line: usize, out: &mut impl Write) -> io::Result<usize> {
        let Some((label, figure, style)) = line.checked_sub(1).map(|index| &self.figures[index]) else {
            write!(out, "{BOLD}{}{BOLD:#}", self.title)?;
            return Ok(columns(self.title));
        };
        let pad = self.width() - columns(label) - columns(figure);
        write!(out, "{label}{:pad$}{style}{figure}{style:#}", "")?;
        Ok(self.width())
    }
}

/// How much there was of everything.
pub(in crate::report) fn counted(totals: &Totals) -> Vec<Figure> {
    let count = |what, count: usize, style| match count {
        0 => (what, "–".to_owned(), DIM),
        count => (what, words::grouped(count as u64), style),
    };
    let mut told = vec![
        count("operations", totals.operations, PLAIN),
        count("affected", totals.affected, PLAIN),
        count("entries superseded", totals.superseded, PLAIN),
        count("duplicates found", totals.duplicates, PLAIN),
        count("voided", totals.voided, PLAIN),
        count("refunded", totals.refunded, PLAIN),
        count("resubmitted", totals.resubmitted, PLAIN),
        count("exports superseded", totals.exports_superseded, PLAIN),
        count("unresolved", totals.unresolved, FAULT),
    ];
    let seldom = [
        ("entries made up for", totals.entered, PLAIN),
        ("entries deleted", totals.deleted, BAD),
        ("out of balance", totals.out_of_balance, BAD),
    ];
    let there = seldom.into_iter().filter(|(_, times, _)| *times > 0);
    told.extend(there.map(|(what, times, style)| count(what, times, style)));
    told
}

/// What the affected operations come to.
pub(in crate::report) fn added_up(sums: Sums) -> Vec<Figure> {
    let difference = if sums.difference() == Amount(0) { GOOD } else { BAD };
    [
        ("batch", sums.batch, PLAIN),
        ("canonical ledger", sums.ledger, PLAIN),
        ("asked of the provider", sums.paid, PLAIN),
        ("voided and refunded", Amount(-sums.taken_back.0), PLAIN),
        ("provider's net effects", sums.provider(), PLAIN),
        ("difference to the ledger", sums.difference(), difference),
    ]
    .map(|(what, amount, style)| (what, words::amount(amount), style))
    .into()
}
