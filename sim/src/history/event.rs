//! What can happen in a run.
//!
//! An event is compact data: when in true time, on which node, why, and what. What the node's clocks read at that
//! instant is derived from the clock lines in the same history; sentences are made by the reports.

use serde::Serialize;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// Who asks.
    pub worker: NodeId,
    /// The grant under which it acts: the simulator's own note, which no service can see.
    pub epoch: Epoch,
    /// The fencing token that it presents, if the protocol has one.
    pub token: Option<Token>,
}

/// Why a door turned a request away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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
        match *self {
            What::LeaseGranted { worker, .. }
            | What::LeaseRefused { worker, .. }
            | What::LeaseRenewed { worker, .. }
            | What::RenewalRefused { worker, .. }
            | What::LeaseReleased { worker, .. }
            | What::LeaseRevoked { worker, .. }
            | What::DeposedServed { worker, .. } => Some(worker),
            _ => self.claim().map(|claim| claim.worker),
        }
    }

    /// The claim under which ledger or provider were asked for this, or turned it away.
    pub fn claim(&self) -> Option<Claim> {
        match *self {
            What::CheckpointRead { claim, .. }
            | What::GenerationOpened { claim, .. }
            | What::FenceRejected { claim, .. }
            | What::WriteAccepted { claim, .. }
            | What::WriteRepeated { claim, .. }
            | What::WriteRejected { claim, .. }
            | What::CheckpointMoved { claim, .. }
            | What::CheckpointRejected { claim, .. }
            | What::ExportPublished { claim, .. }
            | What::ExportRejected { claim, .. }
            | What::PayoutMade { claim, .. }
            | What::PayoutRepeated { claim, .. }
            | What::PayoutRejected { claim, .. }
            | What::DispatchStopped { claim }
            | What::WorkerElected { claim, .. }
            | What::DispatchResumed { claim, .. }
            | What::GenerationMarked { claim, .. }
            | What::EntrySuperseded { claim, .. }
            | What::EntryDeleted { claim, .. }
            | What::OperationDecided { claim, .. }
            | What::CheckpointRebuilt { claim, .. }
            | What::ExportSuperseded { claim, .. }
            | What::RepairEnded { claim, .. }
            | What::RepairLeft { claim }
            | What::GatewayFenced { claim, .. }
            | What::PayoutsTold { claim, .. }
            | What::PayoutVoided { claim, .. }
            | What::RefundBegun { claim, .. }
            | What::CompensationRefused { claim, .. }
            | What::OperatorRejected { claim, .. } => Some(claim),
            _ => None,
        }
    }

    /// The accepted mutation of the ledger that this is, if it is one: an entry, a checkpoint, an export, or what an operator
    /// changes.
    pub fn mutation(&self) -> Option<Claim> {
        match *self {
            What::WriteAccepted { claim, .. }
            | What::CheckpointMoved { claim, .. }
            | What::ExportPublished { claim, .. }
            | What::GenerationMarked { claim, .. }
            | What::EntrySuperseded { claim, .. }
            | What::EntryDeleted { claim, .. }
            | What::OperationDecided { claim, .. }
            | What::CheckpointRebuilt { claim, .. }
            | What::ExportSuperseded { claim, .. } => Some(claim),
            _ => None,
        }
    }

    /// Whether a service changed what it keeps on disk by this.
    pub fn is_written(&self) -> bool {
        matches!(
            self,
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
                | What::RefundBegun { .. }
        )
    }

    /// The mutation that the ledger turned away, if this is one: a fence, an entry, a checkpoint, an export.
    pub fn rejection(&self) -> Option<(Claim, Refusal)> {
        match *self {
            What::FenceRejected { claim, why }
            | What::WriteRejected { claim, why, .. }
            | What::CheckpointRejected { claim, why }
            | What::ExportRejected { claim, why } => Some((claim, why)),
            _ => None,
        }
    }
}
