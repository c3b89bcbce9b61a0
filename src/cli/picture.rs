//! The file of a picture.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use crate::case::{try_folder, write_file};
use crate::report::html::{self, Picture};
use crate::scenario::shown_path;

/// What a page of ours says of itself, within so many bytes from its beginning.
const OURS: &str = "<meta name=\"generator\" content=\"holdover ";
const HEAD: u64 = 4_096;

/// What a picture is called in a folder.
const NAME: &str = "report.html";

/// Where a picture will be written.
pub(super) struct PictureFile {
    path: PathBuf,
}

impl PictureFile {
    /// The file at `path`, or that in the folder at `path`, which is made if it isn't there. That it can't be written is
    /// mostly known at once, before anything is run. It must not be `scenario`.
    pub(super) fn at(path: &Path, scenario: &Path) -> Result<PictureFile, Failure> {
        if path == Path::new("-") {
            return Err(Failure::PictureToOutput);
        }
        let path = if is_page(path) { path.to_owned() } else { in_folder(path)? };
        if path.is_dir() {
            return Err(Failure::PictureOverFolder { path });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::PictureInNoFolder { folder: folder.to_owned(), path });
        }
        let there = fs::canonicalize(&path).ok();
        if there.is_some() && fs::canonicalize(scenario).ok() == there {
            return Err(Failure::PictureOverScenario { path });
        }
        if path.is_file() && !is_ours(&path) {
            return Err(Failure::PictureOverOther { path });
        }
        try_folder(folder).map_err(|cause| Failure::Unwritable { path: path.clone(), cause })?;
        Ok(PictureFile { path })
    }

    /// Writes `picture` in place of what is there, all of it at once.
    pub(super) fn write(&self, picture: Picture<'_>) -> Result<(), Failure> {
        let mut page = Vec::new();
        html::write(picture, &mut page)?;
        Ok(write_file(&self.path, &String::from_utf8_lossy(&page))?)
    }

    /// Where it is, as it is told.
    pub(super) fn shown(&self) -> String {
        format!("the picture is in {}", shown_path(&self.path))
    }
}

/// Whether the file at `path` is a page of an earlier time, which may be replaced, or has nothing in it.
fn is_ours(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut begin));
    let says_so = || begin.windows(OURS.len()).any(|bytes| bytes == OURS.as_bytes());
    read.is_ok() && (begin.is_empty() || says_so())
}

fn is_page(path: &Path) -> bool {
    let is = |wanted: &str| {
        path.extension().and_then(OsStr::to_str).is_some_and(|end| end.eq_ignore_ascii_case(wanted))
    };
    is("html") || is("htm")
}

/// The picture's place in the folder at `path`.
fn in_folder(path: &Path) -> Result<PathBuf, Failure> {
    if path.exists() && !path.is_dir() {
        return Err(Failure::PictureName { path: path.to_owned() });
    }
    fs::create_dir_all(path).map_err(|cause| Failure::Unwritable { path: path.to_owned(), cause })?;
    Ok(path.join(NAME))
}
