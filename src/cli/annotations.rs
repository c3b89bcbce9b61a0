//! Whether annotations are wanted, and what they call a file.

use std::env;
use std::path::{Path, PathBuf};

use super::args::AnnotateFor;
use crate::scenario::shown_path;

/// Whether annotations are to be written: as the command line says, or if this is a step of GitHub Actions.
pub(super) fn are_wanted(whom: AnnotateFor) -> bool {
    match whom {
        AnnotateFor::Auto => env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
        AnnotateFor::Github => true,
        AnnotateFor::None => false,
    }
}

/// The file at `path` as annotations call it: from the root of the repository, which is GITHUB_WORKSPACE or else the
/// current directory. One that isn't below that is called what it was given as.
pub(super) fn file_name(path: &Path) -> String {
    let root = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from).or_else(|| env::current_dir().ok());
    let below = |root: PathBuf| {
        let whole = std::path::absolute(path).ok()?;
        Some(whole.strip_prefix(root).ok()?.to_owned())
    };
    shown_path(root.and_then(below).as_deref().unwrap_or(path))
}
