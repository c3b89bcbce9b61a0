//! The entries of the ledger, and what became of each.

use crate::history::{Claim, Event, History, Role, What};
use crate::id::{Amount, EntryId, EventId, OpId};

/// An entry that the ledger took in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Its number.
    pub entry: EntryId,
    /// For which operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
    /// By whom, under which authority.
    pub claim: Claim,
    /// The event that took it in.
    pub event: EventId,
    /// What became of it.
    pub standing: Standing,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It stands.
    Stands,
    /// It is marked: another one is canonical.
    Superseded {
        /// Which.
        by: EntryId,
        /// The event that marked it.
        event: EventId,
    },
    /// It was deleted by this event.
    Deleted(EventId),
    /// The ledger lost it, by this event.
    Lost(EventId),
}

/// The entries among `events`, which are of `history` and in order, in the order of acceptance; about so `many`. What a
/// deposed ledger took in is in no ledger, and what it marked isn't marked.
pub(crate) fn entries<'a>(
    history: &History,
    events: impl Iterator<Item = (EventId, &'a Event)>,
    many: usize,
) -> Vec<Entered> {
    let mut entries: Vec<Entered> = Vec::with_capacity(many);
    let mut is_split = false;
    for (id, event) in events {
        match event.what {
            What::DeposedServed { .. } => is_split = true,
            _ if is_split && history.by_deposed(event) => {}
            What::WriteAccepted { claim, op, entry, amount } => {
                entries.push(Entered { entry, op, amount, claim, event: id, standing: Standing::Stands });
            }
            What::EntrySuperseded { entry, by, .. } => {
                mark(&mut entries, entry, Standing::Superseded { by, event: id });
            }
            What::EntryDeleted { entry, .. } => mark(&mut entries, entry, Standing::Deleted(id)),
            What::WritesLost { since } if history.is(event.node, Role::Ledger) => {
                for entered in &mut entries {
                    let is_lost = |id: EventId| history.event(id).at > since;
                    match entered.standing {
                        Standing::Lost(_) => {}
                        _ if is_lost(entered.event) => entered.standing = Standing::Lost(id),
                        // What marked it is lost, and it isn't.
                        Standing::Superseded { event, .. } | Standing::Deleted(event) if is_lost(event) => {
                            entered.standing = Standing::Stands;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    entries
}

/// A ledger that lost its newest entries uses their numbers again; whatever is said of a number is said of the newest.
fn mark(entries: &mut [Entered], number: EntryId, standing: Standing) {
    if let Some(entered) = entries.iter_mut().rev().find(|entered| entered.entry == number) {
        entered.standing = standing;
    }
}
