//! A snapshot of a worker's machine is taken.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A snapshot of a worker's machine is taken: what its process has in memory, and what its clocks read. It hurts nobody
/// until a [`Restore`](super::Restore) goes back to it; the newest is the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Of which.
    pub node: NodeId,
}

impl Kind for Snapshot {
    const INFO: FaultInfo = FaultInfo {
        name: "snapshot",
        summary: "a snapshot of a worker's machine is taken, for a `restore` to go back to",
        fields: &[field("node", "the worker's name")],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Snapshot { node } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.take_snapshot(self.node);
    }

    fn end(&self, _: &World, _: FaultId) {}

    fn needs(&self) -> Needs {
        Needs { memory: true, ..Needs::default() }
    }

    /// It hurts when somebody goes back to it who had the lease then or has it now, as [`Restore`](super::Restore) does.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.has_a_holder_put_back(history)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("snapshot of {}", name(self.node))
    }

    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}
