//! Where what was shrunk goes: to stdout, to a file, or as cases into a folder. That is tried before anything is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::case::{Case, CaseError, Find, put_file, try_folder, write_file};
use crate::cli::args::ShrinkArguments;
use crate::cli::exit::Failure;

/// Where it goes.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) enum Out<'a> {
    /// To stdout.
    Shown,
    /// To what is neither a file nor a folder, such as a terminal.
    Device(&'a Path),
    /// To a file.
    File {
        /// Its path.
        path: &'a Path,
        /// Whether one that is there is replaced.
        replaces: bool,
    },
    /// Into this folder: whatever isn't called like a scenario file.
    Cases(&'a Path),
}

impl<'a> Out<'a> {
    /// What is asked for.
    pub(super) fn of(arguments: &'a ShrinkArguments) -> Out<'a> {
        let Some(path) = arguments.out.as_deref() else { return Out::Shown };
        if path.metadata().is_ok_and(|there| !there.is_dir() && !there.is_file()) {
            return Out::Device(path);
        }
        match path.extension().is_some_and(|extension| extension == "toml") {
            true => Out::File { path, replaces: arguments.force },
            false => Out::Cases(path),
        }
    }

    /// Sees that it can be written there, and that no file goes that is to stay: what is shrunk is `input`.
    pub(super) fn try_it(self, input: &Path) -> Result<(), Failure> {
        let (path, folder) = match self {
            Out::Shown | Out::Device(_) => return Ok(()),
            Out::File { path, .. } => {
                (path, path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            }
            Out::Cases(path) => (path, path),
        };
        let unwritable = |cause| Failure::Unwritable { path: path.to_owned(), cause };
        if let Out::File { replaces, .. } = self {
            let there = fs::canonicalize(path).ok();
            if there.is_some() && fs::canonicalize(input).ok() == there {
                return Err(Failure::OverItself { path: path.to_owned() });
            }
            if !replaces && fs::symlink_metadata(path).is_ok() {
                return Err(Failure::FileThere { path: path.to_owned() });
            }
            // No folder is made for a file.
            fs::metadata(folder).map_err(unwritable)?;
        }
        try_folder(folder).map_err(unwritable)
    }

    /// Writes what was found, of which `text` is the scenario; gives the path, if it has one.
    pub(super) fn write(self, find: Find<'_>, text: &str) -> Result<Option<PathBuf>, Failure> {
        match self {
            Out::Shown => Ok(None),
            Out::Cases(folder) => Ok(Some(Case::new(find)?.write(folder)?)),
            Out::Device(path) => {
                write_file(path, text)?;
                Ok(Some(path.to_owned()))
            }
            Out::File { path, replaces } => match put_file(path, text, replaces) {
                Ok(()) => Ok(Some(path.to_owned())),
                // Somebody else was there meanwhile.
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                    Err(Failure::FileThere { path: path.to_owned() })
                }
                Err(cause) => Err(CaseError::NotWritten { path: path.to_owned(), cause }.into()),
            },
        }
    }

    /// Whether several scenarios have room there.
    pub(super) fn takes_many(self) -> bool {
        matches!(self, Out::Cases(_))
    }
}
