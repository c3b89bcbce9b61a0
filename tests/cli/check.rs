//! `holdover check`.

use std::ffi::OsStr;
use std::path::Path;

use crate::support::{CLOCK_JUMP, QUIET, Ran, folder, run, run_line, shell, snapshot};

/// Naive is expected to be safe in the incident, which it isn't.
fn wrong_expectation() -> String {
    let text = std::fs::read_to_string(CLOCK_JUMP).expect("the incident is there");
    text.replacen("single-writer = \"violated\"", "single-writer = \"holds\"", 1)
}

fn check(path: &Path, options: &[&str]) -> Ran {
    let options = options.iter().map(OsStr::new);
    run([OsStr::new("check"), path.as_os_str()].into_iter().chain(options))
}

#[test]
fn a_file_as_expected() {
    let ran = run(["check", CLOCK_JUMP]).ended(0);
    assert_eq!(ran.stdout, format!("ok   {CLOCK_JUMP}\n1 scenario: 1 as expected, 0 not\n"));
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_scenarios_of_the_repository_are_as_expected() {
    let ran = run(["check", "scenarios", "--quiet"]).ended(0);
    assert!(ran.stdout.ends_with(" as expected, 0 not\n"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn a_mixed_folder() {
    let wrong = wrong_expectation();
    let bound = QUIET.replacen("\n\n[lease]", "\nsteps = 50\n\n[lease]", 1);
    let files = [
        ("mixed/bound.toml", bound.as_str()),
        ("mixed/good.toml", QUIET),
        ("mixed/invalid/accepted.toml", QUIET),
        ("mixed/invalid/deeper/refused.toml", "title = 1"),
        ("mixed/invalid/refused.toml", "title = 1"),
        ("mixed/notes.txt", "not a scenario"),
        ("mixed/unusable.toml", "title = 1"),
        ("mixed/wrong.toml", &wrong),
    ];
    let folder = folder(&files);
    let ran = shell("holdover check mixed", folder.path()).ended(2);
    snapshot!("check-mixed", &format!("{}\n── stderr ──\n{}", ran.stdout, ran.stderr));

    let quiet = shell("holdover check -q mixed", folder.path()).ended(2);
    assert!(!quiet.stdout.contains("good.toml") && quiet.stdout.contains("wrong.toml"), "{}", quiet.stdout);
    assert!(quiet.stdout.contains("7 scenarios: 3 as expected, 4 not\n"), "{}", quiet.stdout);
}

#[test]
fn a_summary_for_programs() {
    let wrong = wrong_expectation();
    let folder = folder(&[("good.toml", QUIET), ("invalid/x.toml", "title = 1"), ("wrong.toml", &wrong)]);
    let ran = shell("holdover check . --format json", folder.path()).ended(1);
    let json = ran.json();
    assert_eq!((&json["files"], &json["as_expected"]), (&3.into(), &2.into()));
    let outcomes: Vec<_> =
        json["checked"].as_array().iter().flat_map(|checked| checked.iter()).map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["as-expected", "refused", "not-as-expected"]);
    assert_eq!(json["checked"][2]["remarks"][0], "naive: single-writer is violated, expected: holds");
    assert_eq!(json["checked"][2]["command"], "holdover replay ./wrong.toml");
    assert_eq!(json["checked"][0].get("command"), None);
    assert_eq!(ran.stderr, "holdover replay ./wrong.toml\n");
}

#[test]
fn many_paths_are_checked_in_their_order() {
    let folder = folder(&[("a.toml", QUIET), ("b/c.toml", QUIET)]);
    let ran = shell("holdover check b a.toml b", folder.path()).ended(0);
    assert_eq!(ran.stdout, "ok   b/c.toml\nok   a.toml\nok   b/c.toml\n3 scenarios: 3 as expected, 0 not\n");
}

#[test]
fn a_file_is_refused_alone_as_it_is_in_its_folder() {
    let ran = run_line("check scenarios/invalid/ttl-zero.toml").ended(0);
    assert!(ran.stdout.contains("refused: `0s` is no time at all"), "{}", ran.stdout);
}

#[test]
fn a_file_is_refused_wherever_its_folder_is_looked_at_from() {
    let folder = folder(&[("invalid/deeper/x.toml", "title = 1"), ("invalid/x.toml", "title = 1")]);
    let invalid = folder.path().join("invalid");
    for (command, from) in [
        ("holdover check invalid/x.toml", folder.path()),
        ("holdover check invalid/deeper", folder.path()),
        ("holdover check x.toml", &invalid),
        ("holdover check .", &invalid),
    ] {
        let ran = shell(command, from).ended(0);
        assert!(ran.stdout.contains("refused: "), "{command}: {}", ran.stdout);
    }
}

#[test]
fn a_missing_file_is_unusable_even_where_files_must_be_refused() {
    let ran = run_line("check scenarios/invalid/not-there.toml").ended(2);
    assert!(ran.stderr.contains("there is no such file"), "{}", ran.stderr);
}

#[test]
fn a_folder_with_nothing_to_check() {
    let folder = folder(&[("notes.txt", "nothing")]);
    let ran = check(folder.path(), &[]).ended(2);
    assert!(ran.stderr.contains("no scenario files in this folder"), "{}", ran.stderr);
}

#[test]
fn a_folder_with_only_what_must_be_refused() {
    let folder = folder(&[("invalid/x.toml", "title = 1")]);
    let ran = check(folder.path(), &[]).ended(0);
    assert!(ran.stdout.contains("1 scenario: 1 as expected, 0 not"), "{}", ran.stdout);
}
