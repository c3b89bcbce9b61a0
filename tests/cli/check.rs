//! `holdover check`.

use std::ffi::OsStr;
use std::path::Path;

use crate::support::{CLOCK_JUMP, QUIET, Ran, folder, mixed, run, run_line, shell, snapshot};

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

/// What a case was found in is there to be looked at: it comes to whatever it comes to.
#[test]
fn the_original_of_a_case_is_checked_only_by_name() {
    let unmet = format!("{QUIET}\n[expect.fenced]\nsingle-writer = \"violated\"\n");
    let case = |name: &str| (format!("cases/one/{name}"), if name == "original.toml" { &*unmet } else { QUIET });
    let files = ["scenario.toml", "original.toml", "case.json"].map(case);
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = folder(&files);
    for whole in [".", "cases", "cases/one"] {
        let ran = shell(&format!("holdover check {whole}"), folder.path()).ended(0);
        assert!(ran.stdout.contains("1 scenario: 1 as expected"), "{}", ran.stdout);
        let listed = shell(&format!("holdover list scenarios {whole}"), folder.path()).ended(0);
        assert_eq!(listed.stdout.lines().count(), 1, "{}", listed.stdout);
    }
    shell("holdover check cases/one/original.toml", folder.path()).ended(1);
    // Beside no case it is a file like any other.
    std::fs::remove_file(folder.path().join("cases/one/case.json")).expect("it is there");
    shell("holdover check .", folder.path()).ended(1);
}

#[test]
fn a_mixed_folder() {
    let folder = mixed();
    let ran = shell("holdover check mixed", folder.path()).ended(2);
    snapshot!("check-mixed", &format!("{}\n── stderr ──\n{}", ran.stdout, ran.stderr));

    let quiet = shell("holdover check -q mixed", folder.path()).ended(2);
    assert!(!quiet.stdout.contains("good.toml") && quiet.stdout.contains("wrong.toml"), "{}", quiet.stdout);
    assert!(quiet.stdout.contains("7 scenarios: 3 as expected, 4 not\n"), "{}", quiet.stdout);
}

#[test]
fn a_summary_for_programs() {
    let folder = mixed();
    let ran = shell("holdover check mixed --format json", folder.path()).ended(2);
    assert_eq!(ran.stderr, "holdover replay mixed/unusable.toml\n");
    let json = ran.json();
    assert_eq!((&json["files"], &json["as_expected"]), (&7.into(), &3.into()));
    let outcomes: Vec<_> =
        json["checked"].as_array().iter().flat_map(|checked| checked.iter()).map(|one| &one["outcome"]).collect();
    let expected =
        ["inconclusive", "as-expected", "not-as-expected", "refused", "refused", "unusable", "not-as-expected"];
    assert_eq!(outcomes, expected);
    snapshot!("check-json", &ran.stdout);

    let quiet = shell("holdover check mixed --format json --quiet", folder.path()).ended(2);
    assert_eq!((&quiet.json()["files"], &quiet.json()["as_expected"]), (&7.into(), &3.into()));
    assert_eq!(quiet.json()["checked"].as_array().map(Vec::len), Some(4));
    shell("holdover check mixed/good.toml mixed/invalid/refused.toml --format json", folder.path()).ended(0);
}

/// The lines are those of the document, and there is nothing beside them.
#[test]
fn a_line_for_each_file() {
    let folder = mixed();
    let whole = shell("holdover check mixed --format json", folder.path()).json();
    let lines = shell("holdover check mixed --format jsonl", folder.path()).ended(2);
    assert_eq!(lines.stderr, "holdover replay mixed/unusable.toml\n");
    let parsed: Vec<serde_json::Value> =
        lines.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(Some(&parsed), whole["checked"].as_array());

    let quiet = shell("holdover check mixed --format jsonl -q", folder.path()).ended(2);
    assert_eq!(quiet.stdout.lines().count(), 4);
    let green =
        shell("holdover check mixed/good.toml mixed/invalid/refused.toml --format jsonl -q", folder.path());
    assert_eq!((green.status, &*green.stdout, &*green.stderr), (0, "", ""));
}

/// What is green says so in one line, and nothing on stderr, whatever else was asked for.
#[test]
fn there_is_no_noise_when_green() {
    for options in ["-q", "-q --junit reports/junit.xml", "-q --annotations github"] {
        let folder = mixed();
        let ran =
            shell(&format!("holdover check mixed/good.toml mixed/invalid/refused.toml {options}"), folder.path());
        let said = "2 scenarios: 2 as expected, 0 not\n";
        assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, said, ""), "{options}");
    }
}

/// Each file is told as soon as it is done: whoever ends the run has those before.
#[test]
fn files_are_told_as_they_are_done() {
    let folder = folder(&[("a.toml", QUIET), ("b.toml", QUIET)]);
    for format in ["text", "jsonl"] {
        let script = format!("holdover check a.toml b.toml --format {format} | head -n 1");
        let ran = shell(&script, folder.path()).ended(0);
        assert!(ran.stdout.contains("a.toml") && !ran.stdout.contains("b.toml"), "{}", ran.stdout);
    }
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

/// A folder whose files can't be listed keeps no other from being checked. Nobody can open one by a path as long as that.
#[test]
fn a_folder_that_can_not_be_listed_takes_no_other_along() {
    let folder = folder(&[("a.toml", QUIET), ("z.toml", QUIET)]);
    let name = "n".repeat(200);
    let (deep, above) = (folder.path().join("deep"), folder.path().join("above"));
    std::fs::create_dir(&deep).expect("a folder can be made");
    for _ in 0..25 {
        std::fs::create_dir(&above).expect("a folder can be made");
        std::fs::rename(&deep, above.join(&name)).expect("a folder can be moved");
        std::fs::rename(&above, &deep).expect("a folder can be moved");
    }
    let ran = shell("holdover check --junit report.xml .", folder.path()).ended(2);
    let shown = ran.stdout.replace(&name, "n");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "ok   ./a.toml");
    assert!(lines[1].starts_with("unusable ./deep/n/n/"), "{}", ran.stdout);
    assert_eq!(lines[2..4], ["ok   ./z.toml", "3 scenarios: 2 as expected, 1 not"]);
    assert!(ran.stderr.contains("can't be listed"), "{}", ran.stderr);
    let report = std::fs::read_to_string(folder.path().join("report.xml")).expect("it was written");
    assert!(report.contains("tests=\"3\""), "{report}");
    let listed = shell("holdover list scenarios .", folder.path()).ended(2);
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);
    assert!(listed.stderr.contains("can't be listed"), "{}", listed.stderr);
}

/// A program that is killed while it writes leaves what isn't whole, and nobody reads that.
#[test]
fn what_was_never_whole_is_not_checked() {
    let folder = folder(&[
        ("a.toml", QUIET),
        (".holdover-Xy12ab.new", "title = 1"),
        (".holdover-Zz34cd.new/scenario.toml", "title = 1"),
        ("finds/b.toml.part", "title = 1"),
        ("finds/.holdover-Ab56ef.new/one-naive/original.toml", "title = 1"),
    ]);
    let ran = shell("holdover check .", folder.path()).ended(0);
    assert_eq!(ran.stdout, "ok   ./a.toml\n1 scenario: 1 as expected, 0 not\n");
    assert_eq!(shell("holdover list scenarios .", folder.path()).ended(0).stdout.lines().count(), 1);
    // Who writes there again clears it away, and nothing else.
    shell("holdover hunt a.toml --protocol fenced --seeds 0..1 --plan kept --out finds", folder.path()).ended(0);
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path().join("finds")).expect("a folder").filter_map(Result::ok).collect();
    left.sort_by_key(|entry| entry.file_name());
    let left: Vec<_> = left.iter().map(|entry| entry.file_name().into_string().expect("text")).collect();
    assert_eq!(left, ["b.toml.part", "hunt.json"]);
}
