//! A worker is told to stop, and gives its lease back before it has.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A worker is told to stop. It gives its lease back and stops renewing at once, as if that were all that there is to
/// stop; its work goes on for a while, then the process ends, and none takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shutdown {
    /// Which.
    pub node: NodeId,
    /// How long its work still goes on; above zero.
    pub lasting: Span,
}

impl Kind for Shutdown {
    const INFO: FaultInfo = FaultInfo {
        name: "shutdown",
        summary: "a worker is told to stop: it gives its lease back at once, and its work goes on for a while",
        fields: &[
            field("node", "the worker's name"),
            field("takes", "how long its work still goes on, such as \"2s\"; then it is gone"),
        ],
    };

    const STOPS: Stops = Stops::Process;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Shutdown { node, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.tell_to_stop(self.node, fault, self.lasting);
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.end_shutdown(self.node, fault);
    }

    fn needs(&self) -> Needs {
        Needs { farewell: true, ..Needs::default() }
    }

    /// It hurts a worker that has the lease.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.overlaps_lease(|holder| holder == self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("shutdown of {}, which takes {}", name(self.node), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{} has no more time to stop", name(self.node)))
    }
}
