//! What can go wrong with cases.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

use crate::scenario::{ScenarioError, shown_path};

/// Why a case can't be written, read or promoted.
#[derive(Debug, Error, Diagnostic)]
pub enum CaseError {
    /// A file or folder can't be written. What was there before still is.
    #[error("{}: can't be written", shown_path(path))]
    #[diagnostic(help("is there room, and may you write there? Nothing that was there was changed"))]
    NotWritten {
        /// Which.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        cause: io::Error,
    },
    /// There is something else where a case is to be written.
    #[error("{}: there is something that isn't a case", shown_path(path))]
    #[diagnostic(help("move it away, or write the case somewhere else"))]
    Occupied {
        /// Where.
        path: PathBuf,
    },
    /// A file of a case can't be read.
    #[error("{}: can't be read", shown_path(path))]
    #[diagnostic(help("a case is a folder with scenario.toml, case.json and some more files"))]
    NotRead {
        /// Which.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        cause: io::Error,
    },
    /// `case.json` isn't what it should be.
    #[error("{}: not a case", shown_path(path))]
    NotACase {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: serde_json::Error,
    },
    /// The scenario of a case isn't one.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Scenario(#[from] ScenarioError),
    /// A case is one of a protocol that no scenario file knows.
    #[error("{}: a case of the protocol `{protocol}`, which no scenario file knows", shown_path(path))]
    #[diagnostic(help(
        "a scenario says nothing of it; keep the case beside the tests of the program that has it"
    ))]
    UnknownProtocol {
        /// The case.
        path: PathBuf,
        /// The protocol.
        protocol: String,
    },
    /// There is another scenario where a case is to be promoted to.
    #[error("{}: there is another scenario", shown_path(path))]
    #[diagnostic(help("compare both; to have this one in its place, remove that one first"))]
    Different {
        /// Where.
        path: PathBuf,
    },
}

impl CaseError {
    pub(super) fn not_written(path: &Path) -> impl FnOnce(io::Error) -> CaseError {
        move |cause| CaseError::NotWritten { path: path.to_owned(), cause }
    }

    pub(super) fn not_read(path: &Path) -> impl FnOnce(io::Error) -> CaseError {
        move |cause| CaseError::NotRead { path: path.to_owned(), cause }
    }
}
