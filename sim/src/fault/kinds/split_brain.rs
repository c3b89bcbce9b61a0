//! A service's replica takes its place, and its old primary goes on answering some.

use serde::{Deserialize, Serialize};

use super::pause::listed;
use super::{FaultInfo, Keep, Kind, Needs, Stops, field};
use crate::check::Strike;
use crate::engine::World;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// A replica is promoted to be the service while its primary lives: who could be told of the change gets the new one, and
/// some still get the old one, which doesn't know that it was deposed. The two know nothing of each other from then on. In
/// the end the old one is gone, and with it all that it was asked for meanwhile.
///
/// Both halves are the service's node to all other faults: they go by its clocks, stand still in its pauses, and are behind
/// its links. A restart or a failover has the new one go down and come back; the old one learns by it that it was deposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitBrain {
    /// Which service.
    pub node: NodeId,
    /// The workers and operators that the old primary goes on answering; at least one, each once.
    pub old: Vec<NodeId>,
    /// How far the new primary is behind when it is promoted; not negative.
    pub lag: Span,
    /// For how long there are two; above zero.
    pub lasting: Span,
}

impl Kind for SplitBrain {
    const INFO: FaultInfo = FaultInfo {
        name: "split-brain",
        summary: "a service's replica takes its place while its old primary goes on answering some workers, until that one is \
                  gone with all that it wrote",
        fields: &[
            field("node", "the service's name"),
            field("old", "the workers that the old primary goes on answering, such as [\"worker-a\"]"),
            field("lag", "how far the replica is behind when it is promoted, such as \"2s\"; default 0s"),
            field("for", "for how long both answer, such as \"20s\"; then all get the new one"),
        ],
    };

    const STOPS: Stops = Stops::Primary;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let SplitBrain { node, old, lag: _, lasting: _ } = self;
        old.retain_mut(&mut *keep);
        keep(node) && !old.is_empty()
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, fault: FaultId) {
        world.split(self.node, fault, &self.old, self.lag);
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.bury(self.node, Some(fault));
    }

    fn needs(&self) -> Needs {
        Needs { past: (self.lag > Span::ZERO).then_some(self.lag), ..Needs::default() }
    }

    /// It hurts whoever the old primary answers, and what the new one doesn't know.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        strike.has_deposed_serve() || strike.loses_writes(history, self.node)
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let SplitBrain { node, old, lag, lasting } = self;
        let old = listed(old.iter().copied(), name);
        let behind = if *lag == Span::ZERO { String::new() } else { format!(" that is {lag} behind") };
        format!(
            "split brain of {} for {lasting}: its old primary answers {old}, a replica{behind} all others",
            name(*node)
        )
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        Some(format!("{}'s old primary is gone, and what it wrote since with it", name(self.node)))
    }
}
