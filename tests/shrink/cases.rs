//! Cases: folders that reproduce what was found, and scenarios that are made of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdover::case::{Case, CaseError, Find, Promoted, promote, write_file};
use holdover::explore::shrink::{BUDGET, shrink};
use holdover::explore::{Signature, Subject};
use holdover::replay::Replay;
use holdover::scenario::Scenario;
use holdover::sim::fault::PauseClocks::Running;
use holdover::sim::point::Point;
use holdover::sim::protocol::{self, AnyProtocol};
use holdover::suite::Suite;
use tempfile::TempDir;

use crate::plan::{A, on, pause};
use crate::protocol::{Bug, Planted};
use crate::support::{NOISY, scenario};

const FILES: [&str; 7] = [
    "case.json",
    "explanation.txt",
    "history.jsonl",
    "original.toml",
    "report.html",
    "report.txt",
    "scenario.toml",
];

fn case_of(scenario: &Scenario, protocol: &'static dyn AnyProtocol) -> Case {
    let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
    let (signature, _): (Signature, usize) = subject.run(&scenario.plan).failures()[0];
    let shrunk = shrink(scenario, protocol, signature, BUDGET).expect("it breaks this");
    let command = "holdover hunt noisy.toml --seeds 0..20";
    let find = Find { original: scenario, shrunk: &shrunk, protocol, plan_seed: Some(17), command, found: 3 };
    Case::new(find).expect("a file can say it")
}

fn naive() -> &'static dyn AnyProtocol {
    protocol::find("naive").expect("a known protocol")
}

fn noisy() -> Case {
    case_of(&scenario(NOISY), naive())
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

/// What is in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("it can be read").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_case_is_a_folder_that_reproduces_itself() {
    let (folder, case) = (folder(), noisy());
    // A folder that isn't there yet is made.
    let cases = folder.path().join("deep/cases");
    let path = case.write(&cases).expect("it can be written");
    assert_eq!(names(&cases), ["single-writer-two-writers-naive"]);
    assert_eq!(names(&path), FILES);
    assert_eq!(Case::read(&path).expect("it can be read"), case);
    assert_eq!(case.signature(), Signature::named("single-writer", "two-writers"));
    // The file gives the very run.
    let small = Scenario::load(path.join("scenario.toml")).expect("a scenario");
    let replay = Replay::new(&small, &[naive()], small.seed);
    assert_eq!(replay.runs[0].fingerprint.to_string(), case.about.fingerprint);
    assert_eq!(Replay::of(&small).deviations(), []);
    let mut history = Vec::new();
    holdover::report::jsonl::write(&replay, &mut history).expect("a Vec takes any bytes");
    assert_eq!(case.history.as_bytes(), history);
    assert_eq!(Scenario::load(path.join("original.toml")).expect("a scenario"), scenario(NOISY));
    for (text, told) in [
        (&case.report, "▌ naive"),
        (&case.report, "as the scenario expects"),
        (&case.explanation, "NECESSARY"),
        (case.picture.as_ref().expect("it has one"), "NECESSARY"),
        (&case.scenario, "# Found under naive with seed 7, its plan drawn from seed 17\n"),
        (&case.scenario, "# holdover hunt noisy.toml --seeds 0..20\n"),
    ] {
        assert!(text.contains(told), "{told} isn't in {text}");
        assert!(!text.contains('\u{1b}'));
    }
}

#[test]
fn the_same_find_gives_the_same_bytes() {
    assert_eq!(noisy(), noisy());
}

#[test]
fn a_case_takes_the_place_of_an_earlier_one_and_of_nothing_else() {
    let (folder, mut case) = (folder(), noisy());
    case.write(folder.path()).expect("it can be written");
    case.about.found = 8;
    let path = case.write(folder.path()).expect("it can be written again");
    assert_eq!(Case::read(&path).expect("it can be read").about.found, 8);
    assert_eq!(names(folder.path()), [case.name()], "nothing is left lying about");
    fs::remove_file(path.join("case.json")).expect("it is there");
    assert!(matches!(case.write(folder.path()), Err(CaseError::Occupied { .. })));
    assert_eq!(names(&path).len(), FILES.len() - 1, "what isn't a case is left alone");
    fs::remove_dir_all(&path).expect("it is there");
    fs::write(&path, "a file").expect("it can be written");
    assert!(matches!(case.write(folder.path()), Err(CaseError::Occupied { .. })));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "a file");
}

#[test]
#[cfg(unix)]
fn where_nothing_can_be_written_nothing_is_lost() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, mut case) = (folder(), noisy());
    let path = case.write(folder.path()).expect("it can be written");
    case.about.found = 8;
    // In the way of a folder is a file.
    let file = folder.path().join("file");
    fs::write(&file, "").expect("it can be written");
    let error = case.write(&file).expect_err("a file isn't a folder");
    assert!(matches!(error, CaseError::NotWritten { .. }), "{error}");
    assert!(write_file(&file.join("x.toml"), "x").is_err());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).expect("it is ours");
    // Some users may write everywhere.
    let may = fs::File::create(folder.path().join("probe")).is_ok();
    assert!(may || matches!(case.write(folder.path()), Err(CaseError::NotWritten { .. })));
    assert!(may || write_file(&folder.path().join("x.toml"), "x").is_err());
    assert!(may || Case::read(&path).expect("it is still there").about.found == 3);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn what_is_no_case_is_not_read() {
    let (folder, case) = (folder(), noisy());
    assert!(matches!(Case::read(folder.path()), Err(CaseError::NotRead { .. })));
    let path = case.write(folder.path()).expect("it can be written");
    for (text, is_json) in [("", false), ("{}", false), ("[1]", false)] {
        fs::write(path.join("case.json"), text).expect("it can be written");
        let read = Case::read(&path);
        assert_eq!(matches!(read, Err(CaseError::NotACase { .. })), !is_json, "{text}");
    }
    case.write(folder.path()).expect("it is a case by its files");
    let may_be_missing = ["original.toml", "report.html"];
    for name in FILES.iter().filter(|name| !may_be_missing.contains(name)) {
        fs::remove_file(path.join(name)).expect("it is there");
        assert!(matches!(Case::read(&path), Err(CaseError::NotRead { .. })), "without {name}");
        fs::remove_dir_all(&path).expect("it is there");
        case.write(folder.path()).expect("it can be written");
    }
}

fn promoted(result: Result<Promoted, CaseError>) -> PathBuf {
    match result {
        Ok(Promoted::Written(path)) => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_case_becomes_a_scenario_once() {
    let (folder, mut case) = (folder(), noisy());
    let path = case.write(folder.path()).expect("it can be written");
    let to = folder.path().join("scenarios/regressions");
    let written = promoted(promote(&Suite::builtin(), &path, &to));
    assert_eq!(written, to.join("single-writer-two-writers-naive.toml"));
    assert_eq!(fs::read_to_string(&written).expect("it is there"), case.scenario);
    assert!(
        matches!(promote(&Suite::builtin(), &path, &to), Ok(Promoted::AlreadyThere(there)) if there == written)
    );
    // Another one of that name is no reason to lose the first.
    case.scenario = case.scenario.replace("operations = 1", "operations = 2");
    case.write(folder.path()).expect("it can be written");
    assert!(matches!(promote(&Suite::builtin(), &path, &to), Err(CaseError::Different { .. })));
    assert_eq!(names(&to).len(), 1);
    // What doesn't come to what it expects isn't put among those that are checked.
    case.scenario = case.scenario.replace("stale-write = \"violated\"", "stale-write = \"unknown\"");
    case.write(folder.path()).expect("it can be written");
    let elsewhere = folder.path().join("elsewhere");
    assert!(matches!(promote(&Suite::builtin(), &path, &elsewhere), Ok(Promoted::NotAsExpected(_))));
    assert!(!elsewhere.exists());
    case.scenario = "title = 1".to_owned();
    case.write(folder.path()).expect("it can be written");
    assert!(matches!(promote(&Suite::builtin(), &path, &elsewhere), Err(CaseError::Scenario(_))));
}

/// A program's own protocol, which scenario files don't know.
#[test]
fn a_case_of_a_protocol_of_ones_own() {
    const PLANTED: &Planted = &Planted { bugs: &[Bug::LedgerEntersTwice] };
    let mut night = scenario(NOISY);
    night.plan.extend(on(A, Point::WRITE_DONE, -9_900, &[pause(A, 38_000, Running)]));
    let case = case_of(&night, PLANTED);
    assert_eq!(case.name(), "nothing-lost-entered-twice-planted");
    let folder = folder();
    let path = case.write(folder.path()).expect("it can be written");
    assert_eq!(Case::read(&path).expect("it can be read"), case);
    let small = Scenario::load(path.join("scenario.toml")).expect("a scenario");
    assert!(!small.expect.contains_key("planted") && small.expect.contains_key("naive"));
    assert!(small.title.starts_with("planted breaks nothing-lost"));
    assert_eq!(Replay::of(&small).deviations(), []);
    let promoted = promote(&Suite::builtin(), &path, &folder.path().join("regressions"));
    assert!(matches!(promoted, Err(CaseError::UnknownProtocol { .. })));
    // No command is named that wouldn't know the protocol.
    let about = &case.about;
    assert!(about.own && about.replay.starts_with("Replay::new(&scenario, &[protocol]"), "{}", about.replay);
    let picture = case.picture.as_ref().expect("it has one");
    assert!(!picture.contains("holdover replay") && picture.contains("Replay::new("));
}

/// Nothing is found out about a protocol that isn't run.
#[test]
fn a_case_of_a_protocol_of_ones_own_is_not_said_to_be_as_expected() {
    const PLANTED: &Planted = &Planted { bugs: &[Bug::LedgerEntersTwice] };
    let mut night = scenario(NOISY);
    night.plan.extend(on(A, Point::WRITE_DONE, -9_900, &[pause(A, 38_000, Running)]));
    let (folder, mut case) = (folder(), case_of(&night, PLANTED));
    let check = |case: &Case| {
        let path = case.write(folder.path()).expect("it can be written");
        let junit = folder.path().join("junit.xml");
        let mut check = Command::new(env!("CARGO_BIN_EXE_holdover"));
        let checked = check.arg("check").arg(&path).arg("--junit").arg(&junit).output().expect("it is built");
        let told = String::from_utf8(checked.stdout).expect("it is text");
        (checked.status.code(), told, fs::read_to_string(junit).expect("it is written"))
    };
    let (status, told, junit) = check(&case);
    assert_eq!(status, Some(3), "{told}");
    for part in [
        "inconclusive ",
        "it was found under planted, a protocol of a program's own, and isn't run under that here\n",
        "1 scenario: 0 as expected, 1 not\nholdover check ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(junit.contains("failures=\"1\"") && junit.contains("it was found under planted"), "{junit}");
    // Nor is it kept quiet by whoever runs the file.
    for command in ["replay", "explain", "shrink"] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_holdover"));
        let ran = run.arg(command).arg(folder.path().join(case.name()).join("scenario.toml")).output();
        let told = String::from_utf8(ran.expect("it is built").stderr).expect("it is text");
        let said = "found under planted, a protocol of a program's own, which isn't run here\n";
        assert!(told.starts_with(said), "{command}: {told}");
    }
    // It is no other if it is called as one that comes along.
    case.about.protocol = "naive".to_owned();
    assert_eq!(check(&case).0, Some(3));
    case.about.own = false;
    assert_eq!(check(&case).0, Some(0));
}

/// What a program made may be nothing that a file can say: then there is no case, or one without the original.
#[test]
fn what_no_file_can_say() {
    let mut night = scenario(NOISY);
    night.world.workers[2].name = "not a name".to_owned();
    let case = case_of(&night, naive());
    assert_eq!(case.original, None, "the worker that is gone had a name that no file has");
    let folder = folder();
    let path = case.write(folder.path()).expect("it can be written");
    assert_eq!(names(&path).len(), FILES.len() - 1);
    assert_eq!(Case::read(&path).expect("it can be read"), case);
    night.world.workers[0].name = "Worker A".to_owned();
    let subject = Subject { world: &night.world, protocol: naive(), seed: night.seed };
    let (signature, _) = subject.run(&night.plan).failures()[0];
    let shrunk = shrink(&night, naive(), signature, BUDGET).expect("it breaks this");
    let find =
        Find { original: &night, shrunk: &shrunk, protocol: naive(), plan_seed: None, command: "", found: 1 };
    let error = Case::new(find).expect_err("no file has a worker of that name");
    assert_eq!(error.to_string(), "`name` of worker 1 can't be written: `Worker A` can't be a worker's name");
}
