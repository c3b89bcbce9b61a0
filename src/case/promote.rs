//! From a case to a scenario that is checked from then on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::place::put_file;
use super::{Case, CaseError};
use crate::replay::{Deviation, Replay};
use crate::scenario::shown_path;
use crate::suite::Suite;

/// What became of a case that was to be promoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promoted {
    /// It is a scenario now.
    Written(PathBuf),
    /// It was one already, and the same.
    AlreadyThere(PathBuf),
    /// It isn't one: what it expects isn't what comes out any more. It was found by another version, or mended since.
    NotAsExpected(Vec<Deviation>),
}

/// Makes a scenario in `folder` of the case in the folder at `path`, with the expectations that it has, if its runs still
/// come to that; its protocol is one of `suite`. The folder is made if it isn't there.
///
/// # Errors
/// If the case can't be read or isn't of a protocol that scenario files know, if there is another scenario of its name, or
/// if it can't be written.
pub fn promote(suite: &Suite, path: &Path, folder: &Path) -> Result<Promoted, CaseError> {
    let case = Case::read(path)?;
    if case.about.is_of_own(suite) {
        return Err(CaseError::UnknownProtocol { path: path.to_owned(), protocol: case.about.protocol });
    }
    let scenario = suite.parse(&shown_path(&path.join(super::folder::SCENARIO)), &case.scenario)?;
    let deviations = Replay::of(&scenario).deviations();
    if !deviations.is_empty() {
        return Ok(Promoted::NotAsExpected(deviations));
    }
    let place = folder.join(case.name() + ".toml");
    fs::create_dir_all(folder).map_err(CaseError::not_written(folder))?;
    match put_file(&place, &case.scenario, false) {
        Ok(()) => Ok(Promoted::Written(place)),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            let there = fs::read(&place).map_err(CaseError::not_read(&place))?;
            match there == case.scenario.as_bytes() {
                true => Ok(Promoted::AlreadyThere(place)),
                false => Err(CaseError::Different { path: place }),
            }
        }
        Err(cause) => Err(CaseError::NotWritten { path: place, cause }),
    }
}
