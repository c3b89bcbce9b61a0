//! When a fault strikes.

use serde::{Deserialize, Serialize};

use super::Keep;
use crate::id::NodeId;
use crate::time::{Span, TrueTime};

/// When a fault strikes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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
        /// How long after that it strikes; not negative.
        #[serde(default, skip_serializing_if = "is_zero")]
        delay: Span,
    },
    /// When something happens: it strikes when the step in which that happens is over, before anything else does.
    Event {
        /// The name of the event's kind, one of [`EVENTS`](crate::history::EVENTS).
        event: String,
        /// The node that it [concerns](crate::history::Event::concerns): where it happens, or the worker whose lease or
        /// request it is about; `None` for any.
        node: Option<NodeId>,
        /// What happens before this instant of true time doesn't count.
        after: TrueTime,
        /// Which event of those that count, from 1.
        nth: u32,
        /// How long after that it strikes; not negative.
        delay: Span,
    },
    /// When another fault strikes, or ends. If that one never does, neither does this one.
    Fault {
        /// The other fault's name in the plan.
        name: String,
        /// Its end, and not its beginning.
        end: bool,
        /// How long after that it strikes; not negative.
        delay: Span,
    },
}

impl Anchor {
    /// Shows `keep` the node that it waits for, if it waits for one. `keep` may give it another number, or answer `false`.
    /// The answer is the same, since nothing could be waited for then.
    pub fn keep_node(&mut self, keep: &mut Keep<'_>) -> bool {
        let node = match self {
            Anchor::At(_) => &mut None,
            Anchor::Point { point: _, node, after: _, nth: _, delay: _ }
            | Anchor::Event { event: _, node, after: _, nth: _, delay: _ } => node,
            Anchor::Fault { name: _, end: _, delay: _ } => &mut None,
        };
        node.as_mut().is_none_or(keep)
    }

    /// How long after what it waits for the fault strikes.
    pub fn delay(&self) -> Span {
        match *self {
            Anchor::At(_) => Span::ZERO,
            Anchor::Point { delay, .. } | Anchor::Event { delay, .. } | Anchor::Fault { delay, .. } => delay,
        }
    }
}

/// Without a delay a point is written as it was before there were any, which keeps fingerprints as they are.
fn is_zero(delay: &Span) -> bool {
    *delay == Span::ZERO
}
