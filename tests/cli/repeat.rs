//! The last line of a failure is the command that repeats it, whatever the path.

use std::path::Path;

use crate::support::{CLOCK_JUMP, QUIET, folder, shell};

/// What a scenario fails with, by status.
fn failing(status: i32) -> String {
    match status {
        1 => format!("{QUIET}\n[expect.fenced]\nsingle-writer = \"violated\"\n"),
        _ => format!("{QUIET}\n[expect.fenced]\nseen = [\"belief-overlap\"]\n"),
    }
}

#[test]
fn the_last_line_repeats_a_failure() {
    for status in [1, 3] {
        for name in [
            "plain.toml",
            "with space.toml",
            "it's.toml",
            "\"quoted\".toml",
            "-dash.toml",
            "--protocol",
            "-",
            "$HOME `id` $(id).toml",
            "back\\slash.toml",
            "ünïcode 日本.toml",
            "new\nline.toml",
            "\u{1b}[31mred.toml",
            "*.toml",
            "~",
            "#.toml",
        ] {
            let folder = folder(&[(name, &failing(status))]);
            for command in ["replay", "check"] {
                let first = shell_with(&format!("holdover {command} \"$1\""), name, folder.path()).ended(status);
                let last = first.last_line();
                assert!(last.starts_with("holdover "), "{name:?}: {last}");
                assert!(!first.stdout.contains('\u{1b}'), "{name:?} doesn't reach a terminal");
                let second = shell(last, folder.path()).ended(status);
                assert_eq!(second.last_line(), last, "{name:?}");
                if command == "replay" && !name.starts_with('-') {
                    assert_eq!(second.stdout, first.stdout, "{name:?}");
                }
            }
        }
    }
}

/// Runs `script` with `argument` as its `$1`; one that looks like an option is given with its folder.
fn shell_with(script: &str, argument: &str, folder: &Path) -> crate::support::Ran {
    let argument = if argument.starts_with('-') { format!("./{argument}") } else { argument.to_owned() };
    let quoted = format!("'{}'", argument.replace('\'', r"'\''"));
    shell(&format!("set -- {quoted}; {script}"), folder)
}

#[test]
fn the_options_are_repeated_too() {
    let folder = folder(&[("x.toml", &failing(1))]);
    let ran = shell("holdover replay --seed 3 --protocol fenced x.toml", folder.path()).ended(1);
    assert_eq!(ran.last_line(), "holdover replay x.toml --protocol fenced --seed 3");
}

#[test]
fn for_programs_the_command_is_beside_the_results() {
    let folder = folder(&[("x.toml", &failing(1))]);
    for format in ["json", "jsonl"] {
        let ran = shell(&format!("holdover replay x.toml --format {format}"), folder.path()).ended(1);
        assert_eq!(ran.stderr, "holdover replay x.toml\n");
    }
}

#[test]
fn among_many_the_command_repeats_one_that_the_status_is_owed_to() {
    let files = [("a.toml", failing(3)), ("b.toml", failing(1)), ("c.toml", QUIET.to_owned())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = folder(&files);
    let ran = shell("holdover check .", folder.path()).ended(1);
    assert_eq!(ran.last_line(), "holdover replay ./b.toml");
    shell(ran.last_line(), folder.path()).ended(1);
}

#[test]
fn a_file_that_should_be_refused_is_checked_again() {
    let folder = folder(&[("invalid/deep/x.toml", QUIET)]);
    let ran = shell("holdover check .", folder.path()).ended(1);
    assert_eq!(ran.last_line(), "holdover check ./invalid/deep/x.toml");
    shell(ran.last_line(), folder.path()).ended(1);
}

/// Whatever it comes to: whoever reads an explanation may want to change something and see it again.
#[test]
fn the_last_line_repeats_an_explanation() {
    for name in
        ["plain.toml", "with space.toml", "it's.toml", "-dash.toml", "new\nline.toml", "\u{1b}[31mred.toml"]
    {
        let folder = folder(&[(name, &failing(1))]);
        let first = shell_with("holdover explain --protocol naive --seed 9 \"$1\"", name, folder.path()).ended(3);
        assert!(first.last_line().starts_with("holdover explain "), "{name:?}: {}", first.last_line());
        let second = shell(first.last_line(), folder.path()).ended(3);
        assert_eq!(second.last_line(), first.last_line(), "{name:?}");
        if !name.starts_with('-') {
            assert_eq!(second.stdout, first.stdout, "{name:?}");
        }
    }
}

/// Beside the results, which are a file.
#[test]
fn the_last_line_on_stderr_repeats_a_shrinking() {
    const PAUSE: &str = r#"
[[fault]]
when = { point = "write.checked", node = "worker-a" }
inject = { pause = { node = "worker-a", for = "41s" } }
"#;
    for name in ["plain.toml", "it's.toml", "-dash.toml", "new\nline.toml", "\u{1b}[31mred.toml"] {
        let folder = folder(&[(name, &format!("{QUIET}{PAUSE}"))]);
        let script = "holdover shrink --protocol naive --rule effect-once --seed 9 \"$1\" --out small.toml";
        let first = shell_with(script, name, folder.path()).ended(0);
        let small = || std::fs::read_to_string(folder.path().join("small.toml")).expect("it was written");
        let written = small();
        assert!(!written.contains('\u{1b}'), "{name:?} doesn't reach a terminal");
        let last = first.stderr.lines().last().unwrap_or_default();
        let second = shell(last, folder.path()).ended(0);
        assert_eq!(second.stderr.lines().last(), Some(last), "{name:?}");
        assert_eq!(small(), written, "{name:?}");
        shell("holdover check small.toml", folder.path()).ended(0);
    }
}

#[test]
fn without_a_failure_there_is_no_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for command in ["replay", "check"] {
        let ran = shell(&format!("holdover {command} {CLOCK_JUMP}"), root).ended(0);
        assert!(!ran.last_line().starts_with("holdover"), "{}", ran.last_line());
    }
}
