//! The phase after the incident: what operators found, what they decided and why, and what it came to.

mod operations;
pub(super) mod phrases;
mod turns;

use std::io::{self, Write};

use anstyle::Style;
use holdover_sim::history::{History, Reconciled, Reconciliation, Resolution, Sums, Totals, reconciliation};
use holdover_sim::id::OpId;

use super::layout::{columns, paragraph};
use super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::words;

/// Between the totals and the sums beside them.
const GAP: usize = 4;

/// A line of figures: what it is, how much, how that stands out.
type Figure = (&'static str, String, Style);

/// Writes how the repair in `history` went, if anybody repaired anything.
pub(super) fn write(history: &History, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Some(repair) = reconciliation(history) else { return Ok(()) };
    writeln!(out)?;
    writeln!(out, "  {BOLD}repair under {}{BOLD:#}", history.protocol)?;
    let mut told = turns::told(history, &repair.turns);
    told.push(("found".to_owned(), found(&repair), PLAIN));
    let (outcome, style) = outcome(&repair);
    told.push(("came to".to_owned(), outcome, style));
    let hang = 4 + told.iter().map(|(label, ..)| columns(label)).max().unwrap_or(0);
    for (label, text, style) in told {
        let head = format!("  {label:<0$}", hang - 2);
        paragraph(out, &head, hang, &text, style, width)?;
    }
    operations::write(history, &repair.operations, width, out)?;
    write_figures(&repair, width, out)?;
    write_unresolved(&repair.operations, width, out)
}

/// The damage that there was to repair.
fn found(repair: &Reconciliation) -> String {
    let Totals { operations, affected, .. } = repair.totals;
    let are = |counts: &dyn Fn(&Reconciled) -> bool| {
        repair.operations.iter().filter(|operation| counts(operation)).count()
    };
    let kinds = [
        (are(&|operation| operation.entries.len() > 1), "with more than one entry"),
        (are(&|operation| operation.entries.is_empty()), "without an entry"),
        (are(&|operation| operation.duplicates() > 0), "with more than one payout"),
        (are(&|operation| operation.payouts.is_empty()), "without a payout"),
    ];
    let mut told = vec![format!("{affected} of {} affected", words::many(operations, "operation", "operations"))];
    told.extend(kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")));
    let conflicting = repair.exports.iter().filter(|export| export.superseded.is_some()).count();
    if conflicting > 0 {
        told.push(words::many(conflicting, "export to supersede", "exports to supersede"));
    }
    told.join(", ")
}

fn outcome(repair: &Reconciliation) -> (String, Style) {
    let Totals { unresolved, .. } = repair.totals;
    let off: Vec<OpId> = repair
        .operations
        .iter()
        .filter(|operation| !operation.is_balanced())
        .map(|operation| operation.op)
        .collect();
    let left = match unresolved {
        0 => "nothing is unresolved".to_owned(),
        left => format!("{} unresolved", words::many(left, "operation is", "operations are")),
    };
    match (off.is_empty(), unresolved) {
        _ if repair.operations.is_empty() => ("nothing was there to repair".to_owned(), PLAIN),
        (true, 0) => (format!("each has one standing entry and one effect; {left}"), GOOD),
        (true, _) => (format!("{left}, though each has one standing entry and one effect"), FAULT),
        (false, _) => (format!("{} exactly one standing entry and one effect; {left}", do_not_have(&off)), BAD),
    }
}

fn do_not_have(ops: &[OpId]) -> String {
    format!("{} {} have", words::operations(ops), if ops.len() == 1 { "doesn't" } else { "don't" })
}

fn write_figures(repair: &Reconciliation, width: usize, out: &mut impl Write) -> io::Result<()> {
    let (totals, sums) = (totals(&repair.totals), sums(repair.sums));
    let (totals, sums) = (lines("totals", &totals), lines("sums", &sums));
    let widest =
        |lines: &[(String, Style, usize)]| lines.iter().map(|(text, ..)| columns(text)).max().unwrap_or(0);
    let beside = widest(&totals) + GAP;
    writeln!(out)?;
    let is_beside = 2 + beside + widest(&sums) <= width;
    for (index, (text, style, plain)) in totals.iter().enumerate() {
        write!(out, "  ")?;
        write_figure(text, *style, *plain, out)?;
        if let Some((sum, style, plain)) = sums.get(index).filter(|_| is_beside) {
            write!(out, "{:1$}", "", beside - columns(text))?;
            write_figure(sum, *style, *plain, out)?;
        }
        writeln!(out)?;
    }
    if !is_beside {
        writeln!(out)?;
        for (text, style, plain) in sums {
            write!(out, "  ")?;
            write_figure(&text, style, plain, out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Writes `text`, of which the first `plain` bytes are what it is about, and the others how much.
fn write_figure(text: &str, style: Style, plain: usize, out: &mut impl Write) -> io::Result<()> {
    let (label, figure) = text.split_at(plain);
    write!(out, "{label}{style}{figure}{style:#}")
}

/// `figures` below `title`, with the figures under each other; each with its style, and where its figure begins.
fn lines(title: &str, figures: &[Figure]) -> Vec<(String, Style, usize)> {
    let label = figures.iter().map(|(label, ..)| columns(label)).max().unwrap_or(0);
    let figure = figures.iter().map(|(_, figure, _)| columns(figure)).max().unwrap_or(0);
    let mut lines = vec![(title.to_owned(), BOLD, 0)];
    lines.extend(figures.iter().map(|(what, much, style)| {
        let head = format!("{what:label$}   {:1$}", "", figure - columns(much));
        let plain = head.len();
        (head + much, *style, plain)
    }));
    lines
}

fn totals(totals: &Totals) -> Vec<Figure> {
    let always = [
        ("operations", totals.operations),
        ("affected", totals.affected),
        ("entries superseded", totals.superseded),
        ("duplicates found", totals.duplicates),
        ("voided", totals.voided),
        ("refunded", totals.refunded),
        ("resubmitted", totals.resubmitted),
        ("exports superseded", totals.exports_superseded),
        ("unresolved", totals.unresolved),
    ];
    let sometimes = [
        ("entries made up for", totals.entered),
        ("entries deleted", totals.deleted),
        ("out of balance", totals.out_of_balance),
    ];
    let told = always.into_iter().chain(sometimes.into_iter().filter(|(_, count)| *count > 0));
    let figure = |(what, count): (&'static str, usize)| match (what, count) {
        (_, 0) => (what, "–".to_owned(), DIM),
        ("unresolved", count) => (what, words::grouped(count as u64), FAULT),
        ("entries deleted" | "out of balance", count) => (what, words::grouped(count as u64), BAD),
        (_, count) => (what, words::grouped(count as u64), PLAIN),
    };
    told.map(figure).collect()
}

fn sums(sums: Sums) -> Vec<Figure> {
    let difference = if sums.difference() == Default::default() { GOOD } else { BAD };
    let back = holdover_sim::id::Amount(-sums.taken_back.0);
    [
        ("batch", sums.batch, PLAIN),
        ("canonical ledger", sums.ledger, PLAIN),
        ("asked of the provider", sums.paid, PLAIN),
        ("voided and refunded", back, PLAIN),
        ("provider's net effects", sums.provider(), PLAIN),
        ("difference to the ledger", sums.difference(), difference),
    ]
    .map(|(what, amount, style)| (what, words::amount(amount), style))
    .into()
}

/// Writes what isn't closed, and why.
fn write_unresolved(operations: &[Reconciled], width: usize, out: &mut impl Write) -> io::Result<()> {
    let open = operations.iter().filter(|operation| !matches!(operation.resolution, Resolution::Closed(_)));
    let mut reasons: Vec<(Resolution, Vec<&Reconciled>)> = Vec::new();
    for operation in open {
        match reasons.iter_mut().find(|(resolution, _)| *resolution == operation.resolution) {
            Some((_, alike)) => alike.push(operation),
            None => reasons.push((operation.resolution, vec![operation])),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "  {BOLD}what is unresolved{BOLD:#}")?;
    for (resolution, alike) in reasons {
        let why = match resolution {
            Resolution::GivenUp(why) => format!("a person has to look: {}", phrases::reason(why)),
            _ if alike.iter().all(|operation| operation.decisions.is_empty()) => {
                "the repair never asked what the provider has".to_owned()
            }
            _ => "the repair didn't come to an end".to_owned(),
        };
        let all: Vec<OpId> = alike.iter().map(|operation| operation.op).collect();
        let all = words::operations(&all);
        paragraph(out, "  ", 4, &format!("{all}: {why}"), FAULT, width)?;
        let off: Vec<OpId> = alike
            .iter()
            .filter(|operation| operation.effects().count() != 1)
            .map(|operation| operation.op)
            .collect();
        // What only the simulator can know.
        let truth = match off.len() {
            0 => "in truth each has exactly one effect".to_owned(),
            _ => format!("in truth {} exactly one effect", do_not_have(&off)),
        };
        paragraph(out, "    ", 4, &truth, DIM, width)?;
    }
    Ok(())
}
