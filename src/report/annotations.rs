//! Annotations of GitHub Actions: a line that its runner takes out of a step's output and shows beside the line of the
//! file that it speaks of.
//!
//! What parts of such a line must not have is escaped as the runner undoes it: `%`, carriage return and newline
//! everywhere, and in what stands before the message also `:` and `,`.

use std::io::{self, Write};

use crate::scenario::Place;

/// An error to be shown beside a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file, as a path from the root of the repository.
    pub file: String,
    /// Where in it, if it is at one place.
    pub place: Option<Place>,
    /// What stands above the message.
    pub title: String,
    /// The message; it may have several lines.
    pub message: String,
}

impl Annotation {
    /// Writes its line.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "::error file={}", property(&self.file))?;
        if let Some(Place { line, column }) = self.place {
            write!(out, ",line={line},col={column}")?;
        }
        writeln!(out, ",title={}::{}", property(&self.title), data(&self.message))
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_must_not_have_is_escaped() {
        for (file, place, title, message, line) in [
            ("a.toml", Some((3, 7)), "t", "m", "::error file=a.toml,line=3,col=7,title=t::m"),
            ("a.toml", None, "t", "m", "::error file=a.toml,title=t::m"),
            ("a,b:c%.toml", None, "x: y, z", "m", "::error file=a%2Cb%3Ac%25.toml,title=x%3A y%2C z::m"),
            ("a.toml", None, "t", "a: b, c", "::error file=a.toml,title=t::a: b, c"),
            (
                "a.toml",
                None,
                "t",
                "one\r\ntwo\n::error::x",
                "::error file=a.toml,title=t::one%0D%0Atwo%0A::error::x",
            ),
            ("a\nb", None, "a\nb", "%0A", "::error file=a%0Ab,title=a%0Ab::%250A"),
        ] {
            let place = place.map(|(line, column)| Place { line, column });
            let (file, title, message) = (file.to_owned(), title.to_owned(), message.to_owned());
            let mut out = Vec::new();
            Annotation { file, place, title, message }.write(&mut out).expect("memory can be written");
            assert_eq!(String::from_utf8(out).as_deref(), Ok(format!("{line}\n").as_str()));
        }
    }
}
