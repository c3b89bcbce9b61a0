//! Worlds whose clocks are drawn.

use holdover::explore::generate::{Profile, with_drawn_clocks};
use holdover::scenario::Scenario;
use holdover::sim::seed::Seed;
use holdover::sim::time::Span;
use holdover::sim::world::ClockSpec;

use super::worlds;

#[test]
fn only_clocks_are_drawn_and_each_world_can_be_written() {
    let before = worlds::incident();
    let mut daemons = 0;
    for (seed, profile) in (0..500).flat_map(|seed| Profile::ALL.map(|profile| (seed, profile))) {
        let world = with_drawn_clocks(&before.world, profile, Seed(seed));
        assert_eq!(world, with_drawn_clocks(&before.world, profile, Seed(seed)));
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
        let worlds = (0..500).map(|seed| with_drawn_clocks(&worlds::incident().world, profile, Seed(seed)));
        let offsets = worlds.flat_map(|world| world.workers).map(|worker| worker.clock.offset.as_nanos().abs());
        Span::nanos(offsets.max().unwrap_or(0))
    };
    assert!(furthest(Profile::Realistic) < Span::millis(100));
    assert!(furthest(Profile::Hostile) > Span::secs(60));
}
