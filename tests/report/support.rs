//! Making runs and reports of them.

use std::fmt::Write;

use holdover::replay::Replay;
use holdover::report::text::{Layout, write};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{self, AnyProtocol};

/// The width of a report that goes to a file.
pub(crate) const USUAL: Layout = Layout { width: 100, verbose: false };

/// What a small scenario is made of.
pub(crate) struct Small<'a> {
    pub(crate) title: &'a str,
    /// Keys at the top.
    pub(crate) top: &'a str,
    /// Keys of the job, but for the number of operations.
    pub(crate) job: &'a str,
    pub(crate) operations: u32,
    pub(crate) workers: &'a [&'a str],
    /// Faults, each as `when` and `inject` without their braces.
    pub(crate) faults: &'a [(&'a str, &'a str)],
    pub(crate) expect: &'a str,
}

pub(crate) const SMALL: Small<'static> = Small {
    title: "A small one",
    top: "end = \"+2m\"",
    job: "",
    operations: 3,
    workers: &["worker-a", "worker-b"],
    faults: &[],
    expect: "",
};

impl Small<'_> {
    pub(crate) fn scenario(&self) -> Scenario {
        let Small { title, top, job, operations, workers, faults, expect } = self;
        let mut text = format!(
            "title = '''{title}'''\nstart = 2026-01-15T01:59:30Z\nseed = 7\n{top}\n\n[lease]\nttl = \"40s\"\n\
             renew_every = \"10s\"\n\n[job]\noperations = {operations}\n{job}\n"
        );
        for worker in *workers {
            writeln!(text, "[[worker]]\nname = \"{worker}\"").expect("a String takes any text");
        }
        for (when, inject) in *faults {
            writeln!(text, "[[fault]]\nwhen = {{ {when} }}\ninject = {{ {inject} }}")
                .expect("a String takes any text");
        }
        Scenario::parse("small.toml", &format!("{text}\n{expect}")).expect("the test's own scenario is right")
    }

    /// The text report on it, under the protocol of this name.
    pub(crate) fn told(&self, protocol: &str) -> String {
        let protocol = protocol::find(protocol).expect("a known protocol");
        told(&self.scenario(), &[protocol], USUAL)
    }
}

/// The text report on `scenario` under `protocols`, without colours.
pub(crate) fn told(scenario: &Scenario, protocols: &[&'static dyn AnyProtocol], layout: Layout) -> String {
    let replay = Replay::new(scenario, protocols, scenario.seed);
    let mut text = Vec::new();
    write(&replay, "small.toml", layout, &mut text).expect("a Vec takes any bytes");
    let text = String::from_utf8(text).expect("a report is text");
    let plain = anstream::adapter::strip_str(&text).to_string();
    for line in plain.lines() {
        let columns = unicode_width::UnicodeWidthStr::width(line);
        assert!(columns <= layout.width, "{columns} columns where there are {}: {line}", layout.width);
        assert_eq!(line, line.trim_end(), "no line ends in blanks");
    }
    plain
}

/// Snapshots `text` under `name`, in the folder of these tests.
macro_rules! snapshot {
    ($name:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots/report");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, crate::redact::redacted($text)));
    }};
}
pub(crate) use snapshot;
