//! Commands that are interrupted, told to end, or killed, at any moment: nothing half written is ever in its place, what was
//! there is still there, and the same command does its work afterwards.
//!
//! A few are disturbed here. By hand more of them: `HOLDOVER_SIGNALS=200 cargo test --test cli signals`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdover::scenario::Scenario;
use tempfile::TempDir;

use crate::support::{QUIET, folder, holdover, shell};

/// How many commands are disturbed where nobody says.
const DISTURBED: u64 = 24;

/// What naive breaks in.
const PAUSE: &str = r#"
[[fault]]
when = { point = "write.checked", node = "worker-a" }
inject = { pause = { node = "worker-a", for = "41s" } }

[expect.naive]
single-writer = "violated"
stale-write = "violated"
effect-once = "violated"
nothing-lost = "violated"
"#;

/// Each command that writes something, and the file that keeps it from being run again when it is there.
const COMMANDS: [(&str, &str); 8] = [
    ("replay x.toml --report page.html", ""),
    ("explain x.toml --protocol naive --report page.html", ""),
    ("check x.toml --junit report.xml", ""),
    ("hunt x.toml --protocol naive --seeds 0..40 --out found --junit report.xml", "found/hunt.json"),
    ("shrink x.toml --protocol naive --out small.toml --force", ""),
    ("shrink x.toml --protocol naive --out cases", ""),
    ("merge finds --out all", "all/hunt.json"),
    ("promote case --to kept", ""),
];

const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("KILL", 9)];

/// All files in a folder that are in their place, by path and bytes.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let mut files = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(one) = folders.pop() {
        for entry in fs::read_dir(&one).expect("it can be listed") {
            let (entry, path) = entry.map(|entry| (entry.file_name(), entry.path())).expect("it can be listed");
            // What isn't whole yet, by its name.
            if entry.to_string_lossy().starts_with(".holdover-") {
                continue;
            }
            match path.is_dir() {
                true => folders.push(path),
                false => drop(files.insert(
                    path.strip_prefix(folder).expect("it is below").to_owned(),
                    fs::read(&path).expect("it can be read"),
                )),
            }
        }
    }
    files
}

/// A folder with a scenario, a case and the finds of a hunt.
fn inputs() -> TempDir {
    let folder = folder(&[("x.toml", &format!("{QUIET}{PAUSE}"))]);
    let made = "holdover shrink x.toml --protocol naive --out made && mv made/* case && rmdir made && \
                holdover hunt x.toml --protocol naive --seeds 0..20 --out finds";
    shell(made, folder.path()).ended(1);
    folder
}

fn copy_of(inputs: &Path) -> TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    let copied = Command::new("cp").arg("-R").arg(inputs.join(".")).arg(copy.path()).status();
    assert!(copied.expect("there is cp").success());
    copy
}

/// Sees that a file is all that it should be.
fn assert_whole(path: &Path, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    let is_whole = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Scenario::parse("it", text).is_ok(),
        Some("json") => is_json(text),
        Some("jsonl") => text.lines().all(is_json) && text.ends_with("}\n") && text.contains("{\"line\":\"end\""),
        Some("xml") => roxmltree::Document::parse(text).is_ok(),
        Some("html") => text.ends_with("</html>\n"),
        Some("txt") => text.ends_with('\n'),
        other => panic!("{}: nobody said what {other:?} is", path.display()),
    };
    assert!(is_whole, "{} isn't whole:\n{text}", path.display());
}

/// A number that looks drawn.
fn drawn(number: u64) -> u64 {
    let mixed = (number ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

/// Lets some time go by: that of so many small programs.
fn wait(programs: u64) {
    for _ in 0..programs {
        let ended = Command::new("true").status();
        assert!(ended.expect("there is true").success());
    }
}

/// Disturbs a command; says how it ended.
fn disturb(number: u64, inputs: &Path, wanted: &BTreeMap<&str, (Option<i32>, Tree)>) -> String {
    let (line, taken) = COMMANDS[(number % COMMANDS.len() as u64) as usize];
    let (signal, code) = SIGNALS[(number / COMMANDS.len() as u64 % SIGNALS.len() as u64) as usize];
    let (undisturbed, whole) = &wanted[line];
    let here = copy_of(inputs);
    let run = || {
        let mut command = holdover();
        command.args(line.split(' ')).current_dir(here.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let child = run().spawn().expect("it was built");
    wait(drawn(number) % 150);
    // It may have ended already.
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).output();
    drop(sent.expect("there is kill"));
    let ended = child.wait_with_output().expect("it ended");

    let told = format!("{line}, {signal}: {:?}\n{}", ended.status, String::from_utf8_lossy(&ended.stderr));
    let status = ended.status;
    let is_documented = status.code().is_some_and(|code| [0, 1, 3].contains(&code));
    assert!(is_documented || status.signal() == Some(code), "{told}");
    if line.starts_with("hunt") && status.code().is_some() {
        let results = String::from_utf8_lossy(&ended.stdout);
        assert!(results.contains("of 0..40"), "what was found until then is shown: {told}");
    }
    let left = tree(here.path());
    left.iter().for_each(|(path, bytes)| assert_whole(path, bytes));
    for (path, bytes) in tree(inputs) {
        assert_eq!(left.get(&path), Some(&bytes), "{}: {told}", path.display());
    }
    let checked = shell("holdover check .", here.path());
    assert!(!checked.stdout.contains("unusable"), "{told}\n{}", checked.stdout);

    if taken.is_empty() || !left.contains_key(Path::new(taken)) {
        let again = run().output().expect("it was built");
        let told = format!("{told}\nagain: {}", String::from_utf8_lossy(&again.stderr));
        assert_eq!(again.status.code(), *undisturbed, "{told}");
        let now = tree(here.path());
        assert_eq!(now.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "{told}");
        assert!(now == *whole, "the same command gives the same: {told}");
    }
    match (status.code(), status.signal()) {
        (Some(_), _) => "ended by itself".to_owned(),
        _ => format!("ended by {signal}"),
    }
}

#[test]
fn whenever_a_command_is_ended_nothing_is_left_in_half() {
    let inputs = inputs();
    let mut wanted = BTreeMap::new();
    for (line, _) in COMMANDS {
        let here = copy_of(inputs.path());
        let ran = shell(&format!("holdover {line}"), here.path());
        assert!([0, 1].contains(&ran.status), "{line}: {}{}", ran.stdout, ran.stderr);
        wanted.insert(line, (Some(ran.status), tree(here.path())));
    }
    let asked = std::env::var("HOLDOVER_SIGNALS").ok();
    let count = asked.map_or(DISTURBED, |asked| asked.parse().expect("HOLDOVER_SIGNALS is a number"));
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..count {
        *ends.entry(disturb(number, inputs.path(), &wanted)).or_default() += 1;
    }
    // Some came in time, and not all did.
    assert!(ends.len() > 1 || count < DISTURBED, "{ends:?}");
}
