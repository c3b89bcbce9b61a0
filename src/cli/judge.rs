//! `holdover judge`: judge stored histories again, and draw every report from them.

use std::io;
use std::path::Path;

use super::args::{JudgeArguments, ReplayFormat};
use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use super::picture::PictureFile;
use super::show::{self, Shown};
use crate::explore::explain::Explanation;
use crate::replay::{StoredReplay, StoredReplays};
use crate::report::html::Picture;
use crate::scenario::shown_path;
use crate::stored::{Histories, ReadError, StoredRun};
use crate::suite::Suite;

/// What standard input is called on the command line, and in reports.
const STDIN: &str = "-";
const STANDARD_INPUT: &str = "standard input";

/// The replays in a file, one after the other.
type Replays = Box<dyn Iterator<Item = Result<StoredReplay, ReadError>>>;

pub(super) fn run(arguments: &JudgeArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    show::check(&arguments.shown)?;
    let many = arguments.files.len() > 1;
    if many {
        alone(arguments, true)?;
    }
    let mut statuses = Vec::new();
    for file in &arguments.files {
        match judge(file, arguments, suite, output) {
            Ok(status) => statuses.push(status),
            // The others are judged all the same.
            Err(failure @ Failure::History(_)) if many => {
                output.flush()?;
                output.complain(&failure);
                statuses.push(Status::Misused);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(Status::gravest(statuses.into_iter()))
}

/// Refuses what can only be one, if there are `several` replays.
fn alone(arguments: &JudgeArguments, several: bool) -> Result<(), Failure> {
    let shown = &arguments.shown;
    let format = shown.format;
    let is_one = !matches!(format, ReplayFormat::Text | ReplayFormat::Jsonl | ReplayFormat::Markdown);
    match several {
        true if shown.report.is_some() => Err(Failure::Together { what: "a picture".to_owned() }),
        true if is_one => Err(Failure::Together { what: format!("a report as {}", format.name()) }),
        _ => Ok(()),
    }
}

fn judge(file: &Path, arguments: &JudgeArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let picture = arguments.shown.report.as_deref().map(|path| PictureFile::at(path, file)).transpose()?;
    let mut replays = open(file)?.peekable();
    let command = command::judge(suite, file);
    let name = if file == Path::new(STDIN) { STANDARD_INPUT.to_owned() } else { shown_path(file) };
    let mut statuses = Vec::new();
    while let Some(replay) = replays.next() {
        let mut stored = replay?;
        if alone(arguments, true).is_err() {
            alone(arguments, !statuses.is_empty() || replays.peek().is_some())?;
        }
        if !statuses.is_empty() && arguments.shown.format != ReplayFormat::Jsonl {
            output.show(|out| io::Write::write_all(out, b"\n"))?;
        }
        for note in stored.notes(suite) {
            output.aside(&note)?;
        }
        let replay = stored.judge(suite);
        let shown = Shown { replay: &replay, file: &name, command: &command };
        statuses.push(show::show(shown, &arguments.shown, output)?);
        if let Some(picture) = &picture {
            output.flush()?;
            let explanation = Explanation::of_stored(replay);
            let protocols: Vec<&str> = explanation.replay.runs.iter().map(|run| run.protocol.name()).collect();
            let page =
                Picture { explanation: &explanation, protocols: &protocols, file: &name, command: &command };
            picture.write(page)?;
            output.aside(&picture.shown())?;
        }
    }
    Ok(Status::gravest(statuses.into_iter()))
}

/// The replays in `file`, or on standard input if it is called `-`.
fn open(file: &Path) -> Result<Replays, Failure> {
    fn replays(runs: impl Iterator<Item = Result<StoredRun, ReadError>> + 'static) -> Replays {
        Box::new(StoredReplays::of(runs))
    }
    Ok(match file == Path::new(STDIN) {
        true => replays(Histories::of(STANDARD_INPUT, io::stdin().lock())),
        false => replays(Histories::open(file)?),
    })
}
