//! Worlds whose clocks are drawn.

use holdover::explore::generate::{Profile, with_drawn_clocks};
use holdover::explore::hunt::{Hunt, OwnPlan};
use holdover::scenario::Scenario;
use holdover::sim::seed::Seed;
use holdover::sim::time::Span;
use holdover::sim::world::ClockSpec;

use super::{files, worlds};

#[test]
fn only_clocks_are_drawn_and_each_world_can_be_written() {
    let before = worlds::incident();
    let mut daemons = 0;
    for (seed, profile) in (0..500).flat_map(|seed| Profile::ALL.map(|profile| (seed, profile))) {
        let world = with_drawn_clocks(&before.world, &[], profile, Seed(seed));
        assert_eq!(world, with_drawn_clocks(&before.world, &[], profile, Seed(seed)));
        daemons += world.workers.iter().filter(|worker| worker.clock.discipline.is_some()).count();
        let mut others = world.clone();
        others.service_clocks.clear();
        others.workers.iter_mut().for_each(|worker| worker.clock = ClockSpec::default());
        assert_eq!(others, before.world);
        let scenario = Scenario { world, ..before.clone() };
        scenario.to_toml().expect("a world that a file can say");
    }
    assert!((800..1_200).contains(&daemons), "{daemons} of 2,000 workers have a daemon");
}

#[test]
fn well_kept_clocks_are_near_and_others_need_not_be() {
    let furthest = |profile| {
        let worlds = (0..500).map(|seed| with_drawn_clocks(&worlds::incident().world, &[], profile, Seed(seed)));
        let offsets = worlds.flat_map(|world| world.workers).map(|worker| worker.clock.offset.as_nanos().abs());
        Span::nanos(offsets.max().unwrap_or(0))
    };
    assert!(furthest(Profile::Realistic) < Span::millis(100));
    assert!(furthest(Profile::Hostile) > Span::secs(60));
}

/// Whatever the scenario, and whether its own plan stays, is added to or gives way: what a seed of a hunt runs is a file's.
#[test]
fn a_file_can_say_what_a_seed_of_a_hunt_runs() {
    let (mut drawn, mut with_source) = (0, 0);
    for path in files::below("scenarios", ".toml").into_iter().filter(|path| !path.contains("/invalid/")) {
        let scenario =
            Scenario::parse(&path, &files::read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        for (own_plan, profile) in
            OwnPlan::ALL.into_iter().flat_map(|own| Profile::ALL.map(|profile| (own, profile)))
        {
            let hunt = Hunt::new(&scenario).own_plan(own_plan).profile(profile);
            let protocol = hunt.hunted_protocols()[0].name();
            for seed in 0..5 {
                let night = hunt.scenario_of(seed, protocol);
                let text = night
                    .to_toml()
                    .unwrap_or_else(|refused| panic!("{path} {own_plan:?} {profile:?} {seed}: {refused}"));
                assert_eq!(Scenario::parse("night", &text).expect("it was written"), night);
                drawn += 1;
                with_source += usize::from(night.plan.iter().any(|fault| !fault.inject.polled_by().is_empty()));
            }
        }
    }
    assert!(drawn > 2_000 && with_source > 30, "{drawn} nights, {with_source} of them with a wrong time source");
}
