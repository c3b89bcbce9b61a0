//! The exit statuses: their numbers are a promise. (70, a run that doesn't repeat itself, can't be provoked; its number is
//! tested where it is made.)

use std::ffi::OsStr;

use crate::support::{CLOCK_JUMP, run, scenario};

/// Faults that make the incident out of a quiet scenario.
const INCIDENT: &str = r#"
[[fault]]
when = { point = "write.checked", node = "worker-a" }
inject = { pause = { node = "worker-a", for = "41s" } }
"#;

#[test]
fn each_status_has_its_cause() {
    for (what, more, status, told) in [
        ("all is as expected", "", 0, "as the scenario expects"),
        (
            "what is expected to be violated is",
            "[expect.naive]\nsingle-writer = \"violated\"\nstale-write = \"violated\"\neffect-once = \"violated\"\n\
             nothing-lost = \"violated\"",
            0,
            "as the scenario expects",
        ),
        (
            "a verdict is another one",
            "[expect.fenced]\nsingle-writer = \"violated\"",
            1,
            "fenced: single-writer holds, expected: violated",
        ),
        ("a rule that isn't mentioned is broken", "", 1, "naive: single-writer is violated, expected: holds"),
        (
            "what had to be seen wasn't",
            "[expect.fenced]\nseen = [\"takeover\", \"belief-overlap\"]",
            3,
            "fenced: belief-overlap was never seen, so the verdicts prove nothing",
        ),
        (
            "a verdict that had to be unknown is not",
            "[expect.fenced]\nprogress = \"unknown\"",
            1,
            "fenced: progress holds, expected: unknown",
        ),
    ]
    .map(|(what, expect, status, told)| {
        let faults = if what == "all is as expected" { "" } else { INCIDENT };
        (what, format!("{faults}\n{expect}"), status, told)
    }) {
        let (_folder, path) = scenario(&more);
        let ran = run([OsStr::new("replay"), path.as_os_str()]).ended(status);
        assert!(ran.stdout.contains(told), "{what}: {}", ran.stdout);
        run([OsStr::new("check"), path.as_os_str()]).ended(status);
        for format in ["json", "jsonl"] {
            run([OsStr::new("replay"), path.as_os_str(), OsStr::new("--format"), OsStr::new(format)]).ended(status);
        }
    }
}

#[test]
fn a_bound_that_is_hit_is_inconclusive() {
    let (_folder, path) = scenario("");
    let text = std::fs::read_to_string(&path).expect("it was just written");
    std::fs::write(&path, text.replacen("\n\n[lease]", "\nsteps = 50\n\n[lease]", 1)).expect("it can be written");
    let ran = run([OsStr::new("replay"), path.as_os_str()]).ended(3);
    assert!(ran.stdout.contains("naive: the run hit its bound of 50 steps; `steps` in the scenario raises it"));
    run([OsStr::new("check"), path.as_os_str()]).ended(3);
}

#[test]
fn what_cannot_be_used_is_2() {
    for (path, told) in [
        ("not-there.toml", "there is no such file"),
        ("Cargo.toml/x", "there is no such file"),
        ("scenarios", "a folder, not a scenario file"),
        ("-", "can't be read from standard input"),
        ("README", "there is no such file"),
        ("scenarios/invalid/ttl-zero.toml", "`0s` is no time at all"),
        ("scenarios/invalid/not-toml.toml", "×"),
    ] {
        let ran = run(["replay", path]).ended(2);
        assert_eq!(ran.stdout, "", "{path}");
        assert!(ran.stderr.contains(told), "{path}: {}", ran.stderr);
    }
    run(["replay", CLOCK_JUMP, "--protocol", "none"]).ended(2);
}
