//! `holdover judge`.

use std::fs;
use std::path::Path;

use crate::support::{CLOCK_JUMP, Ran, folder, holdover, run, run_line, scenario, shell, snapshot};

/// The stored history of the scenario in `file`, as a text.
fn stored(arguments: &str) -> String {
    run_line(&format!("replay {arguments} --format jsonl")).stdout
}

/// Judges what is stored in `text`, with `arguments`.
fn judged(text: &str, arguments: &str) -> Ran {
    let folder = folder(&[("it.jsonl", text)]);
    shell(&format!("holdover judge it.jsonl {arguments}"), folder.path())
}

/// What is told of a stored history is what was told of its run, but for where it was read.
#[test]
fn reports_are_those_of_the_run() {
    let text = stored(CLOCK_JUMP);
    for format in ["text", "json", "jsonl", "markdown", "mermaid", "perfetto", "svg"] {
        let told = judged(&text, &format!("--format {format}")).ended(0);
        assert_eq!(told.stderr, "", "{format}");
        let of_run = run_line(&format!("replay {CLOCK_JUMP} --format {format}")).ended(0);
        let of_run = of_run.stdout.replace(&format!("holdover replay {CLOCK_JUMP}"), "holdover judge it.jsonl");
        assert_eq!(
            told.stdout.replace("it.jsonl", CLOCK_JUMP),
            of_run.replace("it.jsonl", CLOCK_JUMP),
            "{format}"
        );
    }
    let part = "--from 02:00:28.1 --to 02:00:28.17 --lane worker-a --verbose";
    let told = judged(&text, part).ended(0).stdout.replace("it.jsonl", CLOCK_JUMP);
    assert_eq!(told, run_line(&format!("replay {CLOCK_JUMP} {part}")).ended(0).stdout);
}

#[test]
fn what_is_stored_comes_from_standard_input_too() {
    let folder = folder(&[("it.jsonl", &stored(CLOCK_JUMP))]);
    let ran = shell("holdover judge - --format jsonl < it.jsonl | cmp - it.jsonl", folder.path());
    ran.ended(0);
    let ran = shell("holdover judge - < it.jsonl", folder.path()).ended(0);
    assert!(ran.stdout.contains("\nstandard input · seed 7 · naive, fenced\n"), "{}", ran.stdout);
}

#[test]
fn what_is_expected_is_expected_of_the_stored_run() {
    let (_folder, path) = scenario("[expect.naive]\nsingle-writer = \"violated\"\n");
    let path = path.display().to_string();
    let replay = run_line(&format!("replay {path}")).ended(1);
    let told = judged(&stored(&path), "").ended(1);
    let last = |ran: &Ran| ran.stdout.lines().rev().nth(2).map(str::to_owned);
    assert_eq!(last(&told), last(&replay));
    assert_eq!(told.last_line(), "holdover judge it.jsonl");
}

#[test]
fn what_is_not_as_stored_is_told_and_ends_with_1() {
    let text = stored(&format!("{CLOCK_JUMP} --protocol naive"));
    for (from, to, told) in [
        ("\"fingerprint\":\"6", "\"fingerprint\":\"7", "naive: the stored fingerprint 7"),
        (
            "\"single-writer\":{\"verdict\":\"violated\"",
            "\"single-writer\":{\"verdict\":\"holds\"",
            "naive: single-writer is violated, and holds is stored",
        ),
        ("\"valid\":true", "\"valid\":false", "naive: the stored fingerprint 6"),
    ] {
        let ran = judged(&text.replace(from, to), "").ended(1);
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
        let ran = judged(&text.replace(from, to), "--format json").ended(1);
        let json = ran.json();
        let mut deviations = json["deviations"].as_array().expect("a list").iter().filter_map(|one| one.as_str());
        assert!(deviations.any(|deviation| deviation.starts_with(told)), "{told}");
        assert_eq!(ran.stderr, "holdover judge it.jsonl\n");
    }
}

#[test]
fn what_this_program_does_not_know_is_told() {
    let text = stored(&format!("{CLOCK_JUMP} --protocol naive"));
    let (text, from) = (text.replace("\"run\":\"naive\"", "\"run\":\"mylock\""), "\"holdover\":\"0.1.0\"");
    let ran = judged(&text, "--format json").ended(1);
    assert!(
        ran.stderr.starts_with("mylock: this program has no protocol of that name. The rules judge"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.json()["runs"][0]["verdicts"]["single-writer"]["verdict"], "violated");
    assert_eq!(ran.json()["runs"][0]["assumptions"], "outside");
    for (from, to, told) in [
        ("[\"no-pause-over-ttl\",", "[\"no-such-thing\",\"no-pause-over-ttl\",", "no assumption `no-such-thing`"),
        (from, "\"holdover\":\"0.0.9\"", "it was written by holdover 0.0.9, and this is 0.1.0"),
        ("\"audit-kept\":{", "\"audits-kept\":{", "no rule `audits-kept`"),
        ("\"audit-kept\":{", "\"audits-kept\":{", "audit-kept had not been judged when it was stored"),
    ] {
        assert!(text.contains(from), "{from}");
        let ran = judged(&text.replace(from, to), "");
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
}

#[test]
fn what_can_not_be_read_is_refused() {
    let text = stored(CLOCK_JUMP);
    let cut = &text[..text.len() - 1_000];
    let files = [
        ("it.jsonl", text.as_str()),
        ("empty.jsonl", ""),
        ("cut.jsonl", cut),
        ("it.toml", "title = \"x\"\n"),
        ("old.jsonl", &text.replacen("\"format\":1,", "", 1)),
        ("folder.jsonl/x", ""),
    ];
    let folder = folder(&files);
    let refused = |line: &str| {
        let ran = shell(&format!("holdover {line}"), folder.path()).ended(2);
        assert!(ran.stderr.contains("help:"), "{line}: {}", ran.stderr);
        ran
    };
    for (name, told) in [
        ("empty.jsonl", "empty.jsonl: there is nothing in it"),
        ("cut.jsonl", "the line ends too early"),
        ("it.toml", "it.toml, line 1, column 2: it isn't JSON"),
        ("old.jsonl", "old.jsonl, line 1: it lacks `format`"),
        ("folder.jsonl", "folder.jsonl: is a folder"),
        ("gone.jsonl", "gone.jsonl: there is no such file"),
        ("/dev/zero", "/dev/zero: isn't a regular file"),
    ] {
        let ran = refused(&format!("judge {name}"));
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let ran = shell("holdover judge it.jsonl cut.jsonl it.jsonl", folder.path()).ended(2);
    assert_eq!(ran.stdout.matches("it.jsonl · seed 7").count(), 2);
    for format in ["json", "mermaid", "perfetto", "svg"] {
        let told = refused(&format!("judge it.jsonl it.jsonl --format {format}")).stderr;
        assert!(told.contains(&format!("a report as {format} is of one")), "{told}");
    }
    shell("cat it.jsonl it.jsonl > both.jsonl", folder.path()).ended(0);
    refused("judge both.jsonl --report page.html");
    refused("judge both.jsonl --format json");
    shell("holdover judge both.jsonl --format jsonl | cmp - both.jsonl", folder.path()).ended(0);
    refused("judge it.jsonl --lane nobody");
    refused("judge it.jsonl --format json --verbose");
}

/// What runs something says of a stored history that it needs the scenario.
#[test]
fn what_needs_runs_is_refused() {
    let folder = folder(&[("it.jsonl", &stored(CLOCK_JUMP))]);
    for command in ["replay", "explain", "hunt", "shrink", "check"] {
        let ran = shell(&format!("holdover {command} it.jsonl"), folder.path()).ended(2);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("a stored history, and not a scenario"), "{command}: {told}");
    }
}

#[test]
fn a_stored_history_has_a_picture() {
    let folder = folder(&[("it.jsonl", &stored(CLOCK_JUMP))]);
    let ran = shell("holdover judge it.jsonl --report page.html", folder.path()).ended(0);
    assert_eq!(ran.stderr, "the picture is in page.html\n");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("it was written");
    assert!(page.contains("this is a stored history"), "it says why nothing was turned");
    assert!(page.contains("its clock") || page.contains("\"story\":[{"), "it says how it came about");
    let ran = shell("holdover judge it.jsonl --report it.jsonl/x.html", folder.path());
    ran.ended(2);
}

/// The history of a case is one.
#[test]
fn the_history_of_a_case_can_be_judged() {
    let folder = folder(&[]);
    let case = folder.path().join("case").display().to_string();
    run(["shrink", CLOCK_JUMP, "--protocol", "naive", "--rule", "single-writer", "--out", &case]).ended(0);
    let entry = fs::read_dir(&case).expect("it was written").next().expect("a case").expect("an entry").path();
    run(["judge", &entry.join("history.jsonl").display().to_string()]).ended(0);
}

/// Names that nobody means well by are shown as text.
#[test]
#[cfg(target_os = "linux")]
fn hostile_names_are_shown_as_text() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder(&[]);
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff \x1b[31m'.jsonl"));
    fs::write(&path, stored(&format!("{CLOCK_JUMP} --seed 8"))).expect("the file can be written");
    let judge = |path: &Path| Ran::of(holdover().arg("judge").arg(path).output().expect("the command was built"));
    for ran in [judge(&path), judge(&path.join("x")), judge(Path::new("--"))] {
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'));
    }
    snapshot!("judge-nothing", &judge(Path::new("./nothing\u{202e}.jsonl")).ended(2).stderr);
}
