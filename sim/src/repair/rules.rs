//! What operators go by, as a registry: the right way, and a wrong one that looks right.

use std::fmt;
use std::panic::RefUnwindSafe;

use super::decide::{self, Facts};
use crate::history::{Decision, Reason};
use crate::id::{EntryId, OpId, Token};
use crate::service::ledger::EntryRecord;
use crate::service::provider::Reference;

/// What an operator goes by. The defaults are the right way.
pub trait Procedure: Sync + RefUnwindSafe {
    /// The name that scenarios and reports use.
    fn name(&self) -> &'static str;

    /// One sentence on what it does.
    fn summary(&self) -> &'static str;

    /// What to do next about an operation, and why.
    fn next(&self, facts: &Facts<'_>) -> (Decision, Reason) {
        decide::next(facts)
    }

    /// What the provider files an attempt to pay under; whoever asks, whenever, for the same it must be the same.
    fn reference(&self, op: OpId, attempt: u16, _token: Option<Token>) -> Reference {
        Reference { op, attempt }
    }

    /// Whether it looks at all payouts once more when nothing seems left to do.
    fn looks_again(&self) -> bool {
        true
    }

    /// Whether it puts the checkpoint where the canonical settlement goes on.
    fn sets_checkpoint(&self) -> bool {
        true
    }

    /// The entries that it deletes, in place of reconciling anything; none for reconciling.
    fn deletes(&self, _entries: &[EntryRecord]) -> Vec<EntryId> {
        Vec::new()
    }
}

/// Reconciles each operation with the provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reconcile;

impl Procedure for Reconcile {
    fn name(&self) -> &'static str {
        "reconcile"
    }

    fn summary(&self) -> &'static str {
        "fences, marks what is superseded, and has each operation paid exactly once by what the provider says of it"
    }
}

/// Deletes what the earlier of two workers entered after the other one had begun, and asks nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteOneWorkersRecords;

impl Procedure for DeleteOneWorkersRecords {
    fn name(&self) -> &'static str {
        "delete-one-workers-records"
    }

    fn summary(&self) -> &'static str {
        "a trap: deletes what the old worker entered after another one had begun, and asks no provider"
    }

    fn deletes(&self, entries: &[EntryRecord]) -> Vec<EntryId> {
        let Some(old) = entries.first().map(|record| record.worker) else { return Vec::new() };
        let since_another_began = entries.iter().skip_while(|record| record.worker == old);
        since_another_began.filter(|record| record.worker == old).map(|record| record.entry).collect()
    }
}

/// Every procedure that comes along.
pub const PROCEDURES: &[&dyn Procedure] = &[&Reconcile, &DeleteOneWorkersRecords];

/// The procedure of this name.
pub fn find(name: &str) -> Option<Chosen> {
    PROCEDURES.iter().find(|procedure| procedure.name() == name).map(|procedure| Chosen(*procedure))
}

/// The procedure that a world's operators go by. Two are the same if their names are.
#[derive(Clone, Copy)]
pub struct Chosen(pub &'static dyn Procedure);

impl PartialEq for Chosen {
    fn eq(&self, other: &Chosen) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for Chosen {}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chosen").field(&self.0.name()).finish()
    }
}
