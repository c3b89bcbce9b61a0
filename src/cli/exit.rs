//! How the program ends.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use miette::Diagnostic;
use thiserror::Error;

use crate::case::CaseError;
use crate::explore::hunt::NoShard;
use crate::replay::Outcome;
use crate::report::check::CheckOutcome;
use crate::scenario::{NoTime, NotWritable, ScenarioError, shown_path};
use crate::stored::ReadError;

/// The exit statuses; their numbers are a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// All was as expected.
    AsExpected = 0,
    /// A verdict wasn't as expected.
    NotAsExpected = 1,
    /// The command line or a file was wrong.
    Misused = 2,
    /// It couldn't be told.
    Inconclusive = 3,
    /// It ran into a bug of ours: holdover panicked, or a run didn't repeat itself.
    Bug = 70,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status as u8)
    }
}

impl Status {
    /// The gravest of `statuses`: what to leave with after many.
    pub(super) fn gravest(statuses: impl Iterator<Item = Status>) -> Status {
        let gravity = |status: &Status| match status {
            Status::AsExpected => 0,
            Status::Inconclusive => 1,
            Status::NotAsExpected => 2,
            Status::Misused => 3,
            Status::Bug => 4,
        };
        statuses.max_by_key(gravity).unwrap_or(Status::AsExpected)
    }
}

impl From<Outcome> for Status {
    fn from(outcome: Outcome) -> Status {
        match outcome {
            Outcome::AsExpected => Status::AsExpected,
            Outcome::Inconclusive => Status::Inconclusive,
            Outcome::NotAsExpected => Status::NotAsExpected,
            Outcome::NotDeterministic | Outcome::Bug => Status::Bug,
        }
    }
}

impl From<CheckOutcome> for Status {
    fn from(outcome: CheckOutcome) -> Status {
        match outcome {
            CheckOutcome::Ran(outcome) => outcome.into(),
            CheckOutcome::Refused => Status::AsExpected,
            CheckOutcome::Accepted => Status::NotAsExpected,
            CheckOutcome::Unusable => Status::Misused,
            CheckOutcome::Broke => Status::Bug,
        }
    }
}

/// Why a command couldn't do its work.
#[derive(Debug, Error, Diagnostic)]
pub(super) enum Failure {
    /// A scenario is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Scenario(#[from] ScenarioError),
    /// A stored history can't be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    History(#[from] ReadError),
    /// Several replays can't be shown as what is one.
    #[error("there are several replays, and {what} is of one")]
    #[diagnostic(help(
        "judge files with one replay each, one by one; or take another format: text, markdown or jsonl"
    ))]
    Together { what: String },
    /// A protocol was asked for that isn't there.
    #[error("unknown protocol `{name}`")]
    #[diagnostic(help("{help}"))]
    UnknownProtocol { name: String, help: String },
    /// A protocol was asked for that can't be run in the scenario's world.
    #[error("`{name}` can't be run here: it keeps the lease on replicas")]
    #[diagnostic(help(
        "operators can only repair what a lease in a table led to: choose another protocol, or take the [[operator]] away"
    ))]
    UnfitProtocol { name: &'static str },
    /// A lane was asked for that isn't there.
    #[error("unknown node `{name}`")]
    #[diagnostic(help("{help}"))]
    UnknownLane { name: String, help: String },
    /// A time that was given isn't one of the run.
    #[error("--{option}: {no_time}")]
    #[diagnostic(help("{}", no_time.help().map_or(String::new(), |help| help.to_string())))]
    NoTime { option: &'static str, no_time: NoTime },
    /// Nothing is left to be shown.
    #[error("--from is later than --to")]
    #[diagnostic(help("nothing would be shown; turn them round"))]
    FromAfterTo,
    /// A part was asked for of what is always whole.
    #[error("--from, --to and --lane choose what is drawn, and {format} has all of it")]
    #[diagnostic(help("leave them out, or take another format: text, markdown, mermaid or svg"))]
    Whole { format: String },
    /// A rule was asked for that isn't there.
    #[error("unknown rule `{name}`")]
    #[diagnostic(help("{help}"))]
    UnknownRule { name: String, help: String },
    /// Several scenarios can't go to one file or to stdout.
    #[error("with `--rule all` there may be several scenarios, which need a folder")]
    #[diagnostic(help("add `--out DIR`, a folder for a case each"))]
    ManyScenarios,
    /// A case can't be written, read or promoted.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Case(#[from] CaseError),
    /// What was shrunk is nothing that a file can say.
    #[error(transparent)]
    NotWritable(#[from] NotWritable),
    /// A folder was given where none belongs.
    #[error("only scenarios are listed from a folder")]
    #[diagnostic(help("leave {} out, or list scenarios", shown_path(path)))]
    NoFolder { path: PathBuf },
    /// A folder has no scenarios.
    #[error("{}: no scenario files in this folder", shown_path(path))]
    #[diagnostic(help("scenario files end in .toml"))]
    NoScenarios { path: PathBuf },
    /// Which share of the seeds to hunt can't be told.
    #[error(transparent)]
    Shard(#[from] NoShard),
    /// A folder is there already with the finds of another hunt.
    #[error("{}: has the finds of a hunt", shown_path(path))]
    #[diagnostic(help("take another folder, or move that one away"))]
    FolderTaken { path: PathBuf },
    /// Another program writes into the folder of a hunt.
    #[error("{}: another hunt or merge is writing there", shown_path(path))]
    #[diagnostic(help("take another folder, or wait until that one is done"))]
    FolderInUse { path: PathBuf },
    /// Something can't be written.
    #[error("{}: can't be written", shown_path(path))]
    Unwritable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// A hunt was asked to do something with the plan of a scenario that wasn't named.
    #[error("--plan {plan} is about the faults of a scenario, and there is none")]
    #[diagnostic(help("name a scenario file, or leave --plan out"))]
    NoOwnPlan { plan: &'static str },
    /// A hunt was asked to draw faults, and to draw none.
    #[error("--plan kept draws no faults, so --{option} has nothing to choose from")]
    #[diagnostic(help(
        "leave --{option} out, or draw faults on top of the scenario's own with `--plan extended`"
    ))]
    NothingDrawn { option: &'static str },
    /// A scenario was to be written over the one that it is made from.
    #[error("{}: the small scenario would be written over the one that it is made from", shown_path(path))]
    #[diagnostic(help("name another file"))]
    OverItself { path: PathBuf },
    /// A file was to be written where one is.
    #[error("{}: there is a file already", shown_path(path))]
    #[diagnostic(help("name another file, or have this one replaced with --force"))]
    FileThere { path: PathBuf },
    /// All events were asked for of what has no timeline for them.
    #[error("--verbose shows every event in the timeline, and {format} has no such timeline")]
    #[diagnostic(help("leave --verbose out; `--format jsonl` has every event"))]
    NoTimeline { format: String },
    /// What a hunt found can't be used.
    #[error("{}: {why}", shown_path(path))]
    Findings { path: PathBuf, why: String },
    /// There are no finds to join.
    #[error("there is nothing to join")]
    NoFindings,
    /// Interrupts can't be heard.
    #[error("the program can't listen for interrupts")]
    Interrupts(#[source] ctrlc::Error),
    /// RUST_LOG can't be understood.
    #[error("RUST_LOG is `{value}`, which isn't a list of levels")]
    #[diagnostic(help("write a level, or levels by target: RUST_LOG=debug or RUST_LOG=holdover=trace"))]
    LogFilter { value: String },
    /// A JUnit report was asked for on standard output.
    #[error("a JUnit report can't be written to standard output, where the results are")]
    #[diagnostic(help("name a file; one whose name is a dash is `./-`"))]
    JunitToOutput,
    /// A JUnit report was to be written over a scenario that it is about.
    #[error("{}: the JUnit report would be written over this scenario", shown_path(path))]
    #[diagnostic(help("name another file"))]
    JunitOverScenario { path: PathBuf },
    /// The JUnit report can't be written.
    #[error("{}: the JUnit report can't be written", shown_path(path))]
    Junit {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// A picture was asked for on standard output.
    #[error("a picture can't be written to standard output, where the results are")]
    #[diagnostic(help("name a file that ends in .html, or a folder"))]
    PictureToOutput,
    /// A picture was to be written to a file that isn't called like one.
    #[error("{}: is a file, and not called like a picture", shown_path(path))]
    #[diagnostic(help("name a file that ends in .html, or a folder"))]
    PictureName { path: PathBuf },
    /// A folder is where a picture was to be written.
    #[error("{}: is a folder, so the picture can't be written there", shown_path(path))]
    #[diagnostic(help("name another file, or a folder whose name doesn't end in .html"))]
    PictureOverFolder { path: PathBuf },
    /// The folder for a picture isn't there.
    #[error(
        "{}: the picture can't be written, because the folder {} isn't there",
        shown_path(path),
        shown_path(folder)
    )]
    #[diagnostic(help("make the folder first"))]
    PictureInNoFolder { path: PathBuf, folder: PathBuf },
    /// A picture was to be written over a file that is none of ours.
    #[error("{}: there is a file that holdover didn't write", shown_path(path))]
    #[diagnostic(help("name another file, or move that one away"))]
    PictureOverOther { path: PathBuf },
    /// A picture was to be written over its scenario.
    #[error("{}: the picture would be written over its scenario", shown_path(path))]
    #[diagnostic(help("name another file"))]
    PictureOverScenario { path: PathBuf },
    /// Something of ours panicked.
    #[error("holdover itself panicked: this is a bug in holdover\n{bugs}")]
    #[diagnostic(help(
        "what was found until then is told; please report it with the scenario. This repeats it:\n{command}"
    ))]
    Bugs { bugs: String, command: String },
    /// What was to be shown can't be written.
    #[error("the output can't be written")]
    Output(#[from] io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_number() {
        for (outcome, number) in [
            (Outcome::AsExpected, 0),
            (Outcome::NotAsExpected, 1),
            (Outcome::Inconclusive, 3),
            (Outcome::NotDeterministic, 70),
            (Outcome::Bug, 70),
        ] {
            assert_eq!(ExitCode::from(Status::from(outcome)), ExitCode::from(number), "{outcome:?}");
        }
        assert_eq!(ExitCode::from(Status::Misused), ExitCode::from(2));
    }

    #[test]
    fn the_gravest_status_wins() {
        use Status::*;
        for (statuses, gravest) in [
            (&[][..], AsExpected),
            (&[AsExpected, Inconclusive, AsExpected], Inconclusive),
            (&[NotAsExpected, Inconclusive], NotAsExpected),
            (&[NotAsExpected, Misused, AsExpected], Misused),
            (&[Bug, Misused], Bug),
        ] {
            assert_eq!(Status::gravest(statuses.iter().copied()), gravest, "{statuses:?}");
        }
    }
}
