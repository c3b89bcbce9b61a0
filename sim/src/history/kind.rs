//! The kinds of event, as a registry: the names that a fault's anchor can use, and what they mean.

use super::What;

/// The kinds that happen only where there are operators, or payouts take their time.
pub const REPAIR_EVENTS: &[&str] = &[
    "dispatch-stopped",
    "worker-elected",
    "dispatch-resumed",
    "generation-marked",
    "entry-superseded",
    "entry-deleted",
    "operation-decided",
    "checkpoint-rebuilt",
    "export-superseded",
    "repair-ended",
    "repair-left",
    "gateway-fenced",
    "payout-taken-in",
    "payouts-told",
    "payout-voided",
    "refund-begun",
    "compensation-refused",
    "operator-rejected",
];

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
    WorkerStarted = "worker-started" "the process of a worker or an operator began";
    WorkerFinished = "worker-finished" "a worker or an operator has nothing more to do";
    PointPassed = "point-passed" "a worker or an operator passed a point";
    LeaseChecked = "lease-checked" "a worker looked whether it still holds the lease";
    LeaseHeld = "lease-held" "a worker learned that it holds the lease, or holds it for longer";
    LeaseDropped = "lease-dropped" "a worker stopped thinking that it holds the lease before it ran out";
    MessageSent = "message-sent" "a request or an answer left a node";
    MessageDelivered = "message-delivered" "a message reached a node that took it in";
    MessageLost = "message-lost" "a service crashed, and a message was lost with the connection";
    MessageDropped = "message-dropped" "the network lost a message, and nobody is told";
    MessageDelayed = "message-delayed" "the network takes longer for a message than its link would";
    MessageRepeated = "message-repeated" "the network brings a request twice";
    CallTimedOut = "call-timed-out" "a worker or an operator gave up waiting for an answer";
    LeaseGranted = "lease-granted" "the lease store granted the lease";
    LeaseRefused = "lease-refused" "the lease store refused the lease: one that it granted, to another or to whoever asks, has not expired";
    LeaseRenewed = "lease-renewed" "the lease store prolonged a lease";
    RenewalRefused = "renewal-refused" "the lease store refused to prolong a lease: it has another";
    LeaseReleased = "lease-released" "a holder gave the lease back";
    CheckpointRead = "checkpoint-read" "the ledger told a worker where to go on";
    GenerationOpened = "generation-opened" "the ledger was fenced: it shut out all lower tokens";
    FenceRejected = "fence-rejected" "the ledger refused a fence, or what an operator asked";
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
    WorkerDied = "worker-died" "the process of a worker or an operator ended before its time";
    WritesLost = "writes-lost" "a service, or what took its place, goes on from an older copy of its disk";
    WorkerRestored = "worker-restored" "a worker, or a copy of it, goes on from an earlier state";
    Throttled = "throttled" "a process that is throttled has used its quota up, and stalls";
    Unthrottled = "unthrottled" "a process that was throttled goes on";
    DispatchStopped = "dispatch-stopped" "an operator had the lease store stop dispatch";
    WorkerElected = "worker-elected" "the lease store chose who goes on after a repair";
    DispatchResumed = "dispatch-resumed" "an operator had the lease store go on";
    GenerationMarked = "generation-marked" "the ledger noted which operations are to be reconciled";
    EntrySuperseded = "entry-superseded" "the ledger marked an entry as superseded";
    EntryDeleted = "entry-deleted" "the ledger deleted an entry";
    OperationDecided = "operation-decided" "an operator decided about an operation, and the ledger noted it";
    CheckpointRebuilt = "checkpoint-rebuilt" "the ledger put its checkpoint where the canonical settlement goes on";
    ExportSuperseded = "export-superseded" "the ledger marked an export as superseded";
    RepairEnded = "repair-ended" "an operator came to the end of its repair";
    RepairLeft = "repair-left" "an operator gave way to another one";
    GatewayFenced = "gateway-fenced" "an operator asked the gateway to shut out all lower tokens";
    PayoutTakenIn = "payout-taken-in" "the provider took a payout in, and settles it in its own time";
    PayoutsTold = "payouts-told" "the provider answered what it has for an operation";
    PayoutVoided = "payout-voided" "the provider called a payout back before the money moved";
    RefundBegun = "refund-begun" "the provider began to give back what a payout paid";
    CompensationRefused = "compensation-refused" "the provider refused to take a payout back";
    OperatorRejected = "operator-rejected" "the gateway turned an operator away";
    DeposedServed = "deposed-served" "a primary whose replica has taken its place served a request";
    WriteHung = "write-hung" "a service hangs in a write, because its disk takes none";
    WriteReturned = "write-returned" "a service no longer hangs in a write";
    LeaderElected = "leader-elected" "a replica of the lease service leads from now on";
    LeaseRevoked = "lease-revoked" "the lease service took a lease away that had run out";
    LeaseAsked = "lease-asked" "a worker wants something of a replicated lease service";
    LeaseTold = "lease-told" "a worker knows what came of that";
    ReplicaStopped = "replica-stopped" "a replica found writes gone that it relies on, and takes part in nothing more";
}

/// Those of [`EVENTS`] that there are only where replicas keep the lease.
pub const EVENTS_OF_REPLICAS: &[&str] =
    &["leader-elected", "lease-revoked", "lease-asked", "lease-told", "replica-stopped"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_kinds_is_said_of_kinds_that_there_are() {
        for kind in REPAIR_EVENTS {
            assert!(EVENTS.iter().any(|(known, _)| known == kind), "there is no {kind}");
        }
    }
}
