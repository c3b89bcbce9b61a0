//! A node stops running for a while.

use serde::Serialize;

use super::{FaultInfo, Kind, field};
use crate::check::Strike;
use crate::clock::Motion;
use crate::engine::World;
use crate::history::{History, Role};
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node stops running for a while; what its clocks do meanwhile is part of the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// Which.
    pub node: NodeId,
    /// For how long; above zero.
    pub lasting: Span,
    /// What its clocks do meanwhile.
    pub clocks: Motion,
}

impl Kind for Pause {
    const INFO: FaultInfo = FaultInfo {
        name: "pause",
        summary: "a node stops running for a while; what its clocks do meanwhile is part of the fault",
        fields: &[
            field("node", "the node's name"),
            field("for", "how long, such as \"38s\""),
            field(
                "clocks",
                "\"running\" (a stall: all go on; the default), \"suspended\" (the guest suspended itself: monotonic and \
                 raw stand still) or \"frozen\" (the hypervisor stopped the guest: all stand still)",
            ),
        ],
    };

    fn node(&self) -> NodeId {
        self.node
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.pause(self.node, self.clocks, true);
    }

    fn end(&self, world: &World, _: FaultId) {
        world.pause(self.node, self.clocks, false);
    }

    /// It hurts a worker that has the lease, and a service that somebody waits for.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        if history.is(self.node, Role::Worker) {
            strike.overlaps_lease(history, |holder| holder == self.node)
        } else {
            strike.in_flight(history, self.node).any(|arrival| arrival < strike.until)
        }
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let clocks = match self.clocks {
            Motion::Running => "running",
            Motion::Suspended => "suspended",
            Motion::Frozen => "frozen",
        };
        format!("pause of {} for {}, its clocks {clocks}", name(self.node), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{} goes on", name(self.node)))
    }
}
