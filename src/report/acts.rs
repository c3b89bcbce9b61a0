//! What ledger and provider did for workers, and how it stands out.

use holdover_sim::history::{Claim, Event, History, Role, What};
use holdover_sim::id::{Epoch, EventId, ExportId, NodeId, OpId};
use holdover_sim::time::TrueTime;

use super::books::Books;

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
        let mut reader = Reader::new(history);
        Acts(history.numbered().filter_map(|(id, event)| reader.act(id, event)).collect())
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

/// Reads a history, with what the books have up to an event.
struct Reader<'a> {
    history: &'a History,
    /// The highest epoch under which the ledger accepted anything.
    newest_accepted: Option<Epoch>,
    books: Books,
}

impl<'a> Reader<'a> {
    fn new(history: &'a History) -> Reader<'a> {
        Reader { history, newest_accepted: None, books: Books::of(history) }
    }

    /// The act that `event` is, if it is one.
    fn act(&mut self, id: EventId, event: &Event) -> Option<Act> {
        use Standing::{Done, Known, Rejected};
        let (deed, standing) = match event.what {
            What::GenerationOpened { claim, .. } => {
                self.newest_accepted = self.newest_accepted.max(Some(claim.epoch));
                (Deed::Fence, Done)
            }
            What::FenceRejected { .. } => (Deed::Fence, Rejected),
            What::WriteAccepted { claim, op, entry, .. } => {
                // A deposed ledger's entry is in none of the books that are left.
                let again = !self.history.by_deposed(event) && self.books.enter(op, entry, event.at);
                (Deed::Entry(op), self.accepted(claim, again))
            }
            What::WriteRepeated { op, .. } => (Deed::Entry(op), Known),
            What::WriteRejected { op, .. } => (Deed::Entry(op), Rejected),
            What::CheckpointMoved { claim, .. } => (Deed::Checkpoint, self.accepted(claim, false)),
            What::CheckpointRejected { .. } => (Deed::Checkpoint, Rejected),
            What::ExportPublished { claim, export } => {
                let rows = |export: ExportId| &self.history.exports[export.index()];
                let differs = self.books.publish(export).is_some_and(|first| rows(first) != rows(export));
                let standing = self.accepted(claim, false);
                (Deed::Export, if differs { Standing::Again } else { standing })
            }
            What::ExportRejected { .. } => (Deed::Export, Rejected),
            What::PayoutMade { op, .. } => {
                let again = self.books.is_paid(op, id, event.at);
                (Deed::Payout(op), if again { Standing::Again } else { Done })
            }
            What::PayoutRepeated { op, .. } => (Deed::Payout(op), Known),
            What::PayoutRejected { op, .. } => (Deed::Payout(op), Rejected),
            _ => {
                self.amend(event);
                return None;
            }
        };
        let claim = event.what.claim()?;
        Some(Act { event: id, at: event.at, service: event.node, claim, deed, standing })
    }

    /// Notes what takes something out of the books, or marks it there.
    fn amend(&mut self, event: &Event) {
        match event.what {
            What::WritesLost { since } if self.history.is(event.node, Role::Ledger) => self.books.lose(since),
            // What a deposed ledger does changes none of the books that are left.
            What::EntrySuperseded { op, entry, .. } | What::EntryDeleted { op, entry, .. }
                if !self.history.by_deposed(event) =>
            {
                self.books.strike_out(op, entry);
            }
            What::ExportSuperseded { export, .. } if !self.history.by_deposed(event) => {
                self.books.supersede(export);
            }
            _ => {}
        }
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
