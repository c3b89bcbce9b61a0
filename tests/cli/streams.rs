//! Where the output goes: pipes that close, full disks, colours, logs.

use std::fs::File;
use std::io::{PipeReader, pipe};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{CLOCK_JUMP, Ran, holdover, run, scenario, shell};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A pipe's end that nobody reads from any more.
fn unread() -> Stdio {
    let (reader, writer): (PipeReader, _) = pipe().expect("a pipe can be made");
    drop(reader);
    writer.into()
}

fn ran(command: &mut Command) -> Ran {
    Ran::of(command.output().expect("the command was built"))
}

#[test]
fn a_reader_that_has_enough_changes_nothing() {
    for arguments in [
        &["replay", CLOCK_JUMP][..],
        &["replay", CLOCK_JUMP, "--verbose"],
        &["replay", CLOCK_JUMP, "--format", "json"],
        &["replay", CLOCK_JUMP, "--format", "jsonl"],
        &["replay", CLOCK_JUMP, "--format", "markdown"],
        &["replay", CLOCK_JUMP, "--format", "mermaid"],
        &["replay", CLOCK_JUMP, "--format", "perfetto"],
        &["replay", CLOCK_JUMP, "--format", "svg"],
        &["check", "scenarios"],
        &["check", "scenarios", "--format", "json"],
        &["list", "faults"],
        &["schema"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let ran = ran(holdover().args(arguments).stdout(unread())).ended(0);
        assert_eq!(ran.stderr, "", "{arguments:?}");
    }
    // What isn't the result is told all the same.
    let ran = ran(holdover().args(["shrink", CLOCK_JUMP]).stdout(unread())).ended(0);
    assert!(ran.stderr.ends_with(&format!("\nholdover shrink {CLOCK_JUMP}\n")), "{}", ran.stderr);
}

#[test]
fn a_failure_that_nobody_reads_stays_one() {
    let (_folder, path) = scenario("[expect.fenced]\nsingle-writer = \"violated\"");
    for command in ["replay", "check"] {
        let ran = ran(holdover().arg(command).arg(&path).stdout(unread())).ended(1);
        assert_eq!(ran.stderr, "", "{command}");
    }
}

#[test]
fn the_head_of_the_output_is_enough() {
    let formats =
        ["json", "jsonl", "markdown", "mermaid", "perfetto", "svg"].map(|name| format!("--format {name}"));
    for arguments in ["".to_owned(), "--verbose".to_owned()].into_iter().chain(formats) {
        let ran = shell(&format!("holdover replay {CLOCK_JUMP} {arguments} | head -n 1"), root()).ended(0);
        assert_eq!((ran.stdout.lines().count(), &*ran.stderr), (1, ""), "{arguments}");
    }
}

#[test]
fn closed_from_the_beginning() {
    for redirection in [">&-", "2>&-", ">&- 2>&-", "<&-", ">&- 2>&- <&-"] {
        let ran = shell(&format!("holdover replay {CLOCK_JUMP} {redirection}"), root()).ended(0);
        assert_eq!(ran.stderr, "", "{redirection}");
    }
    shell("holdover replay not-there.toml 2>&-", root()).ended(2);
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_told() {
    let full = || File::create("/dev/full").expect("Linux has it");
    for arguments in [
        &["replay", CLOCK_JUMP][..],
        &["replay", CLOCK_JUMP, "--format", "jsonl"],
        &["check", CLOCK_JUMP],
        &["list", "points"],
        &["schema"],
        &["completions", "zsh"],
    ] {
        let ran = ran(holdover().args(arguments).stdout(full())).ended(2);
        assert!(ran.stderr.contains("the output can't be written"), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("No space left"), "{arguments:?}: {}", ran.stderr);
    }
    // If even that can't be told, the status still says it.
    assert_eq!(ran(holdover().args(["list", "points"]).stdout(full()).stderr(full())).status, 2);
    // Logs that can't be written are no reason to fail.
    ran(holdover().args(["replay", CLOCK_JUMP]).env("RUST_LOG", "trace").stderr(full())).ended(0);
}

#[test]
fn logs_that_nobody_reads_change_nothing() {
    ran(holdover().args(["replay", CLOCK_JUMP]).env("RUST_LOG", "trace").stderr(unread())).ended(0);
}

#[test]
fn colours_are_where_they_are_wanted() {
    const ESCAPE: char = '\u{1b}';
    for (color, variables, colored) in [
        ("auto", &[][..], false),
        ("auto", &[("NO_COLOR", "1")], false),
        ("auto", &[("CLICOLOR_FORCE", "1")], true),
        ("auto", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("auto", &[("TERM", "dumb")], false),
        ("auto", &[("TERM", "xterm-256color")], false),
        ("always", &[], true),
        ("always", &[("NO_COLOR", "1")], true),
        ("always", &[("TERM", "dumb")], true),
        ("never", &[], false),
        ("never", &[("CLICOLOR_FORCE", "1")], false),
    ] {
        let with = |arguments: &[&str]| {
            let mut command = holdover();
            command.args(arguments).args(["--color", color]).envs(variables.iter().copied());
            ran(&mut command)
        };
        let replayed = with(&["replay", CLOCK_JUMP]).ended(0);
        assert_eq!(replayed.stdout.contains(ESCAPE), colored, "{color} {variables:?}");
        let refused = with(&["replay", "scenarios/invalid/ttl-zero.toml"]).ended(2);
        assert_eq!(refused.stderr.contains(ESCAPE), colored, "{color} {variables:?}");
        for format in ["json", "jsonl", "markdown", "mermaid", "perfetto", "svg"] {
            let data = with(&["replay", CLOCK_JUMP, "--format", format]).ended(0);
            assert!(!data.stdout.contains(ESCAPE), "{format} is data");
        }
    }
}

/// Whatever asks for colours, data has none, and neither has what is to be pasted or is kept.
#[test]
fn data_and_commands_are_never_coloured() {
    const ESCAPE: char = '\u{1b}';
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (case, found, junit, page) = (at("case"), at("found"), at("junit.xml"), at("page.html"));
    let wrong = at("wrong.toml");
    std::fs::write(&wrong, crate::support::wrong_expectation()).expect("it can be written");
    for (line, status) in [
        (format!("replay {CLOCK_JUMP} --format json --report {page}"), 0),
        (format!("replay {CLOCK_JUMP} --format jsonl"), 0),
        (format!("check {wrong} --format json --junit {junit}"), 1),
        (format!("check {wrong} --format jsonl --annotations github"), 1),
        (format!("explain {CLOCK_JUMP} --protocol naive --format json"), 0),
        (format!("hunt {CLOCK_JUMP} --protocol naive --seeds 0..20 --format json --out {found}"), 1),
        (format!("merge {found} --format json"), 1),
        (format!("shrink {CLOCK_JUMP} --protocol naive"), 0),
        (format!("shrink {CLOCK_JUMP} --protocol naive --format json --out {case}"), 0),
        ("list faults --format json".to_owned(), 0),
        ("schema".to_owned(), 0),
        ("completions fish".to_owned(), 0),
    ] {
        let ran = ran(holdover().args(line.split(' ')).env("CLICOLOR_FORCE", "1")).ended(status);
        assert!(!ran.stdout.contains(ESCAPE) && !ran.stderr.contains(ESCAPE), "{line}");
    }
    for line in [format!("replay {wrong}"), format!("check {wrong}"), format!("hunt {CLOCK_JUMP} --seeds 0..20")] {
        let ran = ran(holdover().args(line.split(' ')).env("CLICOLOR_FORCE", "1")).ended(1);
        assert!(ran.stdout.contains(ESCAPE) && ran.last_line().starts_with("holdover "), "{line}");
        assert!(!ran.last_line().contains(ESCAPE), "{line}");
    }
    let mut kept = vec![folder.path().to_owned()];
    while let Some(path) = kept.pop() {
        match path.is_dir() {
            true => {
                kept.extend(path.read_dir().expect("it is a folder").map(|entry| entry.expect("an entry").path()))
            }
            false => assert!(!std::fs::read(&path).expect("a file").contains(&0x1b), "{}", path.display()),
        }
    }
}

/// Errors of usage are clap's, and are coloured as all others are.
#[test]
fn errors_of_usage_are_coloured_as_the_options_say() {
    for (arguments, force, colored) in [
        (&["replay"][..], false, false),
        (&["replay"], true, true),
        (&["--color", "never", "replay"], true, false),
        (&["replay", "--color=never"], true, false),
        (&["replay", "--color", "always"], false, true),
        (&["replay", "--", "--color=always", "x", "y"], false, false),
    ] {
        let mut command = holdover();
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        let ran = ran(command.args(arguments)).ended(2);
        assert_eq!(ran.stderr.contains('\u{1b}'), colored, "{arguments:?} {force}");
    }
}

#[test]
fn without_colours_the_text_is_the_same() {
    let plain = run(["replay", CLOCK_JUMP]).stdout;
    let colored = run(["replay", CLOCK_JUMP, "--color", "always"]).stdout;
    assert_ne!(plain, colored);
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
}

#[test]
fn logs_go_to_stderr_and_change_nothing() {
    let quiet = run(["replay", CLOCK_JUMP]).ended(0).stdout;
    let json = run(["replay", CLOCK_JUMP, "--format", "json"]).ended(0).json();
    let runs = json["runs"].as_array().expect("runs");
    let events: u64 = runs.iter().filter_map(|run| run["events"].as_u64()).sum();
    for level in ["holdover=trace", "trace", "TRACE", "holdover=debug,off", "info", "off", ""] {
        let logged = ran(holdover().args(["replay", CLOCK_JUMP]).env("RUST_LOG", level)).ended(0);
        assert_eq!(logged.stdout, quiet, "{level}");
        for line in logged.stderr.lines() {
            assert!(line.contains(" utc=") && line.contains(" node="), "{level}: {line}");
            assert!(line.contains("protocol=\"") && line.contains(" seed=7"), "{level}: {line}");
        }
        let lines = logged.stderr.lines().count() as u64;
        match level.to_lowercase().as_str() {
            // Each event once: the run that is only there to be compared is not logged.
            "holdover=trace" | "trace" => assert_eq!(lines, events),
            "holdover=debug,off" => assert!(lines > 0 && lines < events),
            _ => assert_eq!(lines, 0, "{level}"),
        }
    }
}

#[test]
fn a_level_that_is_none_is_refused() {
    for value in ["a=b=c", "holdover=loud", "\u{1b}=x=y"] {
        let ran = ran(holdover().args(["list", "points"]).env("RUST_LOG", value)).ended(2);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains("RUST_LOG is `") && ran.stderr.contains("help:"), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'));
    }
}
