//! Whichever node goes: what is left runs, and nothing becomes of the others.

use holdover::explore::generate::{Generator, Profile, with_drawn_clocks};
use holdover::explore::shrink::without;
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::fault::{Anchor, Fault, PlannedFault};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::sim::point::REPAIR_POINTS;
use holdover::sim::protocol::find;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::world::{WorldSpec, node_names, renumbered, worker_node};

use crate::files;

/// Every scenario file that is right.
fn scenarios() -> Vec<Scenario> {
    let right = files::below("scenarios", ".toml").into_iter().filter(|path| !path.contains("/invalid/"));
    let read = |path: String| Scenario::parse(&path, &files::read(&path)).expect("it is a scenario");
    right.map(read).collect()
}

/// What a fault does to whom, and when, told with names.
fn told(planned: &PlannedFault, world: &WorldSpec) -> (String, Vec<String>) {
    let names = node_names(world);
    let name = |node: NodeId| names[node.index()].to_string();
    (planned.inject.phrase(&name), planned.names().into_iter().map(name).collect())
}

/// The places of the faults that don't speak of `gone`, in a plan that goes on in the world `left`.
fn staying(scenario: &Scenario, gone: NodeId, left: &WorldSpec) -> Vec<usize> {
    let plan = &scenario.plan;
    let stays_by_itself = |planned: &PlannedFault| {
        let of_repair = |point: &str| REPAIR_POINTS.iter().any(|(known, _)| known.0 == point);
        let comes = match &planned.when {
            Anchor::Point { point, .. } => !left.operators.is_empty() || !of_repair(point),
            Anchor::At(_) | Anchor::Event { .. } | Anchor::Fault { .. } => true,
        };
        let everybody_else = |links: &holdover::sim::fault::Links| {
            !links.and.is_empty() || links.between.iter().count() < node_names(left).len()
        };
        let finds_others = planned.inject.clone().links_mut().is_none_or(|links| everybody_else(links));
        !planned.names().contains(&gone) && comes && finds_others
    };
    let mut stays: Vec<bool> = plan.iter().map(stays_by_itself).collect();
    loop {
        let has_leader = |index: usize| match &plan[index].when {
            Anchor::Fault { name, .. } => {
                let leader = plan.iter().position(|other| other.name.as_ref() == Some(name));
                leader.is_none_or(|leader| stays[leader])
            }
            Anchor::At(_) | Anchor::Point { .. } | Anchor::Event { .. } => true,
        };
        let snapshots = |of: NodeId| {
            let takes = move |fault: &Fault| matches!(fault, Fault::Snapshot(snapshot) if snapshot.node == of);
            (0..plan.len()).filter(move |index| takes(&plan[*index].inject))
        };
        let goes_back = |index: usize| match &plan[index].inject {
            Fault::Restore(restore) => {
                snapshots(restore.node).next().is_none() || snapshots(restore.node).any(|index| stays[index])
            }
            _ => true,
        };
        let next: Vec<bool> =
            (0..plan.len()).map(|index| stays[index] && has_leader(index) && goes_back(index)).collect();
        if next == stays {
            return (0..plan.len()).filter(|index| stays[*index]).collect();
        }
        stays = next;
    }
}

/// Takes `gone` away, and looks at what is left.
#[track_caller]
fn check(scenario: &Scenario, gone: NodeId) {
    let Some(left) = without(scenario, gone) else { panic!("{gone} can be taken away") };
    let (was, is) = (&scenario.world, &left.world);
    let mut names = node_names(was);
    names.remove(gone.index());
    assert_eq!(node_names(is), names);
    assert_eq!(is.service_clocks.len(), was.service_clocks.len());
    let others = (0..node_names(was).len()).map(|node| NodeId(node as u16)).filter(|node| *node != gone);
    for (node, number) in others.zip(0..) {
        assert_eq!(renumbered(node, gone), Some(NodeId(number)));
        assert_eq!(is.clock(NodeId(number)), was.clock(node), "the clocks of {}", names[usize::from(number)]);
    }
    // Whatever doesn't speak of it is there as it was, unless it can't do without something that does.
    let must_stay = staying(scenario, gone, is);
    let mut kept = left.plan.iter().map(|planned| told(planned, is));
    for fault in must_stay {
        let expected = told(&scenario.plan[fault], was);
        assert!(kept.any(|kept| kept == expected), "{expected:?} is gone, or out of order: {:#?}", left.plan);
    }
    for planned in &left.plan {
        let named = planned.names();
        assert!(named.iter().all(|node| node.index() < names.len()), "{planned:?}");
        assert!(planned.inject.nodes().iter().all(|node| named.contains(node)), "{planned:?}");
        assert_eq!(planned.inject.nodes().first(), Some(&planned.inject.node()));
    }
    if scenario.to_toml().is_ok() {
        let text = left.to_toml().unwrap_or_else(|refused| panic!("without {gone}: {refused}"));
        assert_eq!(Scenario::parse("left", &text).expect("it was written"), left);
    }
    for protocol in &scenario.protocols {
        let protocol = find(protocol).expect("it is known");
        let history = run(is, protocol, &left.plan, left.seed);
        assert!(!matches!(history.ending, Ending::Panicked { .. }), "{:?}", history.ending);
    }
}

fn each_node(scenario: &Scenario) -> usize {
    let scenario = Scenario { expect: Default::default(), ..scenario.clone() };
    let processes = (0..scenario.world.workers.len() + scenario.world.operators.len()).map(worker_node);
    let all = processes.filter(|node| scenario.world.without(*node).is_some());
    all.map(|node| check(&scenario, node)).count()
}

#[test]
fn without_any_node_of_any_scenario_the_others_are_as_they_were() {
    let (mut taken, mut replicated) = (0, 0);
    for scenario in scenarios() {
        let nodes = each_node(&scenario);
        taken += nodes;
        replicated += if scenario.world.replicas().is_empty() { 0 } else { nodes };
    }
    assert!(taken > 200 && replicated > 20, "{taken} nodes, {replicated} of them beside replicas");
}

#[test]
fn without_any_node_of_drawn_worlds_the_others_are_as_they_were() {
    let (mut taken, mut replicated) = (0, 0);
    for (scenario, seed) in scenarios().iter().zip((0..).map(|n| n * 1_000)) {
        for (profile, seed) in Profile::ALL.into_iter().zip(seed..) {
            let world = with_drawn_clocks(&scenario.world, &[], profile, Seed(seed));
            let plan = Generator::new(&world, profile).plan(Seed(seed));
            let nodes = each_node(&Scenario { world, plan, seed: Seed(seed), ..scenario.clone() });
            taken += nodes;
            replicated += if scenario.world.replicas().is_empty() { 0 } else { nodes };
        }
    }
    assert!(taken > 400 && replicated > 40, "{taken} nodes, {replicated} of them beside replicas");
}

/// What is left of a fault that is on several nodes is on the others.
#[test]
fn a_fault_on_several_nodes_goes_on_with_those_that_are_left() {
    let text = |inject: &str| {
        let clock = "clock = { discipline = \"chrony\" }";
        let nodes = format!("[[worker]]\nname = \"worker-c\"\n{clock}\n\n[service.ledger]\n{clock}");
        let fault = format!("[[fault]]\nwhen = {{ at = \"02:00:00\" }}\ninject = {{ {inject} }}");
        format!("{}\n{nodes}\n\n{fault}\n", SMALLEST)
    };
    // Worker-c is taken away.
    for (inject, left) in [
        (
            "pause = { nodes = [\"worker-c\", \"ledger\"], for = \"9s\" }",
            "pause of ledger for 9s, its clocks running",
        ),
        (
            "pause = { nodes = [\"ledger\", \"worker-c\"], for = \"9s\" }",
            "pause of ledger for 9s, its clocks running",
        ),
        ("pause = { node = \"worker-c\", for = \"9s\" }", ""),
        ("leap-second = { stepped = [\"worker-c\"], smeared = [\"ledger\"] }", "leap second, smeared on ledger"),
        ("leap-second = { stepped = [\"worker-c\"] }", ""),
        (
            "time-source = { nodes = [\"ledger\", \"worker-c\"], error = \"1s\", for = \"9s\" }",
            "error of +1s in the time source of ledger for 9s",
        ),
        (
            "partition = { between = [\"worker-c\", \"ledger\"], and = [\"worker-a\"], for = \"9s\" }",
            "partition between ledger and worker-a for 9s",
        ),
        ("partition = { between = [\"worker-c\"], for = \"9s\" }", ""),
        ("partition = { between = [\"worker-a\"], and = [\"worker-c\"], for = \"9s\" }", ""),
        (
            "partition = { between = [\"lease-store\", \"ledger\", \"provider\", \"worker-a\", \"worker-b\"], for = \"9s\" }",
            "",
        ),
    ] {
        let scenario = Scenario::parse("several", &text(inject)).unwrap_or_else(|error| panic!("{error:?}"));
        check(&scenario, worker_node(2));
        let smaller = without(&scenario, worker_node(2)).expect("there are two more");
        let told: Vec<String> = smaller.plan.iter().map(|planned| told(planned, &smaller.world).0).collect();
        assert_eq!(told.concat(), left, "{inject}");
    }
}
