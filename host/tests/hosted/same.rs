//! A host changes nothing for code that asks it for nothing.

use holdover::replay::protocols_of;
use holdover::scenario::Scenario;
use holdover::sim::run::run_on_host;
use holdover_host::SIMULATED;

use crate::files;

#[test]
fn every_scenario_tells_the_same_history_on_a_simulated_host_and_without_one() {
    let scenarios = files::below("../scenarios", ".toml").into_iter().filter(|path| !path.contains("/invalid/"));
    let mut runs = 0;
    for path in scenarios {
        let scenario = Scenario::parse(&path, &files::read(&path)).expect("a scenario of ours");
        for protocol in protocols_of(&scenario) {
            let on = |host| run_on_host(host, &scenario.world, protocol, &scenario.plan, scenario.seed);
            assert!(on(None).bytes() == on(Some(&SIMULATED)).bytes(), "{path} under {}", protocol.name());
            runs += 1;
        }
    }
    assert!(runs > 250, "{runs}");
}
