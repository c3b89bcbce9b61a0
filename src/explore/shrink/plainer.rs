//! Plainer faults: without what could be left unsaid of them, and on fewer nodes.

use holdover_sim::fault::{Fault, Links, Loses, NodeSet, Original, PauseClocks, PlannedFault};
use holdover_sim::id::NodeId;
use holdover_sim::world::{SERVICE_NAMES, WorldSpec, worker_node};

use super::search::Search;
use crate::scenario::Scenario;

/// Makes each fault plainer, as long as that goes.
pub(super) fn plain(search: &mut Search<'_>) -> Option<()> {
    for fault in 0..search.best().plan.len() {
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for plainer in plainer(&search.best().plan[fault], search.best()) {
                let mut proposal = search.best().clone();
                proposal.plan[fault].inject = plainer;
                if search.attempt(proposal)? {
                    goes_on = true;
                    break;
                }
            }
        }
    }
    Some(())
}

/// What is said of a fault that could be left unsaid, and the nodes that it is on beyond one.
pub(super) fn settings(planned: &PlannedFault, scenario: &Scenario) -> usize {
    match &planned.inject {
        Fault::Pause(pause) => {
            let clocks = match pause.clocks {
                PauseClocks::Running => 0,
                PauseClocks::Migrated { .. } | PauseClocks::Corrected { .. } => 2,
                PauseClocks::Suspended | PauseClocks::Frozen | PauseClocks::Counted => 1,
            };
            clocks + pause.beside.len() + usize::from(pause.task.is_some())
        }
        Fault::LeapSecond(leap) => (leap.stepped.len() + leap.smeared.len()).saturating_sub(1),
        Fault::TimeSource(source) => source.nodes.len().saturating_sub(1),
        Fault::SplitBrain(split) => split.old.len().saturating_sub(1),
        Fault::Restart(restart) => usize::from(restart.loses != Loses::Memory),
        Fault::Restore(restore) => usize::from(restore.original != Original::Gone),
        Fault::ClockStep(_)
        | Fault::ClockSlew(_)
        | Fault::ClockDrift(_)
        | Fault::ClockStrobe(_)
        | Fault::ZoneError(_)
        | Fault::Failover(_)
        | Fault::Crash(_)
        | Fault::Shutdown(_)
        | Fault::DelayMessage(_)
        | Fault::LoseMessage(_)
        | Fault::Snapshot(_)
        | Fault::Throttle(_)
        | Fault::DiskStall(_) => 0,
        Fault::Partition(_)
        | Fault::Latency(_)
        | Fault::Loss(_)
        | Fault::Duplicate(_)
        | Fault::Reorder(_)
        | Fault::Hold(_) => planned.inject.clone().links_mut().map_or(0, |links| {
            // Everybody else is more than anybody who can be named.
            let others = if links.and.is_empty() { nodes(scenario).count() } else { links.and.iter().count() };
            links.between.iter().count() + others + usize::from(links.one_way)
        }),
    }
}

/// The fault in all ways in which it is a little plainer.
fn plainer(planned: &PlannedFault, scenario: &Scenario) -> Vec<Fault> {
    let mut all: Vec<Fault> = Vec::new();
    match &planned.inject {
        Fault::Pause(pause) => {
            for clocks in [PauseClocks::Running, PauseClocks::Frozen] {
                let mut plainer = pause.clone();
                plainer.clocks = clocks;
                all.push(plainer.into());
            }
            for beside in fewer(&pause.beside) {
                let mut plainer = pause.clone();
                plainer.beside = beside;
                all.push(plainer.into());
            }
            let mut plainer = pause.clone();
            plainer.task = None;
            all.push(plainer.into());
        }
        Fault::LeapSecond(leap) => {
            for stepped in fewer(&leap.stepped) {
                let mut plainer = leap.clone();
                plainer.stepped = stepped;
                all.push(plainer.into());
            }
            for smeared in fewer(&leap.smeared) {
                let mut plainer = leap.clone();
                plainer.smeared = smeared;
                all.push(plainer.into());
            }
        }
        Fault::TimeSource(source) => {
            for nodes in fewer(&source.nodes) {
                let mut plainer = source.clone();
                plainer.nodes = nodes;
                all.push(plainer.into());
            }
        }
        Fault::SplitBrain(split) => {
            for old in fewer(&split.old) {
                let mut plainer = split.clone();
                plainer.old = old;
                all.push(plainer.into());
            }
        }
        Fault::Restart(restart) => {
            let mut plainer = *restart;
            plainer.loses = Loses::Memory;
            all.push(plainer.into());
        }
        Fault::Restore(restore) => {
            let mut plainer = *restore;
            plainer.original = Original::Gone;
            all.push(plainer.into());
        }
        Fault::Partition(_)
        | Fault::Latency(_)
        | Fault::Loss(_)
        | Fault::Duplicate(_)
        | Fault::Reorder(_)
        | Fault::Hold(_) => {
            let mut inject = planned.inject.clone();
            for narrower in inject.links_mut().into_iter().flat_map(|links| narrower(links, scenario)) {
                let mut plainer = planned.inject.clone();
                plainer.links_mut().into_iter().for_each(|links| *links = narrower.clone());
                all.push(plainer);
            }
        }
        Fault::ClockStep(_)
        | Fault::ClockSlew(_)
        | Fault::ClockDrift(_)
        | Fault::ClockStrobe(_)
        | Fault::ZoneError(_)
        | Fault::Failover(_)
        | Fault::Crash(_)
        | Fault::Shutdown(_)
        | Fault::DelayMessage(_)
        | Fault::LoseMessage(_)
        | Fault::Snapshot(_)
        | Fault::Throttle(_)
        | Fault::DiskStall(_) => {}
    }
    all
}

/// The list without each one of its nodes, if that leaves any or may leave none.
fn fewer(nodes: &[NodeId]) -> impl Iterator<Item = Vec<NodeId>> {
    (0..nodes.len()).rev().map(|out| {
        let mut fewer = nodes.to_vec();
        fewer.remove(out);
        fewer
    })
}

fn narrower(links: &Links, scenario: &Scenario) -> Vec<Links> {
    let mut all = vec![Links { one_way: false, ..links.clone() }];
    // A set with nobody in it means everybody else, or nothing at all.
    let smaller = |set: &NodeSet| -> Vec<NodeSet> {
        let nodes: Vec<NodeId> = set.iter().collect();
        fewer(&nodes).filter(|left| !left.is_empty()).map(|left| left.into_iter().collect()).collect()
    };
    all.extend(smaller(&links.between).into_iter().map(|between| Links { between, ..links.clone() }));
    let others = match links.and.is_empty() {
        true => {
            let alone = nodes(scenario).filter(|node| !links.between.contains(*node));
            alone.map(|node| [node].into_iter().collect()).collect()
        }
        false => smaller(&links.and),
    };
    all.extend(others.into_iter().map(|and| Links { and, ..links.clone() }));
    all
}

fn nodes(scenario: &Scenario) -> impl Iterator<Item = NodeId> {
    let services = (0..SERVICE_NAMES.len()).map(|service| NodeId(service as u16));
    let WorldSpec { workers, operators, .. } = &scenario.world;
    let replicas = scenario.world.replicas().into_iter().skip(1);
    services.chain((0..workers.len() + operators.len()).map(worker_node)).chain(replicas)
}
