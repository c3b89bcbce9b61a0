//! A Mermaid sequence diagram of what matters, for pages that draw one: code hosts do.
//!
//! It is one diagram, because a page draws one from one text: the protocols stand below each other. Mermaid takes no more
//! than 50,000 characters, so it is cut, and says where.

use std::fmt::Write as _;
use std::io::{self, Write};

use holdover_sim::history::{History, Role};
use holdover_sim::id::NodeId;

use super::excerpt::Excerpt;
use super::layout::harmless;
use super::notable::{Piece, pieces};
use super::summary::told;
use super::timeline::{Mark, Row};
use super::words;
use crate::replay::{JudgedRun, Replay};

/// The most rows of one protocol.
const MOST_ROWS: usize = 60;

/// The most characters of all rows together, so that the whole stays below what Mermaid takes.
const MOST_CHARACTERS: usize = 40_000;

/// The longest title and the longest row, in characters of their own.
const LONGEST_TITLE: usize = 120;
const LONGEST_ROW: usize = 240;

/// The longest name of a node.
const LONGEST_NAME: usize = 32;

/// What must not stand out from what is all right, and what must: behind what is stale or done twice, and behind a
/// protocol's name.
const ALARM: &str = "rgba(220, 38, 38, 0.18)";
const CALM: &str = "rgba(100, 116, 139, 0.12)";

/// Writes the diagram of `replay`, of no more than `excerpt`.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, excerpt: &Excerpt, out: &mut impl Write) -> io::Result<()> {
    let title = text(replay.premise.title, LONGEST_TITLE);
    writeln!(out, "sequenceDiagram")?;
    if !title.trim().is_empty() {
        writeln!(out, "    title {title}")?;
    }
    let runs: Vec<(&JudgedRun, Vec<Piece>)> =
        replay.runs.iter().map(|run| (run, pieces(run, excerpt, MOST_ROWS))).collect();
    // A protocol that keeps its lease on replicas has more nodes than another in the same world.
    let histories: Vec<&History> = runs.iter().map(|(run, _)| &run.history).collect();
    let Some(widest) = histories.iter().copied().max_by_key(|history| history.nodes.len()) else {
        writeln!(out, "    participant n0 as no protocol")?;
        return Ok(());
    };
    let nodes = participants(widest, runs.iter().flat_map(|(_, pieces)| pieces));
    for node in &nodes {
        writeln!(out, "    participant n{} as {}", node.0, text(&names(&histories, *node), LONGEST_NAME))?;
    }
    let (Some(leftmost), Some(rightmost)) = (nodes.first(), nodes.last()) else { return Ok(()) };
    let across = if leftmost == rightmost {
        format!("n{}", leftmost.0)
    } else {
        format!("n{},n{}", leftmost.0, rightmost.0)
    };
    let room = MOST_CHARACTERS / runs.len().max(1);
    for (run, pieces) in runs {
        writeln!(out, "    rect {CALM}")?;
        let told: Vec<String> = told(run).into_iter().map(|(told, _)| text(&told, LONGEST_ROW)).collect();
        writeln!(
            out,
            "    Note over {across}: {}<br/>{}",
            text(run.protocol.name(), LONGEST_NAME),
            told.join("<br/>")
        )?;
        writeln!(out, "    end")?;
        write_run(&run.history, &pieces, &across, room, out)?;
    }
    Ok(())
}

/// Writes the pieces of one run, in at most so many characters as there is `room`.
fn write_run(
    history: &History,
    pieces: &[Piece],
    across: &str,
    mut room: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut left_out = 0;
    // Whether what is written now has the alarming ground.
    let mut alarming = false;
    for piece in pieces {
        let row = match piece {
            Piece::LeftOut(count) => {
                left_out += count;
                continue;
            }
            Piece::Row(row) => row,
        };
        let drawn = drawn(history, row);
        if drawn.len() > room {
            left_out += 1;
            room = 0;
            continue;
        }
        room -= drawn.len();
        let alarms = row.mark == Mark::Stale;
        if alarming && (!alarms || left_out > 0) {
            writeln!(out, "    end")?;
            alarming = false;
        }
        write_left_out(std::mem::take(&mut left_out), across, out)?;
        if alarms && !alarming {
            writeln!(out, "    rect {ALARM}")?;
            alarming = true;
        }
        out.write_all(drawn.as_bytes())?;
    }
    if alarming {
        writeln!(out, "    end")?;
    }
    write_left_out(left_out, across, out)
}

/// Says that rows were left out.
fn write_left_out(count: usize, across: &str, out: &mut impl Write) -> io::Result<()> {
    match count {
        0 => Ok(()),
        count => writeln!(out, "    Note over {across}: … {}", words::many(count, "more step", "more steps")),
    }
}

/// A row as arrows, or as a note if nothing goes anywhere.
fn drawn(history: &History, row: &Row) -> String {
    let mut told = format!("{} {}", words::utc(history, row.at), row.text);
    if let Some((reading, _)) = row.wrong_clock {
        told += &format!(" ‹{}›", words::clock(history, reading));
    }
    let told = text(&told, LONGEST_ROW);
    let arrow = if matches!(row.mark, Mark::Rejected | Mark::Fault) { "-x" } else { "->>" };
    let mut drawn = String::new();
    let mut line = |line: String| writeln!(drawn, "    {line}").expect("a String takes any text");
    match row.touched.split_first() {
        None => line(format!("Note over n{}: {told}", row.node.0)),
        Some((first, others)) => {
            line(format!("n{}{arrow}n{}: {told}", row.node.0, first.0));
            others.iter().for_each(|other| line(format!("n{}{arrow}n{}: …", row.node.0, other.0)));
        }
    }
    drawn
}

/// What `node` is called in these histories: `lease-store / lease-1` where one has a table and another replicas.
fn names(histories: &[&History], node: NodeId) -> String {
    let mut names: Vec<&str> = Vec::new();
    for history in histories.iter().filter(|history| node.index() < history.nodes.len()) {
        let name = words::name(history, node);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" / ")
}

/// The nodes that `pieces` have to do with: the workers, then the services.
fn participants<'a>(history: &History, pieces: impl Iterator<Item = &'a Piece>) -> Vec<NodeId> {
    let mut is_in = vec![false; history.nodes.len()];
    for piece in pieces {
        if let Piece::Row(row) = piece {
            row.touched.iter().chain([&row.node]).for_each(|node| is_in[node.index()] = true);
        }
    }
    let roles = Role::DRAWN;
    let all = roles.into_iter().flat_map(|role| history.nodes_with(role));
    let mut nodes: Vec<NodeId> = all.filter(|node| is_in[node.index()]).collect();
    if nodes.is_empty() {
        nodes.extend(history.nodes_with(Role::Worker).take(1));
    }
    nodes
}

/// `raw` as Mermaid shows it and does nothing else with it, cut to `most` characters.
fn text(raw: &str, most: usize) -> String {
    let plain = harmless(raw);
    let mut shown: Vec<char> = plain.chars().take(most + 1).collect();
    if shown.len() > most {
        shown.truncate(most.saturating_sub(1));
        shown.push('…');
    }
    let mut text = String::new();
    for char in &shown {
        if char.is_alphanumeric() || " .,:'()/+=-–−—×·…‹›".contains(*char) {
            text.push(*char);
        } else {
            // Mermaid's way to write a character that would mean something to it.
            write!(text, "#{};", u32::from(*char)).expect("a String takes any text");
        }
    }
    // Behind these words it takes what follows for a style, and takes its last semicolon away.
    for (word, written) in [("style", "#115;tyle"), ("classDef", "#99;lassDef")] {
        text = text.replace(word, written);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn what_means_something_to_mermaid_is_written_as_a_number() {
        for (raw, written) in [
            ("worker-a's entry, 10:00", "worker-a's entry, 10:00"),
            ("a;b#c\"d`e", "a#59;b#35;c#34;d#96;e"),
            ("<b>&amp;%%{init}%%", "#60;b#62;#38;amp#59;#37;#37;#123;init#125;#37;#37;"),
            ("style x", "#115;tyle x"),
            ("classDef", "#99;lassDef"),
            ("e\u{301}👩", "e#769;#128105;"),
            ("a\nb\u{202e}", "a b#92;u#123;202e#125;"),
            ("دلتا", "دلتا"),
        ] {
            assert_eq!(text(raw, 100), written, "{raw:?}");
        }
        assert_eq!(text("abcdef", 4), "abc…");
        assert_eq!(text("abcd", 4), "abcd");
    }
}
