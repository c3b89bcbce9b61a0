//! Puts a file or a folder into its place at once: until it is there whole, what was there before is.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::CaseError;

/// Writes `text` to the file at `path`, in place of what is there.
///
/// # Errors
/// If it can't be written; then what was there before still is.
pub fn write_file(path: &Path, text: &str) -> Result<(), CaseError> {
    put_file(path, text, true).map_err(CaseError::not_written(path))
}

/// Sees that there is room for what will be written below `folder`, which may not be there yet; leaves nothing there.
///
/// # Errors
/// If nothing can be written there.
pub(crate) fn try_folder(folder: &Path) -> io::Result<()> {
    let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.symlink_metadata().is_ok();
    let nearest = folder.ancestors().find(is_there).unwrap_or(folder);
    let nearest = if nearest.as_os_str().is_empty() { Path::new(".") } else { nearest };
    let mut file = in_the_making().tempfile_in(nearest)?;
    file.write_all(&[b'\n'; ROOM])?;
    // Whether there is room on a disk is only known when it is written.
    file.as_file().sync_all()
}

/// How many bytes are tried. That so many have room says nothing of more, but a disk is mostly full to the last block.
const ROOM: usize = 1 << 16;

/// Writes a file; `false` refuses to do it where one is, with [`io::ErrorKind::AlreadyExists`].
pub(crate) fn put_file(path: &Path, text: &str, replaces: bool) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Whatever isn't a file, such as a terminal, is written to as it is.
    if replaces && fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return File::options().write(true).open(path)?.write_all(text.as_bytes());
    }
    let mut making = in_the_making();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any file has them; the umask takes away what it does.
        making.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = making.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match replaces {
        true => file.persist(path).map_err(|error| error.error)?,
        false => file.persist_noclobber(path).map_err(|error| error.error)?,
    };
    Ok(())
}

/// Makes the folder `folder/name` with `files` in it, by name and text. One that is there is replaced.
pub(super) fn put_folder(folder: &Path, name: &str, files: &[(&str, &str)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let making = in_the_making().tempdir_in(folder)?;
    for (name, text) in files {
        let mut file = File::create_new(making.path().join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    let place = folder.join(name);
    // A folder can't take the place of one with something in it, so that one goes aside first.
    if place.exists() {
        let aside = in_the_making().tempdir_in(folder)?;
        fs::rename(&place, aside.path().join(name))?;
        if let Err(error) = fs::rename(making.path(), &place) {
            if fs::rename(aside.path().join(name), &place).is_err() {
                // Better in the wrong place than gone.
                let _kept = aside.keep();
            }
            return Err(error);
        }
    } else {
        fs::rename(making.path(), &place)?;
    }
    // It is in its place, so there is nothing left to clean up.
    let _moved = making.keep();
    Ok(())
}

/// What the names of files and folders begin and end with that aren't whole yet.
const MAKING: (&str, &str) = (".holdover-", ".new");

/// What is being written has a name that begins with a dot, and goes away if it fails.
fn in_the_making() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(MAKING.0).suffix(MAKING.1);
    builder
}

/// Whether what has this name isn't whole yet, or never will be: whoever wrote it may have been killed.
pub(crate) fn is_in_the_making(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(MAKING.0.as_bytes()) && name.ends_with(MAKING.1.as_bytes())
}

/// Removes what was left in `folder` by whoever was killed. Nobody else may be writing there.
///
/// # Errors
/// If the folder can't be listed, or something in it can't be removed.
pub(crate) fn clear_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_in_the_making(&entry.file_name()) {
            let remove = if entry.file_type()?.is_dir() { fs::remove_dir_all } else { fs::remove_file };
            remove(&entry.path())?;
        }
    }
    Ok(())
}
