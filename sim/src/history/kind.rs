//! The kinds of event, as a registry: the names that a fault's anchor can use, and what they mean.

use super::What;

macro_rules! kinds {
    ($($kind:ident = $name:literal $meaning:literal;)*) => {
        /// Every kind of event by its name, with what it means.
        pub const EVENTS: &[(&str, &str)] = &[$(($name, $meaning)),*];

        impl What {
            /// The name of its kind, as scenarios and histories spell it.
            pub fn kind(&self) -> &'static str {
                match self { $(What::$kind { .. } => $name,)* }
            }
        }
    };
}

kinds! {
    WorkerStarted = "worker-started" "a worker's process began";
    WorkerFinished = "worker-finished" "a worker has nothing more to do";
    PointPassed = "point-passed" "a worker passed a point";
    LeaseChecked = "lease-checked" "a worker looked whether it still holds the lease";
    LeaseHeld = "lease-held" "a worker learned that it holds the lease, or holds it for longer";
    LeaseDropped = "lease-dropped" "a worker stopped thinking that it holds the lease before it ran out";
    MessageSent = "message-sent" "a request or an answer left a node";
    MessageDelivered = "message-delivered" "a message reached a node that took it in";
    MessageLost = "message-lost" "a service crashed, and a message was lost with the connection";
    MessageDropped = "message-dropped" "the network lost a message, and nobody is told";
    MessageDelayed = "message-delayed" "the network takes longer for a message than its link would";
    MessageRepeated = "message-repeated" "the network brings a request twice";
    CallTimedOut = "call-timed-out" "a worker gave up waiting for an answer";
    LeaseGranted = "lease-granted" "the lease store granted the lease";
    LeaseRefused = "lease-refused" "the lease store refused the lease: another's has not expired";
    LeaseRenewed = "lease-renewed" "the lease store prolonged a lease";
    RenewalRefused = "renewal-refused" "the lease store refused to prolong a lease: it has another";
    LeaseReleased = "lease-released" "a holder gave the lease back";
    CheckpointRead = "checkpoint-read" "the ledger told a worker where to go on";
    GenerationOpened = "generation-opened" "the ledger was fenced: it shut out all lower tokens";
    FenceRejected = "fence-rejected" "the ledger refused a fence";
    WriteAccepted = "write-accepted" "the ledger took an entry in";
    WriteRepeated = "write-repeated" "the ledger already had an entry for the operation";
    WriteRejected = "write-rejected" "the ledger turned an entry away";
    CheckpointMoved = "checkpoint-moved" "the ledger moved the checkpoint";
    CheckpointRejected = "checkpoint-rejected" "the ledger refused to move the checkpoint";
    ExportPublished = "export-published" "the ledger published an export";
    ExportRejected = "export-rejected" "the ledger refused an export";
    PayoutMade = "payout-made" "the provider paid";
    PayoutRepeated = "payout-repeated" "the gateway knew the operation's key and paid nothing more";
    PayoutRejected = "payout-rejected" "the gateway turned a payout away";
    FaultBegan = "fault-began" "a fault struck";
    FaultEnded = "fault-ended" "a fault healed";
    ClockCorrected = "clock-corrected" "a time daemon or an agent of the host stepped a node's wall clock";
    ClockSlewed = "clock-slewed" "a time daemon bends its node's clocks by another rate";
    TimeDaemonExited = "time-daemon-exited" "a time daemon gave up: the clock was too far off";
    WorkerDied = "worker-died" "a worker's process ended before its time";
    WritesLost = "writes-lost" "a service came back from an older copy of its disk";
    WorkerRestored = "worker-restored" "a worker, or a copy of it, goes on from an earlier state";
    Throttled = "throttled" "a process that is throttled has used its quota up, and stalls";
    Unthrottled = "unthrottled" "a process that was throttled goes on";
    DeposedServed = "deposed-served" "a primary whose replica has taken its place served a request";
    LeaderElected = "leader-elected" "a replica of the lease service leads from now on";
    LeaseRevoked = "lease-revoked" "the lease service took a lease away that had run out";
    LeaseAsked = "lease-asked" "a worker wants something of a replicated lease service";
    LeaseTold = "lease-told" "a worker knows what came of that";
}

/// Those of [`EVENTS`] that there are only where replicas keep the lease.
pub const EVENTS_OF_REPLICAS: &[&str] = &["leader-elected", "lease-revoked", "lease-asked", "lease-told"];
