//! Texts in quotes, lists of them, and keys.
//!
//! Not a library's: files have no line above [`MAX_LINE_BYTES`](crate::scenario::MAX_LINE_BYTES), and whoever writes
//! TOML for others doesn't know of that.

use crate::shown::is_obeyed;

/// The longest line of a list or of a story that has only one, in columns.
const WIDTH: usize = 100;

/// Where a line is broken that nobody reads, in bytes: far below what a line may have.
const LONGEST: usize = 4_000;

/// `text` in quotes: on one line if that is how it reads best, else in three.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |c: char| !is_hidden(c) && c != '\'';
    let one_line = match text.contains(['"', '\\']) && text.chars().all(is_plain) {
        true => format!("'{text}'"),
        false => format!("\"{}\"", escaped(text, false)),
    };
    if text.contains('\n') || one_line.len() > LONGEST { block(text) } else { one_line }
}

/// A text that people read at length: on one line only if it fits there.
pub(super) fn story(text: &str) -> String {
    if text.chars().count() > WIDTH { block(text) } else { quoted(text) }
}

/// `text` in three quotes, with its lines as they are.
fn block(text: &str) -> String {
    format!("\"\"\"\n{}\"\"\"", escaped(text, true))
}

/// `text` as it stands between quotes. In a block line ends and tabs stay as they are, and so do quotes that can't be
/// taken for the block's end; lines that are too long are broken with a backslash, which isn't part of the text.
fn escaped(text: &str, in_block: bool) -> String {
    let mut out = String::new();
    let (mut line, mut quotes) = (0, 0);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let from = out.len();
        let breaks = in_block && line >= LONGEST && c != '\n';
        if breaks {
            out.push_str("\\\n");
            (line, quotes) = (0, 0);
        }
        quotes = if c == '"' { quotes + 1 } else { 0 };
        match c {
            '\n' if in_block => out.push('\n'),
            '\t' if in_block && !breaks => out.push('\t'),
            // Blanks behind a broken line's backslash would belong to the break.
            ' ' if breaks => out.push_str("\\u0020"),
            '"' if in_block && quotes < 3 && chars.peek().is_some() => out.push('"'),
            '"' => {
                out.push_str("\\\"");
                quotes = 0;
            }
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
        line = if c == '\n' && in_block { 0 } else { line + out.len() - from };
    }
    out
}

/// Whether it is better seen as an escape: what a terminal obeys, what ends lines to some though not to TOML, or a mark that
/// some take away.
fn is_hidden(c: char) -> bool {
    is_obeyed(c) || c == '\u{feff}'
}

/// A list of values: on one line if it fits there.
pub(super) fn list(values: &[String]) -> String {
    let one_line = format!("[{}]", values.join(", "));
    if one_line.chars().count() <= WIDTH {
        return one_line;
    }
    let mut lines = vec![String::new()];
    for value in values {
        let line = lines.last_mut().filter(|line| line.is_empty() || line.len() + value.len() < WIDTH);
        match line {
            Some(line) => *line += &format!("{value}, "),
            None => lines.push(format!("{value}, ")),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("    {}\n", line.trim_end())).collect();
    format!("[\n{}]", lines.concat())
}

/// A key: bare if TOML takes it so.
pub(in crate::scenario) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => format!("\"{}\"", escaped(name, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `write` makes of each text is as expected, and TOML reads it as the text.
    #[track_caller]
    fn check(write: impl Fn(&str) -> String, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            let written = write(text);
            assert_eq!(written, *expected, "{text:?}");
            assert_eq!(read(&written), *text);
        }
    }

    fn read(written: &str) -> String {
        let table: toml::Table = format!("key = {written}\n").parse().unwrap_or_else(|e| panic!("{e}: {written}"));
        table["key"].as_str().expect("a text").to_owned()
    }

    #[test]
    fn texts() {
        check(
            quoted,
            &[
                ("", r#""""#),
                ("host migration", r#""host migration""#),
                ("worker-a's lease", r#""worker-a's lease""#),
                (r#"the "lock""#, r#"'the "lock"'"#),
                (r"C:\lease", r"'C:\lease'"),
                (r#"worker-a's "lock""#, r#""worker-a's \"lock\"""#),
                ("a\tb\r\u{1b}[31m\u{7f}\u{85}", r#""a\tb\r\u001B[31m\u007F\u0085""#),
                ("a\u{2028}b\u{feff}\\", r#""a\u2028b\uFEFF\\""#),
                ("größer: 漢字 🦀", r#""größer: 漢字 🦀""#),
                ("two\nlines", "\"\"\"\ntwo\nlines\"\"\""),
            ],
        );
    }

    #[test]
    fn stories() {
        check(
            story,
            &[
                ("It stalls.", r#""It stalls.""#),
                ("It stalls.\nIt wakes.\n", "\"\"\"\nIt stalls.\nIt wakes.\n\"\"\""),
                ("\nfirst", "\"\"\"\n\nfirst\"\"\""),
                ("says \"\"\"no\"\"\"\n", "\"\"\"\nsays \"\"\\\"no\"\"\\\"\n\"\"\""),
                ("five \"\"\"\"\"\n", "\"\"\"\nfive \"\"\\\"\"\"\n\"\"\""),
                ("ends in\n\"quotes\"", "\"\"\"\nends in\n\"quotes\\\"\"\"\""),
                ("a\\\n\tb", "\"\"\"\na\\\\\n\tb\"\"\""),
            ],
        );
        let long = "worker-a stalls. ".repeat(6);
        check(story, &[(&long, &format!("\"\"\"\n{long}\"\"\""))]);
    }

    #[test]
    fn lines_that_nobody_reads_are_broken() {
        for piece in ["x", " ", "\t", "\"", "\\", "ab \" \\ \t", "漢", "\u{1}", " \n x"] {
            let long = piece.repeat(30_000 / piece.len());
            for written in [quoted(&long), story(&long)] {
                assert_eq!(read(&written), long, "{piece:?}");
                let longest = written.lines().map(str::len).max();
                assert!(longest.is_some_and(|longest| longest <= LONGEST + 20), "{piece:?}: {longest:?}");
            }
        }
    }

    #[test]
    fn lists() {
        let names = |count: usize| (0..count).map(|n| format!("\"worker-{n}\"")).collect::<Vec<_>>();
        assert_eq!(list(&[]), "[]");
        assert_eq!(list(&names(2)), r#"["worker-0", "worker-1"]"#);
        let (first, second) = (names(8).join(", "), names(10)[8..].join(", "));
        assert_eq!(list(&names(10)), format!("[\n    {first},\n    {second},\n]"));
    }

    #[test]
    fn keys() {
        for (name, expected) in [
            ("single-writer", "single-writer"),
            ("", "\"\""),
            ("my rule", "\"my rule\""),
            ("a\"\n", "\"a\\\"\\n\""),
        ] {
            assert_eq!(key(name), expected);
            let table: toml::Table = format!("{expected} = 1\n").parse().expect("TOML");
            assert!(table.contains_key(name));
        }
    }
}
