//! Shapes and texts as SVG. Lengths are whole tenths of a pixel, so that the same picture is the same bytes everywhere.

use std::fmt::{self, Display, Write};

use super::super::layout::{columns, cut, harmless};

/// A length or a place, in tenths of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Px(pub(super) i64);

impl Px {
    /// So many whole pixels.
    pub(super) const fn of(pixels: i64) -> Px {
        Px(pixels * 10)
    }

    pub(super) const fn plus(self, pixels: i64) -> Px {
        Px(self.0 + pixels * 10)
    }
}

impl std::ops::Add for Px {
    type Output = Px;
    fn add(self, other: Px) -> Px {
        Px(self.0 + other.0)
    }
}

impl std::ops::Sub for Px {
    type Output = Px;
    fn sub(self, other: Px) -> Px {
        Px(self.0 - other.0)
    }
}

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, sign) = (self.0.unsigned_abs(), if self.0 < 0 { "-" } else { "" });
        write!(f, "{sign}{}", size / 10)?;
        if size.is_multiple_of(10) { Ok(()) } else { write!(f, ".{}", size % 10) }
    }
}

/// What is drawn so far.
#[derive(Default)]
pub(super) struct Canvas(String);

impl Canvas {
    /// All of it.
    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn put(&mut self, piece: fmt::Arguments<'_>) {
        self.0.write_fmt(piece).expect("a String takes any text");
        self.0.push('\n');
    }

    /// Opens a group, which [`Canvas::close`] closes.
    pub(super) fn open(&mut self, attributes: &str) {
        self.put(format_args!("<g{attributes}>"));
    }

    pub(super) fn close(&mut self) {
        self.put(format_args!("</g>"));
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (Px, Px), (width, height): (Px, Px), round: i64) {
        let round = if round > 0 { format!(" rx=\"{round}\"") } else { String::new() };
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{round}/>"
        ));
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (Px, Px), (x2, y2): (Px, Px)) {
        self.put(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (Px, Px), radius: Px) {
        self.put(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// A closed shape, or an open line.
    pub(super) fn path(&mut self, class: &str, corners: &[(Px, Px)], closed: bool) {
        let mut way = String::new();
        for (index, (x, y)) in corners.iter().enumerate() {
            write!(way, "{}{x} {y}", if index == 0 { "M" } else { " L" }).expect("a String takes any text");
        }
        if closed {
            way.push('Z');
        }
        self.put(format_args!("<path class=\"{class}\" d=\"{way}\"/>"));
    }

    pub(super) fn text(&mut self, class: &str, at: (Px, Px), text: &str) {
        self.anchored(class, at, "start", text);
    }

    pub(super) fn anchored(&mut self, class: &str, (x, y): (Px, Px), anchor: &str, text: &str) {
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        let text = escaped(text);
        self.put(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    /// What is shown for the shapes around it when somebody points at them.
    pub(super) fn title(&mut self, text: &str) {
        let text = escaped(text);
        self.put(format_args!("<title>{text}</title>"));
    }
}

/// How wide `text` is, about, where a column of a terminal has so many tenths of a pixel.
pub(super) fn width(text: &str, column: i64) -> Px {
    Px(i64::try_from(columns(text)).unwrap_or(i64::MAX / 100).saturating_mul(column))
}

/// `text` cut so that it is at most about so wide.
pub(super) fn fitted(text: &str, room: Px, column: i64) -> String {
    cut(&harmless(text), usize::try_from(room.0 / column).unwrap_or(0))
}

/// `text` as XML has it, without the characters that no XML may have.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in harmless(text).chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_tenths() {
        for (tenths, shown) in [(0, "0"), (10, "1"), (15, "1.5"), (-5, "-0.5"), (-20, "-2"), (12_345, "1234.5")] {
            assert_eq!(Px(tenths).to_string(), shown);
        }
    }

    #[test]
    fn nothing_is_left_that_means_something_to_xml() {
        for (text, shown) in [
            ("<script>alert(\"x\")</script>&", "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;"),
            ("]]>", "]]&gt;"),
            ("a\u{0}b\u{ffff}", "a\\u{0}b\u{fffd}"),
            ("\u{202e}x", "\\u{202e}x"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }
}
