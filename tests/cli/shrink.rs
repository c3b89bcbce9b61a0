//! `holdover shrink`.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use holdover::case::Case;
use holdover::scenario::Scenario;

use crate::support::{CLOCK_JUMP, QUIET, Ran, folder, run, run_line, scenario, shell, snapshot};

/// The incident in ten faults of noise.
const NOISY: &str = "tests/shrink/noisy.toml";

const PAUSE: &str = r#"
[[fault]]
when = { point = "write.checked", node = "worker-a" }
inject = { pause = { node = "worker-a", for = "41s" } }
"#;

fn shrink(path: &Path, more: &str) -> Ran {
    let words = [OsStr::new("shrink"), path.as_os_str()].into_iter();
    run(words.chain(more.split_whitespace().map(OsStr::new)))
}

#[test]
fn the_scenario_goes_to_stdout_and_the_account_to_stderr() {
    let ran = run(["shrink", NOISY]).ended(0);
    assert_eq!(ran.stderr.lines().last(), Some(&*format!("holdover shrink {NOISY}")));
    snapshot!("shrink-noisy", &format!("{}\n--- stderr\n{}", ran.stdout, ran.stderr));
    // What is on stdout is a file that comes to what it expects.
    let folder = folder(&[("small.toml", &ran.stdout)]);
    let path = folder.path().join("small.toml");
    run([OsStr::new("check"), path.as_os_str()]).ended(0);
    let small = Scenario::load(&path).expect("a scenario");
    assert!(small.plan.len() <= 2);
    // It is as small as it gets.
    let again = shrink(&path, "").ended(0);
    let without_comments = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_comments(&again.stdout), without_comments(&ran.stdout));
}

#[test]
fn protocol_rule_and_seed_are_chosen() {
    for (arguments, title) in [
        ("", "naive breaks single-writer: two workers in one generation"),
        ("--rule stale-write", "naive breaks stale-write: a write of an older grant after one of a newer"),
        ("--protocol monotonic --rule effect-once", "monotonic breaks effect-once: an operation paid twice"),
        ("--seed 11 --protocol naive", "naive breaks single-writer: two workers in one generation"),
    ] {
        let line = format!("shrink {CLOCK_JUMP} {arguments}");
        let ran = run_line(&line).ended(0);
        assert!(ran.stdout.contains(&format!("title = \"{title}\"")), "{line}: {}", ran.stdout);
        assert!(ran.stderr.starts_with(title), "{line}: {}", ran.stderr);
        let json = run_line(&format!("{line} --format json")).ended(0);
        assert_eq!(json.stderr, "");
        let json = json.json();
        let rule = title.split([' ', ':']).nth(2);
        assert_eq!(json["shrunk"][0]["signature"]["checker"].as_str(), rule, "{line}");
        assert_eq!(json["shrunk"][0]["scenario"].as_str(), Some(&*ran.stdout), "{line}");
    }
    let ran = run(["shrink", CLOCK_JUMP, "--seed", "11"]).ended(0);
    assert!(ran.stdout.contains("\nseed = 11\n"), "{}", ran.stdout);
    for (arguments, told) in [
        ("--protocol fencd", "did you mean `fenced`?"),
        ("--rule stale-writes", "did you mean `stale-write`?"),
        ("--rule everything", "the rules are: `single-writer`"),
        ("--rule all", "add `--out DIR`"),
        ("--rule all --out x.toml", "add `--out DIR`"),
    ] {
        let ran = run_line(&format!("shrink {CLOCK_JUMP} {arguments}")).ended(2);
        assert!(ran.stderr.contains(told) && ran.stdout.is_empty(), "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn each_status_has_its_cause() {
    for (what, more, arguments, status, told) in [
        ("it is shrunk", PAUSE, "", 0, "naive breaks single-writer"),
        (
            "nothing is violated",
            "",
            "",
            3,
            "naive, monotonic and fenced violate nothing, so there is nothing to shrink",
        ),
        ("nothing is violated under this protocol", PAUSE, "--protocol fenced", 3, "fenced violates nothing"),
        ("not this rule", PAUSE, "--rule token-order", 3, "fenced don't violate token-order"),
    ] {
        let (_folder, path) = scenario(more);
        let ran = shrink(&path, arguments).ended(status);
        assert!(ran.stderr.contains(told), "{what}: {}", ran.stderr);
        assert_eq!(ran.stdout.is_empty(), status == 3, "{what}");
        assert!(ran.stderr.lines().last().is_some_and(|last| last.starts_with("holdover shrink ")), "{what}");
        let json = shrink(&path, &format!("{arguments} --format json")).ended(status);
        assert_eq!(json.json()["shrunk"].as_array().map(Vec::is_empty), Some(status == 3), "{what}");
        assert_eq!(json.stderr.lines().count(), usize::from(status == 3), "{what}");
    }
}

/// A run that hits its bound may have broken something before, and that can be shrunk.
#[test]
fn a_run_that_is_cut_short_is_inconclusive() {
    let (_folder, path) = scenario(PAUSE);
    let text = fs::read_to_string(&path).expect("it was just written");
    let with = |steps: &str| {
        let text = text.replacen("\n\n[lease]", &format!("\nsteps = {steps}\n\n[lease]"), 1);
        fs::write(&path, text).expect("it can be written");
    };
    with("50");
    let ran = shrink(&path, "--protocol naive").ended(3);
    assert!(ran.stderr.contains("nothing to shrink"), "{}", ran.stderr);
    with("400");
    let ran = shrink(&path, "--protocol naive").ended(3);
    assert!(ran.stdout.contains("naive breaks single-writer"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn it_is_written_to_a_file_or_as_cases_to_a_folder() {
    let folder = folder(&[("night.toml", &format!("{QUIET}\n{PAUSE}"))]);
    let at = |name: &str| folder.path().join(name);
    let shell = |line: &str| shell(line, folder.path());
    let on_stdout = shell("holdover shrink night.toml").ended(0);
    let ran = shell("holdover shrink night.toml --out small.toml").ended(0);
    assert_eq!(ran.stdout, "small.toml\n");
    assert_eq!(ran.stderr.lines().last(), Some("holdover shrink night.toml --out small.toml --force"));
    assert_eq!(fs::read_to_string(at("small.toml")).expect("it is there"), on_stdout.stdout);
    // Redirected, or to a device, it is the same.
    shell("holdover shrink night.toml >redirected.toml 2>log").ended(0);
    assert_eq!(fs::read(at("redirected.toml")).ok(), fs::read(at("small.toml")).ok());
    shell("holdover shrink night.toml --out /dev/null").ended(0);
    let ran = shell("holdover shrink night.toml --rule all --out cases").ended(0);
    let cases = [
        "effect-once-paid-twice",
        "nothing-lost-entered-twice",
        "single-writer-two-writers",
        "stale-write-stale-write",
    ];
    let mut told: Vec<&str> = ran.stdout.lines().collect();
    told.sort_unstable();
    assert_eq!(told, cases.map(|case| format!("cases/{case}-naive")));
    for case in told {
        let read = Case::read(&at(case)).expect("it is a case");
        assert_eq!(read.about.command, "holdover shrink night.toml --rule all");
        shell(&format!("cd {case} && {}", read.about.replay)).ended(0);
        shell(&format!("holdover promote {case}")).ended(0);
    }
    let ran = shell("holdover check scenarios").ended(0);
    assert!(ran.stdout.contains("4 scenarios: 4 as expected"), "{}", ran.stdout);
}

#[test]
fn no_file_is_replaced_that_was_not_meant() {
    let night = format!("{QUIET}\n{PAUSE}");
    let folder = folder(&[("night.toml", &night), ("other.toml", "mine"), ("link.toml", &night)]);
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it is there");
    let shell = |line: &str| shell(&format!("holdover shrink night.toml {line}"), folder.path());
    for (arguments, told) in [
        ("--out night.toml", "would be written over the one that it is made from"),
        ("--out ./night.toml --force", "would be written over the one that it is made from"),
        ("--out other.toml", "there is a file already"),
        ("--force", "--out <FILE|DIR>"),
    ] {
        let ran = shell(arguments).ended(2);
        assert!(ran.stderr.contains(told) && ran.stdout.is_empty(), "{arguments}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!((text("night.toml"), text("other.toml")), (night, "mine".to_owned()));
    shell("--out other.toml --force").ended(0);
    assert_eq!(text("other.toml"), shell("").ended(0).stdout);
}

/// A disk that is full is like one that takes no larger files. The work isn't begun where nothing could be written, and what
/// came of it is shown where there was no room for the rest.
#[test]
#[cfg(unix)]
fn nothing_is_lost_where_there_is_no_room() {
    let folder = folder(&[("night.toml", &format!("{QUIET}\n{PAUSE}"))]);
    let with_room =
        |blocks: u32, line: &str| shell(&format!("trap '' XFSZ; ulimit -f {blocks}; {line}"), folder.path());
    for line in
        ["shrink night.toml --out small.toml", "shrink night.toml --out cases", "hunt night.toml --out finds"]
    {
        let ran = with_room(64, &format!("holdover {line}")).ended(2);
        assert!(ran.stderr.contains("can't be written") && ran.stdout.is_empty(), "{line}: {}", ran.stderr);
    }
    let on_stdout = shell("holdover shrink night.toml", folder.path()).ended(0);
    // There is room for what is tried, and none for the picture.
    let ran = with_room(200, "holdover shrink night.toml --out cases").ended(2);
    assert_eq!(ran.stdout, on_stdout.stdout);
    assert!(ran.stderr.contains("can't be written"), "{}", ran.stderr);
    let hunt = "holdover hunt night.toml --protocol naive --plan kept --seeds 0..5";
    let found = shell(hunt, folder.path()).ended(1);
    let ran = with_room(200, &format!("{hunt} --out finds")).ended(2);
    assert_eq!(ran.stdout, found.stdout, "what was found is told, with a command that needs no file");
    assert!(ran.stderr.contains("can't be written"), "{}", ran.stderr);
    let left = fs::read_dir(folder.path()).expect("a folder").filter_map(Result::ok);
    let hidden = left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "nothing is left over");
}

#[test]
#[cfg(unix)]
fn what_can_not_be_written_is_told() {
    let folder = folder(&[
        ("night.toml", &format!("{QUIET}\n{PAUSE}")),
        ("file", "mine"),
        ("cases/single-writer-two-writers-naive/notes", "mine"),
    ]);
    for (arguments, told) in [
        ("--out file/cases", "file/cases: can't be written"),
        ("--out file/small.toml", "file/small.toml: can't be written"),
        ("--out nowhere/small.toml", "nowhere/small.toml: can't be written"),
        ("--out file", "file: can't be written"),
        ("--out cases", "there is something that isn't a case"),
    ] {
        let ran = shell(&format!("holdover shrink night.toml {arguments}"), folder.path()).ended(2);
        assert!(ran.stderr.replace('\n', " ").contains(told), "{arguments}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(folder.path().join("file")).expect("it is there"), "mine");
    let notes = folder.path().join("cases/single-writer-two-writers-naive/notes");
    assert_eq!(fs::read_to_string(notes).expect("it is there"), "mine");
    if cfg!(target_os = "linux") {
        let ran = shell("holdover shrink night.toml >/dev/full", folder.path()).ended(2);
        assert!(ran.stderr.contains("the output can't be written"), "{}", ran.stderr);
    }
}

#[test]
fn a_case_is_promoted_once() {
    let folder = folder(&[("night.toml", &format!("{QUIET}\n{PAUSE}"))]);
    let shell = |line: &str| shell(line, folder.path());
    let case = "cases/single-writer-two-writers-naive";
    let file = "scenarios/regressions/single-writer-two-writers-naive.toml";
    shell("holdover shrink night.toml --out cases").ended(0);
    let ran = shell(&format!("holdover promote {case}")).ended(0);
    assert!(ran.stdout.starts_with(&format!("{file} is a scenario now\n")), "{}", ran.stdout);
    assert_eq!(ran.last_line(), format!("holdover check {file}"));
    shell(ran.last_line()).ended(0);
    let ran = shell(&format!("holdover promote {case}")).ended(0);
    assert!(ran.stdout.contains("was there already"), "{}", ran.stdout);
    shell(&format!("echo '# mine' >> {file}")).ended(0);
    let ran = shell(&format!("holdover promote {case}")).ended(2);
    assert!(ran.stderr.contains("there is another scenario"), "{}", ran.stderr);
    shell(&format!("holdover promote {case} --to elsewhere")).ended(0);
    for (spoiled, status, told) in [
        (
            "sed -i.bak 's/progress = \"holds\"/progress = \"unknown\"/' scenario.toml",
            1,
            "progress holds, expected: unknown",
        ),
        ("sed -i.bak 's/\"naive\"/\"mine\"/' case.json", 2, "a case of the protocol `mine`"),
        ("rm case.json", 2, "can't be read"),
    ] {
        shell(&format!("cd {case} && {spoiled}")).ended(0);
        let ran = shell(&format!("holdover promote {case} --to new")).ended(status);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(told), "{spoiled}: {}{}", ran.stdout, ran.stderr);
        assert!(!folder.path().join("new").exists(), "{spoiled}");
    }
    let ran = shell("holdover promote .").ended(2);
    assert!(ran.stderr.contains("case.json: can't be read"), "{}", ran.stderr);
}

/// The clocks of a replica, whose number is behind the workers', are still its own when a worker goes.
#[test]
fn replicas_keep_their_clocks_when_a_worker_goes() {
    let text = r#"title = "Two workers, and a replica with a time daemon"
start = 2026-01-15T01:59:30Z
protocols = ["naive"]

[lease]
ttl = "40s"
renew_every = "10s"
service = "async-replica"

[job]
operations = 1
finish_within = "1ms"

[[worker]]
name = "a"

[[worker]]
name = "b"

[service.lease-2]
clock = { discipline = "chrony" }
"#;
    let folder = folder(&[("replica.toml", text)]);
    let ran = shrink(&folder.path().join("replica.toml"), "").ended(0);
    let small = Scenario::parse("small.toml", &ran.stdout).expect("it was written");
    assert_eq!(small.world.workers.len(), 1);
}
