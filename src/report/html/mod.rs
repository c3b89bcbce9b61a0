//! The picture of a run: one HTML file that needs no network and nothing beside it.
//!
//! Everything that the page shows is in one record, made here, and drawn by scripts in `assets`:
//!
//! - `document` is the record; `one_run` has what there is to one protocol's run, `bands` what lasts, `events` what happens,
//!   `explained` why it came about, `repaired` how it was repaired, `headline` what it came to in a sentence
//! - `packed` keeps texts that differ only in numbers short
//! - `page` puts record, scripts and styles into one file

mod bands;
mod document;
mod events;
mod explained;
mod headline;
mod one_run;
mod packed;
mod page;
mod repaired;

use std::io::{self, Write};

use anstyle::Style;

use super::layout::harmless;
use super::style::{BAD, DIM, FAULT, GOOD};
use crate::explore::explain::Explanation;

/// What a page is made of.
#[derive(Clone, Copy)]
pub struct Picture<'a> {
    /// The runs, and why what broke in them broke.
    pub explanation: &'a Explanation<'a>,
    /// The protocols whose runs are shown, of those that the explanation ran.
    pub protocols: &'a [&'a str],
    /// Where the scenario was read.
    pub file: &'a str,
    /// What repeats it.
    pub command: &'a str,
}

/// Writes the page on `picture`. The same picture gives the same bytes.
///
/// # Errors
/// What `out` says.
pub fn write(picture: Picture<'_>, out: &mut impl Write) -> io::Result<()> {
    let record = serde_json::to_string(&document::document(picture))?;
    page::write(&harmless(picture.explanation.replay.premise.title), &record, out)
}

/// How a text stands out, in the word that the page's styles have for it.
fn tone(style: Style) -> &'static str {
    match style {
        BAD => "bad",
        GOOD => "good",
        FAULT => "fault",
        DIM => "dim",
        _ => "plain",
    }
}
