//! Running the command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The incident, as the repository has it.
pub(crate) const CLOCK_JUMP: &str = "scenarios/incidents/clock-jump.toml";

/// A scenario in which all goes well, under both protocols.
pub(crate) const QUIET: &str = r#"title = "Nothing happens"
start = 2026-01-15T01:59:30Z

[lease]
ttl = "40s"
renew_every = "10s"

[job]
operations = 3

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
"#;

/// What came of a command.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// What came of it, if it was all text.
    pub(crate) fn of(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("all that is printed is UTF-8");
        Ran {
            status: output.status.code().expect("it ended by itself"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The same, after seeing that it ended with `status`.
    #[track_caller]
    pub(crate) fn ended(self, status: i32) -> Ran {
        let Ran { status: found, stdout, stderr } = &self;
        assert_eq!(*found, status, "stdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }

    /// The last line of the results.
    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    /// The results as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).expect("the results are one JSON document")
    }
}

/// The command, with nothing in its environment that it listens to, in the folder of the repository.
pub(crate) fn holdover() -> Command {
    clean(Command::new(env!("CARGO_BIN_EXE_holdover")))
}

/// Runs the command with `arguments`.
pub(crate) fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ran {
    Ran::of(holdover().args(arguments).output().expect("the command was built"))
}

/// Runs the command with `arguments`, which have no blanks in them.
pub(crate) fn run_line(arguments: &str) -> Ran {
    run(arguments.split_whitespace())
}

/// A POSIX shell that has the command on its path and runs `script` in `folder`.
pub(crate) fn shell(script: &str, folder: &Path) -> Ran {
    let binary = Path::new(env!("CARGO_BIN_EXE_holdover"));
    let mut paths = vec![binary.parent().expect("a binary is in a folder").to_owned()];
    paths.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    let path = std::env::join_paths(paths).expect("the parts of a path can be joined");
    let mut shell = clean(Command::new("sh"));
    Ran::of(shell.args(["-c", script]).env("PATH", path).current_dir(folder).output().expect("there is a shell"))
}

fn clean(mut command: Command) -> Command {
    for variable in ["RUST_LOG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM", "CI"] {
        command.env_remove(variable);
    }
    for variable in ["GITHUB_ACTIONS", "GITHUB_WORKSPACE"] {
        command.env_remove(variable);
    }
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command
}

/// A folder of the test's own with `files` in it, by name and text.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    folder
}

/// A scenario file of the test's own: [`QUIET`] and `more` of it, which are tables.
pub(crate) fn scenario(more: &str) -> (TempDir, PathBuf) {
    let folder = folder(&[("scenario.toml", &format!("{QUIET}\n{more}"))]);
    let path = folder.path().join("scenario.toml");
    (folder, path)
}

/// The incident with a naive protocol that is expected to be safe, which it isn't.
pub(crate) fn wrong_expectation() -> String {
    let text = std::fs::read_to_string(CLOCK_JUMP).expect("the incident is there");
    text.replacen("single-writer = \"violated\"", "single-writer = \"holds\"", 1)
}

/// A folder `mixed` with a file for each thing that a check can come to.
pub(crate) fn mixed() -> TempDir {
    let wrong = wrong_expectation();
    let bound = QUIET.replacen("\n\n[lease]", "\nsteps = 50\n\n[lease]", 1);
    folder(&[
        ("mixed/bound.toml", bound.as_str()),
        ("mixed/good.toml", QUIET),
        ("mixed/invalid/accepted.toml", QUIET),
        ("mixed/invalid/deeper/refused.toml", "title = 1"),
        ("mixed/invalid/refused.toml", "title = 1"),
        ("mixed/notes.txt", "not a scenario"),
        ("mixed/unusable.toml", "title = 1"),
        ("mixed/wrong.toml", &wrong),
    ])
}

/// Snapshots `text` under `name`, in the folder of these tests.
macro_rules! snapshot {
    ($name:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots/cli");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, crate::redact::redacted($text)));
    }};
}
pub(crate) use snapshot;
