//! Laws of taking faults away and of turning their numbers, on nights of any faults.

use holdover::explore::explain::Explanation;
use holdover::explore::knobs::{knobs, turned};
use holdover::explore::{Budget, Parts, Subject};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{AnyProtocol, PROTOCOLS};
use holdover::sim::time::{Span, TrueTime};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::draws;
use crate::night::{Night, night, night_of_losses};
use crate::support::scenario;

/// Nights that are the same every time.
fn nights(count: usize, night: impl Strategy<Value = Night>) -> impl Iterator<Item = Night> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(move |_| night.new_tree(&mut runner).expect("nothing is filtered out").current())
}

fn subject<'a>(night: &'a Night, protocol: &'a dyn AnyProtocol) -> Subject<'a> {
    Subject { world: &night.world, protocol, seed: night.seed }
}

/// Each fault of 500 plans is taken away alone: the n-th message of a link takes as long as it did.
#[test]
fn a_fault_that_is_taken_away_changes_no_other_latency() {
    let mut compared = 0;
    for (n, night) in nights(500, night()).enumerate() {
        let subject = subject(&night, PROTOCOLS[n % PROTOCOLS.len()]);
        let parts = Parts::of(&night.plan);
        let whole = subject.run(&night.plan);
        for fault in 0..parts.len() {
            let without = subject.run(&parts.only(&parts.without(&[fault])));
            compared += draws::agree(&whole.history, &without.history);
        }
    }
    assert!(compared > 500_000, "only {compared} draws were compared");
}

/// What waits for a fault that was taken away never strikes, so it may as well be taken away too.
#[test]
fn followers_go_with_their_leader() {
    let mut followed = 0;
    for (n, night) in nights(500, night()).enumerate() {
        let subject = subject(&night, PROTOCOLS[n % PROTOCOLS.len()]);
        let parts = Parts::of(&night.plan);
        for fault in (0..parts.len()).filter(|fault| !parts.followers(*fault).is_empty()) {
            let mut only_it = night.plan.clone();
            only_it.remove(fault);
            let (one, other) = (subject.run(&only_it), subject.run(&parts.only(&parts.without(&[fault]))));
            assert_eq!(one.failures(), other.failures());
            assert_eq!(one.measures(), other.measures());
            assert_eq!(one.history.events.len(), other.history.events.len());
            followed += 1;
        }
    }
    assert!(followed > 50, "only {followed} faults had followers");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A knob that is turned stands where it was turned to, all others where they were, and turned back it is as it was.
    #[test]
    fn a_knob_turns_one_number_and_no_other(night in night(), part in 0..=1_000_i64) {
        let end = night.world.limits.end;
        for planned in &night.plan {
            let all = knobs(planned, end);
            for knob in &all {
                // A night may plan something for when it is over, which no scenario file can.
                if !knob.takes(knob.value) {
                    prop_assert!(knob.name.when, "{:?} in {:?}", knob, planned);
                    continue;
                }
                let width = i128::from(knob.high) - i128::from(knob.low);
                let value = (i128::from(knob.low) + width * i128::from(part) / 1_000) as i64;
                let Some(other) = turned(planned, end, knob.name, value) else {
                    prop_assert!(!knob.takes(value));
                    continue;
                };
                for (before, after) in all.iter().zip(knobs(&other, end)) {
                    let expected = if before.name == knob.name { value } else { before.value };
                    prop_assert_eq!((after.name, after.value), (before.name, expected));
                }
                prop_assert_eq!(turned(&other, end, knob.name, knob.value), Some(planned.clone()));
                for out in [knob.low.checked_sub(1), knob.high.checked_add(1)].into_iter().flatten() {
                    prop_assert_eq!(turned(planned, end, knob.name, out), None);
                }
            }
            let names: std::collections::BTreeSet<_> = all.iter().map(|knob| knob.name).collect();
            prop_assert_eq!(names.len(), all.len());
        }
    }
}

/// On nights where something breaks: whatever an explanation says was run, and runs the same again.
#[test]
fn an_explanation_is_true() {
    let budget = Budget { runs: 200, events: u64::MAX };
    let (mut necessary, mut edges, mut sets) = (0, 0, 0);
    for night in nights(400, night_of_losses()) {
        let subject = subject(&night, PROTOCOLS[0]);
        if subject.run(&night.plan).failures().is_empty() {
            continue;
        }
        let mut explained_night: Scenario = scenario(crate::support::CLOCK_JUMP);
        explained_night.world.clone_from(&night.world);
        explained_night.plan.clone_from(&night.plan);
        let explanation = Explanation::new(&explained_night, &PROTOCOLS[..1], night.seed, budget);
        let explained = &explanation.explained[0];
        let parts = Parts::of(&night.plan);
        for (fault, role) in explained.faults.iter().enumerate() {
            let without = subject.run(&parts.only(&parts.without(&[fault])));
            assert_eq!(without.failures(), role.without.broken);
            necessary += role.gone(&explained.whole()).len();
        }
        for (signature, sufficient) in explained.signatures().into_iter().zip(&explained.sufficient) {
            for set in &sufficient.sets {
                assert!(subject.run(&parts.only(set)).times(signature) > 0);
                for spared in set {
                    let left: Vec<usize> = set.iter().copied().filter(|fault| fault != spared).collect();
                    let lost = parts.without(&[*spared]);
                    let left: Vec<usize> = left.into_iter().filter(|fault| lost.contains(fault)).collect();
                    assert_eq!(subject.run(&parts.only(&left)).times(signature), 0, "{set:?} without {spared}");
                }
                sets += 1;
            }
        }
        for one in &explained.knobs {
            for stretch in &one.found.stretches {
                for value in [stretch.from, stretch.to] {
                    let mut plan = night.plan.clone();
                    let end = night.world.limits.end;
                    plan[one.fault] =
                        turned(&plan[one.fault], end, one.knob.name, value).expect("it was turned so");
                    assert_eq!(subject.run(&plan).having(&explained.signatures()), stretch.found);
                }
            }
            for both in one.found.stretches.windows(2).filter(|_| !one.found.flickers) {
                let apart = both[1].from - both[0].to;
                let zero = one.knob.not_zero && both[0].to < 0 && both[1].from > 0;
                assert!(apart <= one.knob.grain || (zero && apart <= 2 * one.knob.grain), "{both:?}");
                edges += 1;
            }
        }
    }
    assert!(necessary > 20 && edges > 60 && sets > 20, "{necessary} {edges} {sets}");
}

/// Whatever an extreme value does, the run ends in order.
#[test]
fn numbers_at_their_ends_break_nothing_of_ours() {
    for night in nights(40, night()) {
        let end = night.world.limits.end;
        assert!(end - TrueTime::START > Span::ZERO);
        for (fault, planned) in night.plan.iter().enumerate() {
            for knob in knobs(planned, end) {
                for value in [knob.low, knob.high] {
                    let Some(extreme) = turned(planned, end, knob.name, value) else { continue };
                    let mut plan = night.plan.clone();
                    plan[fault] = extreme;
                    let history = subject(&night, PROTOCOLS[0]).run(&plan).history;
                    assert!(history.ended_at <= end, "{} of {planned:?}", knob.name);
                }
            }
        }
    }
}
