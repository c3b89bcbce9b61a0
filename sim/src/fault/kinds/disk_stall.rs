//! A service's disk takes no writes for a while.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// The disk behind a service takes no writes, as one does whose controller resets or whose volume is moved. The service is
/// one process, so it stands still in its first write until the disk answers: what comes meanwhile waits, and whatever
/// follows from that write, answers and letters to other replicas among them, leaves afterwards. Its clocks and its network
/// live. Until it writes nothing is felt of the fault.
///
/// Who goes down in such a write, or has a replica take its place, has not written it, and nobody was told that it did; only
/// who shuts down in order sees to that first. It is the disk behind the service's name that stalls: whoever goes by that
/// name later, or went by it earlier and goes on, writes to the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskStall {
    /// Which service.
    pub node: NodeId,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for DiskStall {
    const INFO: FaultInfo = FaultInfo {
        name: "disk-stall",
        summary: "a service's disk takes no writes: the service stands still in the first until the disk answers",
        fields: &[
            field("node", "the service's name, or a replica's"),
            field("for", "how long the disk takes no writes, such as \"5s\""),
        ],
    };

    const STOPS: Stops = Stops::AtTimes;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let DiskStall { node, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.stall_disk(self.node, fault);
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.free_disk(self.node, fault);
    }

    /// It hurts who writes while it lasts.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.has_write_hang(self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("disk stall of {} for {}", name(self.node), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{}'s disk takes writes again", name(self.node)))
    }
}
