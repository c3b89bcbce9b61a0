//! A node's wall clock is off by a time zone for a while.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::clock::Clock;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node's wall clock is taken for local time and set wrong by a zone's offset; after a while somebody sets it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneError {
    /// Which.
    pub node: NodeId,
    /// By how much; not zero, and a whole number of quarters of an hour, as zones are.
    pub by: Span,
    /// For how long; above zero.
    pub lasting: Span,
}

impl Kind for ZoneError {
    const INFO: FaultInfo = FaultInfo {
        name: "zone-error",
        summary: "a node's wall clock is off by a time zone for a while, and then set back",
        fields: &[
            field("node", "the node's name"),
            field("by", "by how much, in quarters of an hour: such as \"2h\" or \"-5h30m\""),
            field("for", "how long, such as \"30s\""),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let ZoneError { node, by: _, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.step(self.node, self.by);
    }

    fn end(&self, world: &World, _: FaultId) {
        world.step(self.node, -self.by);
    }

    /// It hurts a lease that ends by the wall clock, and whoever asks for one: a clock that is hours ahead finds every
    /// lease run out.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.steps_lease(history, self.node, self.by)
            || strike.reaches_lease(history, self.node, false, |clock| clock == Clock::Wall)
            || strike.is_granted_lease(self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!(
            "wrong time zone on {}, its wall clock off by {} for {}",
            name(self.node),
            zone(self.by),
            self.lasting
        )
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{}'s wall clock is set back to the right zone", name(self.node)))
    }
}

/// A zone's offset as `+2h` or `-5h30m`.
fn zone(by: Span) -> String {
    let minutes = by.as_nanos() / 60_000_000_000;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, rest) = (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60);
    if rest == 0 { format!("{sign}{hours}h") } else { format!("{sign}{hours}h{rest}m") }
}
