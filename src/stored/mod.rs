//! Histories as they are stored, and read again: the lines of `replay --format jsonl`.
//!
//! - `lines` declares the lines, once for writing and for reading; `settings` is what they say of the world
//! - [`Histories`] reads them, one run after the other; `build` makes a history of the lines of one run, and refuses what no
//!   run has written
//! - `error` is what can be wrong
//!
//! **The promise.** The first line of each run has the number of the [format](FORMAT). Every later version reads the files of
//! every format from 1 on: what an older one lacks gets the value that the documentation of formats names, or the file is
//! refused with the reason. The number goes up whenever a key is new, is gone or means something else, an event gets another
//! field, or the bytes change that fingerprints are of. A file of a format that is newer than the program is refused.

mod build;
mod error;
pub(crate) mod lines;
mod read;
mod settings;

pub use error::{LinePlace, ReadError};
pub use read::Histories;
pub(crate) use settings::Settings;

use std::collections::BTreeMap;

use holdover_sim::history::History;
use holdover_sim::time::{Span, TrueTime};
use serde_json::Value;

use crate::scenario::Expectation;
use lines::DisciplineLine;

/// The number of the format that is written, and the newest that is read.
pub const FORMAT: u32 = 1;

/// One run as it was stored.
#[derive(Debug)]
pub struct StoredRun {
    /// What happened.
    pub history: History,
    /// Where in its file the run begins: a line from 1.
    pub line: usize,
    /// The title of its scenario.
    pub title: String,
    /// The story of its scenario.
    pub story: Option<String>,
    /// What its scenario expects of it.
    pub expect: Option<Expectation>,
    /// What its protocol says of itself.
    pub summary: String,
    /// The names of the assumptions that its protocol relies on.
    pub relies_on: Vec<String>,
    /// What else is told of the world that it ran in.
    pub(crate) told: Told,
    /// What was concluded when it was stored.
    pub concluded: Concluded,
}

/// What is told of a run's world beside its history.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) settings: Settings,
    /// What is told of each node.
    pub(crate) nodes: Vec<ToldOfNode>,
}

/// What is told of a node beside its record in a history: when its process begins, if it has one, and what sets its clocks
/// right.
pub(crate) type ToldOfNode = (Option<TrueTime>, Option<DisciplineLine<'static>>);

/// What was concluded of a run when it was stored.
#[derive(Clone, Debug)]
pub struct Concluded {
    /// The version of holdover that wrote it.
    pub holdover: String,
    /// The fingerprint, as the first line and as the last one has it.
    pub fingerprints: [String; 2],
    /// What each rule came to, as it is written.
    pub verdicts: BTreeMap<String, Value>,
    /// What the protocol relies on, and wasn't so.
    pub broken_assumptions: Vec<String>,
    /// For how long two workers both thought that they hold the lease.
    pub belief_overlap: Span,
    /// How often each thing was seen.
    pub seen: BTreeMap<String, usize>,
    /// What became of each fault, as it is written.
    pub faults: Vec<Value>,
}
