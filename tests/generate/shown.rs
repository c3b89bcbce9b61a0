//! What people see of a drawn plan.

use holdover::explore::generate::{Generator, Profile, Selection};
use holdover::scenario::Scenario;
use holdover::sim::seed::Seed;

use super::worlds;

/// Snapshots what is told of the plan of `seed`, and its faults as they are in the file.
fn check(name: &str, generator: &Generator, seed: u64) {
    check_in(&worlds::incident(), name, generator, seed);
}

/// The same for another world than that of the incident.
fn check_in(base: &Scenario, name: &str, generator: &Generator, seed: u64) {
    let drawn = generator.draw(Seed(seed));
    let scenario = Scenario { plan: drawn.plan.clone(), ..base.clone() };
    let text = scenario.to_toml().expect("a plan that a file can say");
    let faults = text.find("[[fault]]").map_or("", |from| &text[from..]);
    let faults = faults.split("[expect").next().unwrap_or_default();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/generate");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, format!("{drawn}\n\n{faults}")));
}

#[test]
fn plans_are_told_in_a_few_lines() {
    let world = worlds::incident().world;
    for seed in 0..6 {
        for profile in Profile::ALL {
            check(&format!("{profile}-{seed}"), &Generator::new(&world, profile), seed);
        }
    }
}

#[test]
fn plans_for_a_repair_tell_how_it_is_disturbed() {
    let world = worlds::repaired().world;
    for seed in 0..2 {
        check_in(&worlds::repaired(), &format!("repair-{seed}"), &Generator::new(&world, Profile::Hostile), seed);
    }
}

#[test]
fn what_is_drawn_on_top_is_told_alone() {
    let base = worlds::incident();
    let pauses: Selection = "pauses".parse().expect("a group");
    let generator = Generator::new(&base.world, Profile::Realistic).only(pauses).on_top_of(&base.plan);
    check("on-top", &generator, 3);
}

#[test]
fn where_nothing_is_possible_nothing_is_drawn() {
    let sources: Selection = "time-source".parse().expect("a kind");
    let generator = Generator::new(&worlds::incident().world, Profile::Hostile).only(sources);
    assert!((0..100).all(|seed| generator.plan(Seed(seed)).is_empty()));
    check("impossible", &generator, 0);
    let mut nobody = worlds::incident().world;
    nobody.workers.clear();
    let generator = Generator::new(&nobody, Profile::Hostile);
    assert!((0..100).all(|seed| generator.plan(Seed(seed)).is_empty()));
}
