//! How it is told that a protocol isn't determined by its seed: never as something that it breaks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use anstream::adapter::strip_str;
use holdover::explore::explain::{BRIEF, Explanation};
use holdover::explore::hunt::{Cause, Hunt};
use holdover::replay::{Deviation, Outcome, Replay};
use holdover::report::explain::text;
use holdover::sim::protocol::AnyProtocol;
use holdover::sim::seed::Seed;

use crate::{Draws, smallest};

fn counter() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // From one run to the next it is far enough from where it was.
    CALLS.fetch_add(7_919, Ordering::Relaxed)
}

static COUNTS: Draws = Draws { draw: counter, is_hosted: true, is_bold: false };
static COUNTS_AND_BREAKS: Draws = Draws { is_bold: true, ..COUNTS };
static NOT_HOSTED: Draws = Draws { draw: || rand::random(), is_hosted: false, is_bold: true };

#[test]
fn a_replay_says_that_alone() {
    let scenario = smallest();
    for (protocol, word) in [(&COUNTS, "a `static` that counts"), (&NOT_HOSTED, "the crate `holdover-host`")] {
        let replay = Replay::new(&scenario, &[protocol], Seed(7));
        assert_eq!(replay.outcome(), Outcome::NotDeterministic);
        let deviations = replay.deviations();
        let [Deviation::NotDeterministic { why, .. }] = &deviations[..] else { panic!("{deviations:?}") };
        assert!(why.contains(word), "{why}");
        assert_eq!(replay.runs[0].blame(), None);
        let explanation = Explanation::new(&scenario, &[protocol], Seed(7), BRIEF);
        let mut told = Vec::new();
        text::write(&explanation, "x.toml", 100, &mut told).expect("a Vec takes any bytes");
        let told = strip_str(&String::from_utf8(told).expect("it is text")).to_string();
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(why), "{told}");
        assert!(!told.contains("bug in holdover"), "{told}");
    }
}

fn hunt(protocol: &'static dyn AnyProtocol) -> Vec<(Cause, u64)> {
    let scenario = smallest();
    let pauses = "pauses".parse().expect("a group of faults");
    let found = Hunt::new(&scenario).protocols(&[protocol]).faults(pauses).seeds(1..200).keep_going().run();
    found.failures.iter().map(|failure| (failure.cause, failure.inside)).collect()
}

#[test]
fn a_hunt_blames_no_rule_on_it() {
    assert_eq!(hunt(&COUNTS_AND_BREAKS), [(Cause::Unrepeated, 0)]);
    assert_eq!(hunt(&NOT_HOSTED), [(Cause::Unrepeated, 0)]);
    // The same with nothing drawn breaks.
    static BREAKS: Draws = Draws { draw: || 5, is_hosted: true, is_bold: true };
    let found = hunt(&BREAKS);
    assert!(!found.is_empty() && found.iter().all(|(cause, _)| matches!(cause, Cause::Rule(_))), "{found:?}");
    // Those of seed 0 are repeated whether they fail or not.
    let scenario = smallest();
    let found = Hunt::new(&scenario).protocols(&[&COUNTS]).seeds(0..1).run().failures;
    assert!(matches!(&found[..], [failure] if failure.cause == Cause::Unrepeated), "{found:?}");
}

#[test]
fn a_test_that_hunts_says_what_it_comes_from() {
    let scenario = smallest();
    let panic = catch_unwind(|| Hunt::new(&scenario).protocols(&[&COUNTS]).seeds(0..1).assert_holds());
    let panic = panic.expect_err("it isn't determined");
    insta::assert_snapshot!(panic.downcast_ref::<String>().expect("a message"));
}

/// No registry knows the protocol, so whoever repeats it has to say which it is.
#[test]
fn the_code_that_finds_a_failure_again_names_the_protocol() {
    static BREAKS: Draws = Draws { draw: || 5, is_hosted: true, is_bold: true };
    let scenario = smallest();
    let pause = "pause".parse().expect("a kind of fault");
    let hunt = Hunt::new(&scenario).protocols(&[&BREAKS]).faults(pause).inside_only().seeds(0..200);
    let findings = hunt.run();
    let failure = findings.failures.first().expect("it breaks");
    let seed = failure.example.seed;
    let code = format!(
        "Hunt::new(&scenario).protocols(&[protocol]).faults(\"pause\".parse().unwrap()).inside_only().seeds({seed}..{}), where \
         protocol is draws",
        seed + 1
    );
    assert_eq!(hunt.code_for(failure), code);
    let again = AssertUnwindSafe(|| hunt.clone().seeds(seed..seed + 1).assert_holds());
    let message = catch_unwind(again).expect_err("it breaks");
    let message = message.downcast_ref::<String>().expect("a message");
    assert!(message.ends_with(&format!("To see it again: {code}\n")), "{message}");
}

#[test]
fn one_that_draws_from_its_seed_holds() {
    static FINE: Draws = Draws { draw: || rand::random(), is_hosted: true, is_bold: false };
    let scenario = smallest();
    let pauses = "pauses".parse().expect("a group of faults");
    Hunt::new(&scenario).protocols(&[&FINE]).faults(pauses).seeds(0..100).assert_holds();
}
