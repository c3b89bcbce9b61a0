//! The network brings some requests twice for a while.

use serde::{Deserialize, Serialize};

use super::{AND, BETWEEN, FOR, FaultInfo, Keep, Kind, ONE_WAY, Stops, field};
use crate::check::Strike;
use crate::engine::{Effect, World};
use crate::fault::Links;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// The network brings some of the requests over some links twice: the service handles both, and whoever asked hears the first answer and ignores the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duplicate {
    /// Which links.
    pub links: Links,
    /// How many of a hundred, from 1 to 100.
    pub percent: u8,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for Duplicate {
    const INFO: FaultInfo = FaultInfo {
        name: "duplicate",
        summary: "some requests between nodes arrive and are handled twice",
        fields: &[BETWEEN, AND, field("percent", "how many of a hundred, from 1 to 100"), ONE_WAY, FOR],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.links.node()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Duplicate { links, percent: _, lasting: _ } = self;
        links.keep_nodes(keep)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.add_rule(fault, &self.links, Effect::RepeatSome(self.percent));
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!(
            "duplication of {} % of the requests {} for {}",
            self.percent,
            self.links.phrase(name),
            self.lasting
        )
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("requests {} arrive only once again", self.links.phrase(name)))
    }
}
