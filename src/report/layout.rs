//! Fitting text into columns.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::shown::is_obeyed;

/// Text has at least as many columns, even if it then goes beyond the width.
const LEAST_ROOM: usize = 20;

/// How many columns a terminal takes for `text`.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks `text` at spaces into lines, the first of at most `first` columns, the others of at most `rest`; a word that is
/// wider is broken too. Spaces that don't break become plain ones. Never empty.
pub(super) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let width = if lines.len() == 1 { first } else { rest };
        let needed = columns(word);
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && used + 1 + needed <= width {
            line.push(' ');
            line.push_str(word);
            used += 1 + needed;
            continue;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        let width = if lines.len() == 1 { first.min(rest) } else { rest };
        used = push_broken(&mut lines, word, width);
    }
    lines.into_iter().map(|line| line.replace(NO_BREAK, " ").trim_end().to_owned()).collect()
}

/// A space at which no line is broken.
pub(super) const NO_BREAK: &str = "\u{a0}";

/// Adds `word` to the last of `lines`, which is empty, and to further ones if it is wider than `width`. What takes no
/// column, such as an accent, stays with the character before it. Returns how many columns the last line then has.
fn push_broken(lines: &mut Vec<String>, word: &str, width: usize) -> usize {
    let needed = columns(word);
    if needed <= width {
        lines.last_mut().expect("there is always a line").push_str(word);
        return needed;
    }
    let mut used = 0;
    for char in word.chars() {
        let wide = char.width().unwrap_or(0);
        if used > 0 && used + wide > width {
            lines.push(String::new());
            used = 0;
        }
        lines.last_mut().expect("there is always a line").push(char);
        used += wide;
    }
    used
}

/// `text` cut to at most `width` columns, with an ellipsis if something is cut off.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut lines = Vec::from([String::new()]);
    push_broken(&mut lines, text, width.saturating_sub(1).max(1));
    format!("{}…", lines[0])
}

/// `text` without what a terminal, or a page, would obey: one blank for what parts words or lines, escapes for other
/// control characters and for those that turn the direction of what comes after them.
pub(super) fn harmless(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\r' | '\t' | ' ' if plain.ends_with(' ') => {}
            '\n' | '\r' | '\t' => plain.push(' '),
            char if is_obeyed(char) => plain.extend(char.escape_default()),
            char => plain.push(char),
        }
    }
    plain
}

/// Writes `text` in lines of at most `width` columns: the first behind `head`, the others indented by `hang`.
pub(crate) fn paragraph(
    out: &mut impl Write,
    head: &str,
    hang: usize,
    text: &str,
    style: Style,
    width: usize,
) -> io::Result<()> {
    let beside = |used: usize| width.saturating_sub(used).max(LEAST_ROOM);
    let lines = wrap(text, beside(columns(head)), beside(hang));
    for (index, line) in lines.iter().enumerate() {
        match index {
            0 if line.is_empty() => writeln!(out, "{}", head.trim_end())?,
            0 => writeln!(out, "{head}{style}{line}{style:#}")?,
            _ => writeln!(out, "{:hang$}{style}{line}{style:#}", "")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_at_spaces_and_breaks_words_only_where_it_must() {
        for (text, width, lines) in [
            ("", 10, vec![""]),
            ("one two three", 20, vec!["one two three"]),
            ("one two three", 7, vec!["one two", "three"]),
            ("one two three", 3, vec!["one", "two", "thr", "ee"]),
            ("unbreakable", 4, vec!["unbr", "eaka", "ble"]),
            ("a unbreakable b", 4, vec!["a", "unbr", "eaka", "ble", "b"]),
            ("日本語", 4, vec!["日本", "語"]),
            ("日本語", 1, vec!["日", "本", "語"]),
            ("e\u{301}e\u{301}e\u{301}", 2, vec!["e\u{301}e\u{301}", "e\u{301}"]),
            ("\u{202e}abc", 2, vec!["\u{202e}ab", "c"]),
            ("two  blanks", 20, vec!["two  blanks"]),
        ] {
            assert_eq!(wrap(text, width, width), lines, "{text:?} at {width}");
        }
    }

    #[test]
    fn the_first_line_may_be_of_another_width() {
        assert_eq!(wrap("one two three four", 13, 9), ["one two three", "four"]);
        assert_eq!(wrap("one two three four", 3, 9), ["one", "two three", "four"]);
    }

    #[test]
    fn some_spaces_stay() {
        assert_eq!(wrap("one two\u{a0}three", 9, 9), ["one", "two three"]);
    }

    #[test]
    fn what_is_cut_ends_in_an_ellipsis() {
        for (text, width, expected) in
            [("worker-a", 8, "worker-a"), ("worker-a", 7, "worker…"), ("日本語", 4, "日…"), ("ab", 1, "a…")]
        {
            assert_eq!(cut(text, width), expected, "{text:?} at {width}");
        }
    }

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(harmless("a\n  b\tc\u{1b}[31m\u{7f}é"), "a b c\\u{1b}[31m\\u{7f}é");
        assert_eq!(harmless("\u{202e}\u{2066}עב\u{200f}"), "\\u{202e}\\u{2066}עב\u{200f}");
    }
}
