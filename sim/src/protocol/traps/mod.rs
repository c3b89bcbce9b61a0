//! Protocols that look right and aren't: each is an argument that `scenarios/traps` runs.
//!
//! They are run where a scenario or a command names them, and nowhere else.

mod check_once;
mod read_then_fence;

pub use check_once::CheckOnce;
pub use read_then_fence::ReadThenFence;

use super::AnyProtocol;

/// Every trap, in the order of reports.
pub const TRAPS: &[&dyn AnyProtocol] = &[&CheckOnce, &ReadThenFence];
