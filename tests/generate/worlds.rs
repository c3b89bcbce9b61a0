//! Worlds to draw plans for.

use std::sync::LazyLock;

use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::time::Span;
use holdover::sim::world::{Discipline, TimeDaemon, WorkerSpec};

/// The incident.
pub(crate) fn incident() -> Scenario {
    let file = include_str!("../../scenarios/incidents/clock-jump.toml");
    Scenario::parse("clock-jump.toml", file).expect("the incident's file is a scenario")
}

/// The incident with a time daemon on each worker, so that all kinds of fault are possible.
pub(crate) fn with_daemons() -> Scenario {
    let mut scenario = incident();
    for worker in &mut scenario.world.workers {
        worker.clock.discipline = Some(Discipline { daemon: TimeDaemon::Chrony, poll: Span::secs(8) });
    }
    scenario
}

/// The incident with an operator who repairs it.
pub(crate) fn repaired() -> Scenario {
    let file = include_str!("../../scenarios/incidents/clock-jump.toml");
    let operator = "[[operator]]\nname = \"operator\"\nstarts = \"02:00:28.300\"\n\n[[fault]]";
    Scenario::parse("repaired", &file.replacen("[[fault]]", operator, 1)).expect("a scenario")
}

/// The same with two operators at once, and time daemons on all who have a process.
pub(crate) fn repaired_twice() -> Scenario {
    let mut scenario = repaired();
    let second = WorkerSpec { name: "second".to_owned(), ..scenario.world.operators[0].clone() };
    scenario.world.operators.push(second);
    for node in scenario.world.workers.iter_mut().chain(&mut scenario.world.operators) {
        node.clock.discipline = Some(Discipline { daemon: TimeDaemon::Chrony, poll: Span::secs(8) });
    }
    scenario
}

/// One worker that is alone.
fn alone() -> Scenario {
    let mut scenario = incident();
    scenario.world.workers.truncate(1);
    scenario
}

/// A lease of a quarter of a second, in a run of an hour.
fn hasty() -> Scenario {
    let text = SMALLEST.replace("40s", "250ms").replace("10s", "70ms").replace("14", "1000");
    let text = text.replace("\n\n[lease]", "\nend = \"+1h\"\n\n[lease]");
    Scenario::parse("hasty", &text).expect("a scenario")
}

/// A run that ends before anything can happen.
fn over() -> Scenario {
    let text = SMALLEST.replace("\n\n[lease]", "\nend = \"+1ns\"\n\n[lease]");
    Scenario::parse("over", &text).expect("a scenario")
}

fn smallest() -> Scenario {
    Scenario::parse("smallest.toml", SMALLEST).expect("a scenario")
}

/// Worlds that differ in what matters for plans.
pub(crate) static ALL: LazyLock<[Scenario; 8]> = LazyLock::new(|| {
    [incident(), with_daemons(), smallest(), alone(), hasty(), over(), repaired(), repaired_twice()]
});
