//! What each kind of event names by its number, so that whoever reads a history from elsewhere can see that it is there.

use super::{Claim, Decision, What};
use crate::id::{EventId, ExportId, FaultId, MessageId, NodeId, OpId};
use crate::lease::LeaseTold;

/// Something that an event names by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Node(NodeId),
    Event(EventId),
    Fault(FaultId),
    /// One of the batch.
    Op(OpId),
    /// Where to go on: one of the batch, or behind the last.
    Next(OpId),
    Export(ExportId),
    /// A message that is sent by this.
    NewMessage(MessageId),
    /// A message that will be sent as the copy of another.
    Copy(MessageId),
    /// A message that was sent.
    Message(MessageId),
}

impl What {
    /// Shows `each` what it names, in any order. Each kind is named, so that whoever adds one says what is in it.
    pub(super) fn names(&self, each: &mut dyn FnMut(Named)) {
        use Named::*;
        let claimed =
            |Claim { worker, epoch: _, token: _ }: Claim, each: &mut dyn FnMut(Named)| each(Node(worker));
        match *self {
            What::WorkerStarted
            | What::WorkerFinished
            | What::PointPassed(_)
            | What::LeaseChecked { epoch: _, valid: _ }
            | What::LeaseHeld { epoch: _, until: _ }
            | What::LeaseDropped { epoch: _ }
            | What::ClockCorrected { by: _ }
            | What::ClockSlewed { ppb: _ }
            | What::TimeDaemonExited
            | What::WorkerDied
            | What::WritesLost { since: _ }
            | What::PayoutTakenIn { payout: _, known_in: _, decided_in: _, fails: _ }
            | What::LeaderElected
            | What::LeaseAsked { session: _, number: _, ask: _ }
            | What::ReplicaStopped => {}
            What::MessageSent { message, to, about: _, answer: _, latency: _ } => {
                each(NewMessage(message));
                each(Node(to));
            }
            What::MessageDelivered { message, from } | What::MessageLost { message, from } => {
                each(Message(message));
                each(Node(from));
            }
            What::MessageDropped { message, to, fault } => {
                each(Message(message));
                each(Node(to));
                each(Fault(fault));
            }
            What::MessageDelayed { message, by: _, fault } => {
                each(Message(message));
                each(Fault(fault));
            }
            What::MessageRepeated { message, to, copy, fault } => {
                each(Message(message));
                each(Copy(copy));
                each(Node(to));
                each(Fault(fault));
            }
            What::CallTimedOut { message, to, about: _ } => {
                each(Message(message));
                each(Node(to));
            }
            What::LeaseGranted { worker, epoch: _, lease: _, token: _, until: _ }
            | What::LeaseRenewed { worker, epoch: _, until: _ }
            | What::RenewalRefused { worker, epoch: _ }
            | What::LeaseReleased { worker, epoch: _ }
            | What::LeaseRevoked { worker, epoch: _ } => each(Node(worker)),
            What::LeaseRefused { worker, holder } => {
                each(Node(worker));
                each(Node(holder));
            }
            What::CheckpointRead { claim, next }
            | What::GenerationOpened { claim, next }
            | What::CheckpointMoved { claim, next }
            | What::CheckpointRebuilt { claim, next }
            | What::GenerationMarked { claim, until: next } => {
                claimed(claim, each);
                each(Next(next));
            }
            What::FenceRejected { claim, why: _ }
            | What::CheckpointRejected { claim, why: _ }
            | What::ExportRejected { claim, why: _ }
            | What::OperatorRejected { claim, why: _ }
            | What::DispatchStopped { claim }
            | What::RepairEnded { claim, unresolved: _ }
            | What::RepairLeft { claim }
            | What::GatewayFenced { claim, fenced: _ } => claimed(claim, each),
            What::WriteAccepted { claim, op, entry: _, amount: _ }
            | What::WriteRepeated { claim, op, entry: _ }
            | What::WriteRejected { claim, op, why: _ }
            | What::PayoutMade { claim, op, payout: _, amount: _ }
            | What::PayoutRepeated { claim, op, payout: _ }
            | What::PayoutRejected { claim, op, why: _ }
            | What::EntrySuperseded { claim, op, entry: _, by: _ }
            | What::EntryDeleted { claim, op, entry: _ }
            | What::PayoutsTold { claim, op, payouts: _, known: _ }
            | What::PayoutVoided { claim, op, payout: _ }
            | What::RefundBegun { claim, op, payout: _, takes: _, fails: _ }
            | What::CompensationRefused { claim, op, payout: _, state: _ } => {
                claimed(claim, each);
                each(Op(op));
            }
            What::OperationDecided { claim, op, decision, why: _ } => {
                // Without `_`: whoever adds a decision says whom it names.
                match decision {
                    Decision::Keep(_) | Decision::Submit(_) | Decision::Void(_) | Decision::Refund(_) => {}
                    Decision::AskAgain | Decision::Close(_) | Decision::GiveUp => {}
                }
                claimed(claim, each);
                each(Op(op));
            }
            What::ExportPublished { claim, export } | What::ExportSuperseded { claim, export } => {
                claimed(claim, each);
                each(Export(export));
            }
            What::FaultBegan { fault }
            | What::FaultEnded { fault }
            | What::Throttled { fault }
            | What::Unthrottled { fault }
            | What::WriteHung { fault }
            | What::WriteReturned { fault, written: _ } => each(Fault(fault)),
            What::WorkerRestored { of, snapshot } => {
                each(Node(of));
                each(Event(snapshot));
            }
            What::DeposedServed { worker, fault } => {
                each(Node(worker));
                each(Fault(fault));
            }
            What::WorkerElected { claim, elected } | What::DispatchResumed { claim, elected } => {
                claimed(claim, each);
                elected.into_iter().for_each(|node| each(Node(node)));
            }
            What::LeaseTold { number: _, told } => match told {
                LeaseTold::Held { by: Some((node, _)) } => each(Node(node)),
                LeaseTold::Held { by: None } => {}
                LeaseTold::Granted { token: _ } | LeaseTold::Done | LeaseTold::Refused | LeaseTold::Unknown => {}
            },
        }
    }
}
