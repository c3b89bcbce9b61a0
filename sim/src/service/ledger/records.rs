//! What a ledger keeps so that a settlement can be repaired: who entered what under which authority, what was published,
//! and what operators decided. Only worlds with an operator have it. Nothing is taken out of it but by whoever deletes.

use super::{Change, Ledger, LedgerResponse, LedgerUndo};
use crate::engine::ServiceContext;
use crate::history::{Claim, Decision, Reason, Row, What};
use crate::id::{Amount, EntryId, ExportId, LeaseId, NodeId, OpId, PayoutId, Token};

/// What an operator can ask of a ledger.
#[derive(Clone, Debug)]
pub enum LedgerRepair {
    /// Shut out all lower tokens, and everybody without one, from now on; say all that is known.
    TakeCharge,
    /// Note that the operations before this one are to be reconciled.
    Mark {
        /// The first operation that isn't.
        until: OpId,
    },
    /// Mark an entry as superseded.
    Supersede {
        /// The entry.
        entry: EntryId,
        /// The one that is canonical.
        by: EntryId,
    },
    /// Enter an amount for an operation that has no entry, or has only superseded ones.
    Enter {
        /// The operation.
        op: OpId,
        /// The amount.
        amount: Amount,
    },
    /// Delete an entry.
    Delete {
        /// Which.
        entry: EntryId,
    },
    /// Note what was decided for an operation.
    Decide {
        /// The operation.
        op: OpId,
        /// What.
        decision: Decision,
        /// Why.
        why: Reason,
    },
    /// Go on behind these rows.
    SetCheckpoint {
        /// The rows of the first operations, in their order.
        rows: Vec<Row>,
    },
    /// Mark an export as superseded.
    SupersedeExport {
        /// Which.
        export: ExportId,
    },
    /// Publish an export, unless there is the same already.
    Publish {
        /// Its rows.
        rows: Vec<Row>,
    },
    /// Note that the repair has come to an end.
    End {
        /// For how many operations it can't tell what became of them.
        unresolved: u32,
    },
}

/// An entry with what it was made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRecord {
    /// Its number.
    pub entry: EntryId,
    /// For which operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
    /// By whom.
    pub worker: NodeId,
    /// What it presented as its lease.
    pub lease: LeaseId,
    /// The token that it presented.
    pub token: Option<Token>,
    /// Whether another entry is canonical.
    pub is_superseded: bool,
}

/// A published export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRecord {
    /// Which.
    pub export: ExportId,
    /// What it says.
    pub rows: Vec<Row>,
    /// Whether another export is canonical.
    pub is_superseded: bool,
}

/// What operators have decided for one operation so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpFile {
    /// The payout that stays.
    pub keep: Option<PayoutId>,
    /// The payouts that are taken back, or shall be.
    pub taken_back: Vec<PayoutId>,
    /// How often the operators had to pay.
    pub submitted: u16,
    /// The decision that was noted last.
    pub last: Option<(Decision, Reason)>,
}

impl OpFile {
    /// Adds a decision.
    pub fn note(&mut self, decision: Decision, why: Reason) {
        match decision {
            Decision::Keep(payout) | Decision::Close(payout) => self.keep = Some(payout),
            Decision::Submit(nth) => {
                self.keep = None;
                self.submitted = self.submitted.max(nth.saturating_add(1));
            }
            Decision::Void(payout) | Decision::Refund(payout) => {
                if !self.taken_back.contains(&payout) {
                    self.taken_back.push(payout);
                }
            }
            Decision::AskAgain | Decision::GiveUp => {}
        }
        self.last = Some((decision, why));
    }
}

/// What a ledger knows, for an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The entries in the order of acceptance.
    pub entries: Vec<EntryRecord>,
    /// What was decided so far, by operation.
    pub files: Vec<OpFile>,
    /// The exports in the order of publishing.
    pub exports: Vec<ExportRecord>,
    /// The rows behind the checkpoint.
    pub rows: Vec<Row>,
}

/// The records of a ledger.
#[derive(Clone, Debug)]
pub(super) struct Records {
    entries: Vec<EntryRecord>,
    files: Vec<OpFile>,
    exports: Vec<ExportRecord>,
}

impl Records {
    fn new(operations: usize) -> Records {
        Records { entries: Vec::new(), files: vec![OpFile::default(); operations], exports: Vec::new() }
    }
}

impl Ledger {
    /// The same ledger, which keeps records from now on.
    pub(crate) fn with_records(self) -> Ledger {
        let records = Some(Box::new(Records::new(self.book.entry_of.len())));
        Ledger { records, ..self }
    }

    fn note_records(&mut self) {
        let Some(records) = &self.records else { return };
        self.journal.note(|| LedgerUndo(Change::Records(records.clone())));
    }

    pub(super) fn keep_entry(&mut self, claim: Claim, lease: LeaseId, op: OpId, amount: Amount, entry: EntryId) {
        self.note_records();
        if let Some(records) = &mut self.records {
            let (worker, token, is_superseded) = (claim.worker, claim.token, false);
            records.entries.push(EntryRecord { entry, op, amount, worker, lease, token, is_superseded });
        }
    }

    pub(super) fn keep_published(&mut self, export: ExportId, rows: Vec<Row>) {
        self.note_records();
        if let Some(records) = &mut self.records {
            records.exports.push(ExportRecord { export, rows, is_superseded: false });
        }
    }

    pub(super) fn account(&self) -> Account {
        let rows = self.checkpoint().rows;
        match self.records.as_deref().cloned() {
            Some(Records { entries, files, exports }) => Account { entries, files, exports, rows },
            None => Account { rows, ..Account::default() },
        }
    }

    /// Does what an operator asks that the door has let in.
    pub(super) fn repair(
        &mut self,
        claim: Claim,
        lease: LeaseId,
        request: LedgerRepair,
        context: &ServiceContext<'_>,
    ) -> LedgerResponse {
        self.note_records();
        match request {
            LedgerRepair::TakeCharge => {
                context.record(|| What::GenerationOpened { claim, next: self.book.next });
                return LedgerResponse::Account(Box::new(self.account()));
            }
            LedgerRepair::Mark { until } => {
                context.record(|| What::GenerationMarked { claim, until });
            }
            LedgerRepair::Supersede { entry, by } => self.supersede(claim, entry, by, context),
            LedgerRepair::Enter { op, amount } => {
                return LedgerResponse::Entered(self.enter_missing(claim, lease, op, amount, context));
            }
            LedgerRepair::Delete { entry } => self.delete(claim, entry, context),
            LedgerRepair::Decide { op, decision, why } => {
                if let Some(file) = self.records.as_mut().and_then(|records| records.files.get_mut(op.index())) {
                    file.note(decision, why);
                }
                context.record(|| What::OperationDecided { claim, op, decision, why });
            }
            LedgerRepair::SetCheckpoint { rows } => self.set_checkpoint(claim, rows, context),
            LedgerRepair::SupersedeExport { export } => self.supersede_export(claim, export, context),
            LedgerRepair::Publish { rows } => {
                let exports = self.records.iter().flat_map(|records| &records.exports);
                if !exports.into_iter().any(|record| !record.is_superseded && record.rows == rows) {
                    self.publish(claim, rows, context);
                }
            }
            LedgerRepair::End { unresolved } => {
                context.record(|| What::RepairEnded { claim, unresolved });
            }
        }
        LedgerResponse::Done
    }

    fn supersede(&mut self, claim: Claim, entry: EntryId, by: EntryId, context: &ServiceContext<'_>) {
        let entries = self.records.iter_mut().flat_map(|records| &mut records.entries);
        if let Some(record) = entries.into_iter().find(|record| record.entry == entry && !record.is_superseded) {
            record.is_superseded = true;
            let op = record.op;
            self.journal.note(|| LedgerUndo(Change::FirstEntry(op, self.book.entry_of[op.index()])));
            self.book.entry_of[op.index()] = Some(by);
            context.record(|| What::EntrySuperseded { claim, op, entry, by });
        }
    }

    fn enter_missing(
        &mut self,
        claim: Claim,
        lease: LeaseId,
        op: OpId,
        amount: Amount,
        context: &ServiceContext<'_>,
    ) -> EntryId {
        let entries = self.records.iter().flat_map(|records| &records.entries);
        match entries.into_iter().find(|record| record.op == op && !record.is_superseded) {
            Some(record) => {
                let entry = record.entry;
                context.record(|| What::WriteRepeated { claim, op, entry });
                entry
            }
            None => {
                self.journal.note(|| LedgerUndo(Change::FirstEntry(op, self.book.entry_of[op.index()])));
                self.book.entry_of[op.index()] = None;
                self.write(claim, lease, op, amount, context)
            }
        }
    }

    fn delete(&mut self, claim: Claim, entry: EntryId, context: &ServiceContext<'_>) {
        let Some(records) = &mut self.records else { return };
        let Some(index) = records.entries.iter().position(|record| record.entry == entry) else { return };
        let EntryRecord { op, .. } = records.entries.remove(index);
        let left = records.entries.iter().find(|record| record.op == op).map(|record| record.entry);
        self.journal.note(|| LedgerUndo(Change::FirstEntry(op, self.book.entry_of[op.index()])));
        self.book.entry_of[op.index()] = left;
        context.record(|| What::EntryDeleted { claim, op, entry });
    }

    fn set_checkpoint(&mut self, claim: Claim, rows: Vec<Row>, context: &ServiceContext<'_>) {
        self.journal.note(|| LedgerUndo(Change::Rows(self.book.rows.clone(), self.book.next)));
        let next = OpId(rows.len() as u32);
        self.book.rows.fill(None);
        for row in rows {
            self.book.rows[row.op.index()] = Some(row);
        }
        self.book.next = next;
        context.record(|| What::CheckpointRebuilt { claim, next });
    }

    fn supersede_export(&mut self, claim: Claim, export: ExportId, context: &ServiceContext<'_>) {
        let Some(records) = &mut self.records else { return };
        let known = records.exports.iter_mut().find(|record| record.export == export && !record.is_superseded);
        if let Some(record) = known {
            record.is_superseded = true;
            let is_published = records.exports.iter().any(|record| !record.is_superseded);
            let before = std::mem::replace(&mut self.book.published, is_published);
            self.journal.note(|| LedgerUndo(Change::Export(before)));
            context.record(|| What::ExportSuperseded { claim, export });
        }
    }
}
