//! A node, a host of several nodes, or one task of a worker stops running for a while.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::clock::Rate;
use crate::engine::{Halt, World};
use crate::history::{History, Role};
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// Something stops running for a while; what the clocks do meanwhile, and whether the network card lives on, is part of
/// the fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Which node, or the first of them.
    pub node: NodeId,
    /// The other nodes of the same host, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<NodeId>,
    /// For how long; above zero.
    pub lasting: Span,
    /// What the clocks do meanwhile, and afterwards.
    pub clocks: PauseClocks,
    /// The one task that stands still; `None` for all that runs there. Only of a worker, and with running clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<WorkerTask>,
}

/// What a node's clocks do across a pause. With all but the first the network card stands still as well: what comes in
/// waits outside, and what had not left yet leaves at the resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PauseClocks {
    /// A process stalls: all clocks run, and kernel and network live.
    Running,
    /// The guest suspends itself: monotonic and raw stand still, wall and boottime go on.
    Suspended,
    /// The hypervisor stops the guest and its counter: all clocks stand still, and nobody tells the guest.
    Frozen,
    /// The guest moves to another host: its clocks run on but for the last stretch, and go on at another rate.
    Migrated {
        /// For how long all of them stand still at the end; from zero to the length of the pause.
        lost: Span,
        /// How much faster the new host's oscillator is.
        drift_change: Rate,
    },
    /// The hypervisor stops the guest, but the counter runs: all clocks have gone on.
    Counted,
    /// As frozen, but an agent of the host steps the wall clock by what it lost; the other clocks stay behind.
    Corrected {
        /// How long after the resume; not negative.
        after: Span,
    },
}

impl PauseClocks {
    /// The name that scenarios use. A freeze that is corrected is a freeze.
    pub const fn name(self) -> &'static str {
        match self {
            PauseClocks::Running => "running",
            PauseClocks::Suspended => "suspended",
            PauseClocks::Frozen | PauseClocks::Corrected { .. } => "frozen",
            PauseClocks::Migrated { .. } => "migrated",
            PauseClocks::Counted => "counted",
        }
    }

    /// What stops while the pause begins.
    fn halt(self) -> Halt {
        match self {
            PauseClocks::Running => Halt::Stalled,
            PauseClocks::Suspended => Halt::Suspended,
            PauseClocks::Frozen | PauseClocks::Corrected { .. } => Halt::Frozen,
            PauseClocks::Migrated { .. } | PauseClocks::Counted => Halt::CutOff,
        }
    }
}

/// A task of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum WorkerTask {
    /// The one that the worker's process begins with: it asks for the lease and works.
    Work,
    /// Those that it starts beside itself: in the protocols that come along the one that renews the lease.
    Renewal,
}

impl WorkerTask {
    /// The name that scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            WorkerTask::Work => "work",
            WorkerTask::Renewal => "renewal",
        }
    }
}

impl Pause {
    /// A pause of the whole of one node.
    pub const fn of(node: NodeId, lasting: Span, clocks: PauseClocks) -> Pause {
        Pause { node, beside: Vec::new(), lasting, clocks, task: None }
    }

    /// Every node that it happens to.
    pub fn each_node(&self) -> impl Iterator<Item = NodeId> + use<'_> {
        std::iter::once(self.node).chain(self.beside.iter().copied())
    }

    fn halt(&self) -> Halt {
        self.task.map_or_else(|| self.clocks.halt(), Halt::Task)
    }

    fn halt_all(&self, world: &World, halt: Halt, begin: bool) {
        self.each_node().for_each(|node| world.pause(node, halt, begin));
    }
}

impl Kind for Pause {
    const INFO: FaultInfo = FaultInfo {
        name: "pause",
        summary: "a node, a host or one task stops running for a while; what clocks and network do meanwhile is part \
                  of the fault",
        fields: &[
            field("node", "the node's name; needed unless `nodes` is there"),
            field("nodes", "in place of `node`: the nodes of one host, such as [\"worker-a\", \"ledger\"]"),
            field(
                "task",
                "the one task of the worker that stands still, \"work\" or \"renewal\"; default: all of it",
            ),
            field("for", "how long, such as \"38s\""),
            field(
                "clocks",
                "\"running\" (a process stalls, all go on; the default), \"suspended\" (the guest suspended itself: \
                 monotonic and raw stand still), \"frozen\" (the hypervisor stopped the guest: all stand still), \
                 \"migrated\" (the guest moved to another host: all go on but for `lost`) or \"counted\" (the \
                 hypervisor stopped the guest, but not its counter: all go on); with all but the first the network \
                 stands still too",
            ),
            field(
                "lost",
                "with \"migrated\": how far all clocks are behind afterwards, such as \"80ms\"; default 0s",
            ),
            field(
                "drift_change_ppm",
                "with \"migrated\": how much faster the clocks run from then on, in parts per million; default 0",
            ),
            field(
                "corrected_after",
                "with \"frozen\": how long after the pause an agent of the host steps the wall clock by what it lost, \
                 such as \"2s\"; default: never",
            ),
        ],
    };

    const STOPS: Stops = Stops::Nodes;

    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.each_node().collect()
    }

    /// Of a host as many nodes go on being in it as there are.
    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Pause { node, beside, lasting: _, clocks: _, task: _ } = self;
        let mut host = Vec::with_capacity(1 + beside.len());
        host.push(*node);
        host.append(beside);
        host.retain_mut(keep);
        let mut host = host.into_iter();
        let first = host.next();
        (*node, *beside) = (first.unwrap_or(*node), host.collect());
        first.is_some()
    }

    fn lasting(&self) -> Option<Span> {
        Some(self.lasting)
    }

    fn begin(&self, world: &World, _: FaultId) {
        self.halt_all(world, self.halt(), true);
    }

    /// A migration loses its time at the end, when the state has been sent and the new host hasn't begun yet.
    fn beat_after(&self, beats: u32) -> Option<Span> {
        match self.clocks {
            PauseClocks::Migrated { lost, .. } if lost > Span::ZERO && beats == 0 => {
                Some((self.lasting - lost).max(Span::ZERO))
            }
            _ => None,
        }
    }

    fn beat(&self, world: &World, _: FaultId) {
        self.halt_all(world, Halt::Frozen, true);
    }

    fn end(&self, world: &World, fault: FaultId) {
        if let PauseClocks::Migrated { drift_change, .. } = self.clocks {
            self.each_node().for_each(|node| world.drift(node, drift_change.as_ppb()));
        }
        if world.beats(fault) > 0 {
            self.halt_all(world, Halt::Frozen, false);
        }
        self.halt_all(world, self.halt(), false);
        if let PauseClocks::Corrected { after } = self.clocks {
            self.each_node().for_each(|node| world.correct_later(node, after));
        }
    }

    /// It hurts a worker that has the lease, and a service that somebody waits for.
    fn bit(&self, history: &History, strike: &Strike) -> bool {
        self.each_node().any(|node| {
            if history.is(node, Role::Worker) {
                strike.overlaps_lease(|holder| holder == node)
            } else {
                strike.in_flight(history, node).any(|arrival| arrival < strike.until)
            }
        })
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let (who, lasting) = (listed(self.each_node(), name), self.lasting);
        if let Some(task) = self.task {
            return format!("pause of {who}'s {} task for {lasting}", task.name());
        }
        let their = if self.beside.is_empty() { "its" } else { "their" };
        let clocks = match self.clocks {
            PauseClocks::Running => "running".to_owned(),
            PauseClocks::Suspended => "suspended".to_owned(),
            PauseClocks::Frozen => "frozen".to_owned(),
            PauseClocks::Counted => "counting on, but cut off".to_owned(),
            PauseClocks::Corrected { after } => format!("frozen, and the wall clock set right {after} later"),
            PauseClocks::Migrated { lost, drift_change } => {
                let lost = if lost == Span::ZERO { "nothing".to_owned() } else { lost.to_string() };
                let change = match drift_change {
                    Rate::EXACT => String::new(),
                    change => format!(" and changing {their} rate by {change}"),
                };
                return format!("migration of {who} in {lasting}, {their} clocks losing {lost}{change}");
            }
        };
        format!("pause of {who} for {lasting}, {their} clocks {clocks}")
    }

    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        let who = listed(self.each_node(), name);
        Some(match (self.task, self.beside.is_empty()) {
            (Some(task), _) => format!("{who}'s {} task goes on", task.name()),
            (None, true) => format!("{who} goes on"),
            (None, false) => format!("{who} go on"),
        })
    }
}

/// Nodes as a phrase: `a`, `a and b`, `a, b and c`.
pub(super) fn listed(nodes: impl Iterator<Item = NodeId>, name: &dyn Fn(NodeId) -> String) -> String {
    let mut names: Vec<String> = nodes.map(name).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}
