//! `holdover explain`.

use std::ffi::OsStr;

use crate::support::{CLOCK_JUMP, run, run_line, scenario, snapshot};

const PAUSE: &str = r#"
[[fault]]
when = { point = "write.checked", node = "worker-a" }
inject = { pause = { node = "worker-a", for = "41s" } }
"#;

#[test]
fn the_incident_is_explained() {
    let ran = run(["explain", CLOCK_JUMP]).ended(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.last_line(), format!("holdover explain {CLOCK_JUMP}"));
    snapshot!("explain-clock-jump", &ran.stdout);
}

#[test]
fn protocols_and_seed_are_chosen() {
    for (arguments, heads) in [
        ("", &["naive", "fenced"][..]),
        ("--protocol fenced", &["fenced"]),
        ("--protocol monotonic --protocol naive --seed 8", &["monotonic", "naive"]),
        ("--protocol naive --protocol naive", &["naive"]),
    ] {
        let line = format!("explain {CLOCK_JUMP} {arguments}");
        let ran = run_line(&line);
        let told = ran.stdout.lines().filter_map(|line| line.strip_prefix("▌ "));
        let told: Vec<&str> = told.filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(told, [heads, &["the"]].concat(), "{line}");
        let json = run_line(&format!("{line} --format json")).json();
        let explained = json["explained"].as_array().expect("a list").iter();
        let explained: Vec<&str> = explained.filter_map(|one| one["protocol"].as_str()).collect();
        assert_eq!(explained, heads, "{line}");
        assert_eq!(json["protocols"].as_array().map(Vec::len), Some(3), "{line}");
    }
    let ran = run(["explain", CLOCK_JUMP, "--protocol", "fencd"]).ended(2);
    assert!(ran.stderr.contains("did you mean `fenced`?") && ran.stdout.is_empty(), "{}", ran.stderr);
    let ran = run(["explain", CLOCK_JUMP, "--seed", "8", "--protocol", "naive"]).ended(0);
    assert_eq!(ran.last_line(), format!("holdover explain {CLOCK_JUMP} --protocol naive --seed 8"));
}

#[test]
fn each_status_has_its_cause() {
    for (what, more, arguments, status, told) in [
        ("it is explained", PAUSE, "", 0, "NECESSARY: without it nothing is violated"),
        ("nothing is violated", "", "", 3, "violates nothing, so there is nothing to explain"),
        ("nothing is violated under this protocol", PAUSE, "fenced", 3, "how far it is to the edge"),
        (
            "something is under one of both",
            PAUSE,
            "naive fenced",
            0,
            "violates nothing, so there is nothing to explain",
        ),
    ] {
        let (_folder, path) = scenario(more);
        let mut words = vec![OsStr::new("explain"), path.as_os_str()];
        words.extend(arguments.split_whitespace().flat_map(|name| [OsStr::new("--protocol"), OsStr::new(name)]));
        let ran = run(&words).ended(status);
        assert!(ran.stdout.contains(told), "{what}: {}", ran.stdout);
        words.extend([OsStr::new("--format"), OsStr::new("json")]);
        let ran = run(&words).ended(status);
        let command = ran.json()["command"].as_str().expect("a command").to_owned();
        let aside = if status == 0 { String::new() } else { format!("{command}\n") };
        assert_eq!(ran.stderr, aside, "{what}");
    }
}

/// A run that hits its own bound can be explained as far as it went, and no further.
#[test]
fn a_run_that_is_cut_short_is_inconclusive() {
    let (_folder, path) = scenario(PAUSE);
    let text = std::fs::read_to_string(&path).expect("it was just written");
    std::fs::write(&path, text.replacen("\n\n[lease]", "\nsteps = 50\n\n[lease]", 1)).expect("it can be written");
    let ran =
        run([OsStr::new("explain"), path.as_os_str(), OsStr::new("--protocol"), OsStr::new("naive")]).ended(3);
    assert!(ran.stdout.contains("can't tell single-writer: the run hit its bound on steps"), "{}", ran.stdout);
}

/// Thousands of runs are made, and a log has only those that are told of.
#[test]
fn a_log_has_the_runs_that_are_told_of_and_no_trials() {
    let logged = |command: &str| {
        let mut running = crate::support::holdover();
        running.args([command, CLOCK_JUMP, "--protocol", "naive"]).env("RUST_LOG", "holdover=debug");
        let ran = crate::support::Ran::of(running.output().expect("the command was built")).ended(0);
        let of_naive = ran.stderr.lines().filter(|line| line.contains("protocol=\"naive\""));
        (of_naive.map(str::to_owned).collect::<Vec<_>>(), ran.stderr.lines().count())
    };
    let (replayed, explained) = (logged("replay"), logged("explain"));
    assert_eq!(explained.0, replayed.0);
    assert!(explained.1 < 4 * replayed.1, "{} lines", explained.1);
}
