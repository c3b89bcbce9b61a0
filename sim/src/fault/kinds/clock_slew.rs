//! A node's clocks run fast or slow for a while.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::clock::{Clock, Rate};
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node's clocks run fast or slow for a while: wall, monotonic and boottime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSlew {
    /// Which.
    pub node: NodeId,
    /// By how much; not zero.
    pub rate: Rate,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for ClockSlew {
    const INFO: FaultInfo = FaultInfo {
        name: "clock-slew",
        summary: "a node's wall, monotonic and boottime clocks run fast or slow for a while",
        fields: &[
            field("node", "the node's name"),
            field("ppm", "by how much, in parts per million: -100000 to 100000"),
            field("for", "how long, such as \"30s\""),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let ClockSlew { node, rate: _, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.slew(self.node, self.rate.as_ppb());
    }

    fn end(&self, world: &World, _: FaultId) {
        world.slew(self.node, -self.rate.as_ppb());
    }

    /// It hurts a lease that ends by a clock that is bent, if the end was still to come when the slew began or when the
    /// worker learned of it during the slew; and any lease if the store judges it by such a clock.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.reaches_lease(history, self.node, false, |clock| clock != Clock::Raw)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("slew of {}'s clocks by {} for {}", name(self.node), self.rate, self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{}'s clocks run at their own rate again", name(self.node)))
    }
}
