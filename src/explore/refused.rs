//! The write that one protocol's resources took and another's turned away.

use holdover_sim::check::Verdict;
use holdover_sim::history::{History, What};
use holdover_sim::id::{EventId, NodeId, OpId};

use crate::replay::JudgedRun;

/// Something that a worker asks of ledger or provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Fence,
    Entry(OpId),
    Checkpoint,
    Export,
    Payout(OpId),
}

/// A request that was turned away in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The event that tells of it.
    pub event: EventId,
    /// The event by which the other run's resource took the very same, if it did.
    pub accepted_as: Option<EventId>,
}

/// What `run` turned away that was accepted in `broken`: if possible what broke a rule there, or else the first that is the
/// same worker's same act; or else the first that it turned away at all.
pub fn refused(broken: Option<&JudgedRun>, run: &JudgedRun) -> Option<Refused> {
    let rejections: Vec<(EventId, NodeId, Act)> = acts(&run.history, true).collect();
    let same = broken.and_then(|broken| {
        let accepted: Vec<(EventId, NodeId, Act)> = acts(&broken.history, false).collect();
        let offending = offending(broken);
        let among = |only: bool| {
            rejections.iter().find_map(|(event, worker, act)| {
                let alike = accepted.iter().filter(|(accepted, of, other)| {
                    of == worker && other == act && (!only || offending.contains(accepted))
                });
                // A worker does some things again and again; what it does at the same time is the same.
                let at = run.history.event(*event).at;
                let apart =
                    |accepted: &EventId| (broken.history.event(*accepted).at - at).as_nanos().unsigned_abs();
                let (nearest, ..) = alike.min_by_key(|(accepted, ..)| apart(accepted))?;
                Some(Refused { event: *event, accepted_as: Some(*nearest) })
            })
        };
        among(true).or_else(|| among(false))
    });
    same.or_else(|| rejections.first().map(|(event, ..)| Refused { event: *event, accepted_as: None }))
}

/// The events that broke rules in a run.
fn offending(run: &JudgedRun) -> Vec<EventId> {
    let last = |verdict: &Verdict| match verdict {
        Verdict::Violated { witness, .. } => witness.events().last().copied(),
        _ => None,
    };
    run.verdicts.iter().filter_map(|(_, verdict)| last(verdict)).collect()
}

/// All that was accepted, or all that was `rejected`, with who asked for what.
fn acts(history: &History, rejected: bool) -> impl Iterator<Item = (EventId, NodeId, Act)> {
    history.numbered().filter_map(move |(id, event)| {
        let (act, was_rejected) = match event.what {
            What::GenerationOpened { .. } => (Act::Fence, false),
            What::FenceRejected { .. } => (Act::Fence, true),
            What::WriteAccepted { op, .. } => (Act::Entry(op), false),
            What::WriteRejected { op, .. } => (Act::Entry(op), true),
            What::CheckpointMoved { .. } => (Act::Checkpoint, false),
            What::CheckpointRejected { .. } => (Act::Checkpoint, true),
            What::ExportPublished { .. } => (Act::Export, false),
            What::ExportRejected { .. } => (Act::Export, true),
            What::PayoutMade { op, .. } => (Act::Payout(op), false),
            What::PayoutRejected { op, .. } => (Act::Payout(op), true),
            _ => return None,
        };
        let worker = event.what.worker()?;
        (was_rejected == rejected).then_some((id, worker, act))
    })
}
