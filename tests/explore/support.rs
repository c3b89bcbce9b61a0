//! Scenarios to explain, and explanations of them.

use std::fmt::Write;

use holdover::explore::explain::{BUDGET, Explained, Explanation};
use holdover::explore::{Budget, Signature, Spent};
use holdover::report::explain::{json, text};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{self, AnyProtocol};

/// The incident.
pub(crate) const CLOCK_JUMP: &str = include_str!("../../scenarios/incidents/clock-jump.toml");

/// A world in which worker-a writes from 02:00:02 on, and its lease lasts for ten seconds.
const WORLD: &str = r#"title = "A night to explain"
start = 2026-01-15T02:00:00Z
seed = 7
end = "+2m"

[lease]
ttl = "10s"
renew_every = "2s"

[job]
operations = 10
due = "+2s"

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
starts = "+1s"
"#;

pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse("night.toml", text).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The world with faults: each as `name`, which may be empty, `when` and `inject` without their braces.
pub(crate) fn with_faults(faults: &[(&str, &str, &str)]) -> Scenario {
    let mut text = WORLD.to_owned();
    for (name, when, inject) in faults {
        let name = if name.is_empty() { String::new() } else { format!("name = \"{name}\"\n") };
        writeln!(text, "[[fault]]\n{name}when = {{ {when} }}\ninject = {{ {inject} }}")
            .expect("a String takes it");
    }
    scenario(&text)
}

pub(crate) fn protocols(names: &[&str]) -> Vec<&'static dyn AnyProtocol> {
    names.iter().map(|name| protocol::find(name).expect("a known protocol")).collect()
}

pub(crate) fn explain<'a>(scenario: &'a Scenario, names: &[&str]) -> Explanation<'a> {
    explain_within(scenario, names, BUDGET)
}

pub(crate) fn explain_within<'a>(scenario: &'a Scenario, names: &[&str], budget: Budget) -> Explanation<'a> {
    Explanation::new(scenario, &protocols(names), scenario.seed, budget)
}

/// What was learned under naive alone.
pub(crate) fn under_naive(scenario: &Scenario) -> Explained {
    explain(scenario, &["naive"]).explained.pop().expect("one protocol was asked for")
}

pub(crate) fn signature(checker: &str, kind: &str) -> Signature {
    Signature::named(checker, kind).expect("a known signature")
}

/// The rules of these signatures.
pub(crate) fn rules(signatures: &[Signature]) -> Vec<&'static str> {
    signatures.iter().map(|signature| signature.checker()).collect()
}

/// The report as text without colours.
pub(crate) fn told(explanation: &Explanation<'_>, width: usize) -> String {
    let mut bytes = Vec::new();
    text::write(explanation, "night.toml", width, &mut bytes).expect("a Vec takes any bytes");
    let text = String::from_utf8(bytes).expect("a report is text");
    let plain = anstream::adapter::strip_str(&text).to_string();
    for line in plain.lines() {
        let columns = unicode_width::UnicodeWidthStr::width(line);
        assert!(columns <= width, "{columns} columns where there are {width}: {line}");
        assert_eq!(line, line.trim_end(), "no line ends in blanks");
    }
    plain
}

/// The report as JSON.
pub(crate) fn document(explanation: &Explanation<'_>) -> serde_json::Value {
    let mut bytes = Vec::new();
    json::write(explanation, "night.toml", "holdover explain night.toml", &mut bytes)
        .expect("a Vec takes any bytes");
    serde_json::from_slice(&bytes).expect("it is JSON")
}

/// Whether a budget was used up.
pub(crate) fn is_cut_short(spent: Spent, budget: Budget) -> bool {
    assert!(spent.runs <= budget.runs, "{} runs", spent.runs);
    spent.used_up
}

/// Snapshots `text` under `name`, in the folder of these tests.
macro_rules! snapshot {
    ($name:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots/explore");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, $text));
    }};
}
pub(crate) use snapshot;
