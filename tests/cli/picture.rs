//! `--report`: the picture of runs, as a file.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{CLOCK_JUMP, QUIET, Ran, folder, run, snapshot, wrong_expectation};

fn page(path: &Path) -> String {
    let page = fs::read_to_string(path).expect("the picture is there");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "it is whole");
    page
}

fn replay(report: &Path) -> Ran {
    run(["replay".as_ref(), CLOCK_JUMP.as_ref(), "--report".as_ref(), report.as_os_str()])
}

#[test]
fn a_file_or_a_folder_gets_it_and_the_results_stay_as_they_are() {
    let there = folder(&[("cases/keep.txt", "kept")]);
    let without = run(["replay", CLOCK_JUMP]).ended(0);
    let mut pages = Vec::new();
    for (name, place) in [
        ("night.html", "night.html"),
        ("NIGHT.HTM", "NIGHT.HTM"),
        ("cases", "cases/report.html"),
        ("new/and/deep", "new/and/deep/report.html"),
        ("night.html", "night.html"),
    ] {
        let ran = replay(&there.path().join(name)).ended(0);
        assert_eq!(ran.stdout, without.stdout, "{name}");
        let place = there.path().join(place);
        assert_eq!(ran.stderr, format!("the picture is in {}\n", place.display()));
        pages.push(page(&place));
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "the same runs give the same bytes");
    assert_eq!(fs::read_to_string(there.path().join("cases/keep.txt")).expect("it is there"), "kept");
    let hidden = fs::read_dir(there.path()).expect("a folder").filter_map(Result::ok);
    assert!(
        !hidden.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with('.')),
        "nothing is left over"
    );
}

#[test]
fn only_a_page_is_replaced() {
    let there = folder(&[("notes.html", "<p>mine"), ("empty.html", "")]);
    let ran = replay(&there.path().join("notes.html")).ended(2);
    assert!(ran.stderr.contains("a file that holdover didn't write") && ran.stdout.is_empty(), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(there.path().join("notes.html")).expect("it is there"), "<p>mine");
    replay(&there.path().join("empty.html")).ended(0);
    page(&there.path().join("empty.html"));
}

#[test]
fn protocols_and_seed_are_those_that_are_asked_for() {
    let there = folder(&[]);
    let report = there.path().join("x.html");
    let path = report.to_str().expect("text");
    run(["replay", CLOCK_JUMP, "--protocol", "monotonic", "--seed", "8", "--report", path]).ended(1);
    let text = page(&report);
    assert!(text.contains("\"seed\":\"8\"") && text.contains("\"protocol\":\"monotonic\""));
    assert!(text.contains("holdover replay scenarios/incidents/clock-jump.toml --protocol monotonic --seed 8"));
}

#[test]
fn explanations_have_one_too() {
    let there = folder(&[]);
    let report = there.path().join("x.html");
    let path = report.to_str().expect("text");
    let without = run(["explain", CLOCK_JUMP, "--protocol", "naive"]).ended(0);
    let ran = run(["explain", CLOCK_JUMP, "--protocol", "naive", "--report", path]).ended(0);
    assert_eq!(ran.stdout, without.stdout);
    assert!(page(&report).contains("learned from 352 further runs"));
}

#[test]
fn a_run_that_is_not_as_expected_has_one_as_well() {
    let there = folder(&[("wrong.toml", &wrong_expectation())]);
    let [file, report] = ["wrong.toml", "x.html"].map(|name| there.path().join(name));
    let ran = run(["replay".as_ref(), file.as_os_str(), "--report".as_ref(), report.as_os_str()]).ended(1);
    assert!(ran.last_line().starts_with("holdover replay "), "{}", ran.stdout);
    assert!(page(&report).contains("naive: single-writer is violated, expected: holds"));
}

#[test]
fn what_can_not_be_written_is_told_and_takes_nothing_away() {
    let there = folder(&[("night.toml", QUIET), ("notes.txt", "mine"), ("page.html/inside.txt", "mine")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(there.path().join("night.toml"), there.path().join("link.html")).expect("a link");
    let mut told = String::new();
    for report in
        ["-", "notes.txt", "page.html", "nowhere/x.html", "link.html", "notes.txt/x.html", "notes.txt/deep"]
    {
        let ran = in_folder(&there, report).ended(2);
        assert_eq!(ran.stdout, "", "it is told before anything is run");
        told += &format!("--report {report}\n{}\n", ran.stderr.replace(there.path().to_str().expect("text"), "…"));
    }
    snapshot!("picture-not-written", &told);
    assert_eq!(fs::read_to_string(there.path().join("night.toml")).expect("it is there"), QUIET);
    assert_eq!(fs::read_to_string(there.path().join("notes.txt")).expect("it is there"), "mine");
}

/// Replays the folder's night there.
fn in_folder(there: &TempDir, report: &str) -> Ran {
    let mut command = crate::support::holdover();
    command.current_dir(there.path()).args(["replay", "night.toml", "--report", report]);
    Ran::of(command.output().expect("the command was built"))
}
