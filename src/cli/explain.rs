//! `holdover explain`: why what broke in a scenario broke.

use std::io::Write;

use super::args::{ExplainArguments, Format};
use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use super::picture::PictureFile;
use super::replay::{chosen, tell_of_own};
use crate::explore::explain::{BUDGET, Explained, Explanation};
use crate::replay::JudgedRun;
use crate::report::explain::{json, text};
use crate::report::html::Picture;
use crate::scenario::{Scenario, shown_path};
use crate::sim::limits::Ending;
use crate::sim::seed::Seed;

pub(super) fn run(arguments: &ExplainArguments, output: &mut Output) -> Result<Status, Failure> {
    let scenario = Scenario::load(&arguments.file)?;
    let protocols = chosen(&arguments.protocol, &scenario)?;
    tell_of_own(&arguments.file, output)?;
    let picture = arguments.report.as_deref().map(|path| PictureFile::at(path, &arguments.file)).transpose()?;
    let seed = arguments.seed.map_or(scenario.seed, Seed);
    let explanation = Explanation::new(&scenario, &protocols, seed, BUDGET);
    let file = shown_path(&arguments.file);
    let command = command::explain(&arguments.file, &arguments.protocol, arguments.seed);
    let status = status(&explanation);
    match arguments.format {
        Format::Text => {
            let width = output.width();
            output.show(|out| text::write(&explanation, &file, width, out))?;
            output.show(|out| writeln!(out, "\n{command}"))?;
        }
        Format::Json => {
            output.show(|out| json::write(&explanation, &file, &command, out))?;
            if status != Status::AsExpected {
                output.aside(&command)?;
            }
        }
    }
    if let Some(picture) = picture {
        let protocols: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
        picture.write(Picture {
            explanation: &explanation,
            protocols: &protocols,
            file: &file,
            command: &command,
        })?;
        output.aside(&picture.shown())?;
    }
    Ok(status)
}

/// What an explanation comes to: it couldn't be given if nothing was violated, or if a bound left something open.
fn status(explanation: &Explanation<'_>) -> Status {
    if explanation.replay.runs.iter().any(|run| !run.repeats) {
        return Status::NotDeterministic;
    }
    let cut_short = |(run, explained): (&JudgedRun, &Explained)| {
        explained.spent.used_up || explained.spent.panicked > 0 || run.history.ending == Ending::StepsUsedUp
    };
    let panicked = |(run, _): (&JudgedRun, &Explained)| matches!(run.history.ending, Ending::Panicked { .. });
    let nothing = explanation.explained.iter().all(|explained| explained.broken.is_empty());
    if explanation.asked().any(panicked) {
        Status::NotAsExpected
    } else if nothing || explanation.asked().any(cut_short) {
        Status::Inconclusive
    } else {
        Status::AsExpected
    }
}
