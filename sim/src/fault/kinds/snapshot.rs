//! A snapshot of a worker's machine is taken.

use serde::Serialize;

use super::{FaultInfo, Kind, Needs, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::{History, What};
use crate::id::{EventId, FaultId, NodeId};
use crate::time::Span;

/// A snapshot of a worker's machine is taken: what its process has in memory, and what its clocks read. It hurts nobody
/// until a [`Restore`](super::Restore) goes back to it; the newest is the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Of which.
    pub node: NodeId,
}

impl Kind for Snapshot {
    const INFO: FaultInfo = FaultInfo {
        name: "snapshot",
        summary: "a snapshot of a worker's machine is taken, for a `restore` to go back to",
        fields: &[field("node", "the worker's name")],
    };

    fn node(&self) -> NodeId {
        self.node
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.take_snapshot(self.node);
    }

    fn end(&self, _: &World, _: FaultId) {}

    fn needs(&self) -> Needs {
        Needs { memory: true, ..Needs::default() }
    }

    /// It hurts when somebody goes back to it who had the lease then or has it now, as [`Restore`](super::Restore) does.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        let taken = strike.beginning();
        history.numbered().any(|(id, event)| match event.what {
            What::WorkerRestored { snapshot, .. } => snapshot == taken && hurts(history, id),
            _ => false,
        })
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("snapshot of {}", name(self.node))
    }

    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}

/// Whether the restoring that `id` records hurts: the worker has the lease, or remembers having it.
pub(super) fn hurts(history: &History, id: EventId) -> bool {
    let What::WorkerRestored { of, snapshot } = history.event(id).what else { return false };
    let since = |event: EventId| history.events[..event.index()].iter().rev();
    let is_holder = |event: EventId| {
        since(event).find_map(|event| match event.what {
            What::LeaseGranted { worker, .. } => Some(worker == of),
            What::LeaseReleased { .. } => Some(false),
            _ => None,
        })
    };
    let remembers = since(snapshot).find_map(|event| match event.what {
        What::LeaseHeld { .. } if event.node == of => Some(true),
        What::LeaseDropped { .. } | What::WorkerDied | What::WorkerFinished if event.node == of => Some(false),
        _ => None,
    });
    is_holder(id) == Some(true) || remembers == Some(true)
}
