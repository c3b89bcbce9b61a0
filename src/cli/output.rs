//! Where results and complaints go: stdout and stderr, with colours where they can be seen.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use miette::{GraphicalReportHandler, GraphicalTheme};

use super::args::ColorWhen;
use super::exit::Failure;
use crate::report::annotations::Annotation;

/// How wide a report is where nobody says: a piped one is the same on every machine.
const USUAL_WIDTH: usize = 100;
/// Wider than this, lines are hard to follow.
const GREATEST_WIDTH: usize = 140;

/// The program's way to the outside.
pub(super) struct Output {
    out: Results,
    color: ColorWhen,
    /// Whether whoever read the results has gone away: it had enough.
    unread: bool,
}

/// Where results go; colours are taken out where they don't belong.
pub(super) type Results = BufWriter<AutoStream<StdoutLock<'static>>>;

impl Output {
    pub(super) fn new(color: ColorWhen) -> Output {
        let stdout = io::stdout().lock();
        let choice = choice(color, &stdout);
        Output { out: BufWriter::new(AutoStream::new(stdout, choice)), color, unread: false }
    }

    /// Has `write` write results. That nobody reads them any more is no failure: the command goes on, so that its
    /// status means the same as ever.
    pub(super) fn show(&mut self, write: impl FnOnce(&mut Results) -> io::Result<()>) -> Result<(), Failure> {
        if self.unread {
            return Ok(());
        }
        match write(&mut self.out) {
            Err(cause) if cause.kind() == ErrorKind::BrokenPipe => {
                self.unread = true;
                Ok(())
            }
            written => written.map_err(Failure::Output),
        }
    }

    /// Sees that the results so far are with their reader.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.show(Write::flush)
    }

    /// How many columns a report may use.
    pub(super) fn width(&self) -> usize {
        self.all_columns().min(GREATEST_WIDTH)
    }

    /// How many columns there are, for what is more than lines of text.
    pub(super) fn all_columns(&self) -> usize {
        // Of stdout alone: where a report goes into a file, it isn't the terminal's business.
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0))
    }

    /// Says on stderr what is no part of the results.
    pub(super) fn aside(&mut self, text: &str) -> Result<(), Failure> {
        self.flush()?;
        // If stderr is gone, there is nobody left to tell.
        let _told = writeln!(io::stderr().lock(), "{text}");
        Ok(())
    }

    /// Writes an annotation to stderr.
    pub(super) fn annotate(&self, annotation: &Annotation) {
        let mut line = Vec::new();
        // In one piece, or something else could come into the line. If stderr is gone, there is nobody left to tell.
        let _told = annotation.write(&mut line).and_then(|()| io::stderr().lock().write_all(&line));
    }

    /// Tells on stderr why a command couldn't do its work.
    pub(super) fn complain(&mut self, failure: &Failure) {
        let colored = choice(self.color, &io::stderr()) != ColorChoice::Never;
        let theme = if colored { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_links(false)
            .with_width(USUAL_WIDTH)
            .with_word_splitter(textwrap::WordSplitter::NoHyphenation);
        let mut text = String::new();
        if handler.render_report(&mut text, failure).is_err() {
            text = failure.to_string();
        }
        // If stderr is gone, there is nobody left to tell.
        let _told = io::stderr().lock().write_all(text.as_bytes());
    }
}

fn choice(color: ColorWhen, stream: &impl anstream::stream::RawStream) -> ColorChoice {
    match color {
        ColorWhen::Auto => AutoStream::choice(stream),
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    }
}
