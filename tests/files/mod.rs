//! The project's own files, for tests that read them.

use std::fs;
use std::path::Path;

/// The files below `folder` whose names end in `ending`, as paths from the repository's root, in order. A folder that
/// isn't there has none.
pub(crate) fn below(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(folder, ending, &mut found);
    found.sort();
    found
}

fn walk(folder: &str, ending: &str, found: &mut Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.map(|entry| entry.expect("a readable entry")) {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().expect("a type").is_dir() {
            // What cargo builds is nobody's work.
            true if entry.file_name() == "target" => {}
            true => walk(&path, ending, found),
            false if path.ends_with(ending) => found.push(path),
            false => {}
        }
    }
}

/// The text of the file at `path`, from the repository's root.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}
