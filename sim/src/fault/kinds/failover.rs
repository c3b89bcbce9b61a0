//! A service's replica takes its place, without its last writes.

use serde::{Deserialize, Serialize};

use super::restart::hurts_service;
use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A service fails, and a replica takes its place that had not got its last writes yet: replication is asynchronous, and
/// what the service had said done is not. The replica has the service's name, address and clocks; the one that failed
/// doesn't come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failover {
    /// Which.
    pub node: NodeId,
    /// How far the replica is behind; above zero.
    pub lag: Span,
    /// How long it takes until the replica answers; above zero.
    pub lasting: Span,
}

impl Kind for Failover {
    const INFO: FaultInfo = FaultInfo {
        name: "failover",
        summary: "a service fails, and a replica without its last writes takes its place",
        fields: &[
            field("node", "the service's name"),
            field("lag", "how far the replica is behind, such as \"3s\""),
            field("for", "how long it takes until the replica answers, such as \"1s\""),
        ],
    };

    const STOPS: Stops = Stops::Service;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Failover { node, lag: _, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.take_down(self.node);
        world.lose_writes(self.node, self.lag);
        // The replica never had what the other one kept in memory.
        world.lose_memory(self.node);
    }

    fn end(&self, world: &World, _: FaultId) {
        world.come_back(self.node);
    }

    fn needs(&self) -> Needs {
        Needs { past: Some(self.lag), ..Needs::default() }
    }

    fn bit(&self, history: &History, strike: &Strike) -> bool {
        hurts_service(history, strike, self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("failover of {} to a replica that is {} behind, takes {}", name(self.node), self.lag, self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{}'s replica has taken its place", name(self.node)))
    }
}
