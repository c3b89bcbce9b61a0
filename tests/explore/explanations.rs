//! What explanations say, on nights of which it is known.

use std::cell::{Cell, RefCell};

use holdover::explore::explain::{BUDGET, Difference, Explained, Explanation, Turned, Watch};
use holdover::explore::{Budget, MOST_SETS, Spent, Subject};
use holdover::replay::Replay;
use holdover::sim::check::{Bite, Verdict};
use holdover::sim::time::Span;

use crate::support::{
    CLOCK_JUMP, explain, explain_within, is_cut_short, protocols, rules, scenario, signature, told, under_naive,
    with_faults,
};

const PAUSE: (&str, &str, &str) = (
    "",
    "point = \"write.checked\", node = \"worker-a\", nth = 4",
    "pause = { node = \"worker-a\", for = \"12s\" }",
);
const LATE_PAUSE: (&str, &str, &str) = (
    "",
    "point = \"write.checked\", node = \"worker-a\", nth = 7",
    "pause = { node = \"worker-a\", for = \"12s\" }",
);
const IDLE_STEP: (&str, &str, &str) = ("", "at = \"+90s\"", "clock-step = { node = \"worker-b\", by = \"-1s\" }");
const NEVER: (&str, &str, &str) = (
    "",
    "point = \"write.checked\", node = \"worker-a\", nth = 99",
    "pause = { node = \"worker-a\", for = \"1s\" }",
);

fn differences(explained: &Explained) -> Vec<Difference> {
    let whole = explained.whole();
    explained.faults.iter().map(|role| role.difference(&whole)).collect()
}

/// What is known of the number of this name of a fault.
fn knob<'a>(explained: &'a Explained, fault: usize, name: &str) -> &'a Turned {
    let found = explained.knobs.iter().find(|one| one.fault == fault && one.knob.name.to_string() == name);
    found.unwrap_or_else(|| panic!("fault {fault} has a {name}"))
}

/// The first value at which `checker` breaks and the last below it at which it doesn't.
fn edge(turned: &Turned, checker: &str) -> (Span, Span) {
    let breaks = |index: &usize| rules(&turned.found.stretches[*index].found).contains(&checker);
    let first = (0..turned.found.stretches.len()).find(breaks).expect("it breaks somewhere");
    let below = first.checked_sub(1).expect("it holds below");
    let stretches = &turned.found.stretches;
    (Span::nanos(stretches[below].to), Span::nanos(stretches[first].from))
}

#[test]
fn the_pause_is_necessary_and_the_step_makes_it_worse() {
    let scenario = scenario(CLOCK_JUMP);
    let explained = under_naive(&scenario);
    assert_eq!(
        rules(&explained.signatures()),
        ["single-writer", "stale-write", "export-agreement", "effect-once", "nothing-lost"]
    );
    let whole = explained.whole();
    let [pause, step] = &explained.faults[..] else { panic!("two faults") };

    assert_eq!(pause.difference(&whole), Difference::Necessary);
    assert_eq!(pause.without.broken, []);

    assert_eq!(step.alone.broken, []);
    assert_eq!(step.difference(&whole), Difference::NecessaryForSome);
    assert_eq!(rules(&step.gone(&whole)), ["export-agreement"]);
    assert_eq!(step.change(&whole), Difference::Worse);
    let (with, without) = (whole.measures, step.without.measures);
    assert_eq!((without.stale_writes_accepted, with.stale_writes_accepted), (2, 9));
    assert_eq!((without.effects_doubled, with.effects_doubled), (1, 4));
    assert_eq!((without.belief_overlap, with.belief_overlap), (Span::ZERO, Span::nanos(199_896_952)));

    let sets: Vec<_> = explained.sufficient.iter().map(|sufficient| &sufficient.sets[..]).collect();
    assert_eq!(sets, [&[vec![0]][..], &[vec![0]], &[vec![0, 1]], &[vec![0]], &[vec![0]]]);
    assert!(explained.pairs.is_empty() && !explained.spent.used_up);
}

/// Each edge is run from a file of its own, as a reader of the report would do it.
#[test]
fn both_sides_of_the_edge_of_the_pause_are_right() {
    let explained = under_naive(&scenario(CLOCK_JUMP));
    for (checker, holds, breaks) in [
        ("single-writer", "37.949s", "37.95s"),
        ("effect-once", "37.949s", "37.95s"),
        ("export-agreement", "37.987s", "37.988s"),
    ] {
        let (below, from) = edge(knob(&explained, 0, "for"), checker);
        assert_eq!((below.to_string(), from.to_string()), (holds.to_owned(), breaks.to_owned()), "{checker}");
        assert_eq!(from - below, Span::millis(1));
        for (length, is_violated) in [(holds, false), (breaks, true)] {
            let text = CLOCK_JUMP.replace("for = \"38s\"", &format!("for = \"{length}\""));
            let scenario = scenario(&text);
            let replay = Replay::new(&scenario, &protocols(&["naive"]), scenario.seed);
            let verdicts = &replay.runs[0].verdicts;
            let (_, verdict) = verdicts.iter().find(|(known, _)| known.name == checker).expect("a known rule");
            let found = matches!(verdict, Verdict::Violated { .. });
            assert_eq!(found, is_violated, "{checker} at {length}");
        }
    }
}

#[test]
fn a_fault_that_never_strikes_or_comes_too_late_makes_no_difference() {
    let scenario = with_faults(&[PAUSE, NEVER, IDLE_STEP]);
    let explained = under_naive(&scenario);
    assert_eq!(differences(&explained), [Difference::Necessary, Difference::None, Difference::None]);
    assert_eq!(explained.faults[1].bite, Bite::NeverStruck);
    assert!(explained.sufficient.iter().all(|sufficient| sufficient.sets == [vec![0]]));
}

#[test]
fn of_two_faults_of_which_either_is_enough_neither_is_necessary() {
    let scenario = with_faults(&[PAUSE, LATE_PAUSE]);
    let explained = under_naive(&scenario);
    assert!(!differences(&explained).contains(&Difference::Necessary));
    let [pair] = &explained.pairs[..] else { panic!("one pair") };
    assert_eq!(pair.faults, [0, 1]);
    assert!(rules(&pair.gone).contains(&"single-writer"));
    let single_writer = signature("single-writer", "two-writers");
    let index = explained.signatures().iter().position(|one| *one == single_writer).expect("it is broken");
    assert_eq!(explained.sufficient[index].sets, [vec![0], vec![1]]);
}

#[test]
fn what_waits_for_a_fault_goes_with_it() {
    let scenario = with_faults(&[
        ("first", "at = \"+1.5s\"", "clock-step = { node = \"worker-b\", by = \"1ms\" }"),
        ("second", "fault = \"first\", delay = \"800ms\"", "pause = { node = \"worker-a\", for = \"12s\" }"),
        ("", "fault = \"second\", end = true", "clock-step = { node = \"worker-a\", by = \"-3s\" }"),
    ]);
    let explained = under_naive(&scenario);
    assert!(!explained.broken.is_empty());
    let followers: Vec<_> = explained.faults.iter().map(|role| &role.followers[..]).collect();
    assert_eq!(followers, [&[1, 2][..], &[2], &[]]);
    let leaders: Vec<_> = explained.faults.iter().map(|role| &role.leaders[..]).collect();
    assert_eq!(leaders, [&[][..], &[0], &[0, 1]]);
    assert_eq!(differences(&explained)[..2], [Difference::Necessary, Difference::Necessary]);
    // No set has a fault without the one that it waits for.
    for set in explained.sufficient.iter().flat_map(|sufficient| &sufficient.sets) {
        assert!(set.contains(&0) && (!set.contains(&2) || set.contains(&1)), "{set:?}");
    }
}

#[test]
fn what_needs_no_fault_says_so() {
    let text = include_str!("../../scenarios/clocks/16-two-offsets.toml");
    for plan in
        ["", "[[fault]]\nwhen = { at = \"+50s\" }\ninject = { pause = { node = \"worker-b\", for = \"1ms\" } }"]
    {
        let scenario = scenario(&text.replace("[expect.naive]", &format!("{plan}\n[expect.naive]")));
        let explained = under_naive(&scenario);
        assert!(!explained.broken.is_empty());
        assert!(explained.sufficient.iter().all(|sufficient| sufficient.sets == [Vec::<usize>::new()]));
        assert!(explained.sufficient.iter().all(|sufficient| sufficient.up_to.is_none()));
        assert!(differences(&explained).iter().all(|difference| *difference == Difference::None));
    }
}

#[test]
fn where_nothing_is_violated_the_edge_is_looked_for_all_the_same() {
    let pause = ("", PAUSE.1, "pause = { node = \"worker-a\", for = \"5s\" }");
    let scenario = with_faults(&[pause]);
    let explained = under_naive(&scenario);
    assert_eq!((explained.broken.len(), explained.faults.len(), explained.sufficient.len()), (0, 0, 0));
    assert_eq!(explained.chain.steps, []);
    let (below, from) = edge(knob(&explained, 0, "for"), "single-writer");
    assert!(below > Span::secs(5) && from - below == Span::millis(1), "{below} {from}");
    // Under the fence there is none.
    let fenced = explain(&scenario, &["fenced"]);
    let stretches = |turned: &Turned| turned.found.stretches.len();
    assert!(fenced.explained[0].knobs.iter().all(|turned| stretches(turned) == 1));
}

/// Twenty faults, of which two matter.
#[test]
fn of_many_faults_those_that_matter_are_found_and_the_bound_on_sets_is_told() {
    let mut faults = vec![IDLE_STEP; 9];
    faults.push(PAUSE);
    faults.extend([NEVER; 9]);
    faults.push((
        "",
        "point = \"write.checked\", node = \"worker-a\", nth = 4, delay = \"12.01s\"",
        "clock-step = { node = \"worker-a\", by = \"-5s\" }",
    ));
    // Two steps of one clock at one time contradict each other.
    let at = |index: usize| format!("at = \"+{}s\"", 90 + index);
    let times: Vec<String> = (0..faults.len()).map(at).collect();
    for (fault, at) in faults.iter_mut().zip(&times).take(9) {
        fault.1 = at;
    }
    let scenario = with_faults(&faults);
    let explained = under_naive(&scenario);
    assert_eq!(explained.faults.len(), 20);
    let matter: Vec<usize> = differences(&explained)
        .iter()
        .enumerate()
        .filter(|(_, difference)| **difference != Difference::None)
        .map(|(fault, _)| fault)
        .collect();
    assert_eq!(matter, [9, 19]);
    for sufficient in &explained.sufficient {
        assert_eq!(sufficient.up_to, Some(3));
        assert!(sufficient.sets == [vec![9]] || sufficient.sets == [vec![9, 19]], "{:?}", sufficient.sets);
    }
    assert!(!explained.spent.used_up && explained.spent.runs < MOST_SETS + 3_000, "{:?}", explained.spent);
}

/// The bound is hit in each of the steps in turn: what was learned until then is as it would have been.
#[test]
fn a_bound_that_is_hit_leaves_what_was_learned() {
    let scenario = with_faults(&[PAUSE, IDLE_STEP]);
    let all = under_naive(&scenario);
    assert!(!all.spent.used_up);
    for runs in [0, 1, 3, 4, 5, 8, 60, all.spent.runs - 1, all.spent.runs] {
        for budget in [
            Budget { runs, events: u64::MAX },
            Budget { runs: u64::MAX, events: all.spent.events * runs / all.spent.runs },
        ] {
            let explanation = explain_within(&scenario, &["naive"], budget);
            let some = &explanation.explained[0];
            assert_eq!(is_cut_short(some.spent, budget), some.knobs.len() < all.knobs.len());
            assert_eq!(some.broken, all.broken);
            assert_eq!(some.faults[..], all.faults[..some.faults.len()]);
            assert_eq!(some.knobs[..], all.knobs[..some.knobs.len()]);
            assert!(some.sufficient.is_empty() || some.sufficient == all.sufficient);
        }
    }
}

/// The chain of the incident: its steps are events that lead to what broke, and each rule is broken in it once.
#[test]
fn the_chain_goes_from_the_lease_over_the_faults_to_each_rule() {
    let scenario = scenario(CLOCK_JUMP);
    let explanation = explain(&scenario, &["naive"]);
    let (run, explained) = explanation.asked().next().expect("one protocol");
    let kinds: Vec<&str> =
        explained.chain.steps.iter().map(|step| run.history.event(step.event).what.kind()).collect();
    assert_eq!(
        kinds,
        [
            "lease-held",
            "lease-checked",
            "fault-began",
            "lease-granted",
            "write-accepted",
            "payout-made",
            "fault-ended",
            "write-accepted",
            "payout-made",
            "fault-began",
            "lease-checked",
            "export-published",
            "export-published",
        ]
    );
    let mut broken: Vec<_> = explained.chain.steps.iter().flat_map(|step| step.breaks.clone()).collect();
    broken.sort_unstable();
    assert_eq!(broken, explained.signatures());
}

#[test]
fn a_settlement_that_is_not_finished_has_its_chain() {
    let crashes =
        ["worker-a", "worker-b"].map(|node| ("", "at = \"+2.5s\"", format!("crash = {{ node = \"{node}\" }}")));
    let faults: Vec<_> = crashes.iter().map(|(name, when, inject)| (*name, *when, inject.as_str())).collect();
    let scenario = with_faults(&faults);
    let explained = under_naive(&scenario);
    assert_eq!(rules(&explained.signatures()), ["progress"]);
    assert!(explained.chain.missed.is_some() && explained.chain.steps.len() >= 4, "{:?}", explained.chain);
    assert_eq!(differences(&explained), [Difference::Necessary, Difference::Necessary]);
}

/// The measures of a run and those of its counterfactuals come from the same place.
#[test]
fn a_trial_is_judged_as_a_replay_is() {
    let scenario = scenario(CLOCK_JUMP);
    let explanation = explain(&scenario, &["naive", "fenced"]);
    for (run, explained) in explanation.asked() {
        let protocol = run.protocol.code().expect("it was run here");
        let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
        let trial = subject.run(&scenario.plan);
        assert_eq!(trial.history, run.history);
        assert_eq!(trial.failures(), explained.broken);
        assert_eq!(trial.measures(), explained.measures);
        assert_eq!(trial.having(&explained.signatures()), explained.signatures());
        assert_eq!(trial.having(&[signature("effect-once", "never-paid")]), []);
        assert_eq!(trial.bites(), run.bites);
        let (signatures, broken) = (explained.signatures(), trial.broken_assumptions());
        assert!(signatures.iter().all(|one| trial.blame(*one, &broken) == run.blame()), "{signatures:?}");
        assert_eq!(trial.measures().belief_overlap, run.belief_overlap);
        assert_eq!(trial.seen("takeover"), run.seen("takeover"));
    }
}

/// Watches so many runs, and then ends the explanation.
struct Patience {
    left: Cell<u64>,
    heard: RefCell<Vec<String>>,
}

impl Watch for Patience {
    fn ran(&self, protocol: &str, doing: &str, _: Spent) {
        self.left.set(self.left.get().saturating_sub(1));
        let mut heard = self.heard.borrow_mut();
        let doing = format!("{protocol}: {doing}");
        if heard.last() != Some(&doing) {
            heard.push(doing);
        }
    }

    fn is_over(&self) -> bool {
        self.left.get() == 0
    }
}

/// Who watches hears what is done, and may end it: then there is what was learned until then, and it says so.
#[test]
fn who_watches_an_explanation_may_end_it() {
    let scenario = scenario(CLOCK_JUMP);
    let watched = |left: u64| {
        let patience = Patience { left: Cell::new(left), heard: RefCell::default() };
        let naive = protocols(&["naive"]);
        let explanation = Explanation::watched(&scenario, &naive, scenario.seed, BUDGET, &patience);
        (told(&explanation, 100), explanation.explained[0].stopped, patience.heard.into_inner())
    };
    let (whole, stopped, heard) = watched(u64::MAX);
    assert_eq!((whole, stopped), (told(&explain(&scenario, &["naive"]), 100), false));
    let doing = [
        "naive: taking each fault away",
        "naive: taking pairs of faults away",
        "naive: looking for the fewest faults",
        "naive: turning numbers",
    ];
    assert!(heard.iter().all(|heard| doing.contains(&&**heard)), "{heard:?}");
    assert_eq!(
        (heard.first().map(|heard| &**heard), heard.last().map(|heard| &**heard)),
        (Some(doing[0]), Some(doing[3]))
    );
    for left in [0, 1, 3, 60] {
        let (told, stopped, _) = watched(left);
        assert!(stopped, "after {left} runs");
        let runs = if left == 1 { "run" } else { "runs" };
        let said = format!("it was ended after {left} further {runs}: what isn't told wasn't looked at");
        assert!(told.contains(&said), "{told}");
    }
}

/// A range says how many of its values were run: so many runs there were.
#[test]
fn what_is_said_of_a_range_is_what_was_run() {
    let scenario = scenario(CLOCK_JUMP);
    let explained = under_naive(&scenario);
    let looked = |turned: &Turned| turned.found.stretches.iter().map(|stretch| stretch.looked as u64).sum::<u64>();
    let turned: u64 = explained.knobs.iter().map(looked).sum();
    let faults = 2 * explained.faults.len() as u64;
    let others = explained.spent.runs - turned - faults;
    // Pairs and sets of two faults.
    assert!(turned > 100 && others <= 4, "{turned} values, {others} other runs");
    for stretch in explained.knobs.iter().flat_map(|turned| &turned.found.stretches) {
        assert!(stretch.looked >= if stretch.from == stretch.to { 1 } else { 2 }, "{stretch:?}");
    }
}
