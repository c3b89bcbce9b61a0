//! The folder that a hunt keeps its finds in: a case for each failure, and `hunt.json` with all that was found.
//!
//! A failure is written as a scenario as soon as it is found, so a hunt that is killed loses none. When the hunt is over, its
//! smallest form takes that scenario's place, with all that is told of it. Files are written beside their place and moved
//! there, so none is ever there in half.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::case::{Case, clear_leftovers, put_file, try_folder};
use crate::cli::exit::Failure;
use crate::explore::hunt::{Failure as Found, Findings, Hunt};
use crate::scenario::Scenario;
use crate::sim::panics;

/// What all that was found is in.
const FINDINGS: &str = "hunt.json";

/// The folder.
pub(in crate::cli) struct Folder {
    path: PathBuf,
    /// Nobody else writes there while it is open; the operating system lets go of it when the program ends, however it does.
    _lock: File,
    /// The names of the failures that are in it.
    kept: Mutex<BTreeSet<String>>,
}

impl Folder {
    /// The folder at `path`, which is made if it isn't there. One that has the finds of a hunt is left as it is.
    pub(in crate::cli) fn create(path: &Path) -> Result<Folder, Failure> {
        fs::create_dir_all(path).map_err(|cause| unwritable(path, cause))?;
        let lock = lock(path)?;
        if path.join(FINDINGS).exists() {
            return Err(Failure::FolderTaken { path: path.to_owned() });
        }
        // What can't be written is better known before hours of hunting than after.
        let folder = Folder { path: path.to_owned(), _lock: lock, kept: Mutex::default() };
        clear_leftovers(path).and_then(|()| try_folder(path)).map_err(|cause| unwritable(path, cause))?;
        Ok(folder)
    }

    /// Where the scenario of a failure is: in its case, or alone if there is none.
    pub(in crate::cli) fn scenario_of(&self, failure: &Found) -> PathBuf {
        scenario_in(&self.path, failure)
    }

    /// Writes the failures that aren't there yet.
    pub(super) fn keep_new(&self, hunt: &Hunt<'_>, findings: &Findings) -> Result<(), Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for failure in &findings.failures {
            if kept.insert(failure.name()) {
                self.keep_one(hunt, failure)?;
            }
        }
        Ok(())
    }

    /// Writes all that was found, each failure as a case; `command` says what finds it again. What was written before may
    /// have had another seed as its example.
    pub(super) fn keep(
        &self,
        hunt: &Hunt<'_>,
        findings: &Findings,
        command: impl Fn(&Found) -> String + Sync,
    ) -> Result<(), Failure> {
        let next = AtomicUsize::new(0);
        let keep_next = || -> Result<(), Failure> {
            while let Some(failure) = findings.failures.get(next.fetch_add(1, Ordering::Relaxed)) {
                // A bug of ours in shrinking or explaining is told at the end, and takes no find with it.
                match panics::catch(|| hunt.case_of(failure, &command(failure))) {
                    Ok(Ok(Some(case))) => {
                        case.write(&self.path)?;
                        let alone = self.path.join(file_name(failure));
                        fs::remove_file(&alone).map_err(|cause| unwritable(&alone, cause))?;
                    }
                    Ok(Ok(None) | Err(_)) | Err(_) => self.keep_one(hunt, failure)?,
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let crew: Vec<_> = (0..hunt.threads().get()).map(|_| scope.spawn(keep_next)).collect();
            crew.into_iter().try_for_each(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })?;
        self.keep_findings(findings)
    }

    /// Writes what was found, without the scenarios.
    pub(in crate::cli) fn keep_findings(&self, findings: &Findings) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(findings).map_err(io::Error::from);
        self.write(FINDINGS, &(json.map_err(|cause| unwritable(&self.path, cause))? + "\n"))
    }

    /// Takes a failure over from the folder of another hunt, found as often as it says.
    pub(in crate::cli) fn copy_from(&self, other: &Path, failure: &Found) -> Result<(), Failure> {
        let case = other.join(failure.name());
        if case.is_dir() {
            let mut case = Case::read(&case)?;
            case.about.found = failure.seeds;
            case.write(&self.path)?;
            return Ok(());
        }
        let from = other.join(file_name(failure));
        let text =
            fs::read_to_string(&from).map_err(|cause| Failure::Findings { path: from, why: cause.to_string() })?;
        self.write(&file_name(failure), &text)
    }

    fn keep_one(&self, hunt: &Hunt<'_>, failure: &Found) -> Result<(), Failure> {
        let mut scenario = hunt.scenario_of(failure.example.seed, &failure.protocol);
        scenario.title = format!("{} (found by a hunt)", failure.cause);
        let text = text_of(&scenario, failure);
        self.write(&file_name(failure), &text)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let place = self.path.join(name);
        put_file(&place, text, true).map_err(|cause| unwritable(&place, cause))
    }
}

/// Has the folder at `path` for this program alone, as long as what it gives is open.
fn lock(path: &Path) -> Result<File, Failure> {
    // A folder can be locked itself, so nothing is left in it; where that isn't so, a file in it is.
    let opened = if cfg!(unix) { File::open(path) } else { File::create(path.join(".holdover.lock")) };
    let file = opened.map_err(|cause| unwritable(path, cause))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::FolderInUse { path: path.to_owned() }),
        // A file system without locks is still one to write to.
        Err(TryLockError::Error(cause)) if cause.kind() != io::ErrorKind::Unsupported => {
            Err(unwritable(path, cause))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Where the scenario of a failure is in the folder of a hunt.
pub(in crate::cli) fn scenario_in(folder: &Path, failure: &Found) -> PathBuf {
    let case = folder.join(failure.name());
    if case.is_dir() { case.join("scenario.toml") } else { folder.join(file_name(failure)) }
}

fn file_name(failure: &Found) -> String {
    format!("{}.toml", failure.name())
}

/// The scenario as a file; one that no file can say is told with its seed, from which it can be drawn again.
fn text_of(scenario: &Scenario, failure: &Found) -> String {
    let seed = failure.example.seed;
    match scenario.to_toml() {
        Ok(text) => format!("# {}, under {}: found with seed {seed}\n{text}", failure.cause, failure.protocol),
        Err(refused) => format!("# seed {seed} of the hunt, which no file can say: {refused}\n"),
    }
}

/// What the hunt in the folder at `path` found.
pub(in crate::cli) fn read(path: &Path) -> Result<Findings, Failure> {
    let file = path.join(FINDINGS);
    let wrong = |why: String| Failure::Findings { path: file.clone(), why };
    let text = fs::read_to_string(&file).map_err(|cause| wrong(cause.to_string()))?;
    serde_json::from_str(&text).map_err(|cause| wrong(cause.to_string()))
}

fn unwritable(path: &Path, cause: io::Error) -> Failure {
    Failure::Unwritable { path: path.to_owned(), cause }
}
