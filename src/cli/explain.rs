//! `holdover explain`: why what broke in a scenario broke.

use std::io::{IsTerminal, Write, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::{ExplainArguments, Format};
use super::command;
use super::exit::{Failure, Status};
use super::interrupt;
use super::output::Output;
use super::picture::PictureFile;
use super::replay::{chosen, tell_of_own};
use crate::explore::Spent;
use crate::explore::explain::{BUDGET, Explained, Explanation, Watch};
use crate::replay::JudgedRun;
use crate::report::explain::{json, so_far, text};
use crate::report::html::Picture;
use crate::scenario::shown_path;
use crate::sim::limits::Ending;
use crate::sim::seed::Seed;
use crate::suite::Suite;

/// Shows on a terminal how far an explanation is, and ends it when somebody interrupts it.
struct Watcher(Option<ProgressBar>);

impl Watcher {
    fn new() -> Result<Watcher, Failure> {
        interrupt::listen()?;
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template("{elapsed_precise} {spinner} {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        Ok(Watcher(bar))
    }

    /// Takes the progress off the screen.
    fn finish(self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Watch for Watcher {
    fn ran(&self, protocol: &str, doing: &str, spent: Spent) {
        let Some(bar) = &self.0 else { return };
        bar.set_message(so_far(protocol, doing, spent, BUDGET));
        bar.tick();
    }

    fn is_over(&self) -> bool {
        interrupt::came()
    }
}

pub(super) fn run(arguments: &ExplainArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let scenario = suite.load(&arguments.file)?;
    let protocols = chosen(&arguments.protocol, &scenario)?;
    tell_of_own(&arguments.file, suite, output)?;
    let picture = arguments.report.as_deref().map(|path| PictureFile::at(path, &arguments.file)).transpose()?;
    let seed = arguments.seed.map_or(scenario.seed, Seed);
    let watcher = Watcher::new()?;
    let explanation = Explanation::watched(&scenario, &protocols, seed, BUDGET, &watcher);
    watcher.finish();
    let file = shown_path(&arguments.file);
    let command = command::explain(suite, &arguments.file, &arguments.protocol, arguments.seed);
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
        // Whatever becomes of the picture, the results are told.
        output.flush()?;
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
    let is_bug = |run: &JudgedRun| !run.repeats || !run.bugs.is_empty();
    if explanation.replay.runs.iter().any(is_bug) {
        return Status::Bug;
    }
    let cut_short = |(run, explained): (&JudgedRun, &Explained)| {
        explained.stopped
            || explained.spent.used_up
            || explained.spent.panicked > 0
            || run.history.ending == Ending::StepsUsedUp
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
