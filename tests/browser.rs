//! Reports in a real browser: `browser/*.test.mjs` use them as people do, in a headless Chromium without a network.
//!
//! Needs Chromium, Node.js and what `npm ci` installs in `browser/`. Where one of them isn't there the test says so and is
//! skipped, unless HOLDOVER_BROWSER is `required`, as it is in `.ci/run`.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdover::explore::Budget;
use holdover::explore::explain::Explanation;
use holdover::report::html::{self, Picture};
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::protocol::{self, AnyProtocol};

const INCIDENT: &str = "scenarios/incidents/clock-jump.toml";
const REPAIR: &str = "scenarios/incidents/repair.toml";

/// Under which protocols the reports are.
const PROTOCOLS: [&str; 2] = ["naive", "fenced"];

/// What people may write, or programs that mean no good.
const MARKUP: &str = "</script><script>window.hostile=1</script><img src=x onerror=window.hostile=1>\"'`&lt;<!--";
const TURNED: &str = "\u{202e}turned\u{2066} \u{200f}\u{feff}\u{2028}x\u{1}";

/// A page that asks for something from elsewhere, warns and fails: what no report may do.
const LOUD: &str = "<!doctype html><title>loud</title><img src=\"http://127.0.0.1:9/x\" alt=\"\">\
                    <script>console.error('loud'); throw new Error('loud')</script>";

fn browser_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

/// What is missing for the test, if anything is.
fn missing() -> Option<String> {
    let chromium = std::env::var_os("HOLDOVER_CHROMIUM").unwrap_or_else(|| OsString::from("/usr/bin/chromium"));
    if !Path::new(&chromium).exists() {
        return Some(format!("there is no {}", chromium.display()));
    }
    if !Command::new("node").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        return Some("there is no node".to_owned());
    }
    let packages = browser_folder().join("node_modules/playwright-core");
    (!packages.exists()).then(|| "`npm ci` wasn't run in tests/browser".to_owned())
}

/// The page on `scenario`, as a program makes it.
fn page(scenario: &Scenario, command: &str) -> Vec<u8> {
    let protocols: Vec<&'static dyn AnyProtocol> =
        PROTOCOLS.iter().map(|name| protocol::find(name).expect("a protocol of the registry")).collect();
    let budget = Budget { runs: 200, events: 2_000_000 };
    let explanation = Explanation::new(scenario, &protocols, scenario.seed, budget);
    let picture = Picture { explanation: &explanation, protocols: &PROTOCOLS, file: "made by a test", command };
    let mut page = Vec::new();
    html::write(picture, &mut page).expect("a Vec takes any bytes");
    page
}

fn incident() -> Scenario {
    Scenario::load(INCIDENT).expect("the incident is a scenario")
}

/// The incident with texts of all kinds in it, and what they are.
fn hostile() -> (Scenario, String, serde_json::Value) {
    let mut scenario = incident();
    let long = "long ".repeat(2_000);
    let command = format!("holdover {MARKUP}");
    scenario.title = format!("{MARKUP} {long}");
    scenario.story = Some(format!("{TURNED}{MARKUP}"));
    scenario.plan[0].note = Some(format!("{MARKUP} {}", "x".repeat(10_000)));
    scenario.plan[1].note = Some(TURNED.to_owned());
    scenario.world.workers[0].name = MARKUP.to_owned();
    scenario.world.workers[1].name = "\u{202e}b".to_owned();
    // What isn't printed, and what would turn the sentence around it, is told by its escape.
    let mut told = TURNED.to_owned();
    for c in ['\u{1}', '\u{202e}', '\u{2066}', '\u{2028}'] {
        told = told.replace(c, &c.escape_unicode().to_string());
    }
    let texts = serde_json::json!({
        "title": scenario.title.trim_end(),
        "story": MARKUP,
        "command": command,
        "notes": [format!("{MARKUP} {}", "x".repeat(10_000)), told],
        "workers": [MARKUP, "\\u{202e}b"],
    });
    (scenario, command, texts)
}

/// The incident with so many operations that each run has more than a hundred thousand events.
fn long() -> Scenario {
    let mut scenario = incident();
    scenario.world.job.operations = 5_000;
    scenario.world.limits.end = scenario.world.limits.end + holdover::sim::time::Span::secs(3_600);
    scenario.world.limits.steps = 10_000_000;
    scenario
}

/// Makes all reports that the tests in the browser open.
fn make_reports(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("the folder can be written");
    for (scenario, name) in [(INCIDENT, "incident.html"), (REPAIR, "repair.html")] {
        let report = folder.join(name);
        let ran = Command::new(env!("CARGO_BIN_EXE_holdover"))
            .args(["replay", scenario, "--report"])
            .arg(&report)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("the command was built");
        assert!(ran.status.success() && report.exists(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    let (scenario, command, texts) = hostile();
    write("hostile.html", &page(&scenario, &command));
    write("hostile.json", texts.to_string().as_bytes());
    write("long.html", &page(&long(), "holdover replay long.toml"));
    let quiet = Scenario::parse("quiet", SMALLEST).expect("a scenario");
    write("quiet.html", &page(&quiet, "holdover replay quiet.toml"));
    write("loud.html", LOUD.as_bytes());
}

#[test]
fn reports_work_in_a_browser() {
    if let Some(missing) = missing() {
        let required = std::env::var_os("HOLDOVER_BROWSER").is_some_and(|value| value == "required");
        assert!(!required, "{missing}");
        // Not by a macro: what those print is hidden where a test succeeds.
        let told = writeln!(std::io::stderr(), "SKIPPED: reports weren't looked at in a browser: {missing}");
        return told.expect("stderr can be written");
    }
    let reports = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::create_dir_all(&reports).expect("the target directory can be written");
    make_reports(&reports);
    let ran = Command::new("node")
        .args(["--test", "incident.test.mjs", "others.test.mjs"])
        .current_dir(browser_folder())
        .env("HOLDOVER_REPORTS", &reports)
        .output()
        .expect("node is there");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(told.contains("pass 19"), "all tests in the browser have run:\n{told}");
}
