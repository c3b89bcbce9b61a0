//! Nights with a repair: an operator goes unless the same breaks only with it, and what is left is as small as it gets.

use holdover::explore::generate::{Generator, Profile};
use holdover::explore::shrink::{BUDGET, Weight, shrink};
use holdover::explore::{Signature, Subject};
use holdover::scenario::Scenario;
use holdover::sim::protocol::{AnyProtocol, Naive, PROTOCOLS};
use holdover::sim::repair::find;
use holdover::sim::seed::Seed;
use holdover::sim::world::{ProviderSpec, RepairSpec};

use crate::support::{CLOCK_JUMP, scenario};

/// The incident with two operators, a provider that is like no other, and faults on all of it.
const REPAIR: &str = r#"
[provider]
keys = "none"
settles_in = "2345ms..4567ms"
fails_percent = 7
page = 3

[[operator]]
name = "operator"
starts = "02:00:28.300"

[[operator]]
name = "second"
starts = "02:00:41.234"
clock = { drift_ppm = 12.5 }

[repair]
quiet_for = "6543ms"

[[fault]]
when = { point = "repair.decided", node = "operator" }
inject = { crash = { node = "operator", for = "2s" } }

[[fault]]
when = { point = "repair.asked" }
inject = { pause = { node = "worker-b", for = "1s" } }

[[fault]]
when = { event = "refund-begun" }
inject = { partition = { between = ["second", "worker-a"], and = ["provider"], for = "3s" } }

[[fault]]"#;

fn repaired() -> Scenario {
    scenario(&CLOCK_JUMP.replacen("[[fault]]", REPAIR.trim_start(), 1))
}

fn broken(scenario: &Scenario, protocol: &dyn AnyProtocol) -> Vec<Signature> {
    let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
    subject.run(&scenario.plan).failures().into_iter().map(|(signature, _)| signature).collect()
}

/// What is left of `night` if only this rule must stay broken.
#[track_caller]
fn smallest(night: &Scenario, protocol: &dyn AnyProtocol, rule: &str) -> Scenario {
    let signature = broken(night, protocol).into_iter().find(|broken| broken.checker() == rule);
    let signature = signature.unwrap_or_else(|| panic!("{rule} isn't broken"));
    let small = shrink(night, protocol, signature, BUDGET).expect("it breaks this");
    assert!(!small.account.spent.used_up);
    assert!(broken(&small.scenario, protocol).contains(&signature));
    small.scenario
}

#[test]
fn what_breaks_without_an_operator_shrinks_to_none() {
    let small = smallest(&repaired(), &Naive, "single-writer");
    let world = &small.world;
    assert_eq!(
        (world.operators.len(), world.provider, world.repair),
        (0, ProviderSpec::default(), RepairSpec::default())
    );
    assert!(
        small.plan.iter().all(|fault| fault
            .inject
            .nodes()
            .iter()
            .all(|node| node.index() < 3 + world.workers.len()))
    );
    let text = small.to_toml().expect("a file can say it");
    assert!(["[repair]", "\"repair.", "operator"].iter().all(|said| !text.contains(said)), "{text}");
}

/// Only an operator deletes what was accepted, and only if it goes by the wrong procedure.
#[test]
fn an_operator_that_breaks_something_stays() {
    let mut night = repaired();
    night.world.repair.procedure = find("delete-one-workers-records").expect("a procedure");
    let small = smallest(&night, &Naive, "audit-kept");
    assert_eq!(small.world.operators.len(), 1);
    assert_eq!(small.world.provider, ProviderSpec::default());
    assert_eq!(
        small.world.repair,
        RepairSpec { procedure: night.world.repair.procedure, ..RepairSpec::default() }
    );
    let text = small.to_toml().expect("a file can say it");
    assert_eq!(Scenario::parse("small", &text).expect("it was written"), small);
}

/// The laws of shrinking, on drawn nights with a repair.
#[test]
fn nights_with_a_repair_shrink_as_all_others_do() {
    let base = repaired();
    // What is drawn alone mostly breaks nothing that the repair leaves broken.
    let generator = Generator::new(&base.world, Profile::Hostile).on_top_of(&base.plan);
    let (mut shrunken, mut operators) = (0, 0);
    for seed in (0..16).map(Seed) {
        let mut night = Scenario { plan: generator.plan(seed), seed, ..base.clone() };
        if seed.0 % 2 == 0 {
            night.world.repair.procedure = find("delete-one-workers-records").expect("a procedure");
        }
        // Fenced is hardly broken, and where the repair is right not much stays broken.
        let protocol = PROTOCOLS[seed.0 as usize % 2];
        let Some(signature) = broken(&night, protocol).into_iter().next_back() else { continue };
        let small = shrink(&night, protocol, signature, BUDGET).expect("it breaks this").scenario;
        assert!(Weight::of(&small) <= Weight::of(&night));
        assert!(broken(&small, protocol).contains(&signature), "{signature} is gone");
        let text = small.to_toml().expect("what a file can say stays so");
        assert_eq!(Scenario::parse("small", &text).expect("it was written"), small);
        let again = shrink(&small, protocol, signature, BUDGET).expect("it breaks this").scenario;
        assert_eq!(again, small, "it can be made smaller still");
        shrunken += 1;
        operators += small.world.operators.len();
    }
    assert!(shrunken > 4, "only {shrunken} failures were shrunk");
    assert!(operators < shrunken, "{operators} operators are left in {shrunken} scenarios");
}
