//! What can be wrong with a stored history.

use std::fmt;
use std::io;

use miette::Diagnostic;
use thiserror::Error;

use crate::shown;

/// Why a history can't be read: where in its file, what is wrong there, and what to do about it.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file itself can't be read.
    #[error("{name}: can't be read")]
    Unreadable {
        /// The file.
        name: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// What is in it isn't a history.
    #[error("{name}{place}: {wrong}")]
    Wrong {
        /// The file.
        name: String,
        /// In which line and column.
        place: LinePlace,
        /// What is wrong.
        wrong: String,
        /// What to do about it.
        help: String,
    },
}

/// A place in a file: a line from 1, and where it is known a column in it, in bytes from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// The line; 0 for the file as a whole.
    pub line: usize,
    /// The column; 0 for the line as a whole.
    pub column: usize,
}

impl fmt::Display for LinePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => Ok(()),
            (line, 0) => write!(f, ", line {line}"),
            (line, column) => write!(f, ", line {line}, column {column}"),
        }
    }
}

impl ReadError {
    /// What to do about it.
    pub fn fix(&self) -> Option<&str> {
        match self {
            ReadError::Unreadable { .. } => None,
            ReadError::Wrong { help, .. } => Some(help),
        }
    }
}

impl Diagnostic for ReadError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fix().map(|fix| Box::new(fix) as Box<dyn fmt::Display>)
    }
}

/// What is wrong, and what to do about it.
pub(super) struct Mistake {
    pub(super) wrong: String,
    pub(super) column: usize,
    pub(super) help: &'static str,
}

/// What to do about what can't be mended.
const AGAIN: &str = "each line has to be as `holdover replay FILE --format jsonl` wrote it: write the history again, or \
                     leave it as it was";

impl Mistake {
    /// What is wrong with a line as a whole.
    pub(super) fn new(wrong: impl Into<String>) -> Mistake {
        Mistake { wrong: wrong.into(), column: 0, help: AGAIN }
    }

    pub(super) fn with_help(self, help: &'static str) -> Mistake {
        Mistake { help, ..self }
    }

    /// What is wrong with a line by what serde says.
    pub(super) fn of(error: &serde_json::Error) -> Mistake {
        let said = error.to_string();
        // That is within the line; which line of the file it is, is known better outside.
        let wrong = said.rsplit_once(" at line ").map_or(said.as_str(), |(wrong, _)| wrong);
        let wrong = match wrong.split_once(", expected one of ") {
            Some((wrong, names)) => guess(wrong, names),
            None => wrong.to_owned(),
        };
        let kind = match error.classify() {
            serde_json::error::Category::Eof => "the line ends too early: ",
            serde_json::error::Category::Syntax => "it isn't JSON: ",
            serde_json::error::Category::Data | serde_json::error::Category::Io => "",
        };
        Mistake { wrong: shown::text(&format!("{kind}{wrong}")), column: error.column(), help: AGAIN }
    }
}

/// `wrong`, which names something that there isn't, with what may have been meant of the `names` that there are.
fn guess(wrong: &str, names: &str) -> String {
    let names = names.split(", ").map(|name| name.trim_matches('`'));
    match wrong.split('`').nth(1) {
        Some(given) => format!("{wrong}; {}", crate::scenario::did_you_mean(given, "there are", names)),
        None => wrong.to_owned(),
    }
}
