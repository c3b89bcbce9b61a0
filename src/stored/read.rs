//! Reads stored histories: a line after the other, so that no more is in memory than the run that is read.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::build::Building;
use super::error::{LinePlace, Mistake, ReadError};
use super::lines::{EndLine, EventLine, RunLine};
use super::{FORMAT, StoredRun};
use crate::scenario::shown_path;
use crate::shown;

/// The longest line that is read, in bytes: the largest runs have a tenth of that.
const LONGEST_LINE: u64 = 256 << 20;

/// The stored runs of a file, in its order. After an error there are no more.
pub struct Histories<R> {
    name: String,
    input: R,
    /// The line that was read last, from 1.
    line: usize,
    bytes: Vec<u8>,
    over: bool,
}

/// What a line says of itself, whatever else is in it.
#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow)]
    line: Option<Cow<'a, str>>,
    format: Option<Value>,
}

impl Histories<BufReader<File>> {
    /// The runs in the file at `path`.
    ///
    /// # Errors
    /// If it isn't a file that can be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let name = shown_path(path);
        let wrong = |wrong: &str, help: &str| ReadError::Wrong {
            name: name.clone(),
            place: LinePlace { line: 0, column: 0 },
            wrong: wrong.to_owned(),
            help: help.to_owned(),
        };
        let failed = |cause: io::Error| match cause.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                wrong("there is no such file", "write one: holdover replay FILE.toml --format jsonl > FILE.jsonl")
            }
            _ => ReadError::Unreadable { name: name.clone(), cause },
        };
        // Looked at before it is opened, because opening a pipe waits for somebody to write into it.
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Err(wrong("is a folder", "name the history in it: a file, such as history.jsonl in a case"));
        }
        if !metadata.is_file() {
            return Err(wrong("isn't a regular file", "pipe it in, and name it `-`"));
        }
        let file = File::open(path).map_err(failed)?;
        Ok(Histories::of(name, BufReader::new(file)))
    }
}

impl<R: BufRead> Histories<R> {
    /// The runs in `input`; errors call it `name`.
    pub fn of(name: impl Into<String>, input: R) -> Histories<R> {
        Histories { name: name.into(), input, line: 0, bytes: Vec::new(), over: false }
    }

    /// Reads the next line; `false` if there is none.
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.bytes.clear();
        let read = self.input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut self.bytes);
        read.map_err(|cause| ReadError::Unreadable { name: self.name.clone(), cause })?;
        if self.bytes.is_empty() {
            return Ok(false);
        }
        self.line += 1;
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        }
        if self.bytes.len() as u64 > LONGEST_LINE {
            return Err(self.wrong(Mistake::new("the line is longer than 256 MiB")));
        }
        Ok(true)
    }

    fn text(&self) -> Result<&str, Mistake> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| Mistake { column: error.valid_up_to() + 1, ..Mistake::new("it isn't UTF-8") })
    }

    fn wrong(&self, mistake: Mistake) -> ReadError {
        let Mistake { wrong, column, help } = mistake;
        let place = LinePlace { line: self.line, column };
        ReadError::Wrong { name: self.name.clone(), place, wrong, help: help.to_owned() }
    }

    /// Reads a run, whose first line is the one that was read last.
    fn run(&mut self) -> Result<StoredRun, ReadError> {
        let begun = self.text().and_then(head).and_then(|head| Building::of(head, self.line));
        let mut building = begun.map_err(|mistake| self.wrong(mistake))?;
        loop {
            if !self.advance()? {
                let wrong = format!("the run of {} has no end: the file was cut here", building.name());
                let place = LinePlace { line: self.line, column: 0 };
                let help = "store it again, and see that all of it is written".to_owned();
                return Err(ReadError::Wrong { name: self.name.clone(), place, wrong, help });
            }
            let followed = self.text().and_then(next).and_then(|line| match line {
                Next::Event(event) => building.follow(event).map(|()| None),
                Next::End(end) => Ok(Some(*end)),
            });
            if let Some(end) = followed.map_err(|mistake| self.wrong(mistake))? {
                return building.end(end).map_err(|mistake| self.wrong(mistake));
            }
        }
    }
}

impl<R: BufRead> Iterator for Histories<R> {
    type Item = Result<StoredRun, ReadError>;

    fn next(&mut self) -> Option<Result<StoredRun, ReadError>> {
        if self.over {
            return None;
        }
        let is_first = self.line == 0;
        let read = match self.advance() {
            Ok(true) => self.run(),
            Ok(false) => {
                self.over = true;
                let empty = Mistake::new("there is nothing in it")
                    .with_help("write a history into it: holdover replay FILE.toml --format jsonl > FILE.jsonl");
                return is_first.then(|| Err(self.wrong(empty)));
            }
            Err(error) => Err(error),
        };
        self.over = read.is_err();
        Some(read)
    }
}

/// A line within a run.
enum Next<'a> {
    Event(EventLine<'a>),
    End(Box<EndLine<'static>>),
}

fn probe(text: &str) -> Result<Probe<'_>, Mistake> {
    if text.trim().is_empty() {
        return Err(Mistake::new("the line is empty"));
    }
    serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            Mistake::new("it isn't a line of a history: those are objects with `line`")
        }
        _ => Mistake::of(&error),
    })
}

/// What to do about a file whose beginning isn't that of a history.
const BEGINNING: &str = "a history begins with a line of `run`, as `holdover replay FILE.toml --format jsonl` writes it; a scenario \
                         is run with `holdover replay`";

/// Reads the first line of a run.
fn head(text: &str) -> Result<RunLine<'static>, Mistake> {
    let probed = probe(text).map_err(|mistake| mistake.with_help(BEGINNING))?;
    if probed.line.as_deref() != Some("run") {
        return Err(Mistake::new(match probed.line {
            Some(line) => {
                format!("a run begins with a line of `run`, and this is one of `{}`", shown::text(&line))
            }
            None => "it isn't a line of a history: it lacks `line`".to_owned(),
        }));
    }
    match probed.format.as_ref().map(Value::as_u64) {
        Some(Some(format)) if format == u64::from(FORMAT) => {}
        None => {
            return Err(Mistake::new(
                "it lacks `format`: it was written before histories had what is needed to read them",
            )
            .with_help("run its scenario again: holdover replay FILE.toml --format jsonl"));
        }
        Some(Some(format)) if format > u64::from(FORMAT) => {
            let here = env!("CARGO_PKG_VERSION");
            return Err(Mistake::new(format!(
                "its format is {format}, and holdover {here} reads no newer one than {FORMAT}"
            ))
            .with_help(
                "judge it with the version that wrote it, which `holdover` in this line names, or a newer one",
            ));
        }
        Some(_) => return Err(Mistake::new(format!("`format` is a number from 1 to {FORMAT}"))),
    }
    serde_json::from_str(text).map_err(|error| Mistake::of(&error))
}

/// Reads another line of a run.
fn next(text: &str) -> Result<Next<'_>, Mistake> {
    // Most of a file is these.
    let is_event = text.starts_with("{\"line\":\"event\",");
    let line = if is_event { Some(Cow::Borrowed("event")) } else { probe(text)?.line };
    match line.as_deref() {
        Some("event") => serde_json::from_str(text).map(Next::Event).map_err(|error| Mistake::of(&error)),
        Some("end") => {
            serde_json::from_str(text).map(|end| Next::End(Box::new(end))).map_err(|error| Mistake::of(&error))
        }
        Some("run") => Err(Mistake::new("a run begins before the one before it has its line of `end`")),
        Some(line) => Err(Mistake::new(format!(
            "there are lines of `run`, `event` and `end`, and none of `{}`",
            shown::text(line)
        ))),
        None => Err(Mistake::new("it isn't a line of a history: it lacks `line`")),
    }
}
