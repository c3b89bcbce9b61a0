//! The append-only record of what happened. Everything is judged and drawn from it.

mod belief;
mod event;
mod exports;
#[cfg(test)]
pub(crate) mod fixture;
mod halves;
mod kind;
mod named;
mod overlap;
mod payouts;
mod reconciliation;
mod recorder;
mod repair;
mod sound;
mod standstill;
mod what;

pub use belief::{Belief, beliefs};
pub use event::{Claim, Event, Refusal};
pub use exports::Published;
pub(crate) use exports::exports;
pub(crate) use halves::Halves;
pub use kind::{EVENTS, EVENTS_OF_REPLICAS, REPAIR_EVENTS};
pub use overlap::{Overlap, overlap_total, overlaps};
pub(crate) use payouts::{Account, accounts};
pub use payouts::{Payout, PayoutEnd, payouts};
pub(crate) use reconciliation::entries;
pub use reconciliation::{
    Decided, Entered, Reconciled, Reconciliation, Resolution, Standing, Sums, Totals, Turn, TurnEnd,
    reconciliation,
};
pub use recorder::LOG_TARGET;
pub(crate) use recorder::{Recorder, log, may_log};
pub use repair::{Decision, PayoutState, Reason};
pub use sound::Soundness;
pub(crate) use standstill::standstills;
pub use what::What;

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, ClockLine};
use crate::fault::PlannedFault;
use crate::id::{Amount, EntryId, EventId, FaultId, NodeId, OpId, PayoutId};
use crate::lease::LeaseService;
use crate::limits::Ending;
use crate::seed::Seed;
use crate::time::{Span, TrueTime, WallTime};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Role {
    /// Runs the settlement when it holds the lease.
    Worker,
    /// Keeps the lease.
    LeaseStore,
    /// Keeps the settlement.
    Ledger,
    /// Pays.
    Provider,
    /// Repairs what went wrong.
    Operator,
}

impl Role {
    /// All of them, in the order in which drawings have them.
    pub const DRAWN: [Role; 5] = [Role::Worker, Role::Operator, Role::LeaseStore, Role::Ledger, Role::Provider];
}

/// A node as the history names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeRecord {
    /// Its name in the scenario.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Its clocks over the whole run.
    pub clocks: ClockLine,
    /// The node that it is a copy of, if it is for a copy. It follows from the plan, so it isn't among the bytes of a history.
    #[serde(skip)]
    pub copy_of: Option<NodeId>,
}

/// One line of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
    /// The ledger entry that the exporting worker knows for it.
    pub entry: EntryId,
    /// The payout that the exporting worker knows for it.
    pub payout: PayoutId,
}

/// All that happened in one run, and all that is needed to judge and to draw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct History {
    /// The protocol that ran.
    pub protocol: &'static str,
    /// The seed that it ran with.
    pub seed: Seed,
    /// The wall time at true time 0; true time is correct UTC.
    pub start: WallTime,
    /// The nodes; a [`NodeId`] is an index.
    pub nodes: Vec<NodeRecord>,
    /// The amounts of the batch; an [`OpId`] is an index.
    pub batch: Vec<Amount>,
    /// The fault plan; a [`FaultId`] is an index.
    pub plan: Vec<PlannedFault>,
    /// When the job was due, by a wall clock that is right.
    pub due: TrueTime,
    /// How long after that, or after the last fault healed if that was later, the settlement must be finished.
    pub progress_within: Span,
    /// How long a grant or a renewal of the lease lasted. It is the scenario's and nothing that happened, so it isn't among
    /// the bytes.
    #[serde(skip)]
    pub ttl: Span,
    /// Whether a lease ended by the clock that the protocol means, and not by another that the scenario says; not among the
    /// bytes either.
    #[serde(skip)]
    pub expiry_as_meant: bool,
    /// The clock of the lease store that a lease ended by; `None` if it was the asker's. Not among the bytes either.
    #[serde(skip)]
    pub store_clock: Option<Clock>,
    /// What kept the lease. Not among the bytes either.
    #[serde(skip)]
    pub lease_service: LeaseService,
    /// What happened, in order; an [`EventId`] is an index.
    pub events: Vec<Event>,
    /// The rows of each published export; an [`ExportId`](crate::id::ExportId) is an index.
    pub exports: Vec<Vec<Row>>,
    /// How the run ended.
    pub ending: Ending,
    /// When it ended.
    pub ended_at: TrueTime,
}

impl History {
    /// The event `id`.
    ///
    /// # Panics
    /// If the history has no such event.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// The events with their IDs, in order.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (EventId, &Event)> {
        self.events.iter().enumerate().map(|(i, event)| (EventId(i as u32), event))
    }

    /// What a clock of `node` read at the event `id`, in that clock's nanoseconds.
    ///
    /// # Panics
    /// If the history has no such event or node.
    pub fn reading(&self, id: EventId, node: NodeId, clock: Clock) -> i64 {
        self.node(node).clocks.read_with(id, clock, self.event(id).at)
    }

    /// What the wall clock of `node` read at the event `id`.
    ///
    /// # Panics
    /// If the history has no such event or node.
    pub fn wall(&self, id: EventId, node: NodeId) -> WallTime {
        WallTime::from_nanos(self.reading(id, node, Clock::Wall))
    }

    /// The node `id`.
    ///
    /// # Panics
    /// If the history has no such node.
    pub fn node(&self, id: NodeId) -> &NodeRecord {
        &self.nodes[id.index()]
    }

    /// Whether `id` is a node with this role.
    pub fn is(&self, id: NodeId, role: Role) -> bool {
        self.nodes.get(id.index()).is_some_and(|node| node.role == role)
    }

    /// The IDs of the nodes with this role.
    pub fn nodes_with(&self, role: Role) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().enumerate().filter(move |(_, node)| node.role == role).map(|(i, _)| NodeId(i as u16))
    }

    /// The correct wall time at `at`.
    pub fn utc(&self, at: TrueTime) -> WallTime {
        self.start + (at - TrueTime::START)
    }

    /// Whether `event` is the doing of a primary whose replica had taken its place. The service's other half knows nothing
    /// of it, and it is lost in the end.
    pub fn by_deposed(&self, event: &Event) -> bool {
        self.deposed_by(event).is_some()
    }

    /// The fault by which the primary was deposed that did `event`; `None` if none was.
    pub(crate) fn deposed_by(&self, event: &Event) -> Option<FaultId> {
        let mut cause = event.cause;
        while let Some(id) = cause {
            let earlier = self.event(id);
            match earlier.what {
                What::DeposedServed { fault, .. } => {
                    return ((earlier.at, earlier.node) == (event.at, event.node)).then_some(fault);
                }
                // A step of a service begins with a delivery. What the injector does in it is nobody's.
                What::MessageDelivered { .. } | What::FaultBegan { .. } | What::FaultEnded { .. } => return None,
                _ if earlier.at != event.at => return None,
                _ => cause = earlier.cause,
            }
        }
        None
    }

    /// When the last fault healed, or began if it never healed; the start if none struck. A fault that waited for a
    /// message to the end of the run did nothing, and was over when it began.
    pub fn healed_at(&self) -> TrueTime {
        let counts = |event: &Event| match event.what {
            What::FaultBegan { .. } => true,
            What::FaultEnded { fault } => {
                let waited = self.plan.get(fault.index()).is_some_and(|planned| planned.inject.ends_itself());
                !(waited && event.at == self.ended_at)
            }
            _ => false,
        };
        self.events.iter().rev().find(|event| counts(event)).map_or(TrueTime::START, |event| event.at)
    }

    /// When the settlement must be finished at the latest.
    pub fn progress_by(&self) -> TrueTime {
        self.healed_at().max(self.due) + self.progress_within
    }

    /// The history as bytes, one way for all of it: what two runs of the same scenario and seed must agree in.
    pub fn bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a history has no maps of unknown length and no failing serialisers")
    }

    /// A hash of the history: XXH3 in 128 bits over [`History::bytes`], so it is the same wherever they are.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(twox_hash::XxHash3_128::oneshot(&self.bytes()))
    }
}

/// A hash of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
