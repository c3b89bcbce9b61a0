//! The kinds of event: everything that can happen in a run.

use super::{Claim, Decision, PayoutState, Reason, Refusal};
use crate::id::{
    Amount, EntryId, Epoch, EventId, ExportId, FaultId, LeaseId, MessageId, NodeId, OpId, PayoutId, Token,
};
use crate::lease::{LeaseAsk, LeaseTold};
use crate::time::{Span, TrueTime, WallTime};

/// The event kinds, in the past tense. A kind's place is part of the bytes of a history, so what came later comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum What {
    /// The process of a worker or an operator began.
    WorkerStarted,
    /// A worker has nothing more to do: the settlement is published. Or an operator: its repair is over.
    WorkerFinished,
    /// A worker or an operator passed a named point.
    PointPassed(crate::point::Point),
    /// A worker looked whether it still holds the lease, as its protocol does it.
    LeaseChecked {
        /// The grant that it looked at.
        epoch: Epoch,
        /// What it concluded.
        valid: bool,
    },
    /// A worker learned that it holds the lease, or holds it for longer.
    LeaseHeld {
        /// The grant.
        epoch: Epoch,
        /// When it will think that the lease has run out, on a clock of its own.
        until: crate::clock::Deadline,
    },
    /// A worker stopped thinking that it holds the lease before it ran out.
    LeaseDropped {
        /// The grant.
        epoch: Epoch,
    },
    /// A request or an answer left a node.
    MessageSent {
        /// Its number.
        message: MessageId,
        /// To whom.
        to: NodeId,
        /// What it is about, such as `ledger.write`.
        #[serde(deserialize_with = "crate::names::kept_of")]
        about: crate::names::Name,
        /// A request, or the answer to one.
        answer: bool,
        /// How long the network takes for it.
        latency: Span,
    },
    /// A message reached a node that took it in.
    MessageDelivered {
        /// Its number.
        message: MessageId,
        /// From whom.
        from: NodeId,
    },
    /// A service crashed, and with it went a request that it had or was sent, or an answer: whoever asked learns of it.
    MessageLost {
        /// Its number.
        message: MessageId,
        /// From whom.
        from: NodeId,
    },
    /// The lease store granted the lease.
    LeaseGranted {
        /// To whom.
        worker: NodeId,
        /// The simulator's number for this grant.
        epoch: Epoch,
        /// The lease ID handed out.
        lease: LeaseId,
        /// The token handed out, if any.
        token: Option<Token>,
        /// The expiry, by the wall clock that the store goes by; or what that should read then if it goes by another.
        until: WallTime,
    },
    /// The lease store refused the lease: one that it granted, maybe to the asker, has not expired, or nobody gets one yet.
    LeaseRefused {
        /// Who asked.
        worker: NodeId,
        /// Who holds it, or had it last, or comes first.
        holder: NodeId,
    },
    /// The lease store prolonged a lease.
    LeaseRenewed {
        /// The holder.
        worker: NodeId,
        /// The grant.
        epoch: Epoch,
        /// The new expiry, as in a grant.
        until: WallTime,
    },
    /// The lease store refused to prolong a lease: the row has another lease ID.
    RenewalRefused {
        /// Who asked.
        worker: NodeId,
        /// The grant that it asked for.
        epoch: Epoch,
    },
    /// A holder gave the lease back.
    LeaseReleased {
        /// The holder.
        worker: NodeId,
        /// The grant.
        epoch: Epoch,
    },
    /// The ledger told a worker where to go on.
    CheckpointRead {
        /// Who asked.
        claim: Claim,
        /// The first operation that is not behind the checkpoint.
        next: OpId,
    },
    /// The ledger fenced off all lower tokens and opened a generation.
    GenerationOpened {
        /// Who fenced.
        claim: Claim,
        /// The first operation that is not behind the checkpoint.
        next: OpId,
    },
    /// The ledger refused a fence, or whatever an operator asked.
    FenceRejected {
        /// Who asked.
        claim: Claim,
        /// Why.
        why: Refusal,
    },
    /// The ledger took an entry in.
    WriteAccepted {
        /// Who wrote.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// The new row.
        entry: EntryId,
        /// For how much.
        amount: Amount,
    },
    /// The ledger already had an entry for the operation and kept it.
    WriteRepeated {
        /// Who wrote.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// The row that was there.
        entry: EntryId,
    },
    /// The ledger turned an entry away.
    WriteRejected {
        /// Who wrote.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// Why.
        why: Refusal,
    },
    /// The ledger moved the checkpoint.
    CheckpointMoved {
        /// Who moved it.
        claim: Claim,
        /// The first operation that is not behind it.
        next: OpId,
    },
    /// The ledger refused to move the checkpoint.
    CheckpointRejected {
        /// Who asked.
        claim: Claim,
        /// Why.
        why: Refusal,
    },
    /// The ledger published an export of the settlement.
    ExportPublished {
        /// Who published.
        claim: Claim,
        /// Which.
        export: ExportId,
    },
    /// The ledger refused an export.
    ExportRejected {
        /// Who asked.
        claim: Claim,
        /// Why.
        why: Refusal,
    },
    /// The provider paid.
    PayoutMade {
        /// Who asked.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// The payout.
        payout: PayoutId,
        /// How much.
        amount: Amount,
    },
    /// The gateway knew the idempotency key and answered with the payout already made.
    PayoutRepeated {
        /// Who asked.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// The payout that was already made.
        payout: PayoutId,
    },
    /// The gateway turned a payout away.
    PayoutRejected {
        /// Who asked.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// Why.
        why: Refusal,
    },
    /// A fault struck.
    FaultBegan {
        /// Which of the plan.
        fault: FaultId,
    },
    /// A fault healed.
    FaultEnded {
        /// Which of the plan.
        fault: FaultId,
    },
    /// What disciplines a node's clocks stepped its wall clock: a time daemon, or an agent of its host.
    ClockCorrected {
        /// By how much.
        by: Span,
    },
    /// A time daemon began to bend its node's clocks, or bends them by another rate from now on.
    ClockSlewed {
        /// By how much, in parts per billion; 0 for no longer.
        ppb: i32,
    },
    /// A time daemon gave up and ended: its clock was too far off to be believed.
    TimeDaemonExited,
    /// The process of a worker or an operator ended before its time: it was killed, or told to stop.
    WorkerDied,
    /// A service lost what it had written to disk since an instant: it has an older copy, or was behind.
    WritesLost {
        /// What it wrote later than this is gone.
        since: TrueTime,
    },
    /// A worker, or a copy of it, goes on from a snapshot of its machine, with the memory and by the clocks of then.
    WorkerRestored {
        /// Of which worker the snapshot was.
        of: NodeId,
        /// The beginning of the fault that took the snapshot.
        snapshot: EventId,
    },
    /// The network lost a message, and nobody is told.
    MessageDropped {
        /// Its number.
        message: MessageId,
        /// To whom it was.
        to: NodeId,
        /// Because of which fault of the plan.
        fault: FaultId,
    },
    /// The network takes longer for a message than its link would.
    MessageDelayed {
        /// Its number.
        message: MessageId,
        /// By how much; below zero if it is faster.
        by: Span,
        /// Because of which fault of the plan.
        fault: FaultId,
    },
    /// The network brings a request twice. The copy is a message of its own, and its answer is ignored.
    MessageRepeated {
        /// Its number.
        message: MessageId,
        /// To whom it is.
        to: NodeId,
        /// The copy's number.
        copy: MessageId,
        /// Because of which fault of the plan.
        fault: FaultId,
    },
    /// A worker goes on without an answer, after it waited as long as it does; one that comes later is ignored.
    CallTimedOut {
        /// The number of the request.
        message: MessageId,
        /// To whom it was.
        to: NodeId,
        /// What it was about, such as `ledger.write`.
        #[serde(deserialize_with = "crate::names::kept_of")]
        about: crate::names::Name,
    },
    /// A process that is throttled has used its quota up, and stalls.
    Throttled {
        /// By which fault of the plan.
        fault: FaultId,
    },
    /// A process that was throttled goes on: it has a new quota, or none any more.
    Unthrottled {
        /// By which fault of the plan.
        fault: FaultId,
    },
    /// A primary whose replica has taken its place served; see [`History::by_deposed`](super::History::by_deposed).
    DeposedServed {
        /// Whose request.
        worker: NodeId,
        /// By which fault of the plan it was deposed.
        fault: FaultId,
    },
    /// The lease store stopped dispatch, for an operator with a token above all that were handed out.
    DispatchStopped {
        /// Whose doing it is, as a holder of authority.
        claim: Claim,
    },
    /// The lease store chose who goes on with the settlement.
    WorkerElected {
        /// For whom.
        claim: Claim,
        /// Which worker; `None` if none was heard of.
        elected: Option<NodeId>,
    },
    /// The lease store lets dispatch go on.
    DispatchResumed {
        /// Whose doing it is.
        claim: Claim,
        /// Who comes first.
        elected: Option<NodeId>,
    },
    /// The ledger noted which operations are to be reconciled.
    GenerationMarked {
        /// For whom.
        claim: Claim,
        /// The first operation that isn't among them; all before it are.
        until: OpId,
    },
    /// The ledger marked an entry as superseded. It stays.
    EntrySuperseded {
        /// For whom.
        claim: Claim,
        /// Whose operation it was entered for.
        op: OpId,
        /// The entry.
        entry: EntryId,
        /// The entry that is canonical in its place.
        by: EntryId,
    },
    /// The ledger deleted an entry.
    EntryDeleted {
        /// For whom.
        claim: Claim,
        /// Whose operation it was entered for.
        op: OpId,
        /// The entry.
        entry: EntryId,
    },
    /// The ledger noted what an operator decided for an operation.
    OperationDecided {
        /// Who decided.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// What.
        decision: Decision,
        /// Why.
        why: Reason,
    },
    /// The ledger put its checkpoint where the canonical settlement goes on.
    CheckpointRebuilt {
        /// For whom.
        claim: Claim,
        /// The first operation that is not behind it.
        next: OpId,
    },
    /// The ledger marked an export as superseded. It stays.
    ExportSuperseded {
        /// For whom.
        claim: Claim,
        /// Which.
        export: ExportId,
    },
    /// An operator came to the end of its repair.
    RepairEnded {
        /// Under which authority.
        claim: Claim,
        /// For how many operations it can't tell what became of them.
        unresolved: u32,
    },
    /// An operator found that another one has taken over, and gives way.
    RepairLeft {
        /// Under which authority.
        claim: Claim,
    },
    /// The gateway shut out all lower tokens.
    GatewayFenced {
        /// For whom.
        claim: Claim,
        /// Whether it did: one that checks no tokens can't.
        fenced: bool,
    },
    /// The provider took a payout in, and will come to an end with it by itself.
    PayoutTakenIn {
        /// Which.
        payout: PayoutId,
        /// After how long it knows of it.
        known_in: Span,
        /// After how long it has settled or failed.
        decided_in: Span,
        /// Whether it will fail.
        fails: bool,
    },
    /// The provider answered what it has for an operation.
    PayoutsTold {
        /// To whom.
        claim: Claim,
        /// For which operation.
        op: OpId,
        /// How many payouts.
        payouts: u32,
        /// Whether it knows all of them.
        known: bool,
    },
    /// The provider called a payout back before the money moved.
    PayoutVoided {
        /// For whom.
        claim: Claim,
        /// For which operation it was.
        op: OpId,
        /// Which.
        payout: PayoutId,
    },
    /// The provider began to give back what a payout paid.
    RefundBegun {
        /// For whom.
        claim: Claim,
        /// For which operation it was.
        op: OpId,
        /// Which.
        payout: PayoutId,
        /// How long it takes.
        takes: Span,
        /// Whether it will fail.
        fails: bool,
    },
    /// The provider refused to call a payout back or to give it back.
    CompensationRefused {
        /// For whom.
        claim: Claim,
        /// For which operation it was.
        op: OpId,
        /// Which.
        payout: PayoutId,
        /// Because of what became of it.
        state: PayoutState,
    },
    /// The gateway turned an operator away.
    OperatorRejected {
        /// Who asked.
        claim: Claim,
        /// Why.
        why: Refusal,
    },
    /// A replica of the lease service leads from now on, as far as it knows.
    LeaderElected,
    /// The lease service took a lease away that had run out.
    LeaseRevoked {
        /// The holder.
        worker: NodeId,
        /// The grant.
        epoch: Epoch,
    },
    /// A worker wants something of a replicated lease service, whichever of its replicas it has to ask.
    LeaseAsked {
        /// Since it last came anew: a number for that.
        session: u64,
        /// Which of its requests since its process began.
        number: u32,
        /// What.
        ask: LeaseAsk,
    },
    /// A worker knows what came of what it wanted of a replicated lease service.
    LeaseTold {
        /// The number of the request; see [`What::LeaseAsked`].
        number: u32,
        /// What came of it.
        told: LeaseTold,
    },
    /// A service hangs in a write, because its disk takes none.
    WriteHung {
        /// By which fault of the plan.
        fault: FaultId,
    },
    /// A service no longer hangs in a write.
    WriteReturned {
        /// By which fault of the plan it did.
        fault: FaultId,
        /// Whether it is on disk, and the service goes on; else whoever hung is gone.
        written: bool,
    },
    /// A replica of the lease service found that writes are gone that it relies on, and takes part in nothing from then on.
    ReplicaStopped,
}
