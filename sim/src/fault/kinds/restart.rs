//! A service crashes and comes back.

use serde::Serialize;

use super::{FaultInfo, Kind, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::{Event, History, Role, What};
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A service crashes and comes back: what it kept only in memory is gone, and so is all that was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Restart {
    /// Which.
    pub node: NodeId,
    /// How long it is down; above zero.
    pub lasting: Span,
}

impl Kind for Restart {
    const INFO: FaultInfo = FaultInfo {
        name: "restart",
        summary: "a service (lease store, ledger or provider) crashes and comes back with what it keeps on disk",
        fields: &[field("node", "the service's name"), field("for", "how long it is down, such as \"2s\"")],
    };

    fn node(&self) -> NodeId {
        self.node
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.crash(self.node);
    }

    fn end(&self, world: &World, _: FaultId) {
        world.come_back(self.node);
    }

    /// It hurts whatever is on its way to the service or from it, and the lease if the service keeps it.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        let lost = |event: &Event| event.node == self.node && matches!(event.what, What::MessageLost { .. });
        strike.during(history).iter().any(lost)
            || strike.in_flight(history, self.node).next().is_some()
            || strike.answers_in_flight(history, self.node)
            || (history.is(self.node, Role::LeaseStore) && strike.overlaps_lease(history, |_| true))
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("restart of {}, down for {}", name(self.node), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{} is up again", name(self.node)))
    }
}
