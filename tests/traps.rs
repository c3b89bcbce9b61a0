//! The traps: each breaks what its text says, and its fix beside it holds.

mod files;

use std::collections::BTreeMap;

use holdover::scenario::{Expected, Scenario};
use holdover::sim::check::{CHECKERS, Verdict, judge_one};
use holdover::sim::fault::Fault;
use holdover::sim::protocol;
use holdover::sim::run::run;
use holdover::sim::time::Span;

const TRAPS: &str = "scenarios/traps";

/// The traps; each has a file of this name, or files that begin so.
const NAMED: [&str; 7] = [
    "longer-lease",
    "synchronised-clocks",
    "check-once",
    "kill-the-old-worker",
    "delete-one-workers-records",
    "fence-ledger-only",
    "read-checkpoint-before-fence",
];

fn traps() -> BTreeMap<String, Scenario> {
    let paths = files::below(TRAPS, ".toml");
    let named = |path: &String| {
        let name = path.rsplit('/').next().and_then(|file| file.strip_suffix(".toml")).expect("a file's name");
        (name.to_owned(), Scenario::parse(path, &files::read(path)).expect("it is one of ours"))
    };
    paths.iter().map(named).collect()
}

/// The protocols under which a scenario expects that some rule is broken, and the others.
fn broken_and_whole(scenario: &Scenario) -> (Vec<&str>, Vec<&str>) {
    let breaks = |protocol: &&str| {
        let expectation = scenario.expect.get(*protocol);
        expectation
            .is_some_and(|expected| expected.verdicts.values().any(|verdict| *verdict == Expected::Violated))
    };
    scenario.protocols.iter().map(String::as_str).partition(breaks)
}

#[test]
fn every_trap_is_there_and_breaks_something() {
    let traps = traps();
    for name in NAMED {
        let of_this = || traps.iter().filter(|(file, _)| file.starts_with(name) && !file.ends_with("-fixed"));
        assert!(of_this().count() > 0, "{name} has no file");
        for (file, scenario) in of_this() {
            assert!(!broken_and_whole(scenario).0.is_empty(), "{file} breaks nothing");
            assert!(scenario.title.starts_with("Trap: "), "{file}: {}", scenario.title);
            assert!(scenario.story.is_some(), "{file} argues nothing");
        }
    }
}

/// A fix is another protocol under the same faults, or the same night with another rule in a file beside it, in which
/// nothing that a repair or a rule can make good is left.
#[test]
fn every_trap_has_its_fix_beside_it() {
    let traps = traps();
    for (file, scenario) in traps.iter().filter(|(file, _)| !file.ends_with("-fixed")) {
        let (broken, whole) = broken_and_whole(scenario);
        if !whole.is_empty() {
            continue;
        }
        let fixed = traps.get(&format!("{file}-fixed")).unwrap_or_else(|| panic!("{file} has no fix"));
        assert_eq!(scenario.plan, fixed.plan, "{file}: another night");
        assert_eq!(scenario.protocols, fixed.protocols, "{file}: another protocol");
        for protocol in broken {
            let left = |scenario: &Scenario| {
                let verdicts = &scenario.expect[protocol].verdicts;
                let violated = verdicts.iter().filter(|(_, verdict)| **verdict == Expected::Violated);
                violated.map(|(rule, _)| rule.clone()).collect::<Vec<_>>()
            };
            // What two workers wrote at once they wrote; all else is made good.
            let (before, after) = (left(scenario), left(fixed));
            assert!(after.iter().all(|rule| ["single-writer", "stale-write"].contains(&rule.as_str())), "{file}");
            assert!(after.len() < before.len(), "{file}: the fix makes nothing good");
        }
    }
}

/// What a story says of the pause from which on a longer lease breaks is so, to the millisecond.
#[test]
fn a_longer_lease_breaks_from_the_pause_that_its_story_names() {
    for (file, scenario) in traps().iter().filter(|(file, _)| file.starts_with("longer-lease")) {
        let story = scenario.story.as_deref().expect("each has one").replace('\n', " ");
        let named = story.split("pause from ").nth(1).and_then(|rest| rest.split(" s on").next());
        let seconds: f64 =
            named.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{file}: {story}"));
        let edge = Span::millis((seconds * 1_000.0).round() as i64);
        let breaks = |lasting: Span| {
            let mut plan = scenario.plan.clone();
            let [planned] = &mut plan[..] else { panic!("{file} has one fault") };
            let Fault::Pause(pause) = &mut planned.inject else { panic!("{file} has a pause") };
            pause.lasting = lasting;
            let naive = protocol::find("naive").expect("a known protocol");
            let history = run(&scenario.world, naive, &plan, scenario.seed);
            CHECKERS.iter().any(|checker| matches!(judge_one(checker, &history), Verdict::Violated { .. }))
        };
        assert!(breaks(edge), "{file}: {edge} does no harm");
        assert!(!breaks(edge - Span::millis(1)), "{file}: {} breaks it too", edge - Span::millis(1));
    }
}
