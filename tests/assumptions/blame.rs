//! Whether a violation is a flaw of the protocol is said once: replays, hunts, and what is made of a hunt agree.

use holdover::explore::hunt::{Cause, Findings, Hunt, OwnPlan};
use holdover::replay::{Blame, JudgedRun, Replay};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{self, AnyProtocol};
use holdover::sim::time::Span;
use holdover::sim::world::Keys;

fn load(file: &str) -> Scenario {
    Scenario::load(format!("scenarios/{file}.toml")).expect("it is one of ours")
}

fn found(name: &str) -> &'static dyn AnyProtocol {
    protocol::find(name).expect("there is such a protocol")
}

fn hunt<'a>(scenario: &'a Scenario, protocol: &'static dyn AnyProtocol) -> Hunt<'a> {
    let seed = scenario.seed.0;
    Hunt::new(scenario).protocols(&[protocol]).own_plan(OwnPlan::Kept).seeds(seed..seed + 1)
}

fn violated(run: &JudgedRun) -> Vec<&'static str> {
    let violated = run.verdicts.iter().filter(|(_, verdict)| verdict.name() == "violated");
    violated.map(|(checker, _)| checker.name).collect()
}

/// The rules that were broken, each with whether that was inside, outside, or neither.
fn broken(findings: &Findings) -> Vec<(&str, Option<&str>)> {
    let of_rules = findings.failures.iter().filter_map(|failure| match failure.cause {
        Cause::Rule(signature) => Some((signature.checker(), failure)),
        _ => None,
    });
    let blame = |inside: u64, outside: u64| match (inside, outside) {
        (0, 0) => None,
        (_, 0) => Some("inside"),
        _ => Some("outside"),
    };
    of_rules.map(|(rule, failure)| (rule, blame(failure.inside, failure.outside))).collect()
}

/// Under `protocol` the scenario violates these rules; all that is told of it is `expected`.
#[track_caller]
fn check(scenario: &Scenario, protocol: &str, rules: &[&str], expected: Blame) {
    let protocol = found(protocol);
    let replay = Replay::new(scenario, &[protocol], scenario.seed);
    assert_eq!((violated(&replay.runs[0]), replay.runs[0].blame()), (rules.to_vec(), Some(expected)));
    let hunt = hunt(scenario, protocol);
    let said: Vec<_> = rules.iter().map(|rule| (*rule, expected.name())).collect();
    assert_eq!(broken(&hunt.run()), said);
    let flaws = if expected.is_flaw() { said } else { Vec::new() };
    assert_eq!(broken(&hunt.inside_only().run()), flaws);
}

#[test]
fn late_is_no_flaw() {
    let mut late = load("regressions/late-is-no-flaw");
    for protocol in ["naive", "monotonic", "fenced", "fenced-consensus", "check-once"] {
        check(&late, protocol, &["progress"], Blame::Late);
    }
    late.world.progress_within = Span::secs(5);
    let run = &Replay::new(&late, &[found("fenced")], late.seed).runs[0];
    assert_eq!((violated(run), run.blame()), (vec![], None));
}

#[test]
fn what_a_setting_took_away_is_no_flaw() {
    let mut forgotten = load("regressions/keys-forgotten");
    check(&forgotten, "fenced", &["effect-once"], Blame::Outside);
    forgotten.world.provider.keys = Some(Keys::For(Span::secs(5)));
    check(&forgotten, "fenced", &["effect-once"], Blame::Outside);
    // A caller waits for 5 s before it asks again.
    forgotten.world.provider.keys = Some(Keys::For(Span::secs(6)));
    let run = &Replay::new(&forgotten, &[found("fenced")], forgotten.seed).runs[0];
    assert_eq!((violated(run), run.blame()), (vec![], None));
    check(&load("traps/kill-the-old-worker"), "fenced", &["effect-once"], Blame::Outside);

    let mut quick = load("regressions/repair-too-quick");
    for protocol in ["naive", "monotonic"] {
        check(&quick, protocol, &["effect-once"], Blame::Outside);
    }
    quick.world.repair.quiet_for = Span::secs(1);
    let run = &Replay::new(&quick, &[found("naive")], quick.seed).runs[0];
    assert_eq!((violated(run), run.blame()), (vec![], None));
}

/// A protocol that names nothing that it relies on has every violation for a flaw, but for being late.
#[test]
fn whoever_relies_on_nothing_is_to_blame() {
    let trap = load("traps/check-once");
    let replay = Replay::new(&trap, &[found("check-once")], trap.seed);
    let rules = violated(&replay.runs[0]);
    check(&trap, "check-once", &rules, Blame::Unsaid);
}

/// What is never published, though nothing is left to happen, isn't late.
#[test]
fn to_stand_still_is_a_flaw() {
    let scenario = load("regressions/late-is-no-flaw");
    let mut history = Replay::new(&scenario, &[found("fenced")], scenario.seed).runs.remove(0).history;
    let (assumptions, late) = (found("fenced").assumptions(), Some(Blame::Late));
    assert_eq!(Blame::of(["progress"], &history, assumptions, &[]), late);
    history.events.retain(|event| event.what.kind() != "export-published");
    assert_eq!(Blame::of(["progress"], &history, assumptions, &[]), Some(Blame::Inside));
    assert_eq!(Blame::of(["progress"], &history, assumptions, &assumptions[..1]), Some(Blame::Outside));
    history.ending = holdover::sim::limits::Ending::TimeUp;
    assert_eq!(Blame::of(["progress"], &history, assumptions, &[]), late);
    assert_eq!(Blame::of([], &history, assumptions, &[]), None);
}

/// Whatever the scenario, a hunt that keeps its plan says of it what a replay says.
#[test]
fn hunts_and_replays_agree() {
    let mut compared = 0;
    for folder in ["incidents", "faults", "monotonic", "traps", "regressions"] {
        for entry in std::fs::read_dir(format!("scenarios/{folder}")).expect("the repository has this folder") {
            let scenario = Scenario::load(entry.expect("a folder can be read").path()).expect("it is one of ours");
            for run in &Replay::of(&scenario).runs {
                let findings = hunt(&scenario, run.protocol.code().expect("it was run here")).inside_only().run();
                let is_flaw = run.blame().is_some_and(Blame::is_flaw);
                assert_eq!(is_flaw, !findings.failures.is_empty(), "{}", scenario.title);
                compared += violated(run).len();
            }
        }
    }
    assert!(compared > 30, "{compared}");
}
