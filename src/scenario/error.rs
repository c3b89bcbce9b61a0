//! What can be wrong with a scenario: the file itself, or what is written in it.
//!
//! Both own all that a renderer needs, so a command line can print them long after the file was read.

use std::fmt;
use std::io;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use thiserror::Error;

use super::{MAX_BYTES, MAX_LINE_BYTES, SMALLEST};
use crate::shown;

/// Why a scenario can't be used.
#[derive(Debug, Error, Diagnostic)]
pub enum ScenarioError {
    /// The file can't be read, or isn't a text.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// The text isn't a scenario.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Text(#[from] Box<TextError>),
}

/// Why a file can't be read as a scenario. `path` is the path as it was given.
#[derive(Debug, Error, Diagnostic)]
pub enum FileError {
    /// There is nothing at that path.
    #[error("{path}: there is no such file")]
    #[diagnostic(help("a path is relative to the current directory"))]
    Missing {
        /// The path.
        path: String,
    },
    /// The path is a folder's.
    #[error("{path}: a folder, not a scenario file")]
    #[diagnostic(help("name a file in it"))]
    Folder {
        /// The path.
        path: String,
    },
    /// The path is a folder's whose files can't be listed.
    #[error("{path}: can't be listed, so no scenario in it is known")]
    #[diagnostic(help("make the folder readable, or leave it out"))]
    Unlisted {
        /// The path.
        path: String,
        /// The error.
        #[source]
        cause: std::io::Error,
    },
    /// The path is a device's, a pipe's or a socket's.
    #[error("{path}: not a regular file")]
    #[diagnostic(help("a scenario is read from a regular file, not from a pipe, a socket or a device"))]
    NotRegular {
        /// The path.
        path: String,
    },
    /// The path is `-`, by which other programs mean standard input.
    #[error("a scenario can't be read from standard input")]
    #[diagnostic(help("write it to a file first, and name that; a file whose name is a dash is `./-`"))]
    StandardInput,
    /// The file is a stored history.
    #[error("{path}: a stored history, and not a scenario")]
    #[diagnostic(help(
        "`holdover judge` judges it again; what runs something, such as `explain`, needs the scenario that it is of"
    ))]
    History {
        /// The path.
        path: String,
    },
    /// The file may not be read.
    #[error("{path}: no permission to read it")]
    Forbidden {
        /// The path.
        path: String,
    },
    /// The file is larger than any scenario.
    #[error("{path}: larger than {} MiB, which no scenario is", MAX_BYTES >> 20)]
    TooLarge {
        /// The path.
        path: String,
    },
    /// The file isn't UTF-8.
    #[error("{path}: not UTF-8 text (at byte {at})")]
    #[diagnostic(help("a scenario is a TOML file; save it as UTF-8"))]
    NotUtf8 {
        /// The path.
        path: String,
        /// The first byte that doesn't fit, counted from 0.
        at: usize,
    },
    /// The text has characters that no TOML file may have, as binary files do.
    #[error("{path}: not a text file: it has the control character U+{code:04X} in line {line}")]
    #[diagnostic(help("a scenario is a TOML file, and those have no control characters but tab and newline"))]
    ControlCharacter {
        /// The path.
        path: String,
        /// The character's code point.
        code: u32,
        /// The line, counted from 1.
        line: usize,
    },
    /// A line is longer than anyone reads, and than an error's excerpt can show.
    #[error("{path}: line {line} is longer than {MAX_LINE_BYTES} bytes")]
    #[diagnostic(help("break it; lists may go over many lines, and so may a text in three quotes"))]
    LongLine {
        /// The path.
        path: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// There is nothing in the file but blanks and comments.
    #[error("{path}: an empty file")]
    #[diagnostic(help("the smallest scenario is this:\n\n{SMALLEST}"))]
    Empty {
        /// The path.
        path: String,
    },
    /// Something else went wrong while reading.
    #[error("{path}: can't be read")]
    Unreadable {
        /// The path.
        path: String,
        /// What the operating system said.
        #[source]
        cause: io::Error,
    },
}

/// The mistakes in a scenario's text; at least one.
///
/// As a [`Diagnostic`] it is the first mistake, and the others are related to it.
#[derive(Debug)]
pub struct TextError {
    source: NamedSource<String>,
    first: Mistake,
    others: Vec<Mistake>,
}

impl TextError {
    pub(super) fn new(name: &str, text: &str, first: Mistake, others: Vec<Mistake>) -> TextError {
        // Its excerpts are printed.
        let source = NamedSource::new(name, shown::in_place(text)).with_language("TOML");
        TextError { source, first, others }
    }

    /// All mistakes that were found, in the order of the text. One that isn't TOML, or has a wrong key or type of
    /// value, gives only the first.
    pub fn mistakes(&self) -> impl Iterator<Item = &Mistake> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(super) fn first(&self) -> &Mistake {
        &self.first
    }

    /// The text, with the name that it was read under.
    pub fn source_text(&self) -> &NamedSource<String> {
        &self.source
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)
    }
}

impl std::error::Error for TextError {}

impl Diagnostic for TextError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.first.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.first.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.others.is_empty() {
            return None;
        }
        Some(Box::new(self.others.iter().map(|other| other as &dyn Diagnostic)))
    }
}

/// One mistake: what is wrong, where, and how to put it right.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("{message}")]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the text; the first is the place to go to.
    #[label(collection)]
    pub labels: Vec<LabeledSpan>,
    /// How to put it right, where that can be said.
    #[help]
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake at `place`, with what the `label` there says.
    pub(super) fn at(place: Range<usize>, label: impl Into<String>, wrong: impl Into<Wrong>) -> Mistake {
        let Wrong { message, help } = wrong.into();
        let labels = vec![LabeledSpan::new_primary_with_span(Some(label.into()), place)];
        Mistake { message, labels, help }
    }

    /// A mistake at `place`, where there is nothing to say but the message.
    pub(super) fn here(place: Range<usize>, wrong: impl Into<Wrong>) -> Mistake {
        let Wrong { message, help } = wrong.into();
        Mistake { message, labels: vec![LabeledSpan::new_primary_with_span(None, place)], help }
    }

    /// The same mistake with one more label.
    pub(super) fn and(mut self, place: Range<usize>, label: impl Into<String>) -> Mistake {
        self.labels.push(LabeledSpan::new_with_span(Some(label.into()), place));
        self
    }
}

/// A mistake that doesn't know its place yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Wrong {
    pub(super) fn new(message: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Wrong {
        Wrong { help: Some(help.into()), ..self }
    }
}

/// Why a text names no time of a scenario's run.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("{message}")]
pub struct NoTime {
    message: String,
    #[help]
    help: Option<String>,
}

impl From<Wrong> for NoTime {
    fn from(Wrong { message, help }: Wrong) -> NoTime {
        NoTime { message, help }
    }
}

impl From<&str> for Wrong {
    fn from(message: &str) -> Wrong {
        Wrong::new(message)
    }
}

/// The mistakes found so far. Past the first few dozen they are only counted: nobody reads on, and each costs a page.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    kept: Vec<Mistake>,
    found: usize,
}

impl Mistakes {
    const KEPT: usize = 50;

    pub(super) fn add(&mut self, mistake: Mistake) {
        self.found += 1;
        if self.kept.len() < Mistakes::KEPT {
            self.kept.push(mistake);
        }
    }

    /// How many were found, those included that weren't kept.
    pub(super) fn found(&self) -> usize {
        self.found
    }

    /// The value, or `fallback` after noting the mistake. The fallback is never used for a run, only to go on checking.
    pub(super) fn value_or<T>(&mut self, result: Result<T, Mistake>, fallback: T) -> T {
        result.unwrap_or_else(|mistake| {
            self.add(mistake);
            fallback
        })
    }

    /// All as one error about `text`, or nothing if there are none.
    pub(super) fn into_error(self, name: &str, text: &str) -> Result<(), Box<TextError>> {
        let uncounted = self.found - self.kept.len();
        let mut kept = self.kept;
        kept.sort_by_key(|mistake| mistake.labels.first().map(LabeledSpan::offset));
        let mut kept = kept.into_iter();
        let Some(first) = kept.next() else { return Ok(()) };
        let mut others: Vec<Mistake> = kept.collect();
        if uncounted > 0 {
            let message = format!("and {uncounted} more mistakes");
            others.push(Mistake { message, labels: Vec::new(), help: None });
        }
        Err(Box::new(TextError::new(name, text, first, others)))
    }
}
