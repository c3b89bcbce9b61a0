//! Scenarios: a TOML file in, a world, a fault plan and expectations out, and back; and errors that point at the exact
//! token.
//!
//! - [`Suite::load`] and [`Suite::parse`] are the two ways in; `read` gets the text of a file
//! - `file` is the file as it is written; `syntax` explains what isn't a scenario file at all
//! - `lower` makes the simulator's types of it and checks what they mean, with `faults`, `anchors`, `inject`,
//!   `contradictions` and `expectations` for those parts; `clocks`, `value` and `calendar` understand clocks, durations
//!   and times; `names` knows the names
//! - [`Scenario::to_toml`] is the way back, and `write` what it goes by
//! - `schema` tells editors what a file may have
//! - `error` is what can be wrong, and `place` says where in the file that is, or an expectation

mod anchors;
mod calendar;
mod clocks;
mod contradictions;
mod error;
mod expectations;
mod faults;
mod file;
mod inject;
mod lease;
mod lower;
mod names;
mod nodes;
mod place;
mod provider;
mod read;
mod repair;
mod schema;
mod syntax;
mod value;
mod write;

pub(crate) use contradictions::contradict;
pub use error::{FileError, Mistake, NoTime, ScenarioError, TextError};
pub(crate) use lower::{FINISH_WITHIN, INTERNAL, PACE, POLL_EVERY, PROVIDER};
pub use names::{did_you_mean, shown_path};
pub use place::{Place, Places};
pub use schema::json_schema;
pub use write::NotWritable;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use holdover_sim::fault::PlannedFault;
use holdover_sim::seed::Seed;
use holdover_sim::time::{TrueTime, WallTime};
use holdover_sim::world::WorldSpec;

use calendar::Calendar;
use place::Offsets;

use crate::suite::Suite;

/// The largest scenario file that is read, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// The longest line that a scenario may have, in bytes.
pub const MAX_LINE_BYTES: usize = 10_000;

/// The smallest scenario, as a text to begin with.
pub const SMALLEST: &str = r#"title = "Two workers, one lease"
start = 2026-01-15T01:59:30Z

[lease]
ttl = "40s"
renew_every = "10s"

[job]
operations = 14

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
"#;

/// A scenario: what to run, what to inject, and what should come of it.
///
/// All that it says has been checked, so it can be run as it is. A program may also make one without a file; then the
/// documentation of each type says what must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it shows, in one line.
    pub title: String,
    /// The story behind it.
    pub story: Option<String>,
    /// What the runs are drawn from.
    pub seed: Seed,
    /// The world that every run starts from.
    pub world: WorldSpec,
    /// What is injected, in the order of the file.
    pub plan: Vec<PlannedFault>,
    /// The protocols to run it under, each known and none twice, in the order of reports.
    pub protocols: Vec<String>,
    /// What should come of it, by protocol. Under a protocol that isn't here every rule is expected to hold.
    pub expect: BTreeMap<String, Expectation>,
    /// What the names in it are names of.
    pub suite: Suite,
}

/// What should come of a scenario under one protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict that each checker should come to; a rule that isn't here is expected to hold.
    pub verdicts: BTreeMap<String, Expected>,
    /// The sightings that the run must have had; without them its verdicts mean nothing.
    pub seen: Vec<String>,
}

/// A verdict that a scenario expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expected {
    /// The rule holds.
    Holds,
    /// The rule is broken.
    Violated,
    /// It can't be told.
    Unknown,
}

impl Expected {
    /// The verdict's name, as scenarios and reports spell it: `holds`, `violated` or `unknown`.
    pub const fn name(self) -> &'static str {
        match self {
            Expected::Holds => "holds",
            Expected::Violated => "violated",
            Expected::Unknown => "unknown",
        }
    }

    /// Every verdict that can be expected.
    pub const ALL: [Expected; 3] = [Expected::Holds, Expected::Violated, Expected::Unknown];
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Scenario {
    /// Reads the scenario in the file at `path`, which has the names of what is built in; see [`Suite::load`].
    ///
    /// # Errors
    /// As those of [`Suite::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Scenario, ScenarioError> {
        Suite::builtin().load(path)
    }

    /// Reads the scenario in `text`, which has the names of what is built in; see [`Suite::parse`].
    ///
    /// # Errors
    /// As those of [`Suite::parse`].
    pub fn parse(name: &str, text: &str) -> Result<Scenario, ScenarioError> {
        Suite::builtin().parse(name, text)
    }

    /// The time of its run that `text` names, in one of the ways in which a file may name it: a time of day on the date of
    /// the start, an offset such as `+58s`, or a full date and time.
    ///
    /// # Errors
    /// If it names none, or one before the start or after the end.
    pub fn time(&self, text: &str) -> Result<TrueTime, NoTime> {
        time_of_run(self.world.start, self.world.limits.end, text)
    }

    /// The text of the scenario's file, as a person would write it. What is as it would be anyway is left out, keys are in
    /// the order of the files in `scenarios/`, durations are as short as people write them, and times are times of day
    /// where their milliseconds are whole.
    ///
    /// Reading the text gives this very scenario. What no scenario has is lost of the file that it was read from: its
    /// comments, and how values were spelt.
    ///
    /// ```
    /// use holdover::scenario::{SMALLEST, Scenario};
    ///
    /// let scenario = Scenario::parse("smallest.toml", SMALLEST).expect("it is a scenario");
    /// assert_eq!(scenario.to_toml().as_deref(), Ok(SMALLEST));
    /// ```
    ///
    /// # Errors
    /// If there is no file that says this. A scenario that was read always has one, unless that is larger than
    /// [`MAX_BYTES`] once it is written. One that a program made may not:
    ///
    /// - what the documentation of its types forbids, or what is refused in a file, such as two steps of a clock at the
    ///   same instant
    /// - names of protocols, rules, sightings, points, events or messages that are in no registry, and nodes that aren't
    ///   there
    /// - a store whose transactions wait for anything but what
    ///   [`Expiry::AT_TRANSACTION_START`](holdover_sim::service::lease_store::Expiry::AT_TRANSACTION_START) says
    /// - a story with carriage returns
    pub fn to_toml(&self) -> Result<String, NotWritable> {
        write::scenario(self)
    }
}

impl Suite {
    /// Reads the scenario in the file at `path`.
    ///
    /// # Errors
    /// If the file can't be read, isn't a text, is larger than [`MAX_BYTES`], or isn't a scenario.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Scenario, ScenarioError> {
        let path = path.as_ref();
        let text = read::text_of(path)?;
        self.parse(&shown_path(path), &text)
    }

    /// Reads the scenario in the file at `path`, and where in it is written what it expects.
    ///
    /// # Errors
    /// As those of [`Suite::load`].
    pub fn load_with_places(&self, path: impl AsRef<Path>) -> Result<(Scenario, Places), ScenarioError> {
        let path = path.as_ref();
        let text = read::text_of(path)?;
        self.parse_with_places(&shown_path(path), &text)
    }

    /// Reads the scenario in `text`; errors call it `name`.
    ///
    /// # Errors
    /// If the text is empty, has characters that no text has or a line above [`MAX_LINE_BYTES`], or isn't a scenario.
    pub fn parse(&self, name: &str, text: &str) -> Result<Scenario, ScenarioError> {
        self.parse_with_offsets(name, text).map(|(scenario, _)| scenario)
    }

    /// Reads the scenario in `text`, and where in it is written what it expects; errors call it `name`.
    ///
    /// # Errors
    /// As those of [`Suite::parse`].
    pub fn parse_with_places(&self, name: &str, text: &str) -> Result<(Scenario, Places), ScenarioError> {
        let (scenario, offsets) = self.parse_with_offsets(name, text)?;
        Ok((scenario, offsets.in_text(text.to_owned())))
    }

    fn parse_with_offsets(&self, name: &str, text: &str) -> Result<(Scenario, Offsets), ScenarioError> {
        read::check_text(name, text)?;
        let file = toml::from_str(text)
            .map_err(|error| Box::new(TextError::new(name, text, syntax::mistake(&error, text), Vec::new())))?;
        let offsets = Offsets::of(&file);
        let (scenario, mistakes) = lower::scenario(file, self);
        mistakes.into_error(name, text)?;
        Ok((scenario, offsets))
    }
}

/// The time that `text` names of a run from `start` to `end`; see [`Scenario::time`].
pub(crate) fn time_of_run(start: WallTime, end: TrueTime, text: &str) -> Result<TrueTime, NoTime> {
    Ok(Calendar::of(start, end).time_or_end(text)?)
}
