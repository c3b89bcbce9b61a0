//! A node's wall clock jumps to and fro.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::clock::Clock;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node's wall clock jumps away and back, again and again, and ends where it would have been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockStrobe {
    /// Which.
    pub node: NodeId,
    /// How far it jumps; not zero.
    pub by: Span,
    /// How long it stays on either side; above zero, and below `lasting`.
    pub every: Span,
    /// For how long it goes on.
    pub lasting: Span,
}

impl Kind for ClockStrobe {
    const INFO: FaultInfo = FaultInfo {
        name: "clock-strobe",
        summary: "a node's wall clock jumps away and back again and again, and ends where it would have been",
        fields: &[
            field("node", "the node's name"),
            field("by", "how far, such as \"200ms\" or \"-200ms\""),
            field("every", "how long it stays on either side, such as \"10ms\"; below `for`"),
            field("for", "how long it goes on, such as \"10s\""),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let ClockStrobe { node, by: _, every: _, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        world.step(self.node, self.by);
    }

    fn beat_after(&self, _: u32) -> Option<Span> {
        Some(self.every)
    }

    fn beat(&self, world: &World, fault: FaultId) {
        let is_away = world.beats(fault).is_multiple_of(2);
        world.step(self.node, if is_away { -self.by } else { self.by });
    }

    fn end(&self, world: &World, fault: FaultId) {
        if world.beats(fault).is_multiple_of(2) {
            world.step(self.node, -self.by);
        }
    }

    /// It hurts a lease that ends by the wall clock.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.steps_lease(history, self.node, self.by)
            || strike.reaches_lease(history, self.node, false, |clock| clock == Clock::Wall)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let ClockStrobe { node, by, every, lasting } = self;
        format!("strobe of {}'s wall clock by {by:+} every {every} for {lasting}", name(*node))
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{}'s wall clock stays where it belongs", name(self.node)))
    }
}
