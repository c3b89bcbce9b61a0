//! What is told to CI systems of checks that end as none of our own does.

use holdover::replay::{JudgedRun, Replay};
use holdover::report::check::CheckedFile;
use holdover::report::junit::Kind;
use holdover::scenario::SMALLEST;
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::suite::Suite;

/// What is told of a file.
#[derive(Debug, PartialEq)]
struct Told {
    outcome: &'static str,
    /// Of the first case.
    problem: Option<(Kind, &'static str, String)>,
    /// Where the first annotation points.
    line: Option<usize>,
}

/// What is told of a file whose first run was changed by `change`.
fn told_of(change: impl Fn(&mut JudgedRun)) -> Told {
    let text = format!("{SMALLEST}\n[expect.naive]\n[expect.fenced]\n");
    let (scenario, places) = Suite::builtin().parse_with_places("x.toml", &text).expect("a scenario");
    let mut replay = Replay::of(&scenario);
    change(&mut replay.runs[0]);
    let repeats = |protocol: Option<&str>| format!("repeat {}", protocol.unwrap_or("all"));
    let checked = CheckedFile::ran("x.toml".to_owned(), &replay, &places, repeats);
    let cases = checked.suite().cases;
    assert!(cases[1].problem.is_none(), "the other run is as it was");
    let problem = cases[0].problem.as_ref();
    let place = checked.annotations("x.toml").first().and_then(|annotation| annotation.place);
    Told {
        outcome: checked.outcome.name(),
        problem: problem.map(|problem| (problem.kind, problem.sort, problem.message.clone())),
        line: place.map(|place| place.line),
    }
}

/// What no scenario of ours comes to is told as well as what some do.
#[test]
fn what_is_rare_is_told_too() {
    let line = Some(SMALLEST.lines().count() + 2);
    assert_eq!(told_of(|_| {}), Told { outcome: "as-expected", problem: None, line: None });
    let text = "naive: a second run with the same seed gave another history: this is a bug in holdover".to_owned();
    let outcome = "not-deterministic";
    assert_eq!(
        told_of(|run| run.repeats = false),
        Told { outcome, problem: Some((Kind::Error, outcome, text)), line }
    );
    let text = "naive: worker-a panicked: at once".to_owned();
    let outcome = "not-as-expected";
    let panicked = || Ending::Panicked { node: NodeId(3), message: "at\nonce".to_owned() };
    assert_eq!(
        told_of(|run| run.history.ending = panicked()),
        Told { outcome, problem: Some((Kind::Failure, outcome, text)), line }
    );
}
