//! The network holds all messages for a while, and then brings them at once.

use serde::{Deserialize, Serialize};

use super::{AND, BETWEEN, FOR, FaultInfo, Keep, Kind, ONE_WAY, Stops};
use crate::check::Strike;
use crate::engine::{Effect, World};
use crate::fault::Links;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// The network holds the messages over some links, and brings them at its end, in the order in which they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Which links.
    pub links: Links,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for Hold {
    const INFO: FaultInfo = FaultInfo {
        name: "hold",
        summary: "messages between nodes are held, and arrive together when it ends",
        fields: &[BETWEEN, AND, ONE_WAY, FOR],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.links.node()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Hold { links, lasting: _ } = self;
        links.keep_nodes(keep)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        let end = world.now() + self.lasting;
        world.add_rule(fault, &self.links, Effect::HoldUntil { end, last: end });
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("holding of all messages {} for {}", self.links.phrase(name), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("what was held {} arrives", self.links.phrase(name)))
    }
}
