//! A case: one failure in its smallest form, as a folder that reproduces itself.
//!
//! - `told` gives a shrunk scenario its title, its story and its expectations
//! - `folder` writes the files, all of them or none, and reads them; `place` puts one thing where another may be
//! - `promote` makes a scenario of a case that is checked from then on
//! - `hunted` makes cases of what a hunt found, and the message of a test that hunts
//! - `error` is what can go wrong with that

mod error;
mod folder;
mod hunted;
mod place;
mod promote;
mod told;

pub use error::CaseError;
pub(crate) use folder::{ABOUT, ORIGINAL, SCENARIO};
pub use place::write_file;
pub(crate) use place::{clear_leftovers, is_in_the_making, put_file, try_folder};
pub use promote::{Promoted, promote};
pub use told::{Told, told};

use anstream::adapter::strip_str;
use holdover_sim::protocol::{self, AnyProtocol};
use serde::{Deserialize, Serialize};

use crate::explore::Signature;
use crate::explore::explain::{BRIEF, Explanation};
use crate::explore::shrink::Shrunk;
use crate::replay::Replay;
use crate::report::shrink::in_short;
use crate::report::{explain, html, jsonl, text};
use crate::scenario::{NotWritable, Scenario};
use crate::shown;
use crate::suite::Suite;

/// How wide reports in a case are.
const WIDTH: usize = 100;

/// The longest line of a comment in a case's scenario, in characters.
const LONGEST_COMMENT: usize = 1_000;

/// The longest part of a case's name that comes from the name of its protocol.
const LONGEST_NAME: usize = 60;

/// A failure that was found, before and after it was made small.
#[derive(Clone, Copy)]
pub struct Find<'a> {
    /// The scenario in which it was found.
    pub original: &'a Scenario,
    /// What was left of it.
    pub shrunk: &'a Shrunk,
    /// The protocol that breaks.
    pub protocol: &'static dyn AnyProtocol,
    /// The seed that the plan was drawn from, if it was.
    pub plan_seed: Option<u64>,
    /// The command that found it.
    pub command: &'a str,
    /// How often this failure was found.
    pub found: u64,
}

/// A failure in its smallest form, with all that is told of it. [Written](Case::write) it is a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it is.
    pub about: About,
    /// The small scenario, as it stands in `scenario.toml`.
    pub scenario: String,
    /// The scenario that was shrunk, as `original.toml`; `None` if no file can say it.
    pub original: Option<String>,
    /// The small one's run, as `history.jsonl`.
    pub history: String,
    /// What `holdover replay` reports of it, as `report.txt`.
    pub report: String,
    /// What `holdover explain` reports of it, as `explanation.txt`.
    pub explanation: String,
    /// The picture of its runs under all protocols of its scenario, as `report.html`; `None` in a case that an earlier
    /// version wrote.
    pub picture: Option<String>,
}

/// What a case is: `case.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of holdover that found it. What a seed does may differ in another one.
    pub holdover: String,
    /// The protocol that breaks.
    pub protocol: String,
    /// The rule that it breaks.
    pub checker: String,
    /// The kind of witness that shows it.
    pub kind: String,
    /// What both mean, as a sentence's end.
    pub meaning: String,
    /// The seed of the run.
    pub seed: u64,
    /// The seed that the plan was drawn from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_seed: Option<u64>,
    /// How often the failure was found.
    pub found: u64,
    /// The fingerprint of the small scenario's run.
    pub fingerprint: String,
    /// What became smaller.
    pub shrunk: String,
    /// The command that found it.
    pub command: String,
    /// The command that shows it, in the case's folder; for a protocol of a program's own, the code that does.
    pub replay: String,
    /// Whether the protocol is a program's own, whatever it is called: only that program can show the failure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own: bool,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

impl About {
    /// Whether `suite` doesn't have the protocol, so that a program that has it can't show the failure. One that is built in
    /// is only called like another program's own.
    pub fn is_of_own(&self, suite: &Suite) -> bool {
        suite.find(&self.protocol).is_none_or(|known| self.own && protocol::comes_along(known))
    }
}

impl Case {
    /// The case of a find: runs what was shrunk once more, under all protocols of its scenario, and explains it.
    ///
    /// # Errors
    /// If no file can say what was shrunk.
    pub fn new(find: Find<'_>) -> Result<Case, NotWritable> {
        let Find { shrunk, protocol, .. } = find;
        let Told { scenario, .. } = told(shrunk, protocol);
        let text = commented(&scenario, find)?;
        let own = Replay::new(&scenario, &[protocol], scenario.seed);
        let protocols = protocols(&scenario, protocol);
        let all = Replay::new(&scenario, &protocols, scenario.seed);
        let explanation = Explanation::new(&scenario, &[protocol], scenario.seed, BRIEF);
        let names: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
        let program = scenario.suite.program().filter(|_| scenario.suite.has(protocol));
        let replay = match program {
            Some(program) => replay_command(program, protocol.name()),
            None => replay_code(protocol.name()),
        };
        const FILE: &str = folder::SCENARIO;
        let layout = text::Layout { width: WIDTH, verbose: false };
        Ok(Case {
            about: About {
                holdover: env!("CARGO_PKG_VERSION").to_owned(),
                protocol: protocol.name().to_owned(),
                checker: shrunk.signature.checker().to_owned(),
                kind: shrunk.signature.kind().to_owned(),
                meaning: shrunk.signature.meaning().to_owned(),
                seed: scenario.seed.0,
                plan_seed: find.plan_seed,
                found: find.found,
                fingerprint: own.runs[0].fingerprint.to_string(),
                shrunk: in_short(shrunk),
                command: find.command.to_owned(),
                replay: replay.clone(),
                own: !protocol::comes_along(protocol),
            },
            scenario: text,
            original: find.original.to_toml().ok(),
            history: plain(|out| jsonl::write(&own, out)),
            report: plain(|out| text::write(&all, FILE, layout, out)),
            explanation: plain(|out| explain::text::write(&explanation, FILE, WIDTH, out)),
            picture: Some(written(|out| {
                let (explanation, protocols, command) = (&explanation, names.as_slice(), replay.as_str());
                html::write(html::Picture { explanation, protocols, file: FILE, command }, out)
            })),
        })
    }

    /// The name of its folder: rule, kind of witness and protocol, in letters that every file system takes. Two cases with
    /// different signatures or protocols have different names, if no protocol's name differs from another's only in what
    /// file systems don't take.
    pub fn name(&self) -> String {
        let About { checker, kind, protocol, .. } = &self.about;
        format!("{checker}-{kind}-{}", safe(protocol))
    }

    /// The signature of what breaks; `None` if this version knows no such rule or witness.
    pub fn signature(&self) -> Option<Signature> {
        Signature::named(&self.about.checker, &self.about.kind)
    }
}

/// The text of a shrunk scenario's file, with comments that say where it comes from. A find's own text says what `find` is.
///
/// # Errors
/// If no file can say it.
pub fn commented(scenario: &Scenario, find: Find<'_>) -> Result<String, NotWritable> {
    let text = scenario.to_toml()?;
    let version = env!("CARGO_PKG_VERSION");
    let drawn = find.plan_seed.map_or(String::new(), |seed| format!(", its plan drawn from seed {seed}"));
    let lines = [
        format!("Found under {} with seed {}{drawn}", find.protocol.name(), scenario.seed.0),
        format!("Shrunk by holdover {version}: {}", in_short(find.shrunk)),
        find.command.to_owned(),
    ];
    let comment = |line: &String| {
        // A comment is one line, and nothing in it reaches a terminal as a command.
        let plain: String = shown::text(line).chars().take(LONGEST_COMMENT).collect();
        format!("# {}\n", plain.trim_end())
    };
    Ok(lines.iter().map(comment).collect::<String>() + "\n" + &text)
}

/// The protocol that breaks, then the others of the scenario.
fn protocols(scenario: &Scenario, protocol: &'static dyn AnyProtocol) -> Vec<&'static dyn AnyProtocol> {
    let others = crate::replay::protocols_of(scenario).into_iter();
    let others = others.filter(|other| other.name() != protocol.name());
    std::iter::once(protocol).chain(others).collect()
}

fn replay_command(program: &str, protocol: &str) -> String {
    let name = shlex::try_quote(protocol).map_or_else(|_| safe(protocol), |name| name.into_owned());
    format!("{program} replay {} --protocol {name}", folder::SCENARIO)
}

/// How to show what a protocol of a program's own does: no command knows it.
fn replay_code(protocol: &str) -> String {
    format!(
        "Replay::new(&scenario, &[protocol], scenario.seed), where scenario is {} and protocol is {protocol}, which only its \
         own program knows",
        folder::SCENARIO
    )
}

/// A name in lower-case letters, digits and single dashes.
fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_ascii_alphanumeric() => safe.push(c),
            _ if safe.is_empty() || safe.ends_with('-') => {}
            _ => safe.push('-'),
        }
        if safe.len() == LONGEST_NAME {
            break;
        }
    }
    let safe = safe.trim_end_matches('-');
    if safe.is_empty() { "protocol".to_owned() } else { safe.to_owned() }
}

/// What `write` writes, without colours.
fn plain(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    strip_str(&written(write)).to_string()
}

/// What `write` writes.
fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("a Vec takes any bytes");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_on_every_file_system() {
        for (name, expected) in [
            ("naive", "naive"),
            ("My Protocol v2", "my-protocol-v2"),
            ("../../etc/passwd", "etc-passwd"),
            ("CON", "con"),
            ("", "protocol"),
            ("漢字", "protocol"),
            ("a\u{1b}[31m\n", "a-31m"),
            ("größer.", "gr-er"),
            (&"x".repeat(300), &"x".repeat(LONGEST_NAME)),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
    }
}
