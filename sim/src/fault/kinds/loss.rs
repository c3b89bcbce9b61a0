//! The network loses some messages for a while.

use serde::{Deserialize, Serialize};

use super::{AND, BETWEEN, FOR, FaultInfo, Keep, Kind, ONE_WAY, Stops, field};
use crate::check::Strike;
use crate::engine::{Effect, World};
use crate::fault::Links;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// The network loses some of the messages over some links, and nobody is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Which links.
    pub links: Links,
    /// How many of a hundred, from 1 to 100.
    pub percent: u8,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for Loss {
    const INFO: FaultInfo = FaultInfo {
        name: "loss",
        summary: "some messages between nodes are lost, and nobody is told",
        fields: &[BETWEEN, AND, field("percent", "how many of a hundred, from 1 to 100"), ONE_WAY, FOR],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.links.node()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Loss { links, percent: _, lasting: _ } = self;
        links.keep_nodes(keep)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.add_rule(fault, &self.links, Effect::LoseSome(self.percent));
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("loss of {} % of the messages {} for {}", self.percent, self.links.phrase(name), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("no more messages {} are lost", self.links.phrase(name)))
    }
}
