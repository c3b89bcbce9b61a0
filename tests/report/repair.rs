//! How a repair is told: the incident, and an operator who comes afterwards.

use holdover::report::text::Layout;
use holdover::scenario::Scenario;
use holdover::sim::protocol;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{ClockSpec, Keys, ProviderSpec, WorkerSpec};

use crate::support::{snapshot, told};

/// The incident, with a provider that remembers no keys and an operator.
fn repaired() -> Scenario {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");
    let mut scenario = Scenario::load(path).expect("the incident is a scenario");
    let world = &mut scenario.world;
    world.provider = ProviderSpec { keys: Some(Keys::None), ..ProviderSpec::default() };
    world.operators = vec![WorkerSpec {
        name: "operator".to_owned(),
        starts: TrueTime::START + Span::millis(58_300),
        clock: ClockSpec::default(),
    }];
    world.limits.end = TrueTime::START + Span::secs(600);
    scenario
}

#[test]
fn the_incident_is_repaired() {
    let scenario = repaired();
    let naive = protocol::find("naive").expect("a known protocol");
    snapshot!("repair", &told(&scenario, &[naive], Layout { width: 100, verbose: false }));
}
