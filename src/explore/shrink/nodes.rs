//! A worker or an operator less: what its going does to the faults that speak of it.

use holdover_sim::fault::{Anchor, Fault, PlannedFault};
use holdover_sim::id::NodeId;
use holdover_sim::point::REPAIR_POINTS;
use holdover_sim::world::{WorldSpec, node_names, renumbered};

use super::super::subset::left_without;
use crate::scenario::Scenario;

/// `scenario` without the worker or the operator on `gone`, the faults that happen to it alone or wait for it, and those
/// that can't do without these. `None` if it is the only worker, or no worker and no operator.
pub fn without(scenario: &Scenario, gone: NodeId) -> Option<Scenario> {
    let world = scenario.world.without(gone)?;
    let left = |planned: &PlannedFault| {
        let mut planned = planned.clone();
        let is_left = planned.keep_nodes(&mut |node| {
            let number = renumbered(*node, gone);
            *node = number.unwrap_or(*node);
            number.is_some()
        });
        let still_comes = !world.operators.is_empty() || !waits_for_repair(&planned);
        Some(planned).filter(|planned| is_left && still_comes && has_links(&planned.inject, &world))
    };
    let plan: Vec<Option<PlannedFault>> = scenario.plan.iter().map(left).collect();
    let taken: Vec<usize> = (0..plan.len()).filter(|fault| plan[*fault].is_none()).collect();
    let left = left_without(&scenario.plan, taken);
    let plan = left.into_iter().filter_map(|fault| plan[fault].clone()).collect();
    Some(Scenario { world, plan, ..scenario.clone() })
}

/// Whether it strikes at a point that only operators pass.
fn waits_for_repair(planned: &PlannedFault) -> bool {
    let Anchor::Point { point, .. } = &planned.when else { return false };
    REPAIR_POINTS.iter().any(|(known, _)| known.0 == point)
}

/// Whether a fault that is on links to everybody else still finds somebody else.
fn has_links(fault: &Fault, world: &WorldSpec) -> bool {
    let mut fault = fault.clone();
    let Some(links) = fault.links_mut() else { return true };
    !links.and.is_empty() || links.between.iter().count() < node_names(world).len()
}
