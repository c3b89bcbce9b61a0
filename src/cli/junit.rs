//! The file of a JUnit report.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use crate::case::{put_file, try_folder};
use crate::report::junit::{self, TestGroup};

/// A file that a JUnit report will be written to.
pub(super) struct JunitFile {
    path: PathBuf,
}

impl JunitFile {
    /// Tries the file at `path` before anything is run, and makes the folders above it: that it can't be written is then
    /// known at once. A report of an earlier time goes, so that it isn't taken for one of this. It must be none of
    /// `scenarios`.
    pub(super) fn create<'a>(
        path: &Path,
        mut scenarios: impl Iterator<Item = &'a Path>,
    ) -> Result<JunitFile, Failure> {
        if path == Path::new("-") {
            return Err(Failure::JunitToOutput);
        }
        let there = fs::canonicalize(path).ok();
        let is_it = |scenario: &&Path| there.is_some() && fs::canonicalize(scenario).ok() == there;
        if scenarios.any(|scenario| is_it(&scenario)) {
            return Err(Failure::JunitOverScenario { path: path.to_owned() });
        }
        match make_room(path) {
            Ok(()) => Ok(JunitFile { path: path.to_owned() }),
            Err(cause) => Err(Failure::Junit { path: path.to_owned(), cause }),
        }
    }

    /// Writes `suites` into it, all at once: whenever the program is stopped, there is a whole report or none.
    pub(super) fn write(self, suites: &[TestGroup]) -> Result<(), Failure> {
        let mut report = Vec::new();
        let written = junit::write(suites, &mut report)
            .and_then(|()| put_file(&self.path, &String::from_utf8_lossy(&report), true));
        written.map_err(|cause| Failure::Junit { path: self.path, cause })
    }
}

/// Makes room for the file at `path`: the folders above it are there, and it isn't, unless it is a device.
fn make_room(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => File::options().write(true).open(path).map(drop),
        Ok(_) => try_folder(folder).and_then(|()| fs::remove_file(path)),
        Err(_) => try_folder(folder),
    }
}
