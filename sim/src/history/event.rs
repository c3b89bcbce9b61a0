//! What can happen in a run.
//!
//! An event is compact data: when in true time, on which node, why, and what. What the node's clocks read at that
//! instant is derived from the clock lines in the same history; sentences are made by the reports.

use serde::{Deserialize, Serialize};

use super::what::What;
use crate::id::{Epoch, EventId, NodeId, Token};
use crate::time::TrueTime;

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When, in true time.
    pub at: TrueTime,
    /// On which node.
    pub node: NodeId,
    /// The earlier event that led to this one: the step before it in the same task, the delivery it answers, or the
    /// end of the pause that held it up. `None` for what the scenario itself starts.
    pub cause: Option<EventId>,
    /// What.
    pub what: What,
}

/// A worker's authority for a mutation, as the simulator knows it and as the worker presents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Who asks.
    pub worker: NodeId,
    /// The grant under which it acts: the simulator's own note, which no service can see.
    pub epoch: Epoch,
    /// The fencing token that it presents, if the protocol has one.
    pub token: Option<Token>,
}

/// Why a door turned a request away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Refusal {
    /// It saw a higher token before.
    TokenTooLow {
        /// The highest that it saw.
        highest: Token,
    },
    /// It wants a token, and none was presented.
    NoToken,
}

impl Event {
    /// Whether `node` has to do with it: it happened there, or it is about that worker's lease or its request.
    pub fn concerns(&self, node: NodeId) -> bool {
        self.node == node || self.what.worker() == Some(node)
    }
}

impl What {
    /// The worker that a service's event is about: whose lease, or whose request.
    pub fn worker(&self) -> Option<NodeId> {
        match self.about() {
            About::Lease(worker) => Some(worker),
            About::Answer(claim) | About::Mutation(claim) | About::Rejection(claim, _) => Some(claim.worker),
            About::Nobody => None,
        }
    }

    /// The claim under which ledger or provider were asked for this, or turned it away.
    pub fn claim(&self) -> Option<Claim> {
        match self.about() {
            About::Answer(claim) | About::Mutation(claim) | About::Rejection(claim, _) => Some(claim),
            About::Lease(_) | About::Nobody => None,
        }
    }

    /// The accepted mutation of the ledger that this is, if it is one: an entry, a checkpoint, an export, or what an operator
    /// changes.
    pub fn mutation(&self) -> Option<Claim> {
        match self.about() {
            About::Mutation(claim) => Some(claim),
            About::Answer(_) | About::Rejection(..) | About::Lease(_) | About::Nobody => None,
        }
    }

    /// The mutation that the ledger turned away, if this is one: a fence, an entry, a checkpoint, an export.
    pub fn rejection(&self) -> Option<(Claim, Refusal)> {
        match self.about() {
            About::Rejection(claim, why) => Some((claim, why)),
            About::Answer(_) | About::Mutation(_) | About::Lease(_) | About::Nobody => None,
        }
    }

    /// Whether it is recorded before the clocks change that may change with it; all else that changes clocks tells so
    /// afterwards.
    pub(crate) fn changes_clocks(&self) -> bool {
        matches!(self, What::FaultBegan { .. } | What::FaultEnded { .. })
    }

    /// Whether a service changed what it keeps on disk by this.
    pub fn is_written(&self) -> bool {
        match self {
            What::LeaseGranted { .. }
            | What::LeaseRenewed { .. }
            | What::LeaseReleased { .. }
            | What::LeaseRevoked { .. }
            | What::GenerationOpened { .. }
            | What::WriteAccepted { .. }
            | What::CheckpointMoved { .. }
            | What::ExportPublished { .. }
            | What::PayoutMade { .. }
            | What::DispatchStopped { .. }
            | What::DispatchResumed { .. }
            | What::GenerationMarked { .. }
            | What::EntrySuperseded { .. }
            | What::EntryDeleted { .. }
            | What::OperationDecided { .. }
            | What::CheckpointRebuilt { .. }
            | What::ExportSuperseded { .. }
            | What::PayoutVoided { .. }
            | What::RefundBegun { .. } => true,
            What::WorkerStarted
            | What::WorkerFinished
            | What::PointPassed(_)
            | What::LeaseChecked { .. }
            | What::LeaseHeld { .. }
            | What::LeaseDropped { .. }
            | What::MessageSent { .. }
            | What::MessageDelivered { .. }
            | What::MessageLost { .. }
            | What::MessageDropped { .. }
            | What::MessageDelayed { .. }
            | What::MessageRepeated { .. }
            | What::CallTimedOut { .. }
            | What::LeaseRefused { .. }
            | What::RenewalRefused { .. }
            | What::CheckpointRead { .. }
            | What::FenceRejected { .. }
            | What::WriteRepeated { .. }
            | What::WriteRejected { .. }
            | What::CheckpointRejected { .. }
            | What::ExportRejected { .. }
            | What::PayoutRepeated { .. }
            | What::PayoutRejected { .. }
            | What::FaultBegan { .. }
            | What::FaultEnded { .. }
            | What::ClockCorrected { .. }
            | What::ClockSlewed { .. }
            | What::TimeDaemonExited
            | What::WorkerDied
            | What::WritesLost { .. }
            | What::WorkerRestored { .. }
            | What::Throttled { .. }
            | What::Unthrottled { .. }
            | What::WorkerElected { .. }
            | What::RepairEnded { .. }
            | What::RepairLeft { .. }
            | What::GatewayFenced { .. }
            | What::PayoutTakenIn { .. }
            | What::PayoutsTold { .. }
            | What::CompensationRefused { .. }
            | What::OperatorRejected { .. }
            | What::DeposedServed { .. }
            | What::WriteHung { .. }
            | What::WriteReturned { .. }
            | What::LeaderElected
            | What::LeaseAsked { .. }
            | What::LeaseTold { .. }
            | What::ReplicaStopped => false,
        }
    }

    /// Whom it is about. Each kind is named, so that whoever adds one says what it is: rules go by it.
    fn about(&self) -> About {
        match *self {
            What::LeaseGranted { worker, .. }
            | What::LeaseRefused { worker, .. }
            | What::LeaseRenewed { worker, .. }
            | What::RenewalRefused { worker, .. }
            | What::LeaseReleased { worker, .. }
            | What::LeaseRevoked { worker, .. }
            | What::DeposedServed { worker, .. } => About::Lease(worker),
            What::WriteAccepted { claim, .. }
            | What::CheckpointMoved { claim, .. }
            | What::ExportPublished { claim, .. }
            | What::GenerationMarked { claim, .. }
            | What::EntrySuperseded { claim, .. }
            | What::EntryDeleted { claim, .. }
            | What::OperationDecided { claim, .. }
            | What::CheckpointRebuilt { claim, .. }
            | What::ExportSuperseded { claim, .. } => About::Mutation(claim),
            What::FenceRejected { claim, why, .. }
            | What::WriteRejected { claim, why, .. }
            | What::CheckpointRejected { claim, why, .. }
            | What::ExportRejected { claim, why, .. } => About::Rejection(claim, why),
            What::CheckpointRead { claim, .. }
            | What::GenerationOpened { claim, .. }
            | What::WriteRepeated { claim, .. }
            | What::PayoutMade { claim, .. }
            | What::PayoutRepeated { claim, .. }
            | What::PayoutRejected { claim, .. }
            | What::DispatchStopped { claim, .. }
            | What::WorkerElected { claim, .. }
            | What::DispatchResumed { claim, .. }
            | What::RepairEnded { claim, .. }
            | What::RepairLeft { claim, .. }
            | What::GatewayFenced { claim, .. }
            | What::PayoutsTold { claim, .. }
            | What::PayoutVoided { claim, .. }
            | What::RefundBegun { claim, .. }
            | What::CompensationRefused { claim, .. }
            | What::OperatorRejected { claim, .. } => About::Answer(claim),
            What::WorkerStarted
            | What::WorkerFinished
            | What::PointPassed(_)
            | What::LeaseChecked { .. }
            | What::LeaseHeld { .. }
            | What::LeaseDropped { .. }
            | What::MessageSent { .. }
            | What::MessageDelivered { .. }
            | What::MessageLost { .. }
            | What::MessageDropped { .. }
            | What::MessageDelayed { .. }
            | What::MessageRepeated { .. }
            | What::CallTimedOut { .. }
            | What::FaultBegan { .. }
            | What::FaultEnded { .. }
            | What::ClockCorrected { .. }
            | What::ClockSlewed { .. }
            | What::TimeDaemonExited
            | What::WorkerDied
            | What::WritesLost { .. }
            | What::WorkerRestored { .. }
            | What::Throttled { .. }
            | What::Unthrottled { .. }
            | What::PayoutTakenIn { .. }
            | What::WriteHung { .. }
            | What::WriteReturned { .. }
            | What::LeaderElected
            | What::LeaseAsked { .. }
            | What::LeaseTold { .. }
            | What::ReplicaStopped => About::Nobody,
        }
    }
}

/// Whom an event is about, beside the node where it happens.
enum About {
    /// A worker's lease, or a worker's request.
    Lease(NodeId),
    /// Who asked ledger or provider for something that changes nothing in the ledger, or was turned away by the provider.
    Answer(Claim),
    /// Who changed something in the ledger.
    Mutation(Claim),
    /// Whom the ledger turned away.
    Rejection(Claim, Refusal),
    /// Nobody.
    Nobody,
}
