//! A process gets only a part of a processor.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::{History, Role};
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A node's process is throttled, as by the CPU quota of its control group: it may run for a while of every period, and
/// stalls for the rest of it, while its clocks run, and kernel and network live.
///
/// Something in the process always has use for its processor, so each period's quota is used up. When the fault strikes
/// it just was: a throttle that is anchored to a point stalls right there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Which node.
    pub node: NodeId,
    /// For how long it runs of every period; above zero, and below `period`.
    pub quota: Span,
    /// How long a period is, by true time.
    pub period: Span,
    /// For how long it goes on; above zero.
    pub lasting: Span,
}

impl Throttle {
    /// For how long it stalls in every period.
    fn stall(&self) -> Span {
        self.period - self.quota
    }

    /// Whether it stands still so long after it struck.
    fn stalls(&self, after: Span) -> bool {
        after.as_nanos() % self.period.as_nanos() < self.stall().as_nanos()
    }
}

/// Whether it stands still after so many beats.
fn is_stalled(beats: u32) -> bool {
    beats.is_multiple_of(2)
}

impl Kind for Throttle {
    const INFO: FaultInfo = FaultInfo {
        name: "throttle",
        summary: "a node's process gets a part of a processor: it runs for a quota of every period, and stalls for the rest",
        fields: &[
            field("node", "the node's name"),
            field("quota", "for how long it runs of every period, such as \"20ms\"; below `period`, at least 1ms"),
            field("period", "how long a period is, from 1ms to 1s, such as \"50ms\"; default \"100ms\""),
            field("for", "how long it goes on, such as \"10s\"; it begins with a stall"),
        ],
    };

    const STOPS: Stops = Stops::AtTimes;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Throttle { node, quota: _, period: _, lasting: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.throttle(self.node, fault, true);
    }

    fn beat_after(&self, beats: u32) -> Option<Span> {
        Some(if is_stalled(beats) { self.stall() } else { self.quota })
    }

    fn beat(&self, world: &World, fault: FaultId) {
        world.throttle(self.node, fault, !is_stalled(world.beats(fault)));
    }

    fn end(&self, world: &World, fault: FaultId) {
        if is_stalled(world.beats(fault)) {
            world.throttle(self.node, fault, false);
        }
    }

    /// It hurts a worker that has the lease, and a service that is asked while it stalls.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        if history.is(self.node, Role::Worker) {
            return strike.overlaps_lease(|holder| holder == self.node);
        }
        let mut arrivals = strike.in_flight(history, self.node);
        arrivals.any(|arrival| arrival < strike.until && self.stalls(arrival - strike.from))
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let Throttle { node, quota, period, lasting } = self;
        format!("throttling of {} to {quota} of every {period} for {lasting}", name(*node))
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{} is no longer throttled", name(self.node)))
    }
}
