//! When a fault strikes.

use serde::Serialize;

use crate::id::NodeId;
use crate::time::TrueTime;

/// When a fault strikes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// At an instant of true time.
    At(TrueTime),
    /// When a worker passes a named point: it strikes before the worker's next step.
    Point {
        /// The point's name.
        point: String,
        /// The worker; `None` for whichever passes first.
        node: Option<NodeId>,
        /// Passings before this instant of true time don't count.
        after: TrueTime,
        /// Which passing of those that count, from 1.
        nth: u32,
    },
}
