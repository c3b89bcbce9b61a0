//! `holdover list`.

use std::collections::BTreeSet;

use crate::support::{QUIET, folder, run, run_line, snapshot};

const KINDS: [&str; 8] =
    ["protocols", "faults", "checkers", "points", "events", "messages", "procedures", "sightings"];

#[test]
fn each_list_is_for_people() {
    for kind in KINDS {
        let ran = run(["list", kind]).ended(0);
        assert_eq!(ran.stderr, "");
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
        snapshot!(format!("list-{kind}"), &ran.stdout);
    }
}

#[test]
fn each_list_is_for_programs_too() {
    for kind in KINDS {
        let list = run(["list", kind, "--format", "json"]).ended(0).json();
        let items = list.as_array().expect("a list");
        assert!(!items.is_empty(), "{kind}");
        let names: BTreeSet<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
        assert_eq!(names.len(), items.len(), "each of the {kind} has a name of its own");
        assert!(items.iter().all(|item| item["summary"].as_str().is_some_and(|text| !text.is_empty())), "{kind}");
        let text = run(["list", kind]).ended(0).stdout;
        assert!(names.iter().all(|name| text.contains(name)), "{kind}");
    }
}

#[test]
fn scenarios_are_listed_with_their_titles() {
    let folder = folder(&[("b.toml", QUIET), ("a/c.toml", QUIET), ("invalid/x.toml", "no"), ("notes.txt", "no")]);
    let path = folder.path().to_str().expect("a plain path");
    let ran = run(["list", "scenarios", path]).ended(0);
    let told: Vec<_> = ran.stdout.split_whitespace().filter(|word| word.ends_with(".toml")).collect();
    assert_eq!(told, [format!("{path}/a/c.toml"), format!("{path}/b.toml")]);
    assert_eq!(ran.stdout.matches("Nothing happens").count(), 2);
    let json = run(["list", "scenarios", path, "--format", "json"]).ended(0).json();
    assert_eq!(json[1]["summary"], "Nothing happens");
}

#[test]
fn without_a_folder_it_is_the_one_named_scenarios() {
    assert!(run(["list", "scenarios"]).ended(0).stdout.contains("incidents/clock-jump.toml"));
}

#[test]
fn one_bad_scenario_does_not_hide_the_others() {
    let folder = folder(&[("bad.toml", "title = 1"), ("good.toml", QUIET)]);
    let ran = run(["list", "scenarios", &*folder.path().to_string_lossy()]).ended(2);
    assert!(ran.stdout.contains("Nothing happens"), "{}", ran.stdout);
    assert!(ran.stderr.contains("bad.toml"), "{}", ran.stderr);
}

#[test]
fn a_folder_goes_with_scenarios_only() {
    let ran = run_line("list faults scenarios").ended(2);
    assert!(ran.stderr.contains("only scenarios are listed from a folder"), "{}", ran.stderr);
}
