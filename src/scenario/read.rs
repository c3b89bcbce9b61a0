//! Reading a file that may not be what its name says: never more than the limit, and only regular files, so that a pipe
//! or an endless device can't hang the program.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::FileError;
use super::{MAX_BYTES, MAX_LINE_BYTES, shown_path};

/// How stored histories begin.
const HISTORY: &[u8] = b"{\"line\":\"run\",";

/// The text of the file at `path`.
pub(super) fn text_of(path: &Path) -> Result<String, FileError> {
    let name = shown_path(path);
    if name == "-" {
        return Err(FileError::StandardInput);
    }
    let bytes = bytes_of(path, &name)?;
    String::from_utf8(bytes)
        .map_err(|error| FileError::NotUtf8 { path: name, at: error.utf8_error().valid_up_to() })
}

fn bytes_of(path: &Path, name: &str) -> Result<Vec<u8>, FileError> {
    let failed = |cause: std::io::Error| match cause.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileError::Missing { path: name.to_owned() },
        ErrorKind::PermissionDenied => FileError::Forbidden { path: name.to_owned() },
        _ => FileError::Unreadable { path: name.to_owned(), cause },
    };
    // Looked at before it is opened, because opening a pipe waits for somebody to write into it.
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(FileError::Folder { path: name.to_owned() });
    }
    if !metadata.is_file() {
        return Err(FileError::NotRegular { path: name.to_owned() });
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HISTORY.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
    if bytes == HISTORY {
        return Err(FileError::History { path: name.to_owned() });
    }
    let too_large = || FileError::TooLarge { path: name.to_owned() };
    if metadata.len() > MAX_BYTES {
        return Err(too_large());
    }
    // The file may grow meanwhile, and the kernel's own files claim to be empty, so the limit is kept while reading too.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Refuses what can't be a scenario whatever the parser would say: nothing at all, characters that TOML forbids
/// everywhere, and endless lines. The last two would reach the terminal with an error's excerpt: it obeys some control
/// characters, and miette panics on a label beyond column 65,535, which a line of tabs reaches at a quarter of that.
pub(super) fn check_text(name: &str, text: &str) -> Result<(), FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (i, line) in text.lines().enumerate() {
        if let Some(control) = line.chars().find(|c| c.is_control() && *c != '\t') {
            return Err(FileError::ControlCharacter {
                path: name.to_owned(),
                code: u32::from(control),
                line: i + 1,
            });
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(FileError::LongLine { path: name.to_owned(), line: i + 1 });
        }
    }
    if text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#')) {
        return Err(FileError::Empty { path: name.to_owned() });
    }
    Ok(())
}
