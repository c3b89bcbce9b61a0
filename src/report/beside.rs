//! Two timelines beside each other, in step: what happens at one instant stands on one line.

use std::io::{self, Write};

use super::drawing::Drawn;
use super::layout::columns;

/// The columns between them.
pub(super) const GAP: usize = 3;

/// Below this there isn't room enough for one of them.
pub(super) const MIN_WIDTH: usize = 88;

/// Writes `left` and `right`, each at most `width` columns wide.
pub(super) fn write(left: &Drawn<'_>, right: &Drawn<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    write_block(&left.title, &right.title, width, out)?;
    write_block(&left.heads, &right.heads, width, out)?;
    let (mut rows, mut others) = (left.rows.iter().peekable(), right.rows.iter().peekable());
    loop {
        let next = [rows.peek(), others.peek()].into_iter().flatten().map(|(at, _)| *at).min();
        let Some(at) = next else { break };
        let row = rows.next_if(|(of, _)| *of == at).map_or(&[][..], |(_, lines)| lines);
        let other = others.next_if(|(of, _)| *of == at).map_or(&[][..], |(_, lines)| lines);
        for line in 0..row.len().max(other.len()) {
            let here = row.get(line).cloned().unwrap_or_else(|| left.idle(at));
            let there = other.get(line).cloned().unwrap_or_else(|| right.idle(at));
            write_line(&here, &there, width, out)?;
        }
    }
    write_block(&left.foot, &right.foot, width, out)
}

/// Writes lines beside each other that belong to no instant.
fn write_block(left: &[String], right: &[String], width: usize, out: &mut impl Write) -> io::Result<()> {
    for line in 0..left.len().max(right.len()) {
        let [here, there] = [left, right].map(|lines| lines.get(line).map_or("", String::as_str));
        write_line(here, there, width, out)?;
    }
    Ok(())
}

fn write_line(left: &str, right: &str, width: usize, out: &mut impl Write) -> io::Result<()> {
    let right = right.trim_end();
    if right.is_empty() {
        return writeln!(out, "{}", left.trim_end());
    }
    // Colours take no column.
    let used = columns(&anstream::adapter::strip_str(left).to_string());
    writeln!(out, "{left}{:1$}{right}", "", (width + GAP).saturating_sub(used))
}
