//! A worker's or an operator's process is killed.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A process is killed, a worker's or an operator's: its memory is gone, its lease isn't given back, and what it had sent goes on without it.
/// The machine runs on, and so do its clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// Which.
    pub node: NodeId,
    /// How long until a new process begins; above zero. `None`: none ever does.
    pub lasting: Option<Span>,
}

impl Kind for Crash {
    const INFO: FaultInfo = FaultInfo {
        name: "crash",
        summary: "a worker's or an operator's process is killed: it gives nothing back, and begins anew with nothing in memory",
        fields: &[
            field("node", "the worker's or the operator's name"),
            field("for", "how long until it begins anew, such as \"5s\"; default: it never does"),
        ],
    };

    const STOPS: Stops = Stops::Process;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Crash { node, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        self.lasting
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.kill(self.node, fault, self.lasting.is_none());
    }

    fn end(&self, world: &World, fault: FaultId) {
        if self.lasting.is_some() {
            world.revive(self.node, fault);
        }
    }

    fn needs(&self) -> Needs {
        Needs { new_beginning: self.lasting.is_some(), ..Needs::default() }
    }

    /// It hurts a worker that has the lease.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.overlaps_lease(|holder| holder == self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        match self.lasting {
            Some(lasting) => format!("crash of {}, gone for {lasting}", name(self.node)),
            None => format!("crash of {}, gone for good", name(self.node)),
        }
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        self.lasting.map(|_| format!("{} may run again", name(self.node)))
    }
}
