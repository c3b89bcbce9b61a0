//! What a run starts from: the nodes, their clocks, the lease, the job, the network. Plain data.

mod nodes;

pub use nodes::renumbered;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Rate;
use crate::id::NodeId;
use crate::lease::LeaseService;
use crate::limits::Limits;
use crate::repair::{Chosen, Reconcile};
use crate::service::lease_store::Expiry;
use crate::time::{Span, TrueTime, WallTime};

/// A whole world, before anything has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldSpec {
    /// The wall time at true time 0; true time is correct UTC.
    pub start: WallTime,
    /// The workers; at least one. Their nodes come after the services'.
    pub workers: Vec<WorkerSpec>,
    /// The clocks of services. Those of one that isn't here are right.
    pub service_clocks: BTreeMap<NodeId, ClockSpec>,
    /// The lease.
    pub lease: LeaseSpec,
    /// What the scenario says of the ledger.
    pub ledger: LedgerSpec,
    /// What the scenario says of the provider.
    pub provider: ProviderSpec,
    /// The operators, who repair what went wrong. Their nodes come after the workers'.
    pub operators: Vec<WorkerSpec>,
    /// How operators go about it.
    pub repair: RepairSpec,
    /// The settlement job.
    pub job: JobSpec,
    /// How long messages take.
    pub network: NetworkSpec,
    /// When to stop.
    pub limits: Limits,
    /// How long after it is due, or after the last fault healed if that is later, the settlement must be finished.
    pub progress_within: Span,
}

impl WorldSpec {
    /// The clocks of the service on `node`.
    pub fn service_clock(&self, node: NodeId) -> ClockSpec {
        self.service_clocks.get(&node).copied().unwrap_or_default()
    }

    /// The node of the operator that comes at `index` in [`WorldSpec::operators`].
    pub fn operator_node(&self, index: usize) -> NodeId {
        worker_node(self.workers.len() + index)
    }

    /// Whether payouts take their time and can be asked for and taken back: where the scenario says how long they take,
    /// somebody is there to ask, or the provider forgets a payout's key with time.
    pub fn payouts(&self) -> Option<PayoutSpec> {
        match self.provider.payouts {
            None if !self.operators.is_empty() => Some(PayoutSpec::default()),
            None if matches!(self.provider.keys, Some(Keys::For(_))) => Some(PayoutSpec::default()),
            said => said,
        }
    }

    /// The nodes of the lease service's replicas, the first leader's first; none if it is a table. The first has the lease
    /// store's place, and the others come after workers and operators.
    pub fn replicas(&self) -> Vec<NodeId> {
        let count = self.lease.service.and_then(LeaseService::replicas).map_or(0, |spec| spec.count);
        let behind = self.operator_node(self.operators.len()).0;
        let others = (behind..).take(usize::from(count.saturating_sub(1))).map(NodeId);
        std::iter::once(LEASE_STORE).take(usize::from(count.min(1))).chain(others).collect()
    }
}

/// The names of the nodes of a world, in the order of their numbers.
pub fn node_names(spec: &WorldSpec) -> Vec<Cow<'_, str>> {
    let workers = spec.workers.iter().chain(&spec.operators).map(|worker| worker.name.as_str());
    let mut names: Vec<Cow<'_, str>> = SERVICE_NAMES.into_iter().chain(workers).map(Cow::Borrowed).collect();
    for (node, index) in spec.replicas().into_iter().zip(0..) {
        match names.get_mut(node.index()) {
            Some(first) => *first = Cow::Owned(replica_name(index)),
            None => names.push(Cow::Owned(replica_name(index))),
        }
    }
    names
}

/// The name of the replica of a lease service that comes at `index`.
pub fn replica_name(index: usize) -> String {
    format!("lease-{}", index + 1)
}

/// The names of the nodes that every world has, in the order of their node IDs; the workers follow.
pub const SERVICE_NAMES: [&str; 3] = ["lease-store", "ledger", "provider"];

/// The lease store's node.
pub const LEASE_STORE: NodeId = NodeId(0);
/// The ledger's node.
pub const LEDGER: NodeId = NodeId(1);
/// The provider's node; its gateway is the door of it.
pub const PROVIDER: NodeId = NodeId(2);

/// The node of the worker that comes at `index` in [`WorldSpec::workers`].
pub const fn worker_node(index: usize) -> NodeId {
    NodeId((SERVICE_NAMES.len() + index) as u16)
}

/// A worker or an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSpec {
    /// Its name.
    pub name: String,
    /// When its process begins.
    pub starts: TrueTime,
    /// Its clocks.
    pub clock: ClockSpec,
}

/// How wrong a node's clocks are, and what sets them right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSpec {
    /// How far the wall clock is ahead of true time at the start.
    pub offset: Span,
    /// The rate error of the oscillator. Daemons correct the wall clock's offset only, so on a node that has one this is
    /// what it hasn't learned of its oscillator.
    pub drift: Rate,
    /// What sets the clocks right; `None` for nothing.
    pub discipline: Option<Discipline>,
}

/// What sets a node's clocks right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discipline {
    /// By which rules.
    pub daemon: TimeDaemon,
    /// How often it asks for the time, by the monotonic clock; above zero.
    pub poll: Span,
}

/// The programs that set clocks right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeDaemon {
    /// ntpd 4.2.8.
    Ntpd,
    /// chronyd with `makestep 1.0 3`, as distributions ship it.
    Chrony,
    /// systemd-timesyncd.
    Timesyncd,
    /// An agent that sets a guest's clock by its host's.
    HostAgent,
}

impl TimeDaemon {
    /// All of them.
    pub const ALL: [TimeDaemon; 4] =
        [TimeDaemon::Ntpd, TimeDaemon::Chrony, TimeDaemon::Timesyncd, TimeDaemon::HostAgent];

    /// The name that scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            TimeDaemon::Ntpd => "ntpd",
            TimeDaemon::Chrony => "chrony",
            TimeDaemon::Timesyncd => "timesyncd",
            TimeDaemon::HostAgent => "host-agent",
        }
    }

    /// How often it polls if nobody says otherwise: what it begins with on a real machine.
    pub const fn default_poll(self) -> Span {
        match self {
            TimeDaemon::Ntpd | TimeDaemon::Chrony => Span::secs(64),
            TimeDaemon::Timesyncd => Span::secs(32),
            TimeDaemon::HostAgent => Span::secs(60),
        }
    }
}

/// The lease that workers compete for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseSpec {
    /// How long a grant or a renewal lasts.
    pub ttl: Span,
    /// How often a holder renews.
    pub renew_every: Span,
    /// How often a worker without the lease asks for it.
    pub poll_every: Span,
    /// Whose clock it ends by; `None` leaves that to the protocol.
    pub expiry: Option<Expiry>,
    /// What keeps it; `None` leaves that to the protocol.
    pub service: Option<LeaseService>,
}

/// The ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerSpec {
    /// Whether it keeps what its door knows, the highest token, in memory only and not on disk.
    pub forgets_tokens: bool,
}

/// The provider, and the gateway in front of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderSpec {
    /// Which idempotency keys it remembers; `None` leaves that to the protocol.
    pub keys: Option<Keys>,
    /// Whether the gateway checks tokens; `None` leaves that to the protocol.
    pub checks_tokens: Option<bool>,
    /// How payouts take their time; see [`WorldSpec::payouts`].
    pub payouts: Option<PayoutSpec>,
}

/// Which idempotency keys a provider remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// None.
    None,
    /// All of them.
    Kept,
    /// Those of payouts that are younger than this, by its monotonic clock.
    For(Span),
}

/// How payouts take their time. Each draws its own from the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayoutSpec {
    /// How long it takes until the provider knows what it was asked for.
    pub known_in: Latency,
    /// How long it takes from there until the money has moved.
    pub settles_in: Latency,
    /// Of a hundred payouts, how many fail; at most 100.
    pub fails_percent: u8,
    /// How long it takes to give back what was paid.
    pub refunds_in: Latency,
    /// Of a hundred refunds, how many fail; at most 99, or none might ever come to an end.
    pub refunds_fail_percent: u8,
    /// Whether the provider answers questions on payouts.
    pub answers: bool,
    /// How many payouts it lists on a page; above zero.
    pub page: usize,
}

impl Default for PayoutSpec {
    fn default() -> PayoutSpec {
        let range = |min, max| Latency { min: Span::millis(min), max: Span::millis(max) };
        PayoutSpec {
            known_in: range(100, 300),
            settles_in: range(2_000, 4_000),
            fails_percent: 0,
            refunds_in: range(1_000, 3_000),
            refunds_fail_percent: 0,
            answers: true,
            page: 5,
        }
    }
}

/// How operators go about a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairSpec {
    /// What they decide by.
    pub procedure: Chosen,
    /// How long they wait before they ask again, by their monotonic clocks; above zero.
    pub ask_every: Span,
    /// How long they go on asking for an operation before they leave it to a person.
    pub ask_for: Span,
    /// How long they wait for what may still be under way to the provider, before they look at all payouts once more.
    pub quiet_for: Span,
}

impl Default for RepairSpec {
    fn default() -> RepairSpec {
        RepairSpec {
            procedure: Chosen(&Reconcile),
            ask_every: Span::millis(500),
            ask_for: Span::secs(300),
            quiet_for: Span::secs(5),
        }
    }
}

/// The settlement job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// How many operations the batch has.
    pub operations: u32,
    /// When the job is due, by the wall clock of whichever worker holds the lease.
    pub due: WallTime,
    /// The interval at which a worker begins operations. One that is behind, after a pause, goes on without waiting.
    pub pace: Span,
}

/// One-way latencies, of which each message draws its own from its link's stream; and how long a caller waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSpec {
    /// Between workers, lease store and ledger.
    pub internal: Latency,
    /// To and from the provider.
    pub provider: Latency,
    /// How long a worker waits for an answer, by its monotonic clock, from when it sent the request; above zero. Then it
    /// goes on as if the connection had broken: the request may have been carried out, or not.
    pub timeout: Span,
}

impl NetworkSpec {
    /// How long a worker waits for an answer where nothing else is said.
    pub const DEFAULT_TIMEOUT: Span = Span::secs(5);
}

/// A range of one-way latencies, both ends included; drawn uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The shortest.
    pub min: Span,
    /// The longest; not below `min`.
    pub max: Span,
}
