//! When nodes stand still, as a history tells it: in pauses, in the stalls of a process that is throttled, and in
//! writes that hang.

use super::{Event, History, What};
use crate::fault::{Fault, WorkerTask};
use crate::id::{FaultId, NodeId};

/// By an event a node begins to stand still, or ends one of the times for which it does; they may overlap.
#[derive(Clone, Copy)]
pub(crate) struct Standstill {
    /// Which node.
    pub(crate) node: NodeId,
    /// The one task that stands still; `None` for all of the node.
    pub(crate) task: Option<WorkerTask>,
    /// Whether it begins, and doesn't end.
    pub(crate) begins: bool,
}

/// Tells `found` of each node that begins to stand still by `event`, or no longer does so for one reason.
pub(crate) fn standstills(history: &History, event: &Event, mut found: impl FnMut(Standstill)) {
    let (fault, begins): (FaultId, bool) = match event.what {
        What::FaultBegan { fault } => (fault, true),
        What::FaultEnded { fault } => (fault, false),
        What::Throttled { .. }
        | What::Unthrottled { .. }
        | What::WriteHung { .. }
        | What::WriteReturned { .. } => {
            let begins = matches!(event.what, What::Throttled { .. } | What::WriteHung { .. });
            return found(Standstill { node: event.node, task: None, begins });
        }
        _ => return,
    };
    if let Some(Fault::Pause(pause)) = history.plan.get(fault.index()).map(|planned| &planned.inject) {
        pause.each_node().for_each(|node| found(Standstill { node, task: pause.task, begins }));
    }
}
