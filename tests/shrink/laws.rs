//! Laws of shrinking, on nights of any faults in any worlds.

use holdover::explore::shrink::{BUDGET, Shrunk, Weight, shrink};
use holdover::explore::{Budget, Signature, Subject};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{AnyProtocol, PROTOCOLS};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::night::{Night, any_night};
use crate::support::{CLOCK_JUMP, scenario};

/// Nights on which something breaks, that are the same every time, each with what breaks under one of the protocols.
fn nights(count: usize) -> impl Iterator<Item = (Scenario, &'static dyn AnyProtocol, Vec<Signature>)> {
    let mut runner = TestRunner::deterministic();
    let drawn = (0..count).map(move |n| {
        let Night { world, plan, seed } =
            any_night().new_tree(&mut runner).expect("nothing is filtered out").current();
        let night = Scenario { world, plan, seed, ..scenario(CLOCK_JUMP) };
        (night, PROTOCOLS[n % PROTOCOLS.len()])
    });
    drawn.filter_map(|(night, protocol)| {
        let broken = signatures(&night, protocol);
        (!broken.is_empty()).then_some((night, protocol, broken))
    })
}

fn signatures(scenario: &Scenario, protocol: &dyn AnyProtocol) -> Vec<Signature> {
    let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
    subject.run(&scenario.plan).failures().into_iter().map(|(signature, _)| signature).collect()
}

fn shrunk(scenario: &Scenario, protocol: &dyn AnyProtocol, signature: Signature, budget: Budget) -> Shrunk {
    shrink(scenario, protocol, signature, budget).expect("it breaks this")
}

/// What came out breaks the same, weighs no more, is what its file says if the night was one of a file, and shrinks to
/// itself.
#[test]
fn what_is_shrunk_breaks_the_same_and_is_as_small_as_it_gets() {
    let (mut shrunken, mut faults, mut times) = (0, [0, 0], [0, 0]);
    for (night, protocol, broken) in nights(300) {
        let is_writable = night.to_toml().is_ok();
        for signature in broken {
            let small = shrunk(&night, protocol, signature, BUDGET);
            let (before, after) = (Weight::of(&night), Weight::of(&small.scenario));
            assert!(after <= before, "{before:?} became {after:?}");
            assert!(!small.account.spent.used_up, "{:?}", small.account);
            assert!(signatures(&small.scenario, protocol).contains(&signature), "{signature} is gone");
            if is_writable {
                let text = small.scenario.to_toml().expect("what a file can say stays so");
                assert_eq!(Scenario::parse("small", &text).expect("it was written"), small.scenario);
            }
            let again = shrunk(&small.scenario, protocol, signature, BUDGET);
            assert_eq!(again.scenario, small.scenario, "it can be made smaller still");
            shrunken += 1;
            let counts = [small.account.before, small.account.after];
            for (which, counts) in counts.into_iter().enumerate() {
                faults[which] += counts.faults;
                times[which] += counts.timed;
            }
        }
    }
    assert!(shrunken > 50, "only {shrunken} failures were shrunk");
    assert!(faults[1] * 6 < faults[0], "{faults:?} faults before and after");
    assert!(times[1] * 20 < times[0], "{times:?} faults at times before and after");
}

/// However little it may run, what it has found until then breaks the same.
#[test]
fn a_budget_that_is_used_up_leaves_what_was_found() {
    let (mut cut_short, mut smaller) = (0, 0);
    for (night, protocol, broken) in nights(140) {
        for runs in [1, 2, 10, 40] {
            let budget = Budget { runs, ..BUDGET };
            let small = shrunk(&night, protocol, broken[0], budget);
            assert!(small.account.spent.runs <= runs);
            assert!(signatures(&small.scenario, protocol).contains(&broken[0]));
            cut_short += usize::from(small.account.spent.used_up);
            smaller += usize::from(Weight::of(&small.scenario) < Weight::of(&night));
        }
        let nothing = shrink(&night, protocol, broken[0], Budget { runs: 0, ..BUDGET });
        assert!(nothing.is_err());
    }
    assert!(cut_short > 20 && smaller > 10, "{cut_short} cut short, {smaller} smaller");
}

#[test]
fn the_same_comes_out_on_any_thread() {
    for (night, protocol, broken) in nights(40) {
        let here = shrunk(&night, protocol, broken[0], BUDGET);
        let there = std::thread::scope(|scope| {
            let thread = scope.spawn(|| shrunk(&night, protocol, broken[0], BUDGET));
            thread.join().expect("it doesn't panic")
        });
        assert_eq!(here, there);
    }
}
