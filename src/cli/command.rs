//! The command that repeats something, ready to be pasted into a shell.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::args::ShrinkArguments;
use super::shrink::Out;
use crate::shown::is_unseen;
use crate::suite::Suite;

/// The command that replays `file` under `protocols` and with `seed`, where they aren't the file's own.
pub(super) fn replay(suite: &Suite, file: &Path, protocols: &[String], seed: Option<u64>) -> String {
    of_runs(suite, "replay", file, protocols, seed)
}

/// The command that explains `file`, likewise.
pub(super) fn explain(suite: &Suite, file: &Path, protocols: &[String], seed: Option<u64>) -> String {
    of_runs(suite, "explain", file, protocols, seed)
}

/// The command that hunts with these options, in the world of `scenario` if there is one.
pub(super) fn hunt(suite: &Suite, scenario: Option<&Path>, options: &[(&str, String)]) -> String {
    let mut command = format!("{} hunt", program(suite));
    scenario.iter().for_each(|path| command += &format!(" {}", quoted(path)));
    options.iter().for_each(|(name, value)| command += &format!(" {name} {value}"));
    command
}

/// The command that shrinks what breaks in `file`, with the options that say what.
pub(super) fn shrink(suite: &Suite, arguments: &ShrinkArguments) -> String {
    let ShrinkArguments { file, protocol, rule, seed, .. } = arguments;
    let mut command = of_runs(suite, "shrink", file, protocol.as_slice(), *seed);
    if let Some(rule) = rule {
        command += &format!(" --rule {rule}");
    }
    command
}

/// The same, and where it goes; whatever it wrote to a file there is replaced when it is repeated.
pub(super) fn shrink_to(suite: &Suite, arguments: &ShrinkArguments, out: &Out<'_>) -> String {
    let out = match out {
        Out::Shown => String::new(),
        Out::Device(path) | Out::Cases(path) => format!(" --out {}", quoted(path)),
        Out::File { path, .. } => format!(" --out {} --force", quoted(path)),
    };
    shrink(suite, arguments) + &out
}

fn of_runs(suite: &Suite, name: &str, file: &Path, protocols: &[String], seed: Option<u64>) -> String {
    let mut command = format!("{} {name} {}", program(suite), quoted(file));
    for protocol in protocols {
        command += &format!(" --protocol {protocol}");
    }
    if let Some(seed) = seed {
        command += &format!(" --seed {seed}");
    }
    command
}

/// The command that checks `file`.
pub(super) fn check(suite: &Suite, file: &Path) -> String {
    format!("{} check {}", program(suite), quoted(file))
}

/// The command that judges `file`, or standard input if it is called `-`.
pub(super) fn judge(suite: &Suite, file: &Path) -> String {
    let file = if file == Path::new("-") { "-".to_owned() } else { quoted(file) };
    format!("{} judge {file}", program(suite))
}

/// The command that was given.
pub(super) fn given(suite: &Suite, arguments: impl Iterator<Item = OsString>) -> String {
    arguments.skip(1).fold(program(suite).to_owned(), |command, argument| command + " " + &word(&argument))
}

/// How the commands of the program begin that knows all that the suite has.
pub(super) fn program(suite: &Suite) -> &str {
    suite.program().unwrap_or("holdover")
}

/// What was called to run this program, as the word that calls it again.
pub(super) fn called(arguments: &mut impl Iterator<Item = OsString>) -> Option<String> {
    arguments.next().filter(|name| !name.is_empty()).map(|name| word(&name))
}

/// What a shell knows this program by: the last part of what was called to run it, unless it is holdover's own.
pub(super) fn name(suite: &Suite, arguments: &mut impl Iterator<Item = OsString>) -> String {
    let is_ours = *suite == Suite::builtin();
    let called = arguments.next().filter(|_| !is_ours).map(PathBuf::from);
    let name = called.as_deref().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| program(suite).to_owned())
}

/// A path as one word for a POSIX shell, on one line and with nothing in it that a terminal obeys or
/// that nobody sees.
fn quoted(path: &Path) -> String {
    let dashed = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    // A path that looks like an option names the same file from here.
    let path = if dashed { Path::new(".").join(path) } else { path.to_owned() };
    word(path.as_os_str())
}

/// Anything as one word for a POSIX shell, likewise.
fn word(text: &OsStr) -> String {
    let plain = text.to_str().filter(|text| !text.chars().any(is_unseen));
    match plain.map(shlex::try_quote) {
        Some(Ok(quoted)) => quoted.into_owned(),
        _ => printed(text.as_encoded_bytes()),
    }
}

/// Has the shell make up the word from escapes, for what can't be written out. (That takes newlines off its end.)
fn printed(bytes: &[u8]) -> String {
    let escaped: String = bytes
        .iter()
        .map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' | b' ' => char::from(*byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
            byte => format!("\\{byte:03o}"),
        })
        .collect();
    format!("\"$(printf '{escaped}')\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word() {
        for (path, quoted) in [
            ("scenarios/incidents/clock-jump.toml", "scenarios/incidents/clock-jump.toml"),
            ("my file.toml", "'my file.toml'"),
            ("it's.toml", "\"it's.toml\""),
            ("-x.toml", "./-x.toml"),
            ("-", "./-"),
            ("--protocol", "./--protocol"),
            ("a$b`c`.toml", "'a$b`c`.toml'"),
            ("a\nb\u{1b}[31m.toml", "\"$(printf 'a\\012b\\033\\13331m.toml')\""),
            ("a\u{202e}lmot.toml", "\"$(printf 'a\\342\\200\\256lmot.toml')\""),
            ("a\u{200b}.toml", "\"$(printf 'a\\342\\200\\213.toml')\""),
            ("größe 日本.toml", "'größe 日本.toml'"),
            ("", "''"),
        ] {
            assert_eq!(super::quoted(Path::new(path)), quoted, "{path:?}");
        }
    }

    #[test]
    fn what_differs_from_the_file_is_in_the_command() {
        let ours = Suite::builtin();
        let protocols = ["naive".to_owned(), "fenced".to_owned()];
        let command = replay(&ours, Path::new("x.toml"), &protocols, Some(9));
        assert_eq!(command, "holdover replay x.toml --protocol naive --protocol fenced --seed 9");
        assert_eq!(replay(&ours, Path::new("x.toml"), &[], None), "holdover replay x.toml");
        assert_eq!(check(&ours, Path::new("x.toml")), "holdover check x.toml");
        let given = ["/bin/holdover", "hunt", "my file.toml", "--out", "x"].map(OsString::from);
        assert_eq!(super::given(&ours, given.into_iter()), "holdover hunt 'my file.toml' --out x");
        let command = explain(&ours, Path::new("x.toml"), &protocols[..1], Some(0));
        assert_eq!(command, "holdover explain x.toml --protocol naive --seed 0");
    }

    #[test]
    fn commands_begin_with_the_program_that_knows_the_suite() {
        let of = |suite: &Suite| check(suite, Path::new("x.toml"));
        assert_eq!(of(&Suite::builtin().of_program("target/debug/mylock")), "target/debug/mylock check x.toml");
        let called = |path: &str| called(&mut [OsString::from(path)].into_iter());
        for (path, word) in
            [("./my lock", Some("'./my lock'")), ("mylock", Some("mylock")), ("-x", Some("-x")), ("", None)]
        {
            assert_eq!(called(path).as_deref(), word, "{path}");
        }
        let name = |suite: &Suite| name(suite, &mut [OsString::from("target/debug/mylock.exe")].into_iter());
        assert_eq!(name(&Suite::builtin()), "holdover");
        assert_eq!(name(&Suite::empty()), "mylock");
    }
}
