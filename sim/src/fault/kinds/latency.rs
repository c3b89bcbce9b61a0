//! Messages over some links take another time for a while.

use serde::{Deserialize, Serialize};

use super::{AND, BETWEEN, FOR, FaultInfo, Keep, Kind, ONE_WAY, Stops, field};
use crate::check::Strike;
use crate::engine::{Effect, World};
use crate::fault::Links;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;
use crate::world;

/// Messages over some links take another time than they do usually.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Which links.
    pub links: Links,
    /// What each of them draws its latency from.
    pub range: world::Latency,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for Latency {
    const INFO: FaultInfo = FaultInfo {
        name: "latency",
        summary: "messages between nodes take another time than usual",
        fields: &[
            BETWEEN,
            AND,
            field("range", "what each draws its latency from, such as \"200ms..400ms\""),
            ONE_WAY,
            FOR,
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.links.node()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Latency { links, range: _, lasting: _ } = self;
        links.keep_nodes(keep)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.add_rule(fault, &self.links, Effect::Take(self.range));
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let world::Latency { min, max } = self.range;
        let range = if min == max { min.to_string() } else { format!("{min} to {max}") };
        format!("latency of {range} {} for {}", self.links.phrase(name), self.lasting)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("messages {} take their usual time again", self.links.phrase(name)))
    }
}
