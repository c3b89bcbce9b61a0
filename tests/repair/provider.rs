//! Providers of all kinds: what a repair can do about what they are like, and what it says where it can't.

use holdover::sim::fault::{Anchor, Loses, PlannedFault, Restart};
use holdover::sim::history::{History, What};
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{Keys, PROVIDER, PayoutSpec, ProviderSpec};

use crate::support::{Night, events, not_made_good, outcome};

const SEED: u64 = 7;

/// How many operations the repair left to a person; `None` if it never ended.
fn unresolved(history: &History) -> Option<u32> {
    let ended = events(history, "repair-ended").last()?.1;
    match ended.what {
        What::RepairEnded { unresolved, .. } => Some(unresolved),
        _ => None,
    }
}

/// Checks how many operations are left to a person, and that all is made good exactly if none is.
#[track_caller]
fn check(provider: ProviderSpec, plan: &[PlannedFault], expected: u32) -> History {
    let mut night = Night::incident();
    night.world.provider = provider;
    night.plan.extend_from_slice(plan);
    let history = night.run(SEED);
    assert_eq!(unresolved(&history), Some(expected));
    let (published, superseded) =
        (events(&history, "export-published").count(), events(&history, "export-superseded").count());
    // The workers published one each.
    match expected {
        0 => assert_eq!(published - superseded, 1, "one export stands"),
        _ => assert_eq!((published, superseded), (2, 0), "nothing is claimed"),
    }
    let resumed = events(&history, "dispatch-resumed").count() > 0;
    assert_eq!(resumed, expected == 0, "work goes on exactly if nothing is unresolved");
    if expected == 0 {
        assert_eq!(not_made_good(&history), []);
    }
    history
}

fn provider(keys: Keys, payouts: PayoutSpec) -> ProviderSpec {
    ProviderSpec { keys: Some(keys), checks_tokens: None, payouts: Some(payouts) }
}

#[test]
fn one_that_answers_lets_everything_be_made_good() {
    let spec = PayoutSpec::default;
    for keys in [Keys::None, Keys::Kept, Keys::For(Span::secs(1))] {
        check(provider(keys, spec()), &[], 0);
        check(provider(keys, PayoutSpec { page: 1, ..spec() }), &[], 0);
        check(provider(keys, PayoutSpec { fails_percent: 30, ..spec() }), &[], 0);
        check(provider(keys, PayoutSpec { refunds_fail_percent: 60, ..spec() }), &[], 0);
    }
}

#[test]
fn one_that_answers_nothing_leaves_all_to_a_person_unless_it_never_forgets_a_key() {
    let mute = PayoutSpec { answers: false, ..PayoutSpec::default() };
    check(provider(Keys::None, mute), &[], 14);
    check(provider(Keys::For(Span::secs(86_400)), mute), &[], 14);
    check(provider(Keys::Kept, mute), &[], 0);
    let failing = PayoutSpec { fails_percent: 40, ..mute };
    let history = check(provider(Keys::Kept, failing), &[], 0);
    assert!(outcome(&history).effects.values().all(|effects| effects.len() == 1));
}

#[test]
fn one_that_never_comes_back_leaves_all_to_a_person() {
    let restart = Restart { node: PROVIDER, lasting: Span::secs(800), loses: Loses::Nothing };
    let when = Anchor::At(TrueTime::START + Span::millis(61_020));
    let gone = PlannedFault { when, inject: restart.into(), note: None, name: None };
    check(provider(Keys::None, PayoutSpec::default()), &[gone], 14);
}
