//! A worker's machine is put back to the newest snapshot of it, or a copy of it is started from that.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A worker's machine goes on from the newest [`Snapshot`](super::Snapshot) of it: with the memory and with the clocks of
/// then, its lease and its token among them, and with nothing to tell it how late it is. All connections are broken. If
/// there is no snapshot yet, nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// Which.
    pub node: NodeId,
    /// What becomes of the machine as it is now.
    pub original: Original,
}

/// What becomes of a machine when one like it goes on from a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Original {
    /// It is gone: it is the same machine that goes on.
    Gone,
    /// It lives: the one that goes on is a copy beside it, with clocks and a network card of its own. A worker can have one
    /// copy; another takes the first one's place. Faults on the original don't reach the copy.
    Alive,
}

impl Original {
    /// All of them.
    pub const ALL: [Original; 2] = [Original::Gone, Original::Alive];

    /// The name that scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Original::Gone => "gone",
            Original::Alive => "alive",
        }
    }
}

impl Kind for Restore {
    const INFO: FaultInfo = FaultInfo {
        name: "restore",
        summary: "a worker's machine goes on from its newest snapshot, with the memory and the clocks of then",
        fields: &[
            field("node", "the worker's name"),
            field(
                "original",
                "what becomes of the machine as it is now: \"gone\" (it is the one that is put back; the default) or \
                 \"alive\" (a copy goes on beside it)",
            ),
        ],
    };

    const STOPS: Stops = Stops::Process;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Restore { node, original: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.restore(self.node, self.original == Original::Alive);
    }

    fn end(&self, _: &World, _: FaultId) {}

    fn needs(&self) -> Needs {
        Needs { new_beginning: true, copy: self.original == Original::Alive, ..Needs::default() }
    }

    /// It hurts a worker that has the lease, or remembers having it.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        (strike.kills(self.node) && strike.overlaps_lease(|holder| holder == self.node))
            || strike.puts_a_holder_back(history)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        match self.original {
            Original::Gone => format!("restoring of {} from its snapshot", name(self.node)),
            Original::Alive => format!("start of a copy of {} from its snapshot", name(self.node)),
        }
    }

    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}
