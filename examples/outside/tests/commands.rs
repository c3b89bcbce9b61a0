//! The commands of a program of one's own: its protocols have names in files and everywhere else, and what they tell can be
//! pasted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The gateway lets a worker pay that slept between ledger and payout.
const BREAKS: &str = r#"title = "A worker sleeps between its ledger entry and its payout"
start = 2026-01-15T02:00:00Z
protocols = ["open-gateway", "both-doors"]

[lease]
ttl = "40s"
renew_every = "10s"

[job]
operations = 5

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
starts = "+5s"

[[fault]]
when = { point = "write.done", node = "worker-a", nth = 3 }
inject = { pause = { node = "worker-a", for = "60s" } }

[expect.open-gateway]
effect-once = "violated"

[expect.both-doors]
effect-once = "holds"
"#;

/// A folder that is there until the test is over, with the scenario in it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if place.exists() {
            fs::remove_dir_all(&place).expect("what an earlier run left can be taken away");
        }
        fs::create_dir_all(&place).expect("there is room");
        fs::write(place.join("breaks.toml"), BREAKS).expect("there is room");
        Place(place)
    }

    /// What a shell makes of a line here.
    fn shell(&self, line: &str) -> Output {
        Command::new("sh").args(["-c", line]).current_dir(&self.0).output().expect("there is a shell")
    }

    /// What the program says with these arguments, if it ends with `status`.
    #[track_caller]
    fn says(&self, arguments: &str, status: i32) -> String {
        let ran = self.shell(&format!("'{}' {arguments}", env!("CARGO_BIN_EXE_outside")));
        let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(status), "{said}");
        said
    }
}

#[test]
fn its_protocols_have_names_in_files() {
    let place = Place::new("names");
    assert!(place.says("check breaks.toml", 0).contains("ok"));
    let told = place.says("replay breaks.toml", 0);
    assert!(told.contains("open-gateway") && told.contains("both-doors"), "{told}");
    assert!(place.says("explain breaks.toml", 0).contains("open-gateway"));
    // And a slip is told as it is with those that are built in.
    fs::write(place.0.join("slip.toml"), BREAKS.replace("[expect.both-doors]", "[expect.both-door]"))
        .expect("room");
    let told = place.says("check slip.toml", 2);
    assert!(
        told.contains("unknown protocol `both-door`") && told.contains("did you mean `both-doors`?"),
        "{told}"
    );
}

#[test]
fn it_is_in_lists_schemas_and_completions() {
    let place = Place::new("lists");
    assert!(place.says("list protocols", 0).contains("open-gateway"));
    let schema = place.says("schema", 0);
    assert!(schema.matches("open-gateway").count() >= 2, "{schema}");
    assert!(place.says("completions bash", 0).contains("_outside()"));
    assert!(place.says("--help", 0).contains("Usage: outside"));
}

#[test]
fn what_a_hunt_finds_becomes_a_scenario() {
    let place = Place::new("finds");
    let hunt = "hunt --protocol open-gateway --faults pauses --seeds 0..300 --out found";
    let told = place.says(hunt, 1);
    // The line that repeats it begins with this very program, and can be pasted.
    let again =
        told.lines().rev().find(|line| line.contains("outside replay")).expect("it says how to see it again");
    let seen = place.shell(again);
    assert_eq!(seen.status.code(), Some(0), "{again}: {}", String::from_utf8_lossy(&seen.stdout));
    assert!(String::from_utf8_lossy(&seen.stdout).contains("open-gateway"));
    let case = fs::read_dir(place.0.join("found")).expect("a folder").filter_map(Result::ok);
    let case = case.map(|entry| entry.path()).find(|path| path.join("case.json").exists()).expect("a case");
    let case = case.strip_prefix(&place.0).expect("it is in there").display().to_string();
    assert!(place.says(&format!("promote {case} --to kept"), 0).contains("is a scenario now"));
    assert!(place.says("check kept", 0).contains("ok"));
}

#[test]
fn shrinking_keeps_its_name() {
    let place = Place::new("shrinks");
    place.says("shrink breaks.toml --protocol open-gateway --out small.toml", 0);
    let small = fs::read_to_string(place.0.join("small.toml")).expect("it is written");
    assert!(small.contains("[expect.open-gateway]"), "{small}");
    assert!(place.says("check small.toml", 0).contains("ok"));
}
