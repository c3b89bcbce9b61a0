//! `holdover hunt` and `holdover merge`: what they print and keep, and how they end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdover::explore::hunt::Findings;
use holdover::scenario::Scenario;

use crate::support::{CLOCK_JUMP, Ran, holdover, run, run_line, snapshot};

/// A folder in which the command may make another.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let out = folder.path().join("out");
    (folder, out)
}

fn findings(folder: &Path) -> Findings {
    let text = fs::read_to_string(folder.join("hunt.json")).expect("hunt.json is there");
    serde_json::from_str(&text).expect("hunt.json can be read")
}

#[test]
fn what_was_found_is_told_and_with_what_it_was_found() {
    let ran = run_line(&format!("hunt {CLOCK_JUMP} --protocol naive --protocol fenced --seeds 0..200")).ended(1);
    assert_eq!(ran.stderr, "");
    snapshot!("hunt", &ran.stdout);
}

#[test]
fn nothing_found_is_told_in_few_words() {
    let ran =
        run_line(&format!("hunt {CLOCK_JUMP} --protocol fenced --inside --faults pause --seeds 0..60")).ended(0);
    assert_eq!(ran.stderr, "");
    snapshot!("hunt-green", &ran.stdout);
}

/// Nothing failed, because there was nothing to fail.
#[test]
fn a_hunt_that_says_nothing_says_so() {
    let (_folder, out) = place();
    let junit = out.with_extension("xml");
    for (options, told) in [
        ("--seeds 0..2 --shard 3/4", "nothing was run: there are fewer seeds than shares"),
        ("--seeds 0..20 --faults time-source", "none of the faults that were asked for was drawn"),
    ] {
        let line = format!("hunt {CLOCK_JUMP} --protocol fenced --inside {options} --junit {}", junit.display());
        let ran = run_line(&line).ended(3);
        assert!(ran.stdout.contains(told), "{options}: {}", ran.stdout);
        assert!(!ran.stdout.contains("  nothing failed\n"), "{options}: {}", ran.stdout);
        let report = fs::read_to_string(&junit).expect("it was written");
        assert!(report.contains(told) && report.contains("errors=\"1\""), "{report}");
    }
    let ran = run_line(&format!("hunt {CLOCK_JUMP} --inside --faults pause,time-source --seeds 0..60")).ended(0);
    assert!(ran.stdout.contains("! asked for, but never drawn: time-source"), "{}", ran.stdout);
}

#[test]
fn the_share_of_a_hunt_that_has_no_seeds_is_joined_with_the_others() {
    let (folder, _) = place();
    for share in 1..=3 {
        let script = format!("hunt {CLOCK_JUMP} --protocol naive --inside --seeds 0..2 --shard {share}/3");
        let out = folder.path().join(share.to_string());
        let words = script.split(' ').map(str::to_owned).chain(["--out".into(), out.display().to_string()]);
        run(words).ended(if share == 3 { 3 } else { 0 });
    }
    let whole = ["merge", "1", "2", "3"].map(|name| folder.path().join(name));
    let ran =
        run(std::iter::once("merge".as_ref()).chain(whole[1..].iter().map(|path| path.as_os_str()))).ended(0);
    assert!(ran.stdout.contains("nothing failed"), "{}", ran.stdout);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (arguments, told) in [
        ("hunt SCENARIO --plan kept --faults clocks", "--faults has nothing to choose from"),
        ("hunt SCENARIO --plan kept --faults all", "--faults has nothing to choose from"),
        ("hunt SCENARIO --plan kept --profile realistic", "--profile has nothing to choose from"),
        ("hunt --plan kept", "--plan kept is about the faults of a scenario"),
        ("hunt --plan extended", "--plan extended is about the faults of a scenario"),
        ("hunt SCENARIO --fail-fast --keep-going", "cannot be used with"),
        ("hunt SCENARIO --seeds 5..5", "`5..5` has no seeds in it"),
        ("replay SCENARIO --verbose --format json", "json has no such timeline"),
        ("replay SCENARIO --verbose --format svg", "svg has no such timeline"),
        ("replay SCENARIO --lane worker-a --format jsonl", "jsonl has all of it"),
        ("replay SCENARIO --from 02:00:10 --to 02:00:09", "--from is later than --to"),
        ("shrink SCENARIO --rule all", "need a folder"),
        ("list points scenarios", "only scenarios are listed from a folder"),
    ] {
        let ran = run_line(&arguments.replace("SCENARIO", CLOCK_JUMP)).ended(2);
        assert!(ran.stderr.contains(told), "{arguments}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments}");
    }
    // `all` has the others in it.
    let ran = run_line("hunt --protocol naive --protocol all --seeds 0..1 --plan replaced --inside");
    assert!(ran.stdout.contains("naive, monotonic, fenced, fenced-consensus"), "{}", ran.stdout);
    let ran = run_line(&format!("hunt {CLOCK_JUMP} --plan kept --seeds 0..2 --protocol fenced")).ended(0);
    assert!(ran.stdout.contains("with the scenario's own plan"), "{}", ran.stdout);
}

#[test]
fn the_last_line_repeats_the_first_failure() {
    let ran = run_line(&format!("hunt {CLOCK_JUMP} --protocol naive --seeds 0..300")).ended(1);
    let first = |ran: &Ran| ran.stdout.lines().find(|line| line.starts_with("    ")).map(str::to_owned);
    let repeat = ran.last_line().strip_prefix("holdover ").expect("it is a command");
    let again = run_line(repeat).ended(1);
    assert!(first(&ran).is_some());
    assert_eq!(first(&again), first(&ran));
}

#[test]
fn a_failure_is_kept_as_a_scenario_that_fails_so() {
    let (_folder, out) = place();
    let ran = run([
        "hunt",
        CLOCK_JUMP,
        "--protocol",
        "naive",
        "--seeds",
        "0..300",
        "--out",
        out.to_str().expect("UTF-8"),
    ])
    .ended(1);
    let found = findings(&out);
    assert!(found.complete && found.failures.len() > 3);
    for failure in &found.failures {
        let file = out.join(failure.name()).join("scenario.toml");
        let scenario = Scenario::load(&file).expect("it is a scenario");
        assert!(scenario.plan.len() <= 2, "{}", scenario.plan.len());
        // It says itself what it comes to.
        run(["replay".as_ref(), file.as_os_str()]).ended(0);
        let rule = failure.cause.name();
        let rule = holdover::sim::check::CHECKERS.iter().find(|checker| rule.starts_with(checker.name));
        let verdict = &scenario.expect["naive"].verdicts[rule.expect("a rule").name];
        assert_eq!(verdict.name(), "violated");
    }
    assert!(ran.last_line().starts_with("holdover replay "), "{}", ran.last_line());
    // Only what belongs there is.
    assert_eq!(fs::read_dir(&out).expect("it is there").count(), found.failures.len() + 1);
}

#[test]
fn shares_joined_are_the_whole() {
    let (folder, whole) = place();
    let hunt = |options: &[&str], out: &Path| {
        let mut command = holdover();
        command.args(["hunt", CLOCK_JUMP, "--seeds", "0..301", "--quiet", "--out"]).arg(out).args(options);
        Ran::of(command.output().expect("the command was built")).ended(1)
    };
    hunt(&["--jobs", "1"], &whole);
    let shares: Vec<PathBuf> = (1..=4).map(|number| folder.path().join(format!("share-{number}"))).collect();
    for (number, share) in (1..=4).zip(&shares) {
        hunt(&["--shard", &format!("{number}/4"), "--jobs", "2"], share);
    }
    let joined = folder.path().join("joined");
    let merge = |folders: &[PathBuf], out: &Path| {
        Ran::of(holdover().arg("merge").args(folders).arg("--out").arg(out).output().expect("it was built"))
    };
    let merged = merge(&shares, &joined).ended(1);
    assert!(merged.stdout.starts_with("301 seeds of 0..301, shares 1/4, 2/4, 3/4 and 4/4: "), "{}", merged.stdout);
    let (one, other) = (findings(&whole), findings(&joined));
    assert_eq!((&one.failures, &one.coverage, one.seeds), (&other.failures, &other.coverage, other.seeds));
    for failure in &one.failures {
        for file in ["scenario.toml", "original.toml", "explanation.txt", "case.json"] {
            let text =
                |folder: &Path| fs::read_to_string(folder.join(failure.name()).join(file)).expect("it is there");
            assert_eq!(text(&whole), text(&joined), "{} {file}", failure.name());
        }
    }
    // A share that is missing is told; one that is there twice is refused.
    let some = Ran::of(holdover().arg("merge").args(&shares[..3]).output().expect("it was built")).ended(1);
    assert!(some.stdout.contains("1 share of the seeds missing"), "{}", some.stdout);
    let twice = [shares[0].clone(), shares[0].clone()];
    let twice = Ran::of(holdover().arg("merge").args(&twice).output().expect("it was built")).ended(2);
    assert!(twice.stderr.contains("share 1/4 of the seeds is there twice"), "{}", twice.stderr);
}

#[test]
fn a_share_comes_from_the_environment() {
    let auto = |variables: &[(&str, &str)], shard: &str| {
        let mut command = holdover();
        command.args(["hunt", "--protocol", "fenced", "--inside", "--seeds", "0..40", "--shard", shard]);
        Ran::of(command.envs(variables.iter().copied()).output().expect("it was built"))
    };
    let second = auto(&[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "4")], "auto").ended(0);
    assert!(second.stdout.starts_with("10 seeds of 0..40, share 2/4: "), "{}", second.stdout);
    let third = auto(&[("JOB_COMPLETION_INDEX", "2")], "auto/3").ended(0);
    assert!(third.stdout.starts_with("13 seeds of 0..40, share 3/3: "), "{}", third.stdout);
    let none = auto(&[], "auto").ended(2);
    assert!(none.stderr.contains("no index of a parallel job is set"), "{}", none.stderr);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, part) in [
        ("--seeds 5..5", "write a range such as 0..20000"),
        ("--seeds 5", "write a range such as 0..20000"),
        ("--for 0s", "write how long, such as 60s"),
        ("--for soon", "write how long, such as 60s"),
        ("--jobs 0", "write a number above zero"),
        ("--profile hostle", "did you mean `hostile`?"),
        ("--faults puase", "did you mean `pause`?"),
        ("--shard 5/4", "write a share such as 1/4"),
        ("--protocol navie", "did you mean `naive`?"),
        ("--fail-fast --keep-going", "cannot be used with"),
        ("--out /dev/null/there", "can't be written"),
        ("--out Cargo.toml", "can't be written"),
    ] {
        let ran = run_line(&format!("hunt {CLOCK_JUMP} {arguments}")).ended(2);
        assert!(ran.stderr.contains(part) && ran.stdout.is_empty(), "{arguments}: {}", ran.stderr);
    }
    for (arguments, part) in [
        ("merge", "required arguments were not provided"),
        ("merge scenarios", "hunt.json: No such file"),
        ("hunt no-such.toml", "no-such.toml"),
    ] {
        let ran = run_line(arguments).ended(2);
        assert!(ran.stderr.contains(part), "{arguments}: {}", ran.stderr);
    }
}

#[test]
#[cfg(unix)]
fn two_hunts_do_not_write_into_one_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let hunt = || {
        run([
            "hunt",
            CLOCK_JUMP,
            "--protocol",
            "naive",
            "--seeds",
            "0..20",
            "--out",
            folder.path().to_str().expect("text"),
        ])
    };
    let other = std::fs::File::open(folder.path()).expect("it is there");
    other.lock().expect("nobody else has it");
    let ran = hunt().ended(2);
    assert!(
        ran.stderr.contains("another hunt or merge is writing there") && ran.stdout.is_empty(),
        "{}",
        ran.stderr
    );
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    drop(other);
    hunt().ended(1);
}

#[test]
fn the_finds_of_another_hunt_are_left_as_they_are() {
    let (_folder, out) = place();
    let hunt = || {
        run([
            "hunt",
            "--protocol",
            "fenced",
            "--inside",
            "--seeds",
            "0..20",
            "--out",
            out.to_str().expect("UTF-8"),
        ])
    };
    hunt().ended(0);
    let before = fs::read_to_string(out.join("hunt.json")).expect("it is there");
    let refused = hunt().ended(2);
    assert!(refused.stderr.contains("has the finds of a hunt"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(out.join("hunt.json")).expect("it is still there"), before);
    fs::write(out.join("hunt.json"), &before[..before.len() / 2]).expect("it can be written");
    let cut = run(["merge".as_ref(), out.as_os_str()]).ended(2);
    assert!(cut.stderr.contains("hunt.json: EOF while parsing"), "{}", cut.stderr);
}

/// A hunt that goes on for ever, once it has kept something.
fn endless(out: &Path) -> Child {
    let mut command = holdover();
    command
        .args(["hunt", CLOCK_JUMP, "--protocol", "naive", "--seeds", "0..18446744073709551615", "--out"])
        .arg(out);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command was built");
    let has_some = || {
        fs::read_dir(out).is_ok_and(|mut files| {
            files.any(|file| {
                file.is_ok_and(|file| file.path().extension().is_some_and(|extension| extension == "toml"))
            })
        })
    };
    while !has_some() {
        std::thread::yield_now();
    }
    child
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
}

#[test]
fn an_interrupt_ends_a_hunt_with_all_that_was_found() {
    let (_folder, out) = place();
    let child = endless(&out);
    signal(&child, "-INT");
    let ran = Ran::of(child.wait_with_output().expect("it ended")).ended(1);
    let found = findings(&out);
    assert!(!found.complete && found.seeds > 0 && !found.failures.is_empty());
    assert!(ran.stdout.contains(", not all that were asked for: "), "{}", ran.stdout);
    // Those that were looked at are the first ones, so a hunt for just these finds the same.
    let (_folder, again) = place();
    let seeds = format!("0..{}", found.seeds);
    run(["hunt", CLOCK_JUMP, "--protocol", "naive", "--seeds", &seeds, "--out", again.to_str().expect("UTF-8")])
        .ended(1);
    assert_eq!(findings(&again).failures, found.failures);
}

#[test]
fn a_hunt_that_is_killed_leaves_what_it_had_found() {
    let (_folder, out) = place();
    let mut child = endless(&out);
    signal(&child, "-KILL");
    child.wait().expect("it ended");
    let mut kept = 0;
    for file in fs::read_dir(&out).expect("it is there") {
        let path = file.expect("it can be listed").path();
        // Whatever was being written then isn't in its place yet.
        if path.extension().is_some_and(|extension| extension == "toml") {
            Scenario::load(&path).expect("it is whole");
            kept += 1;
        }
    }
    assert!(kept > 0);
}

#[test]
fn a_junit_report_has_a_case_for_each_protocol() {
    let (folder, _) = place();
    let file = folder.path().join("new/junit.xml");
    let mut command = holdover();
    command.args(["hunt", CLOCK_JUMP, "--protocol", "naive", "--protocol", "fenced", "--faults", "pause"]);
    command.args(["--inside", "--seeds", "0..60", "--junit"]).arg(&file);
    Ran::of(command.output().expect("it was built")).ended(0);
    let green = fs::read_to_string(&file).expect("it was written");
    assert!(green.contains("tests=\"2\"") && green.contains("failures=\"0\""), "{green}");
    let mut command = holdover();
    command.args(["hunt", CLOCK_JUMP, "--protocol", "naive", "--seeds", "0..300", "--junit"]).arg(&file);
    Ran::of(command.output().expect("it was built")).ended(1);
    let red = fs::read_to_string(&file).expect("it was written");
    assert!(
        red.contains("failures=\"1\"") && red.contains("single-writer: two workers in one generation"),
        "{red}"
    );
    assert!(red.contains("holdover hunt scenarios/incidents/clock-jump.toml --protocol naive --seeds "), "{red}");
    let ran = run_line(&format!("hunt {CLOCK_JUMP} --seeds 0..9 --junit {CLOCK_JUMP}")).ended(2);
    assert!(ran.stderr.contains("scenario"), "{}", ran.stderr);
}
