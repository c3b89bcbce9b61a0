//! The services of the world: deterministic state machines, called when a message is delivered.

pub mod door;
pub mod lease_store;
pub mod ledger;
pub mod lock;
pub mod provider;
pub mod replica;

pub use crate::engine::{Address, Answer, Broken, Journal, Service, ServiceContext};

/// Everything that workers and services send each other messages about, with what it means: the request, and the answer
/// to it.
pub const MESSAGES: &[(&str, &str)] = &[
    ("lease.acquire", "a worker asks the lease store for the lease"),
    ("lease.renew", "a worker asks the lease store to prolong its lease"),
    ("lease.release", "a worker gives its lease back to the lease store"),
    ("lease.open", "a worker comes anew to a replicated lease service"),
    ("lease.read", "a worker asks a replicated lease service who has the lease"),
    ("lease.heartbeat", "a replica of the lease service asks another whether it lives, or says that it does"),
    ("lease.agree", "replicas of the lease service agree on the order of what they were asked"),
    ("lease.copy", "a primary of the lease service copies what it has done to a replica"),
    ("ledger.fence", "a worker shuts all lower tokens out of the ledger, and asks where to go on"),
    ("ledger.read-checkpoint", "a worker asks the ledger where to go on"),
    ("ledger.write", "a worker enters an operation into the ledger"),
    ("ledger.move-checkpoint", "a worker puts the ledger's checkpoint behind an operation"),
    ("ledger.publish", "a worker publishes an export of the settlement"),
    ("provider.pay", "a worker has the provider pay for an operation"),
];

/// What operators and services send each other messages about, with what it means.
pub const REPAIR_MESSAGES: &[(&str, &str)] = &[
    (
        "lease.stop-dispatch",
        "an operator has the lease store take all leases back, and gets a token above all others",
    ),
    ("lease.elect", "an operator has the lease store choose who goes on"),
    ("lease.resume-dispatch", "an operator has the lease store hand leases out again"),
    ("ledger.take-charge", "an operator shuts all lower tokens out of the ledger, and asks what it has"),
    ("ledger.repair", "an operator changes the ledger's records, or notes a decision there"),
    ("provider.fence", "an operator has the gateway shut out all lower tokens"),
    ("provider.status", "an operator asks the provider for the payouts of an operation"),
    ("provider.list", "an operator asks the provider for a page of the settlement's payouts"),
    ("provider.void", "an operator calls a payout back before the money moves"),
    ("provider.refund", "an operator asks back what a payout paid"),
];

/// Those of [`MESSAGES`] that only the replicas of a lease service send, and only to each other.
pub const REPLICA_LETTERS: &[&str] = &["lease.heartbeat", "lease.agree", "lease.copy"];

/// Those of [`MESSAGES`] that there are only where replicas keep the lease.
pub const OF_REPLICAS: &[&str] = &["lease.open", "lease.read", "lease.heartbeat", "lease.agree", "lease.copy"];
