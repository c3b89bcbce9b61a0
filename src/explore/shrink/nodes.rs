//! A worker or an operator less: what its going does to the numbers of the others, and to the faults that speak of it.

use holdover_sim::fault::{Anchor, Fault, Links, NodeSet, PlannedFault};
use holdover_sim::id::NodeId;
use holdover_sim::point::REPAIR_POINTS;
use holdover_sim::world::{RepairSpec, WorldSpec, worker_node};

use super::super::Parts;
use crate::scenario::Scenario;

/// `scenario` without the worker at `index`, the faults that happen to it alone or wait for it, and those that wait for
/// these.
pub(super) fn without_worker(scenario: &Scenario, index: usize) -> Scenario {
    let mut world = scenario.world.clone();
    world.workers.remove(index);
    without(scenario, worker_node(index), world)
}

/// The same without the operator at `index`. Where none is left nobody goes about repairs in any way, and faults that wait
/// for one go as well.
pub(super) fn without_operator(scenario: &Scenario, index: usize) -> Scenario {
    let mut world = scenario.world.clone();
    world.operators.remove(index);
    if world.operators.is_empty() {
        world.repair = RepairSpec::default();
    }
    without(scenario, scenario.world.operator_node(index), world)
}

/// `scenario` in `world`, which is its own without the node that is `gone`.
fn without(scenario: &Scenario, gone: NodeId, world: WorldSpec) -> Scenario {
    let renumber = |node: NodeId| match node {
        node if node == gone => None,
        node if node > gone => Some(NodeId(node.0 - 1)),
        node => Some(node),
    };
    let still_comes = |planned: &&PlannedFault| !world.operators.is_empty() || !waits_for_repair(planned);
    let left = |planned: &PlannedFault| {
        Some(planned).filter(still_comes).and_then(|planned| renumbered(planned, &renumber))
    };
    let plan: Vec<Option<PlannedFault>> = scenario.plan.iter().map(left).collect();
    let taken: Vec<usize> = (0..plan.len()).filter(|fault| plan[*fault].is_none()).collect();
    let left = Parts::of(&scenario.plan).without(&taken);
    let plan = left.into_iter().filter_map(|fault| plan[fault].clone()).collect();
    Scenario { world, plan, ..scenario.clone() }
}

/// Whether it strikes at a point that only operators pass.
fn waits_for_repair(planned: &PlannedFault) -> bool {
    let Anchor::Point { point, .. } = &planned.when else { return false };
    REPAIR_POINTS.iter().any(|(known, _)| known.0 == point)
}

/// The fault with other numbers for its nodes; `None` if it is about one that has none any more.
fn renumbered(planned: &PlannedFault, renumber: &dyn Fn(NodeId) -> Option<NodeId>) -> Option<PlannedFault> {
    let mut planned = planned.clone();
    if let Anchor::Point { node: Some(node), .. } | Anchor::Event { node: Some(node), .. } = &mut planned.when {
        *node = renumber(*node)?;
    }
    let some = |nodes: &[NodeId]| -> Vec<NodeId> { nodes.iter().filter_map(|node| renumber(*node)).collect() };
    // A list that would become empty would mean something else.
    let still_some = |nodes: &[NodeId]| Some(some(nodes)).filter(|left| !left.is_empty());
    let set = |nodes: &NodeSet| -> NodeSet { nodes.iter().filter_map(renumber).collect() };
    let links = |links: &Links| {
        let (between, and) = (set(&links.between), set(&links.and));
        let is_void = between.is_empty() || and.is_empty() != links.and.is_empty();
        (!is_void).then_some(Links { between, and, one_way: links.one_way })
    };
    match &mut planned.inject {
        Fault::Pause(pause) => {
            pause.node = renumber(pause.node)?;
            pause.beside = some(&pause.beside);
        }
        Fault::LeapSecond(leap) => {
            (leap.stepped, leap.smeared) = (some(&leap.stepped), some(&leap.smeared));
            if leap.stepped.is_empty() && leap.smeared.is_empty() {
                return None;
            }
        }
        Fault::TimeSource(source) => source.nodes = still_some(&source.nodes)?,
        Fault::SplitBrain(split) => {
            split.node = renumber(split.node)?;
            split.old = still_some(&split.old)?;
        }
        Fault::Partition(fault) => fault.links = links(&fault.links)?,
        Fault::Latency(fault) => fault.links = links(&fault.links)?,
        Fault::Loss(fault) => fault.links = links(&fault.links)?,
        Fault::Duplicate(fault) => fault.links = links(&fault.links)?,
        Fault::Reorder(fault) => fault.links = links(&fault.links)?,
        Fault::Hold(fault) => fault.links = links(&fault.links)?,
        Fault::ClockStep(fault) => fault.node = renumber(fault.node)?,
        Fault::ClockSlew(fault) => fault.node = renumber(fault.node)?,
        Fault::ClockDrift(fault) => fault.node = renumber(fault.node)?,
        Fault::ClockStrobe(fault) => fault.node = renumber(fault.node)?,
        Fault::ZoneError(fault) => fault.node = renumber(fault.node)?,
        Fault::Restart(fault) => fault.node = renumber(fault.node)?,
        Fault::Failover(fault) => fault.node = renumber(fault.node)?,
        Fault::Crash(fault) => fault.node = renumber(fault.node)?,
        Fault::Shutdown(fault) => fault.node = renumber(fault.node)?,
        Fault::DelayMessage(fault) => fault.node = renumber(fault.node)?,
        Fault::LoseMessage(fault) => fault.node = renumber(fault.node)?,
        Fault::Snapshot(fault) => fault.node = renumber(fault.node)?,
        Fault::Restore(fault) => fault.node = renumber(fault.node)?,
        Fault::DiskStall(fault) => fault.node = renumber(fault.node)?,
        Fault::Throttle(fault) => fault.node = renumber(fault.node)?,
    }
    Some(planned)
}
