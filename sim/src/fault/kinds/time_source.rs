//! The time source that several nodes poll is wrong for a while.

use serde::{Deserialize, Serialize};

use super::pause::listed;
use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// The time source that nodes' daemons poll is wrong for a while, and takes the clocks of all of them along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSource {
    /// The nodes that poll it: at least one, each once, each with a daemon.
    pub nodes: Vec<NodeId>,
    /// How far it is ahead; not zero.
    pub error: Span,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for TimeSource {
    const INFO: FaultInfo = FaultInfo {
        name: "time-source",
        summary: "the time source that nodes' daemons poll is wrong for a while, and takes their clocks along",
        fields: &[
            field("error", "how far it is ahead, such as \"1s\", or behind, such as \"-1s\""),
            field("nodes", "the nodes that see it wrong; default: all whose clocks have a `discipline`"),
            field("for", "how long, such as \"5m\""),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.nodes.first().copied().unwrap_or(NodeId(0))
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.nodes.clone()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let TimeSource { nodes, error: _, lasting: _ } = self;
        nodes.retain_mut(keep);
        !nodes.is_empty()
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        self.nodes.iter().for_each(|node| world.shift_source(*node, self.error));
    }

    fn end(&self, world: &World, _: FaultId) {
        self.nodes.iter().for_each(|node| world.shift_source(*node, -self.error));
    }

    /// It hurts whoever's clock is set by it meanwhile.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        self.nodes.iter().any(|node| strike.has_clocks_corrected(*node))
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let who = listed(self.nodes.iter().copied(), name);
        format!("error of {:+} in the time source of {who} for {}", self.error, self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("the time source of {} is right again", listed(self.nodes.iter().copied(), name)))
    }
}
