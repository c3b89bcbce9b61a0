//! The helps, and what is said to a wrong command line.

use crate::support::{run, run_line, snapshot};

#[test]
fn each_help_is_as_it_was() {
    for command in [
        "",
        "replay",
        "judge",
        "check",
        "explain",
        "hunt",
        "merge",
        "shrink",
        "promote",
        "list",
        "schema",
        "completions",
    ] {
        let ran = run(command.split_whitespace().chain(["--help"])).ended(0);
        assert_eq!(ran.stderr, "");
        let name = if command.is_empty() { "holdover" } else { command };
        snapshot!(format!("help-{name}"), &ran.stdout);
    }
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(run(["--version"]).ended(0).stdout, format!("holdover {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_ends_with_2_and_says_so_on_stderr() {
    for line in [
        "",
        "replya x.toml",
        "replay",
        "replay a.toml b.toml",
        "replay --seed -1 x.toml",
        "replay --seed 18446744073709551616 x.toml",
        "replay --seed x x.toml",
        "replay --format yaml x.toml",
        "replay --protocol",
        "replay --color sometimes x.toml",
        "judge",
        "judge --seed 7 x.jsonl",
        "judge --protocol naive x.jsonl",
        "judge --format yaml x.jsonl",
        "check",
        "check --format yaml x.toml",
        "check --annotations gitlab x.toml",
        "check --junit",
        "check --junit x.xml",
        "explain",
        "explain a.toml b.toml",
        "explain --format jsonl x.toml",
        "explain --seed x x.toml",
        "shrink",
        "shrink a.toml b.toml",
        "shrink --format jsonl x.toml",
        "shrink --protocol naive --protocol fenced x.toml",
        "shrink --seed x x.toml",
        "promote",
        "promote a b",
        "list",
        "list everything",
        "schema scenario.toml",
        "schema --format json",
        "schema --of hunts",
        "replay --from",
        "replay --lane",
        "completions",
        "completions tcl",
    ] {
        let ran = run_line(line).ended(2);
        assert_eq!(ran.stdout, "", "{line}");
        assert!(ran.stderr.contains("--help"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn there_are_completions_for_the_usual_shells() {
    for (shell, sign) in
        [("bash", "complete -F _holdover"), ("zsh", "#compdef holdover"), ("fish", "complete -c holdover")]
    {
        let ran = run(["completions", shell]).ended(0);
        assert!(ran.stdout.contains(sign), "{shell}");
        for word in [
            "replay",
            "judge",
            "check",
            "explain",
            "shrink",
            "promote",
            "list",
            "schema",
            "completions",
            "protocol",
            "jsonl",
            "junit",
            "annotations",
        ] {
            assert!(ran.stdout.contains(word), "{shell} knows {word}");
        }
    }
}
