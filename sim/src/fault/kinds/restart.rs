//! A service goes down and comes back.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::{History, Role};
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A service goes down and comes back. All that was under way is gone; what else is gone is part of the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restart {
    /// Which.
    pub node: NodeId,
    /// How long it is down; above zero.
    pub lasting: Span,
    /// What it no longer knows afterwards.
    pub loses: Loses,
}

/// What a service no longer knows when it is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loses {
    /// It wrote down all that it had in memory before it went.
    Nothing,
    /// What it kept only in memory.
    Memory,
    /// That, and the last writes to its disk, which had not got beyond a cache: those of this long before; above zero.
    Unsynced(Span),
}

impl Kind for Restart {
    const INFO: FaultInfo = FaultInfo {
        name: "restart",
        summary: "a service (lease store, ledger or provider) goes down and comes back; what it forgets is part of the fault",
        fields: &[
            field("node", "the service's name"),
            field("for", "how long it is down, such as \"2s\""),
            field(
                "loses",
                "\"nothing\" (it shut down in order), \"memory\" (it crashed: what isn't on disk is gone; the default) or \
                 \"unsynced\" (its machine did: the last writes to disk are gone too)",
            ),
            field("unsynced", "needed with loses = \"unsynced\": how far back the lost writes go, such as \"2s\""),
        ],
    };

    const STOPS: Stops = Stops::Service;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Restart { node, lasting: _, loses: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        if self.loses == Loses::Nothing {
            world.finish_write(self.node);
        }
        world.take_down(self.node);
        match self.loses {
            Loses::Nothing => {}
            Loses::Memory => world.lose_memory(self.node),
            Loses::Unsynced(lag) => {
                world.lose_writes(self.node, lag);
                world.lose_memory(self.node);
            }
        }
    }

    fn end(&self, world: &World, _: FaultId) {
        world.come_back(self.node);
    }

    fn needs(&self) -> Needs {
        let past = match self.loses {
            Loses::Unsynced(lag) => Some(lag),
            Loses::Nothing | Loses::Memory => None,
        };
        Needs { past, ..Needs::default() }
    }

    fn bit(&self, history: &History, strike: &Strike) -> bool {
        hurts_service(history, strike, self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let loses = match self.loses {
            Loses::Nothing => ", which forgets nothing",
            Loses::Memory => "",
            Loses::Unsynced(lag) => &format!(", which loses its last {lag} of writes"),
        };
        format!("restart of {}{loses}, down for {}", name(self.node), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{} is up again", name(self.node)))
    }
}

/// Whether it hurt anybody that the service on `node` went down: whatever was on its way to the service or from it, the
/// lease if the service keeps it, and what it had written and lost.
pub(super) fn hurts_service(history: &History, strike: &Strike, node: NodeId) -> bool {
    strike.loses_a_message(node)
        || strike.in_flight(history, node).next().is_some()
        || strike.answers_in_flight(history, node)
        || strike.loses_writes(history, node)
        || (history.is(node, Role::LeaseStore) && strike.overlaps_lease(|_| true))
}
