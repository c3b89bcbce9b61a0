//! `holdover promote`: from a case to a scenario that is checked from now on.

use std::io::Write;

use super::args::PromoteArguments;
use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use crate::case::{Promoted, promote};
use crate::report::text::deviation_texts;
use crate::scenario::shown_path;
use crate::suite::Suite;

pub(super) fn run(arguments: &PromoteArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let (path, told) = match promote(suite, &arguments.case, &arguments.to)? {
        Promoted::Written(path) => (path, "is a scenario now"),
        Promoted::AlreadyThere(path) => (path, "was there already, and is the same"),
        Promoted::NotAsExpected(deviations) => {
            let texts = deviation_texts(&deviations);
            output.show(|out| {
                writeln!(out, "{}: it doesn't come to what it expects any more", shown_path(&arguments.case))?;
                texts.iter().try_for_each(|text| writeln!(out, "  {text}"))?;
                writeln!(out, "{}", command::replay(suite, &arguments.case.join("scenario.toml"), &[], None))
            })?;
            return Ok(Status::NotAsExpected);
        }
    };
    let next = command::check(suite, &path);
    output.show(|out| {
        writeln!(out, "{} {told}", shown_path(&path))?;
        writeln!(out, "next: read its story, check it, and commit it\n{next}")
    })?;
    Ok(Status::AsExpected)
}
