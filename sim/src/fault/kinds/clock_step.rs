//! A node's wall clock jumps.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node's wall clock jumps; the other clocks don't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockStep {
    /// Which.
    pub node: NodeId,
    /// By how much; not zero.
    pub by: Span,
}

impl Kind for ClockStep {
    const INFO: FaultInfo = FaultInfo {
        name: "clock-step",
        summary: "a node's wall clock jumps; the other clocks don't",
        fields: &[
            field("node", "the node's name"),
            field("by", "how far, such as \"-420ms\" for back or \"2s\" for forward"),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let ClockStep { node, by: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.step(self.node, self.by);
    }

    fn end(&self, _: &World, _: FaultId) {}

    /// It hurts a lease that ends by the wall clock, unless its end was past both before and after the step; and
    /// any lease if the store judges it by that clock.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.steps_lease(history, self.node, self.by)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("step of {}'s wall clock by {:+}", name(self.node), self.by)
    }

    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}
