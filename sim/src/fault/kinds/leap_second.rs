//! A leap second, which some nodes repeat and others smear.

use serde::{Deserialize, Serialize};

use super::pause::listed;
use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::{Span, TrueTime};

/// Half of the day over which a leap second is smeared: from noon to midnight, and on to noon.
pub const HALF_SMEAR: Span = Span::secs(43_200);

/// How much slower a clock runs that smears a second over a day, in parts per billion: 10⁹ / 86,400, rounded.
pub const SMEAR_PPB: i32 = 11_574;

/// A second is inserted into UTC at an instant of true time. Meant for an [`Anchor::At`](crate::fault::Anchor::At), no
/// further than [`HALF_SMEAR`] from the start; true time itself doesn't have the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeapSecond {
    /// The nodes whose wall clocks repeat a second at the strike.
    pub stepped: Vec<NodeId>,
    /// The nodes whose clocks run slow around it, so that they are half a second behind at the strike.
    pub smeared: Vec<NodeId>,
}

/// How far a clock that smears a leap second at `strike` is off from one that never leaps, at `at`.
pub(crate) fn smear(strike: TrueTime, at: TrueTime) -> Span {
    let since = (at - (strike - HALF_SMEAR)).max(Span::ZERO).min(HALF_SMEAR.times(2));
    -Span::nanos(since.as_nanos() / 86_400)
}

impl Kind for LeapSecond {
    const INFO: FaultInfo = FaultInfo {
        name: "leap-second",
        summary: "a second is inserted: some nodes' wall clocks repeat one, others' are smeared over the day",
        fields: &[
            field("stepped", "the nodes whose wall clocks go back by a second when it strikes; default: none"),
            field(
                "smeared",
                "the nodes whose clocks run 11.574 ppm slow, so that they are half a second behind when it strikes; \
                 default: none",
            ),
        ],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.stepped.iter().chain(&self.smeared).copied().next().unwrap_or(NodeId(0))
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.stepped.iter().chain(&self.smeared).copied().collect()
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let LeapSecond { stepped, smeared } = self;
        stepped.retain_mut(&mut *keep);
        smeared.retain_mut(keep);
        !stepped.is_empty() || !smeared.is_empty()
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    /// A smear goes on for a day, so a run is in the middle of it from its start on.
    fn prepare(&self, world: &World, strike: TrueTime) {
        for node in &self.smeared {
            world.step(*node, smear(strike, TrueTime::START));
            world.slew(*node, -SMEAR_PPB);
            world.smear_source(*node, strike);
        }
    }

    fn begin(&self, world: &World, _: FaultId) {
        for node in &self.stepped {
            world.step(*node, Span::secs(-1));
            world.shift_source(*node, Span::secs(-1));
        }
    }

    fn end(&self, _: &World, _: FaultId) {}

    /// It hurts a lease that ends by the wall clock.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        self.nodes().iter().any(|node| strike.steps_lease(history, *node, Span::secs(-1)))
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let told = |how: &str, nodes: &[NodeId]| format!("{how} on {}", listed(nodes.iter().copied(), name));
        match (&self.stepped[..], &self.smeared[..]) {
            (stepped, []) => format!("leap second, {}", told("a step", stepped)),
            ([], smeared) => format!("leap second, {}", told("smeared", smeared)),
            (stepped, smeared) => {
                format!("leap second, {}, {}", told("a step", stepped), told("smeared", smeared))
            }
        }
    }

    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}
