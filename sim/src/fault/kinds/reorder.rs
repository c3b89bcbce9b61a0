//! The network lets some messages be overtaken for a while.

use serde::{Deserialize, Serialize};

use super::{AND, BETWEEN, FOR, FaultInfo, Keep, Kind, ONE_WAY, Stops, field};
use crate::check::Strike;
use crate::engine::{Effect, World};
use crate::fault::Links;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// The network holds some of the messages over some links back, so that others overtake them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Which links.
    pub links: Links,
    /// How many of a hundred, from 1 to 100.
    pub percent: u8,
    /// By how much at the most; above zero.
    pub by: Span,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for Reorder {
    const INFO: FaultInfo = FaultInfo {
        name: "reorder",
        summary: "some messages between nodes are held back, and others overtake them",
        fields: &[
            BETWEEN,
            AND,
            field("percent", "how many of a hundred, from 1 to 100"),
            field("by", "by how much at the most, such as \"50ms\""),
            ONE_WAY,
            FOR,
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.links.node()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Reorder { links, percent: _, by: _, lasting: _ } = self;
        links.keep_nodes(keep)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.add_rule(fault, &self.links, Effect::HoldSomeBack(self.percent, self.by));
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let Reorder { links, percent, by, lasting } = self;
        format!("holding back of {percent} % of the messages {} by up to {by} for {lasting}", links.phrase(name))
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("no more messages {} are held back", self.links.phrase(name)))
    }
}
