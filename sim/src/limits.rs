//! Bounds on a run, and how a run ends. A bound that is hit is an outcome, never a hang.

use serde::{Deserialize, Serialize};

use crate::id::NodeId;
use crate::panics::Panic;
use crate::time::{Span, TrueTime};

/// The bounds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// When the run ends at the latest.
    pub end: TrueTime,
    /// How many steps the engine takes at the most: events handled and tasks polled, and waits begun.
    pub steps: u64,
}

impl Limits {
    /// The bound on steps where nothing else is said: hours of a few workers' polling, or a batch of tens of thousands
    /// of operations. A step writes about one event, so this also bounds a history to some 100 MB.
    pub const DEFAULT_STEPS: u64 = 1_000_000;
    /// How long a run may take where nothing else is said.
    pub const DEFAULT_RUN: Span = Span::secs(600);
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ending {
    /// Every worker finished, and every fault of the plan had its time.
    Finished,
    /// The scenario's end came first.
    TimeUp,
    /// Nothing could happen any more, and a worker was still waiting.
    Stuck,
    /// The bound on steps was hit.
    StepsUsedUp,
    /// A worker's code panicked, or another part of the protocol.
    Panicked {
        /// On which node.
        node: NodeId,
        /// The panic's message.
        message: String,
    },
    /// The simulator itself panicked: a bug of ours. What it was at may be half done, so the run says nothing any more.
    Bug(Panic),
}
