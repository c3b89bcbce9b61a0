//! `holdover replay`: run a scenario under its protocols and show what happened, side by side.

use std::path::Path;

use tracing::subscriber::NoSubscriber;

use super::args::ReplayArguments;
use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use super::picture::PictureFile;
use super::show::{self, Shown};
use crate::case::Case;
use crate::explore::explain::{BRIEF, Explanation};
use crate::replay::{Replay, protocols_of};
use crate::report::html::Picture;
use crate::scenario::{Scenario, shown_path};
use crate::shown;
use crate::sim::protocol::{self, AnyProtocol};
use crate::sim::seed::Seed;
use crate::suite::Suite;

pub(super) fn run(arguments: &ReplayArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    show::check(&arguments.shown)?;
    let scenario = suite.load(&arguments.file)?;
    let protocols = chosen(&arguments.protocol, &scenario)?;
    tell_of_own(&arguments.file, suite, output)?;
    let picture =
        arguments.shown.report.as_deref().map(|path| PictureFile::at(path, &arguments.file)).transpose()?;
    let replay = Replay::new(&scenario, &protocols, arguments.seed.map_or(scenario.seed, Seed));
    let file = shown_path(&arguments.file);
    let command = command::replay(suite, &arguments.file, &arguments.protocol, arguments.seed);
    let shown = Shown { replay: &replay, file: &file, command: &command };
    let status = show::show(shown, &arguments.shown, output)?;
    if let Some(picture) = picture {
        // Whatever becomes of the picture, the results are told.
        output.flush()?;
        // These runs were logged above.
        let explain = || Explanation::new(&scenario, &protocols, replay.seed, BRIEF);
        let explanation = tracing::subscriber::with_default(NoSubscriber::new(), explain);
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

/// Says of a scenario that was found under a protocol of a program's own that it isn't run under that.
pub(super) fn tell_of_own(path: &Path, suite: &Suite, output: &mut Output) -> Result<(), Failure> {
    match Case::about_scenario(path).filter(|about| about.is_of_own(suite)) {
        Some(about) => {
            let protocol = shown::name(&about.protocol);
            output.aside(&format!("found under {protocol}, a protocol of a program's own, which isn't run here"))
        }
        None => Ok(()),
    }
}

/// The protocols of these names, each once, or those of the scenario.
pub(super) fn chosen(names: &[String], scenario: &Scenario) -> Result<Vec<&'static dyn AnyProtocol>, Failure> {
    if names.is_empty() {
        return Ok(protocols_of(scenario));
    }
    let mut chosen: Vec<&'static dyn AnyProtocol> = Vec::new();
    for name in names {
        let protocol = scenario.suite.find(name).ok_or_else(|| Failure::UnknownProtocol {
            name: shown::name(name),
            help: crate::scenario::did_you_mean(
                name,
                "the protocols are",
                scenario.suite.named().map(|named| named.name()),
            ),
        })?;
        if !protocol::can_run(protocol, &scenario.world) {
            return Err(Failure::UnfitProtocol { name: protocol.name() });
        }
        if !chosen.iter().any(|known| known.name() == protocol.name()) {
            chosen.push(protocol);
        }
    }
    Ok(chosen)
}
