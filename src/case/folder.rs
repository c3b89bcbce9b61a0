//! A case's folder: which files there are, and what each has.

use std::fs;
use std::path::{Path, PathBuf};

use super::place::put_folder;
use super::{About, Case, CaseError};

/// The small scenario.
pub(crate) const SCENARIO: &str = "scenario.toml";
/// The scenario that it was found in.
pub(crate) const ORIGINAL: &str = "original.toml";
const HISTORY: &str = "history.jsonl";
const REPORT: &str = "report.txt";
const EXPLANATION: &str = "explanation.txt";
const PICTURE: &str = "report.html";
/// What the case is. A folder without it isn't one.
pub(crate) const ABOUT: &str = "case.json";

impl Case {
    /// Writes the case as a folder of its [name](Case::name) in `folder`, which is made if it isn't there; gives the path. A
    /// case of that name that is there is replaced. Whenever the program is stopped, there is a whole case or none.
    ///
    /// # Errors
    /// If it can't be written, or there is something else in its place. Nothing that was there is changed then.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, CaseError> {
        let (name, about) = (self.name(), self.about_text());
        let place = folder.join(&name);
        if fs::symlink_metadata(&place).is_ok() && !place.join(ABOUT).is_file() {
            return Err(CaseError::Occupied { path: place });
        }
        let mut files = vec![
            (SCENARIO, self.scenario.as_str()),
            (HISTORY, &self.history),
            (REPORT, &self.report),
            (EXPLANATION, &self.explanation),
            (ABOUT, &about),
        ];
        files.extend(self.original.as_deref().map(|original| (ORIGINAL, original)));
        files.extend(self.picture.as_deref().map(|picture| (PICTURE, picture)));
        put_folder(folder, &name, &files).map_err(CaseError::not_written(&place))?;
        Ok(place)
    }

    /// Reads the case in the folder at `path`.
    ///
    /// # Errors
    /// If a file of it can't be read, or isn't what it should be. That `scenario.toml` is a scenario isn't looked at.
    pub fn read(path: &Path) -> Result<Case, CaseError> {
        let text = |name: &str| {
            let path = path.join(name);
            fs::read_to_string(&path).map_err(CaseError::not_read(&path))
        };
        let about: About = serde_json::from_str(&text(ABOUT)?)
            .map_err(|cause| CaseError::NotACase { path: path.join(ABOUT), cause })?;
        Ok(Case {
            about,
            scenario: text(SCENARIO)?,
            original: if path.join(ORIGINAL).exists() { Some(text(ORIGINAL)?) } else { None },
            picture: if path.join(PICTURE).exists() { Some(text(PICTURE)?) } else { None },
            history: text(HISTORY)?,
            report: text(REPORT)?,
            explanation: text(EXPLANATION)?,
        })
    }

    /// What the case is whose scenario is the file at `path`, if it is one's.
    pub(crate) fn about_scenario(path: &Path) -> Option<About> {
        path.file_name().filter(|name| *name == SCENARIO)?;
        serde_json::from_str(&fs::read_to_string(path.with_file_name(ABOUT)).ok()?).ok()
    }

    fn about_text(&self) -> String {
        serde_json::to_string_pretty(&self.about).expect("names and numbers can be written") + "\n"
    }
}
