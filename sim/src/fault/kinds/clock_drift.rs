//! A node's oscillator runs at another rate, for a while or from then on.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::clock::Rate;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node's oscillator runs at another rate: all its clocks bend, the raw one included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockDrift {
    /// Which.
    pub node: NodeId,
    /// By how much its rate changes; not zero. It adds to the rate error that the node has anyway.
    pub rate: Rate,
    /// For how long, above zero; `None` from then on.
    pub lasting: Option<Span>,
}

impl Kind for ClockDrift {
    const INFO: FaultInfo = FaultInfo {
        name: "clock-drift",
        summary: "a node's oscillator runs at another rate: all its clocks bend, the raw one included",
        fields: &[
            field("node", "the node's name"),
            field("ppm", "by how much the rate changes, in parts per million: -100000 to 100000"),
            field("for", "how long, such as \"30s\"; default: from then on"),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let ClockDrift { node, rate: _, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        self.lasting
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.drift(self.node, self.rate.as_ppb());
    }

    fn end(&self, world: &World, _: FaultId) {
        if self.lasting.is_some() {
            world.drift(self.node, -self.rate.as_ppb());
        }
    }

    /// It hurts any lease: whichever clock it ends by is bent.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.reaches_lease(history, self.node, self.lasting.is_none(), |_| true)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let lasting = self.lasting.map_or("from then on".to_owned(), |lasting| format!("for {lasting}"));
        format!("change of {}'s oscillator by {} {lasting}", name(self.node), self.rate)
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        self.lasting.map(|_| format!("{}'s oscillator runs at its own rate again", name(self.node)))
    }
}
