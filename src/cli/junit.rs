//! The file of a JUnit report.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::exit::Failure;
use crate::report::junit::{self, Suite};

/// A file that a JUnit report will be written to.
pub(super) struct JunitFile {
    path: PathBuf,
    file: File,
}

impl JunitFile {
    /// Makes the file at `path`, with the folders above it, before anything is run: that it can't be written is then
    /// known at once, and a report of an earlier time isn't taken for one of this. It must be none of `scenarios`.
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
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let made = folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(path));
        match made {
            Ok(file) => Ok(JunitFile { path: path.to_owned(), file }),
            Err(cause) => Err(Failure::Junit { path: path.to_owned(), cause }),
        }
    }

    /// Writes `suites` into it.
    pub(super) fn write(mut self, suites: &[Suite]) -> Result<(), Failure> {
        let mut report = Vec::new();
        let written = junit::write(suites, &mut report).and_then(|()| self.write_all(&report));
        written.map_err(|cause| Failure::Junit { path: self.path, cause })
    }

    fn write_all(&mut self, report: &[u8]) -> io::Result<()> {
        self.file.write_all(report)?;
        self.file.flush()
    }
}
