//! `holdover check`: run scenario files and compare the verdicts with what the files expect.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::args::{CheckArguments, Format};
use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use crate::replay::{Outcome, Replay};
use crate::report::json::outcome_name;
use crate::report::text::deviation_texts;
use crate::scenario::{Scenario, ScenarioError, shown_path};

/// In a folder of this name every file must be refused.
const REFUSED_FOLDER: &str = "invalid";

/// A file to check.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Whether it must be refused.
    pub(super) invalid: bool,
}

/// What came of a file.
#[derive(Serialize)]
struct Checked {
    file: String,
    outcome: &'static str,
    /// What isn't as expected; or, for a file that had to be refused, the reason for which it was.
    remarks: Vec<String>,
    /// What repeats it, if it isn't as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip)]
    status: Status,
    /// The error of a file that can't be used, with all that it has to say.
    #[serde(skip)]
    failure: Option<Failure>,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    as_expected: usize,
    checked: Vec<Checked>,
}

pub(super) fn run(arguments: &CheckArguments, output: &mut Output) -> Result<Status, Failure> {
    let mut candidates = Vec::new();
    for path in &arguments.paths {
        candidates.extend(candidates_in(path)?);
    }
    let mut checked = Vec::new();
    for candidate in &candidates {
        let one = check(candidate);
        if arguments.format == Format::Text {
            show(&one, arguments.quiet, output)?;
        }
        checked.push(one);
    }
    let status = Status::gravest(checked.iter().map(|one| one.status));
    // One of the files that the status is owed to.
    let command = checked.iter().find(|one| one.status == status).and_then(|one| one.command.clone());
    let files = checked.len();
    let as_expected = checked.iter().filter(|one| one.status == Status::AsExpected).count();
    match arguments.format {
        Format::Json => {
            let summary = Summary { files, as_expected, checked };
            output.show(|out| {
                serde_json::to_writer_pretty(&mut *out, &summary)?;
                writeln!(out)
            })?;
            if let Some(command) = command {
                output.aside(&command)?;
            }
        }
        Format::Text => output.show(|out| {
            let scenarios = if files == 1 { "scenario" } else { "scenarios" };
            let others = files - as_expected;
            writeln!(out, "{files} {scenarios}: {as_expected} as expected, {others} not")?;
            command.iter().try_for_each(|command| writeln!(out, "{command}"))
        })?,
    }
    Ok(status)
}

fn check(candidate: &Candidate) -> Checked {
    let path = &candidate.path;
    let (outcome, remarks, status, failure) = match (Scenario::load(path), candidate.invalid) {
        (Ok(scenario), false) => {
            let replay = Replay::of(&scenario);
            let remarks = deviation_texts(&replay.deviations());
            let outcome = replay.outcome();
            (outcome_name(outcome), remarks, outcome.into(), None)
        }
        (Ok(_), true) => {
            let remark = "it was accepted, but it must be refused".to_owned();
            (outcome_name(Outcome::NotAsExpected), vec![remark], Status::NotAsExpected, None)
        }
        (Err(ScenarioError::Text(error)), true) => ("refused", vec![error.to_string()], Status::AsExpected, None),
        (Err(error), _) => ("unusable", vec![error.to_string()], Status::Misused, Some(error.into())),
    };
    let command = match status {
        Status::AsExpected => None,
        _ if candidate.invalid => Some(command::check(path)),
        _ => Some(command::replay(path, &[], None)),
    };
    Checked { file: shown_path(path), outcome, remarks, command, status, failure }
}

fn show(checked: &Checked, quiet: bool, output: &mut Output) -> Result<(), Failure> {
    let (word, style) = match checked.status {
        Status::AsExpected => ("ok", AnsiColor::Green.on_default()),
        Status::Inconclusive => ("inconclusive", AnsiColor::Yellow.on_default().bold()),
        Status::NotAsExpected => ("FAILED", AnsiColor::Red.on_default().bold()),
        Status::Misused => ("unusable", AnsiColor::Red.on_default().bold()),
        Status::NotDeterministic => ("NOT DETERMINISTIC", AnsiColor::Red.on_default().bold()),
    };
    if checked.status == Status::AsExpected && quiet {
        return Ok(());
    }
    let dim = Style::new().dimmed();
    output.show(|out| {
        write!(out, "{style}{word:<4}{style:#} {}", checked.file)?;
        match checked.status {
            // Only a file that must be refused has a remark though it is as expected: why it was.
            Status::AsExpected => {
                for remark in &checked.remarks {
                    write!(out, "{dim}  refused: {remark}{dim:#}")?;
                }
                writeln!(out)
            }
            // What is wrong with the file is told at length below.
            Status::Misused => writeln!(out),
            _ => {
                writeln!(out)?;
                checked.remarks.iter().try_for_each(|remark| writeln!(out, "     {remark}"))
            }
        }
    })?;
    output.flush()?;
    if let Some(failure) = &checked.failure {
        output.complain(failure);
    }
    Ok(())
}

/// The files to check at `path`: itself, or the scenario files below it, in the order of their names.
pub(super) fn candidates_in(path: &Path) -> Result<Vec<Candidate>, Failure> {
    if !path.is_dir() {
        let invalid = path.parent().is_some_and(in_refused_folder);
        return Ok(vec![Candidate { path: path.to_owned(), invalid }]);
    }
    let mut found = Vec::new();
    walk(path, in_refused_folder(path), &mut found)?;
    if found.is_empty() {
        return Err(Failure::NoScenarios { path: path.to_owned() });
    }
    Ok(found)
}

/// Whether what is in `folder` must be refused: it is in such a folder as it is written, or is one where we are.
fn in_refused_folder(folder: &Path) -> bool {
    let written = folder.components().any(|component| component.as_os_str() == REFUSED_FOLDER);
    let is_one = |folder: PathBuf| folder.file_name().is_some_and(|name| name == REFUSED_FOLDER);
    written || fs::canonicalize(Path::new(".").join(folder)).is_ok_and(is_one)
}

fn walk(folder: &Path, invalid: bool, found: &mut Vec<Candidate>) -> Result<(), Failure> {
    let unreadable = |cause| Failure::Folder { path: folder.to_owned(), cause };
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(unreadable)?.collect();
    let mut entries = entries.map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a folder isn't followed: it could lead back up.
        let is_folder = entry.file_type().map_err(unreadable)?.is_dir();
        let named_so = path.extension().is_some_and(|extension| extension == "toml");
        if is_folder {
            walk(&path, invalid || entry.file_name() == REFUSED_FOLDER, found)?;
        } else if named_so && !path.is_dir() {
            found.push(Candidate { path, invalid });
        }
    }
    Ok(())
}
