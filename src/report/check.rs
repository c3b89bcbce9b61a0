//! What came of scenario files that were checked, for programs: one JSON document or a line for each file, and the same as
//! suites for JUnit and as annotations.

use std::io::{self, Write};

use holdover_sim::check::Verdict;
use holdover_sim::panics::Panic;
use serde::Serialize;

use super::annotations::Annotation;
use super::closing::told_deviations;
use super::json::outcome_name;
use super::jsonl::write_line;
use super::junit::{Case, Kind, Problem, TestGroup};
use super::layout::harmless;
use super::words;
use crate::replay::{Deviation, JudgedRun, Outcome, Replay};
use crate::scenario::{Place, Places, ScenarioError};

/// The case of a file that must be refused.
const REFUSED: &str = "is refused";

/// The case of a file that can't be used.
const USABLE: &str = "is a scenario";

/// The case of a file that can't be run under the protocol for which it was found.
const RUN_AS_FOUND: &str = "is run under the protocol that it was found under";

/// What a checked file comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It was run.
    Ran(Outcome),
    /// It had to be refused, and was.
    Refused,
    /// It had to be refused, and wasn't.
    Accepted,
    /// It isn't a scenario, or can't be read.
    Unusable,
    /// Something of ours panicked before its runs were told.
    Broke,
}

impl CheckOutcome {
    /// Its name in JSON and elsewhere.
    pub const fn name(self) -> &'static str {
        match self {
            CheckOutcome::Ran(outcome) => outcome_name(outcome),
            CheckOutcome::Refused => "refused",
            CheckOutcome::Accepted => outcome_name(Outcome::NotAsExpected),
            CheckOutcome::Unusable => "unusable",
            CheckOutcome::Broke => outcome_name(Outcome::Bug),
        }
    }

    /// Whether nothing is wrong.
    pub const fn is_as_expected(self) -> bool {
        matches!(self, CheckOutcome::Ran(Outcome::AsExpected) | CheckOutcome::Refused)
    }
}

/// A file that was checked, and all that is told of it.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedFile {
    /// The file, as it was given or found.
    pub file: String,
    /// What it comes to.
    #[serde(serialize_with = "as_name")]
    pub outcome: CheckOutcome,
    /// What isn't as expected; or, for a file that had to be refused, the reasons for which it was.
    pub remarks: Vec<Remark>,
    /// What repeats it, if it isn't as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The seed of its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Its runs.
    pub runs: Vec<CheckedRun>,
}

/// One run of a file that was checked.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedRun {
    /// The protocol.
    pub protocol: &'static str,
    /// What it comes to.
    #[serde(serialize_with = "as_outcome_name")]
    pub outcome: Outcome,
    /// The hash of what happened.
    pub fingerprint: String,
    /// What repeats it alone, if it isn't as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// One thing to tell of a file.
#[derive(Clone, Debug, Serialize)]
pub struct Remark {
    /// What it is.
    pub text: String,
    /// The protocol of the run that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'static str>,
    /// What shows it: the first events that broke a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// How to put it right, where that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The line and the column of the expectation that isn't met, or of the mistake.
    #[serde(flatten)]
    pub place: Option<Place>,
}

fn as_name<S: serde::Serializer>(outcome: &CheckOutcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.name())
}

fn as_outcome_name<S: serde::Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome_name(*outcome))
}

impl CheckedFile {
    /// A file that was run. `places` says where its expectations are, and `repeats` makes the command that repeats its
    /// runs, or the one under a protocol.
    pub fn ran(
        file: String,
        replay: &Replay<'_>,
        places: &Places,
        repeats: impl Fn(Option<&str>) -> String,
    ) -> CheckedFile {
        let deviations = replay.deviations();
        let outcome = replay.outcome();
        let runs = replay.runs.iter().map(|run| {
            let protocol = run.protocol.name();
            let own = deviations.iter().filter(|deviation| deviation.protocol() == protocol);
            let outcome = own.map(Deviation::outcome).max().unwrap_or(Outcome::AsExpected);
            CheckedRun {
                protocol,
                outcome,
                fingerprint: run.fingerprint.to_string(),
                command: (outcome != Outcome::AsExpected).then(|| repeats(Some(protocol))),
            }
        });
        let remarks = told_deviations(&deviations).into_iter().map(|(deviation, text)| Remark {
            text,
            protocol: Some(deviation.protocol()),
            witness: witness(replay, deviation),
            help: None,
            place: Some(place(deviation, places)),
        });
        CheckedFile {
            file,
            outcome: CheckOutcome::Ran(outcome),
            remarks: remarks.collect(),
            command: (outcome != Outcome::AsExpected).then(|| repeats(None)),
            seed: Some(replay.seed.0),
            runs: runs.collect(),
        }
    }

    /// The same file, which was found under `protocol`, one of a program's own, and couldn't be run under that: then nothing
    /// can be said of what it shows. `command` repeats it.
    pub fn not_under(mut self, protocol: &str, command: String) -> CheckedFile {
        if let CheckOutcome::Ran(outcome) = self.outcome {
            self.outcome = CheckOutcome::Ran(outcome.max(Outcome::Inconclusive));
        }
        let protocol = harmless(protocol);
        self.remarks.push(Remark {
            text: format!(
                "it was found under {protocol}, a protocol of a program's own, and isn't run under that here"
            ),
            protocol: None,
            witness: None,
            help: Some(format!("run it in the tests of the program that has {protocol}; case.json says how")),
            place: None,
        });
        self.command.get_or_insert(command);
        self
    }

    /// A file that had to be refused, and was for `error`.
    pub fn refused(file: String, error: &ScenarioError) -> CheckedFile {
        CheckedFile::without_runs(file, CheckOutcome::Refused, remarks_of(error), None)
    }

    /// A file that had to be refused, and wasn't; `command` repeats it.
    pub fn accepted(file: String, command: String) -> CheckedFile {
        let text = "it was accepted, but it must be refused".to_owned();
        let remark = Remark { text, protocol: None, witness: None, help: None, place: None };
        CheckedFile::without_runs(file, CheckOutcome::Accepted, vec![remark], Some(command))
    }

    /// A file that can't be used for `error`; `command` repeats it.
    pub fn unusable(file: String, error: &ScenarioError, command: String) -> CheckedFile {
        CheckedFile::without_runs(file, CheckOutcome::Unusable, remarks_of(error), Some(command))
    }

    /// A file on which something of ours panicked; `command` repeats it.
    pub fn broke(file: String, panic: &Panic, command: String) -> CheckedFile {
        let text =
            format!("holdover itself panicked: this is a bug in holdover: {}", harmless(&panic.to_string()));
        let remark = Remark { text, protocol: None, witness: None, help: None, place: None };
        CheckedFile::without_runs(file, CheckOutcome::Broke, vec![remark], Some(command))
    }

    fn without_runs(
        file: String,
        outcome: CheckOutcome,
        remarks: Vec<Remark>,
        command: Option<String>,
    ) -> CheckedFile {
        CheckedFile { file, outcome, remarks, command, seed: None, runs: Vec::new() }
    }

    /// Its suite for JUnit: a case for each run, or one for a file that wasn't run.
    pub fn suite(&self) -> TestGroup {
        let cases = match self.outcome {
            CheckOutcome::Ran(_) => {
                let unrun = !self.remarks(None).is_empty();
                let unrun = unrun.then(|| self.only_case(RUN_AS_FOUND, Kind::Failure));
                self.runs.iter().map(|run| self.case_of(run)).chain(unrun).collect()
            }
            CheckOutcome::Refused => vec![Case { name: REFUSED.to_owned(), problem: None }],
            CheckOutcome::Accepted => vec![self.only_case(REFUSED, Kind::Failure)],
            CheckOutcome::Unusable | CheckOutcome::Broke => vec![self.only_case(USABLE, Kind::Error)],
        };
        let seed = self.seed.map(|seed| ("seed", seed.to_string()));
        TestGroup {
            name: self.file.clone(),
            file: Some(self.file.clone()),
            properties: [("holdover", env!("CARGO_PKG_VERSION").to_owned())].into_iter().chain(seed).collect(),
            cases,
        }
    }

    fn only_case(&self, name: &str, kind: Kind) -> Case {
        let ends = [self.command.clone()];
        let problem = problem(kind, self.outcome.name(), &self.remarks(None), &ends);
        Case { name: name.to_owned(), problem: Some(problem) }
    }

    fn case_of(&self, run: &CheckedRun) -> Case {
        let problem = (run.outcome != Outcome::AsExpected).then(|| {
            let kind = match run.outcome {
                Outcome::NotDeterministic | Outcome::Bug => Kind::Error,
                _ => Kind::Failure,
            };
            let ends = [Some(format!("fingerprint {}", run.fingerprint)), run.command.clone()];
            problem(kind, outcome_name(run.outcome), &self.remarks(Some(run.protocol)), &ends)
        });
        Case { name: run.protocol.to_owned(), problem }
    }

    /// What is told of the run under `protocol`, or of the file if that is `None`.
    fn remarks(&self, protocol: Option<&str>) -> Vec<&Remark> {
        self.remarks.iter().filter(|remark| remark.protocol == protocol).collect()
    }

    /// Its annotations, which call it `file`: one for each place at which something isn't as expected, or is wrong.
    pub fn annotations(&self, file: &str) -> Vec<Annotation> {
        if self.outcome.is_as_expected() {
            return Vec::new();
        }
        // In the order in which they were found.
        let mut places: Vec<Option<Place>> = Vec::new();
        for remark in &self.remarks {
            if !places.contains(&remark.place) {
                places.push(remark.place);
            }
        }
        let annotation = |place| {
            let here: Vec<&Remark> = self.remarks.iter().filter(|remark| remark.place == place).collect();
            Annotation {
                file: file.to_owned(),
                place,
                title: format!("holdover: {}", self.outcome.name().replace('-', " ")),
                message: told(&here, std::slice::from_ref(&self.command)),
            }
        };
        places.into_iter().map(annotation).collect()
    }
}

fn problem(kind: Kind, sort: &'static str, remarks: &[&Remark], ends: &[Option<String>]) -> Problem {
    let first = remarks.first().map_or("", |remark| &remark.text);
    let message = match remarks.len() {
        0 | 1 => first.to_owned(),
        all => format!("{first}, and {} more", all - 1),
    };
    Problem { kind, sort, message, text: told(remarks, ends) }
}

/// `remarks` in lines, with what shows them or helps, and the lines that there are of `ends`.
fn told(remarks: &[&Remark], ends: &[Option<String>]) -> String {
    let mut lines = Vec::new();
    for remark in remarks {
        lines.push(remark.text.clone());
        lines.extend(remark.witness.iter().map(|witness| format!("  {witness}")));
        lines.extend(remark.help.iter().map(|help| format!("  help: {help}")));
    }
    lines.extend(ends.iter().flatten().cloned());
    lines.join("\n")
}

fn remarks_of(error: &ScenarioError) -> Vec<Remark> {
    let found = error.places().into_iter().map(|(place, wrong)| Remark {
        text: wrong.to_string(),
        protocol: None,
        witness: None,
        help: wrong.help().map(|help| help.to_string()),
        place,
    });
    found.collect()
}

/// What shows `deviation`, if it is that a rule was broken.
fn witness(replay: &Replay<'_>, deviation: &Deviation) -> Option<String> {
    let Deviation::Verdict { got: Verdict::Violated { witness, .. }, .. } = deviation else { return None };
    let is_its = |run: &&JudgedRun| run.protocol.name() == deviation.protocol();
    replay.runs.iter().find(is_its).map(|run| words::witness(&run.history, witness))
}

/// Where in the file the expectation is that isn't met.
fn place(deviation: &Deviation, places: &Places) -> Place {
    match deviation {
        Deviation::Verdict { protocol, checker, .. } => places.verdict(protocol, checker),
        Deviation::NotSeen { protocol, sighting } => places.seen(protocol, sighting),
        Deviation::BoundHit { protocol, .. } => places.steps(protocol),
        Deviation::Panicked { protocol, .. }
        | Deviation::NotDeterministic { protocol, .. }
        | Deviation::Bug { protocol, .. }
        | Deviation::NotAsStored { protocol, .. } => places.run(protocol),
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    holdover: &'static str,
    files: usize,
    as_expected: usize,
    checked: &'a [&'a CheckedFile],
}

/// Writes one JSON document on `checked`, out of `files` of which `as_expected` were so.
///
/// # Errors
/// What `out` says.
pub fn write(checked: &[&CheckedFile], files: usize, as_expected: usize, out: &mut impl Write) -> io::Result<()> {
    let summary = Summary { holdover: env!("CARGO_PKG_VERSION"), files, as_expected, checked };
    serde_json::to_writer_pretty(&mut *out, &summary)?;
    writeln!(out)
}

impl CheckedFile {
    /// Writes it as a JSON line.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        write_line(self, out)
    }
}
