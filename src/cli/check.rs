//! `holdover check`: run scenario files and compare the verdicts with what the files expect.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use super::annotations;
use super::args::{CheckArguments, CheckFormat};
use super::command;
use super::exit::{Failure, Status};
use super::junit::JunitFile;
use super::output::Output;
use crate::case::{ABOUT, Case, ORIGINAL, SCENARIO, is_in_the_making};
use crate::replay::{Outcome, Replay};
use crate::report::check::{self, CheckOutcome, CheckedFile};
use crate::report::junit::TestGroup;
use crate::scenario::{FileError, Places, Scenario, ScenarioError, shown_path};
use crate::sim::panics;
use crate::suite::Suite;

/// In a folder of this name every file must be refused.
const REFUSED_FOLDER: &str = "invalid";

/// A file to check.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Whether it must be refused.
    pub(super) invalid: bool,
    /// Why it can't be listed, if it is a folder of which that is so. What is in others is checked all the same.
    unlisted: Option<io::Error>,
}

impl Candidate {
    fn new(path: PathBuf, invalid: bool) -> Candidate {
        Candidate { path, invalid, unlisted: None }
    }

    /// The scenario, and where in its file what is.
    pub(super) fn load(self, suite: &Suite) -> Result<(Scenario, Places), ScenarioError> {
        match self.unlisted {
            Some(cause) => Err(FileError::Unlisted { path: shown_path(&self.path), cause }.into()),
            None => suite.load_with_places(&self.path),
        }
    }
}

pub(super) fn run(arguments: &CheckArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let mut candidates = Vec::new();
    for path in &arguments.paths {
        candidates.extend(candidates_in(path)?);
    }
    let scenarios = candidates.iter().map(|candidate| candidate.path.as_path());
    let junit = arguments.junit.as_deref().map(|path| JunitFile::create(path, scenarios)).transpose()?;
    let annotate = annotations::are_wanted(arguments.annotations);
    let mut checked = Vec::new();
    let mut shown = Ok(());
    for candidate in candidates {
        let path = candidate.path.clone();
        let (one, failure) = panics::catch(|| check(suite, candidate)).unwrap_or_else(|panic| {
            (CheckedFile::broke(shown_path(&path), &panic, command::check(suite, &path)), None)
        });
        if shown.is_ok() {
            shown = show(&one, failure.as_ref(), arguments, output);
        }
        if annotate {
            annotate_file(&one, &path, output);
        }
        checked.push(one);
        // Where results can't be shown, a JUnit report is still worth having.
        if shown.is_err() && junit.is_none() {
            break;
        }
    }
    let mut statuses: Vec<Status> = checked.iter().map(|one| one.outcome.into()).collect();
    let status = Status::gravest(statuses.iter().copied());
    if let Some(junit) = junit {
        let suites: Vec<TestGroup> = checked.iter().map(CheckedFile::suite).collect();
        if let Err(failure) = junit.write(&suites) {
            // The results are no less true for it, and come with the command as their last line.
            output.complain(&failure);
            statuses.push(Status::Misused);
        }
    }
    shown?;
    // One of the files that the status is owed to.
    let command =
        checked.iter().find(|one| Status::from(one.outcome) == status).and_then(|one| one.command.as_deref());
    show_end(&checked, command, arguments, output)?;
    Ok(Status::gravest(statuses.into_iter()))
}

/// Checks a file; the error is that of a file that can't be used, with all that it has to say.
fn check(suite: &Suite, candidate: Candidate) -> (CheckedFile, Option<Failure>) {
    let (path, invalid) = (&candidate.path.clone(), candidate.invalid);
    let file = shown_path(path);
    let command_of_folder = candidate.unlisted.is_some().then(|| command::check(suite, path));
    match (candidate.load(suite), invalid) {
        (Ok((scenario, places)), false) => {
            let repeats = |protocol: Option<&str>| {
                let protocols: Vec<String> = protocol.into_iter().map(str::to_owned).collect();
                command::replay(suite, path, &protocols, None)
            };
            let checked = CheckedFile::ran(file, &Replay::of(&scenario), &places, repeats);
            match Case::about_scenario(path).filter(|about| about.is_of_own(suite)) {
                Some(about) => (checked.not_under(&about.protocol, command::check(suite, path)), None),
                None => (checked, None),
            }
        }
        (Ok(_), true) => (CheckedFile::accepted(file, command::check(suite, path)), None),
        (Err(error @ ScenarioError::Text(_)), true) => (CheckedFile::refused(file, &error), None),
        (Err(error), invalid) => {
            let command = match command_of_folder {
                Some(command) => command,
                None if invalid => command::check(suite, path),
                None => command::replay(suite, path, &[], None),
            };
            (CheckedFile::unusable(file, &error, command), Some(error.into()))
        }
    }
}

/// Shows a file as soon as it is done, where that is how it is to be shown.
fn show(
    checked: &CheckedFile,
    failure: Option<&Failure>,
    arguments: &CheckArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.quiet && checked.outcome.is_as_expected() {
        return Ok(());
    }
    match arguments.format {
        CheckFormat::Text => {
            show_text(checked, output)?;
            output.flush()?;
            if let Some(failure) = failure {
                output.complain(failure);
            }
            Ok(())
        }
        CheckFormat::Json => Ok(()),
        CheckFormat::Jsonl => {
            output.show(|out| checked.write_line(out))?;
            output.flush()
        }
    }
}

fn show_text(checked: &CheckedFile, output: &mut Output) -> Result<(), Failure> {
    let status = Status::from(checked.outcome);
    let (word, style) = match status {
        Status::AsExpected => ("ok", AnsiColor::Green.on_default()),
        Status::Inconclusive => ("inconclusive", AnsiColor::Yellow.on_default().bold()),
        Status::NotAsExpected => ("FAILED", AnsiColor::Red.on_default().bold()),
        Status::Misused => ("unusable", AnsiColor::Red.on_default().bold()),
        Status::Bug if checked.outcome == CheckOutcome::Ran(Outcome::NotDeterministic) => {
            ("NOT DETERMINISTIC", AnsiColor::Red.on_default().bold())
        }
        Status::Bug => ("BUG", AnsiColor::Red.on_default().bold()),
    };
    let dim = Style::new().dimmed();
    output.show(|out| {
        write!(out, "{style}{word:<4}{style:#} {}", checked.file)?;
        match status {
            // Only a file that must be refused has a remark though it is as expected: why it was.
            Status::AsExpected => {
                for remark in checked.remarks.iter().take(1) {
                    write!(out, "{dim}  refused: {}{dim:#}", remark.text)?;
                }
                writeln!(out)
            }
            // What is wrong with the file is told at length below.
            Status::Misused => writeln!(out),
            _ => {
                writeln!(out)?;
                checked.remarks.iter().try_for_each(|remark| writeln!(out, "     {}", remark.text))
            }
        }
    })
}

/// Shows what all files come to, and the command that repeats what the status is owed to, if there is one.
fn show_end(
    checked: &[CheckedFile],
    command: Option<&str>,
    arguments: &CheckArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let files = checked.len();
    let as_expected = checked.iter().filter(|one| one.outcome.is_as_expected()).count();
    match arguments.format {
        CheckFormat::Text => {
            return output.show(|out| {
                let scenarios = if files == 1 { "scenario" } else { "scenarios" };
                let others = files - as_expected;
                writeln!(out, "{files} {scenarios}: {as_expected} as expected, {others} not")?;
                command.iter().try_for_each(|command| writeln!(out, "{command}"))
            });
        }
        CheckFormat::Json => {
            let is_shown = |one: &&CheckedFile| !(arguments.quiet && one.outcome.is_as_expected());
            let shown: Vec<&CheckedFile> = checked.iter().filter(is_shown).collect();
            output.show(|out| check::write(&shown, files, as_expected, out))?;
        }
        CheckFormat::Jsonl => {}
    }
    match command {
        Some(command) => output.aside(command),
        None => Ok(()),
    }
}

/// Writes the annotations of a file to stderr: the runner reads both streams, and stdout may be data.
fn annotate_file(checked: &CheckedFile, path: &Path, output: &Output) {
    for annotation in checked.annotations(&annotations::file_name(path)) {
        output.annotate(&annotation);
    }
}

/// The files to check at `path`: itself, or the scenario files below it, in the order of their names.
pub(super) fn candidates_in(path: &Path) -> Result<Vec<Candidate>, Failure> {
    if !path.is_dir() {
        let invalid = path.parent().is_some_and(in_refused_folder);
        return Ok(vec![Candidate::new(path.to_owned(), invalid)]);
    }
    let mut found = Vec::new();
    walk(path, in_refused_folder(path), &mut found);
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

fn walk(folder: &Path, invalid: bool, found: &mut Vec<Candidate>) {
    let mut entries = match entries_of(folder) {
        Ok(entries) => entries,
        Err(cause) => {
            found.push(Candidate { unlisted: Some(cause), ..Candidate::new(folder.to_owned(), invalid) });
            return;
        }
    };
    entries.retain(|(entry, _)| !is_in_the_making(&entry.file_name()));
    entries.sort_by_key(|(entry, _)| entry.file_name());
    let is_case = [ABOUT, SCENARIO].iter().all(|name| entries.iter().any(|(entry, _)| entry.file_name() == *name));
    for (entry, is_folder) in entries {
        let path = entry.path();
        // What a case was found in is kept to be looked at, and expects nothing of its own.
        if is_case && entry.file_name() == ORIGINAL {
            continue;
        }
        let named_so = path.extension().is_some_and(|extension| extension == "toml");
        if is_folder {
            walk(&path, invalid || entry.file_name() == REFUSED_FOLDER, found);
        } else if named_so && !path.is_dir() {
            found.push(Candidate::new(path, invalid));
        }
    }
}

/// What is in `folder`, and which of it are folders. A link to a folder isn't one: it could lead back up.
fn entries_of(folder: &Path) -> io::Result<Vec<(fs::DirEntry, bool)>> {
    let entries = fs::read_dir(folder)?.map(|entry| {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        Ok((entry, is_folder))
    });
    entries.collect()
}
