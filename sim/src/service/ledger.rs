//! The ledger: the mutation store of the settlement.
//!
//! It keeps the entries, the checkpoint and the published exports, and a [`Door`] decides who may mutate. To check and
//! to write is one atomic step, unless [`LedgerRules::check_to_write`] says otherwise.

mod records;

pub use records::{Account, EntryRecord, ExportRecord, LedgerRepair, OpFile};

use self::records::Records;
use super::door::{Door, HighestToken};
use crate::engine::{Answer, Journal, Service, ServiceContext};
use crate::history::{Claim, Refusal, Row, What};
use crate::id::{Amount, EntryId, LeaseId, OpId, Token};
use crate::time::Span;

/// How a ledger goes about it.
pub struct LedgerRules {
    /// Who may mutate.
    pub door: Box<dyn Door>,
    /// Whether an operation has one entry at the most; writing it again then finds the entry that is there.
    pub one_entry_per_operation: bool,
    /// How long after the door was passed a mutation is made. Zero means that both are one atomic step; anything else is
    /// an application that checks first and writes later. A fence changes nothing but what the door knows, so it has
    /// nothing to put off and can come in between.
    pub check_to_write: Span,
}

/// What the ledger can be asked.
#[derive(Clone, Debug)]
pub enum LedgerRequest {
    /// Shut out all lower tokens, open a generation and say where to go on.
    Fence,
    /// Say where to go on.
    ReadCheckpoint,
    /// Enter an amount for an operation.
    Write {
        /// The operation.
        op: OpId,
        /// The amount.
        amount: Amount,
    },
    /// Put the checkpoint behind an operation.
    MoveCheckpoint {
        /// What is known of the operation.
        row: Row,
    },
    /// Publish an export of the settlement.
    Publish {
        /// Its rows.
        rows: Vec<Row>,
    },
    /// What an operator asks.
    Repair(LedgerRepair),
}

/// What the ledger answers when it doesn't refuse. Small, because it is moved about.
#[derive(Clone, Debug, PartialEq, Eq)]
// As in a lease store's answers.
#[repr(u64)]
pub enum LedgerResponse {
    /// To a fence and to reading the checkpoint.
    Checkpoint(Box<Checkpoint>),
    /// To a write: the operation's entry.
    Entered(EntryId),
    /// To an operator that takes charge.
    Account(Box<Account>),
    /// To the others.
    Done,
}

/// Where a settlement goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// What is known of the operations behind it, in their order; the next operation is the first without a row.
    pub rows: Vec<Row>,
    /// Whether an export was published: nothing is left to do.
    pub published: bool,
}

/// What a ledger has entered and published.
#[derive(Clone, Debug)]
struct Book {
    entries: u32,
    /// The first entry of each operation.
    entry_of: Vec<Option<EntryId>>,
    /// What was known of each operation when the checkpoint was put behind it.
    rows: Vec<Option<Row>>,
    next: OpId,
    published: bool,
}

/// How to take back one change of what a ledger keeps on disk: its book, and what its door knows.
pub struct LedgerUndo(Change);

/// A change, with what was there before.
enum Change {
    /// Somebody came to the door.
    Door(Box<dyn Door>),
    /// An entry was made for an operation, whose first one is here.
    Entry(OpId, Option<EntryId>),
    /// The checkpoint was put behind an operation.
    Checkpoint { op: OpId, row: Option<Row>, next: OpId },
    /// An export was published or superseded; here is whether one was before.
    Export(bool),
    /// An operator made another entry the first one of an operation, whose first one is here.
    FirstEntry(OpId, Option<EntryId>),
    /// An operator put the checkpoint elsewhere.
    Rows(Vec<Option<Row>>, OpId),
    /// The records changed.
    Records(Box<Records>),
}

/// The ledger.
pub struct Ledger {
    rules: LedgerRules,
    book: Book,
    /// Only worlds with an operator have them.
    records: Option<Box<Records>>,
    journal: Journal<LedgerUndo>,
}

/// A request with the authority that it is made under.
#[derive(Clone, Debug)]
pub struct Signed {
    pub(crate) claim: Claim,
    pub(crate) lease: LeaseId,
    pub(crate) request: LedgerRequest,
}

impl Ledger {
    /// An empty ledger for a settlement of `operations` operations.
    pub fn new(rules: LedgerRules, operations: usize) -> Ledger {
        let book = Book {
            entries: 0,
            entry_of: vec![None; operations],
            rows: vec![None; operations],
            next: OpId(0),
            published: false,
        };
        Ledger { rules, book, records: None, journal: Journal::default() }
    }

    /// What it has on disk, to be compared.
    #[cfg(test)]
    pub(crate) fn disk(&self) -> String {
        format!("{:?} {:?} {:?}", self.book, self.records, super::door::admits(&*self.rules.door))
    }

    fn checkpoint(&self) -> Checkpoint {
        let Book { rows, next, published, .. } = &self.book;
        Checkpoint { rows: rows[..next.index()].iter().map_while(|row| *row).collect(), published: *published }
    }

    /// Puts a door in the place of the one that is there that nobody with a lower token passes, or none at all.
    fn shut_out_below(&mut self, token: Token) -> Result<(), Refusal> {
        match self.rules.door.highest() {
            Some(highest) if highest > token => Err(Refusal::TokenTooLow { highest }),
            _ => {
                self.rules.door = Box::new(HighestToken::above(token));
                Ok(())
            }
        }
    }

    /// Does what the door has let in.
    fn apply(&mut self, Signed { claim, lease, request }: Signed, context: &ServiceContext<'_>) -> LedgerResponse {
        match request {
            LedgerRequest::Fence => {
                context.record(|| What::GenerationOpened { claim, next: self.book.next });
                LedgerResponse::Checkpoint(Box::new(self.checkpoint()))
            }
            LedgerRequest::ReadCheckpoint => {
                context.record(|| What::CheckpointRead { claim, next: self.book.next });
                LedgerResponse::Checkpoint(Box::new(self.checkpoint()))
            }
            LedgerRequest::Write { op, amount } => {
                LedgerResponse::Entered(self.write(claim, lease, op, amount, context))
            }
            LedgerRequest::MoveCheckpoint { row } => {
                let op = row.op;
                let before = self.book.rows[op.index()].replace(row);
                let next = std::mem::replace(&mut self.book.next, OpId(op.0 + 1));
                self.journal.note(|| LedgerUndo(Change::Checkpoint { op, row: before, next }));
                context.record(|| What::CheckpointMoved { claim, next: self.book.next });
                LedgerResponse::Done
            }
            LedgerRequest::Publish { rows } => {
                self.publish(claim, rows, context);
                LedgerResponse::Done
            }
            LedgerRequest::Repair(request) => self.repair(claim, lease, request, context),
        }
    }

    fn publish(&mut self, claim: Claim, rows: Vec<Row>, context: &ServiceContext<'_>) {
        let kept = self.records.is_some().then(|| rows.clone());
        let export = context.keep_export(rows);
        if let Some(rows) = kept {
            self.keep_published(export, rows);
        }
        let before = std::mem::replace(&mut self.book.published, true);
        self.journal.note(|| LedgerUndo(Change::Export(before)));
        context.record(|| What::ExportPublished { claim, export });
    }

    fn write(
        &mut self,
        claim: Claim,
        lease: LeaseId,
        op: OpId,
        amount: Amount,
        context: &ServiceContext<'_>,
    ) -> EntryId {
        let first = &mut self.book.entry_of[op.index()];
        if let Some(entry) = *first
            && self.rules.one_entry_per_operation
        {
            context.record(|| What::WriteRepeated { claim, op, entry });
            return entry;
        }
        self.journal.note(|| LedgerUndo(Change::Entry(op, *first)));
        self.book.entries += 1;
        let entry = EntryId(self.book.entries);
        first.get_or_insert(entry);
        self.keep_entry(claim, lease, op, amount, entry);
        context.record(|| What::WriteAccepted { claim, op, entry, amount });
        entry
    }
}

fn rejected(claim: Claim, request: &LedgerRequest, why: Refusal) -> What {
    match *request {
        LedgerRequest::Fence | LedgerRequest::ReadCheckpoint => What::FenceRejected { claim, why },
        LedgerRequest::Write { op, .. } => What::WriteRejected { claim, op, why },
        LedgerRequest::MoveCheckpoint { .. } => What::CheckpointRejected { claim, why },
        LedgerRequest::Publish { .. } => What::ExportRejected { claim, why },
        LedgerRequest::Repair(_) => What::FenceRejected { claim, why },
    }
}

impl Service for Ledger {
    type Request = Signed;
    type Response = Result<LedgerResponse, Box<Refusal>>;
    type Undo = LedgerUndo;

    fn about(signed: &Signed) -> &'static str {
        match signed.request {
            LedgerRequest::Fence => "ledger.fence",
            LedgerRequest::ReadCheckpoint => "ledger.read-checkpoint",
            LedgerRequest::Write { .. } => "ledger.write",
            LedgerRequest::MoveCheckpoint { .. } => "ledger.move-checkpoint",
            LedgerRequest::Publish { .. } => "ledger.publish",
            LedgerRequest::Repair(LedgerRepair::TakeCharge) => "ledger.take-charge",
            LedgerRequest::Repair(_) => "ledger.repair",
        }
    }

    #[inline(always)]
    fn handle(&mut self, signed: Signed, context: &ServiceContext<'_>) -> Answer<Ledger> {
        let (claim, request) = (signed.claim, &signed.request);
        // Reading changes nothing, so anybody may.
        if !matches!(request, LedgerRequest::ReadCheckpoint) {
            self.journal.note(|| LedgerUndo(Change::Door(self.rules.door.copy())));
            let admitted = match (request, claim.token) {
                (LedgerRequest::Repair(LedgerRepair::TakeCharge), Some(token)) => self.shut_out_below(token),
                _ => self.rules.door.admit(claim.token),
            };
            if let Err(why) = admitted {
                context.record(|| rejected(claim, request, why));
                return Answer::Now(Err(Box::new(why)));
            }
        }
        let is_put_off = matches!(
            request,
            LedgerRequest::Write { .. } | LedgerRequest::MoveCheckpoint { .. } | LedgerRequest::Publish { .. }
        );
        if self.rules.check_to_write == Span::ZERO || !is_put_off {
            let Signed { claim, lease, ref request } = signed;
            // Apart from the others, because most requests are this one.
            return Answer::Now(Ok(match *request {
                LedgerRequest::Write { op, amount } => {
                    LedgerResponse::Entered(self.write(claim, lease, op, amount, context))
                }
                _ => self.apply(signed, context),
            }));
        }
        Answer::After(
            self.rules.check_to_write,
            Box::new(move |ledger: &mut Ledger, context| Ok(ledger.apply(signed, context))),
        )
    }

    fn crash(&mut self) {
        self.rules.door.crash();
    }

    fn journal(&mut self) -> &mut Journal<LedgerUndo> {
        &mut self.journal
    }

    fn undo(&mut self, LedgerUndo(change): LedgerUndo) {
        match change {
            Change::Door(door) => self.rules.door = door,
            Change::Entry(op, first) => {
                self.book.entries -= 1;
                self.book.entry_of[op.index()] = first;
            }
            Change::Checkpoint { op, row, next } => {
                self.book.rows[op.index()] = row;
                self.book.next = next;
            }
            Change::Export(published) => self.book.published = published,
            Change::FirstEntry(op, first) => self.book.entry_of[op.index()] = first,
            Change::Rows(rows, next) => (self.book.rows, self.book.next) = (rows, next),
            Change::Records(records) => self.records = Some(records),
        }
    }

    fn has_written(&self, LedgerUndo(change): &LedgerUndo) -> bool {
        match change {
            Change::Door(before) => before.highest() != self.rules.door.highest(),
            _ => true,
        }
    }

    fn fork(&self) -> Ledger {
        let rules = LedgerRules { door: self.rules.door.copy(), ..self.rules };
        let (book, records) = (self.book.clone(), self.records.clone());
        Ledger { rules, book, records, journal: Journal::default() }
    }
}
