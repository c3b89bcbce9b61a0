//! Faults: what can be injected, when it strikes, and the one injector that changes the world.

mod anchor;
mod inject;
mod kinds;

pub use anchor::Anchor;
pub(crate) use inject::Injector;
pub(crate) use kinds::smear;
pub use kinds::{
    ClockDrift, ClockSlew, ClockStep, ClockStrobe, Crash, FAULTS, Failover, Fault, FaultInfo, FieldInfo,
    HALF_SMEAR, LeapSecond, Loses, Pause, PauseClocks, Restart, SMEAR_PPB, Shutdown, TimeSource, WorkerTask,
    ZoneError,
};

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
}
