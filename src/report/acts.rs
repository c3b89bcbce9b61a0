//! What ledger and provider did for workers, and how it stands out.

use holdover_sim::history::{Claim, Event, History, Role, What};
use holdover_sim::id::{Epoch, EventId, ExportId, NodeId, OpId};
use holdover_sim::time::TrueTime;

/// Something that a worker asked the ledger or the provider for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    /// The event by which it was done, or turned away.
    pub(super) event: EventId,
    /// When.
    pub(super) at: TrueTime,
    /// By whom.
    pub(super) service: NodeId,
    /// For whom.
    pub(super) claim: Claim,
    /// What.
    pub(super) deed: Deed,
    /// How it stands out.
    pub(super) standing: Standing,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// To open a generation.
    Fence,
    /// To enter an operation.
    Entry(OpId),
    /// To move the checkpoint.
    Checkpoint,
    /// To publish an export.
    Export,
    /// To pay an operation.
    Payout(OpId),
}

/// How an act stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// It was done, as it should be.
    Done,
    /// It was asked for again, and not done again.
    Known,
    /// It was turned away.
    Rejected,
    /// It was done although it had been done: entered or paid twice, or exported in another way.
    Again,
    /// It was done for a worker whose authority was gone.
    Stale,
}

/// The acts of a run, in order.
pub(super) struct Acts(Vec<Act>);

impl Acts {
    /// Those of `history`.
    pub(super) fn of(history: &History) -> Acts {
        let mut books = Books::new(history);
        Acts(history.numbered().filter_map(|(id, event)| books.act(id, event)).collect())
    }

    /// How the event `id` stands out; what is no act doesn't.
    pub(super) fn standing(&self, id: EventId) -> Standing {
        let place = self.0.binary_search_by_key(&id, |act| act.event);
        place.map_or(Standing::Done, |place| self.0[place].standing)
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Act] {
        &self.0
    }
}

/// What is known of ledger and provider up to an event.
struct Books<'a> {
    history: &'a History,
    /// The highest epoch under which the ledger accepted anything.
    newest_accepted: Option<Epoch>,
    /// When each operation was entered that the ledger knows of.
    entered: Vec<Option<TrueTime>>,
    paid: Vec<bool>,
    first_export: Option<ExportId>,
}

impl<'a> Books<'a> {
    fn new(history: &'a History) -> Books<'a> {
        let (entered, paid) = (vec![None; history.batch.len()], vec![false; history.batch.len()]);
        Books { history, newest_accepted: None, entered, paid, first_export: None }
    }

    fn act(&mut self, id: EventId, event: &Event) -> Option<Act> {
        use Standing::{Done, Known, Rejected};
        let (deed, standing) = match event.what {
            What::WritesLost { since } if self.history.is(event.node, Role::Ledger) => {
                for entered in &mut self.entered {
                    *entered = entered.filter(|at| *at <= since);
                }
                return None;
            }
            What::GenerationOpened { claim, .. } => {
                self.newest_accepted = self.newest_accepted.max(Some(claim.epoch));
                (Deed::Fence, Done)
            }
            What::FenceRejected { .. } => (Deed::Fence, Rejected),
            What::WriteAccepted { claim, op, .. } => {
                // A deposed ledger's entry is in none of the books that are left.
                let deposed = self.history.by_deposed(event);
                let again = !deposed && self.entered[op.index()].replace(event.at).is_some();
                (Deed::Entry(op), self.accepted(claim, again))
            }
            What::WriteRepeated { op, .. } => (Deed::Entry(op), Known),
            What::WriteRejected { op, .. } => (Deed::Entry(op), Rejected),
            What::CheckpointMoved { claim, .. } => (Deed::Checkpoint, self.accepted(claim, false)),
            What::CheckpointRejected { .. } => (Deed::Checkpoint, Rejected),
            What::ExportPublished { claim, export } => {
                let first = *self.first_export.get_or_insert(export);
                let differs = self.history.exports[first.index()] != self.history.exports[export.index()];
                let standing = self.accepted(claim, false);
                (Deed::Export, if differs { Standing::Again } else { standing })
            }
            What::ExportRejected { .. } => (Deed::Export, Rejected),
            What::PayoutMade { op, .. } => {
                let again = std::mem::replace(&mut self.paid[op.index()], true);
                (Deed::Payout(op), if again { Standing::Again } else { Done })
            }
            What::PayoutRepeated { op, .. } => (Deed::Payout(op), Known),
            What::PayoutRejected { op, .. } => (Deed::Payout(op), Rejected),
            _ => return None,
        };
        let claim = event.what.claim()?;
        Some(Act { event: id, at: event.at, service: event.node, claim, deed, standing })
    }

    /// How a mutation that was accepted stands out.
    fn accepted(&mut self, claim: Claim, again: bool) -> Standing {
        let stale = self.newest_accepted.is_some_and(|newest| newest > claim.epoch);
        self.newest_accepted = self.newest_accepted.max(Some(claim.epoch));
        match (stale, again) {
            (true, _) => Standing::Stale,
            (false, true) => Standing::Again,
            (false, false) => Standing::Done,
        }
    }
}
