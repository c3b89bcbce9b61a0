//! What a run starts from: the nodes, their clocks, the lease, the job, the network. Plain data.

use crate::clock::Rate;
use crate::id::NodeId;
use crate::limits::Limits;
use crate::time::{Span, TrueTime, WallTime};

/// A whole world, before anything has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldSpec {
    /// The wall time at true time 0; true time is correct UTC.
    pub start: WallTime,
    /// The workers; at least one. Their nodes come after the services'.
    pub workers: Vec<WorkerSpec>,
    /// The lease.
    pub lease: LeaseSpec,
    /// The settlement job.
    pub job: JobSpec,
    /// How long messages take.
    pub network: NetworkSpec,
    /// When to stop.
    pub limits: Limits,
    /// How long after it is due, or after the last fault healed if that is later, the settlement must be finished.
    pub progress_within: Span,
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

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSpec {
    /// Its name.
    pub name: String,
    /// When its process begins.
    pub starts: TrueTime,
    /// How far its wall clock is ahead of true time at the start.
    pub clock_offset: Span,
    /// The rate error of its oscillator.
    pub clock_drift: Rate,
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

/// One-way latencies. Each message draws its own from its link's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSpec {
    /// Between workers, lease store and ledger.
    pub internal: Latency,
    /// To and from the provider.
    pub provider: Latency,
}

/// A range of one-way latencies, both ends included; drawn uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The shortest.
    pub min: Span,
    /// The longest; not below `min`.
    pub max: Span,
}
