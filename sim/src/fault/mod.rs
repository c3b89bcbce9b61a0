//! Faults: what can be injected, when it strikes, and the one injector that changes the world.

mod anchor;
mod inject;
mod kinds;
mod links;

pub use anchor::Anchor;
pub(crate) use inject::Injector;
pub use kinds::{
    ClockDrift, ClockSlew, ClockStep, ClockStrobe, Crash, DelayMessage, DiskStall, Duplicate, FAULTS, Failover,
    Fault, FaultInfo, FieldInfo, HALF_SMEAR, Hold, Latency, LeapSecond, LoseMessage, Loses, Loss, Original, Part,
    Partition, Pause, PauseClocks, Reorder, Restart, Restore, SMEAR_PPB, Shutdown, Snapshot, SplitBrain, Throttle,
    TimeSource, WorkerTask, ZoneError,
};
pub(crate) use kinds::{Needs, smear};
pub use links::{Links, NodeSet};

use serde::Serialize;

/// One fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
