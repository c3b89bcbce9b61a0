//! Faults: what can be injected, when it strikes, and the one injector that changes the world.

mod anchor;
mod inject;
mod kinds;
mod links;

pub use anchor::Anchor;
pub(crate) use inject::Injector;
pub use kinds::{
    ClockDrift, ClockSlew, ClockStep, ClockStrobe, Crash, DelayMessage, DiskStall, Duplicate, FAULTS, Failover,
    Fault, FaultInfo, FieldInfo, HALF_SMEAR, Hold, Keep, Latency, LeapSecond, LoseMessage, Loses, Loss, Original,
    Part, Partition, Pause, PauseClocks, Reorder, Restart, Restore, SMEAR_PPB, Shutdown, Snapshot, SplitBrain,
    Stops, Throttle, TimeSource, WorkerTask, ZoneError,
};
pub(crate) use kinds::{Needs, smear};
pub use links::{Links, NodeSet};

use serde::{Deserialize, Serialize};

use crate::id::NodeId;

/// One fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFault {
    /// When it strikes.
    pub when: Anchor,
    /// What it does.
    pub inject: Fault,
    /// What a person calls it.
    pub note: Option<String>,
    /// What other faults of the plan call it that are [anchored](Anchor::Fault) to it; unlike any other's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl PlannedFault {
    /// Shows `keep` every node that it names, in its anchor and in what it does. `keep` may give a node another number, or
    /// answer `false`, and then it goes on without that node. Answers `false` if nothing is left of it then, or nothing
    /// that it could wait for.
    pub fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let PlannedFault { when, inject, note: _, name: _ } = self;
        when.keep_node(keep) && inject.keep_nodes(keep)
    }

    /// Every node that it names, as often as it does.
    pub fn names(&self) -> Vec<NodeId> {
        let mut named = Vec::new();
        self.clone().keep_nodes(&mut |node| {
            named.push(*node);
            true
        });
        named
    }
}
