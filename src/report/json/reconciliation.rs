//! How a repair went, for programs: all that the text report says, and each operation in full.

use holdover_sim::history::{
    Decided, Decision, Entered, History, Payout, PayoutEnd, Published, Reason, Reconciled, Resolution, Standing,
    Sums, Totals, Turn, TurnEnd, What, reconciliation,
};
use holdover_sim::id::{Amount, EntryId, EventId, ExportId, NodeId, OpId, PayoutId, Token};
use holdover_sim::time::TrueTime;
use serde::Serialize;

use super::super::repair::phrases;
use super::super::words;

#[derive(Serialize)]
pub(super) struct ReconciliationDocument<'a> {
    turns: Vec<TurnDocument<'a>>,
    operations: Vec<OperationDocument<'a>>,
    exports: Vec<ExportDocument<'a>>,
    totals: TotalsDocument,
    sums: SumsDocument,
}

/// An event, and when it was.
#[derive(Serialize)]
struct When {
    at: TrueTime,
    utc: String,
    event: EventId,
}

#[derive(Serialize)]
struct TurnDocument<'a> {
    operator: &'a str,
    token: Option<Token>,
    dispatch_stopped: When,
    ledger_fenced: Option<When>,
    /// False if it checks no tokens; nothing if it didn't answer.
    gateway_fenced: Option<bool>,
    elected: Option<&'a str>,
    /// How many operations it marked as affected.
    marked: Option<u32>,
    dispatch_resumed: Option<When>,
    end: &'static str,
    ended: Option<When>,
    unresolved: Option<u32>,
}

#[derive(Serialize)]
struct OperationDocument<'a> {
    op: OpId,
    amount: Amount,
    resolution: &'static str,
    /// Why it isn't closed, if an operator said so.
    reason: Option<Reason>,
    reason_text: Option<&'static str>,
    /// The entry that stands, if one does.
    canonical: Option<EntryId>,
    /// The payout that operators chose to stay.
    stays: Option<PayoutId>,
    /// How many payouts count in the end.
    effects: usize,
    /// Whether it has one entry that stands and one effect, each of the right amount.
    balanced: bool,
    entries: Vec<EntryDocument<'a>>,
    payouts: Vec<PayoutDocument<'a>>,
    decisions: Vec<DecisionDocument<'a>>,
}

#[derive(Serialize)]
struct EntryDocument<'a> {
    entry: EntryId,
    worker: &'a str,
    token: Option<Token>,
    amount: Amount,
    accepted: When,
    standing: &'static str,
    superseded_by: Option<EntryId>,
    /// What changed how it stands.
    changed: Option<When>,
}

#[derive(Serialize)]
struct PayoutDocument<'a> {
    payout: PayoutId,
    worker: &'a str,
    token: Option<Token>,
    amount: Amount,
    made: When,
    end: &'static str,
    /// When it settled or failed, or would have.
    decided_at: TrueTime,
    decided_utc: String,
    /// Who took it back, and what began that.
    taken_back_by: Option<&'a str>,
    taken_back: Option<When>,
    refunds_failed: u32,
}

#[derive(Serialize)]
struct DecisionDocument<'a> {
    operator: &'a str,
    noted: When,
    decision: &'static str,
    payout: Option<PayoutId>,
    /// Which of several attempts to pay, from 0.
    attempt: Option<u16>,
    reason: Reason,
    reason_text: &'static str,
}

#[derive(Serialize)]
struct ExportDocument<'a> {
    export: ExportId,
    worker: &'a str,
    rows: usize,
    total: Amount,
    published: When,
    superseded: Option<When>,
}

#[derive(Serialize)]
struct TotalsDocument {
    operations: usize,
    affected: usize,
    entries_superseded: usize,
    entries_deleted: usize,
    entries_made_up_for: usize,
    duplicates: usize,
    voided: usize,
    refunded: usize,
    resubmitted: usize,
    exports_superseded: usize,
    unresolved: usize,
    out_of_balance: usize,
}

#[derive(Serialize)]
struct SumsDocument {
    batch: Amount,
    ledger: Amount,
    paid: Amount,
    taken_back: Amount,
    provider: Amount,
    difference: Amount,
}

/// How the repair in `history` went, if anybody repaired anything.
pub(super) fn document(history: &History) -> Option<ReconciliationDocument<'_>> {
    let repair = reconciliation(history)?;
    let writer = Writer { history };
    Some(ReconciliationDocument {
        turns: repair.turns.iter().map(|turn| writer.turn(turn)).collect(),
        operations: repair.operations.iter().map(|operation| writer.operation(operation)).collect(),
        exports: repair.exports.iter().map(|export| writer.export(export)).collect(),
        totals: totals(&repair.totals),
        sums: sums(repair.sums),
    })
}

/// Writes with the history's names and times.
struct Writer<'a> {
    history: &'a History,
}

impl<'a> Writer<'a> {
    fn name(&self, node: NodeId) -> &'a str {
        words::name(self.history, node)
    }

    fn when(&self, event: EventId) -> When {
        let at = self.history.event(event).at;
        When { at, utc: words::time_of_day(self.history.utc(at)), event }
    }

    /// Under whose authority something was done, and with which token.
    fn claimant(&self, event: EventId) -> (&'a str, Option<Token>) {
        let event = self.history.event(event);
        match event.what.claim() {
            Some(claim) => (self.name(claim.worker), claim.token),
            None => (self.name(event.node), None),
        }
    }

    fn turn(&self, turn: &Turn) -> TurnDocument<'a> {
        let (end, ended, unresolved) = match turn.end {
            TurnEnd::Ended { event, unresolved } => ("ended", Some(event), Some(unresolved)),
            TurnEnd::GaveWay(event) => ("gave-way", Some(event), None),
            TurnEnd::Died(event) => ("died", Some(event), None),
            TurnEnd::BegunAnew(event) => ("begun-anew", Some(event), None),
            TurnEnd::UnderWay => ("under-way", None, None),
        };
        TurnDocument {
            operator: self.name(turn.operator),
            token: turn.token,
            dispatch_stopped: self.when(turn.stopped),
            ledger_fenced: turn.fenced.map(|event| self.when(event)),
            gateway_fenced: turn.gateway.map(|(_, fenced)| fenced),
            elected: turn.elected.and_then(|(_, elected)| elected).map(|worker| self.name(worker)),
            marked: turn.marked.map(|(_, until)| until.0),
            dispatch_resumed: turn.resumed.map(|event| self.when(event)),
            end,
            ended: ended.map(|event| self.when(event)),
            unresolved,
        }
    }

    fn operation(&self, operation: &Reconciled) -> OperationDocument<'a> {
        let (resolution, reason) = match operation.resolution {
            Resolution::Closed(_) => ("closed", None),
            Resolution::GivenUp(why) => ("left-to-a-person", Some(why)),
            Resolution::Open => ("open", None),
        };
        OperationDocument {
            op: operation.op,
            amount: operation.amount,
            resolution,
            reason,
            reason_text: reason.map(phrases::reason),
            canonical: operation.standing().next().map(|entered| entered.entry),
            stays: operation.stays().map(|payout| payout.id),
            effects: operation.effects().count(),
            balanced: operation.is_balanced(),
            entries: operation.entries.iter().map(|entered| self.entry(entered)).collect(),
            payouts: operation.payouts.iter().map(|payout| self.payout(payout)).collect(),
            decisions: operation.decisions.iter().map(|decided| self.decision(decided)).collect(),
        }
    }

    fn entry(&self, entered: &Entered) -> EntryDocument<'a> {
        let (standing, superseded_by, changed) = match entered.standing {
            Standing::Stands => ("stands", None, None),
            Standing::Superseded { by, event } => ("superseded", Some(by), Some(event)),
            Standing::Deleted(event) => ("deleted", None, Some(event)),
            Standing::Lost(event) => ("lost", None, Some(event)),
        };
        EntryDocument {
            entry: entered.entry,
            worker: self.name(entered.claim.worker),
            token: entered.claim.token,
            amount: entered.amount,
            accepted: self.when(entered.event),
            standing,
            superseded_by,
            changed: changed.map(|event| self.when(event)),
        }
    }

    fn payout(&self, payout: &Payout) -> PayoutDocument<'a> {
        let (end, back) = match payout.end {
            PayoutEnd::Settled => ("settled", None),
            PayoutEnd::Failed => ("failed", None),
            PayoutEnd::Voided(event) => ("voided", Some(event)),
            PayoutEnd::Refunded(event) => ("refunded", Some(event)),
        };
        let (worker, token) = self.claimant(payout.made);
        PayoutDocument {
            payout: payout.id,
            worker,
            token,
            amount: payout.amount,
            made: self.when(payout.made),
            end,
            decided_at: payout.decided,
            decided_utc: words::time_of_day(self.history.utc(payout.decided)),
            taken_back_by: back.map(|event| self.claimant(event).0),
            taken_back: back.map(|event| self.when(event)),
            refunds_failed: payout.refunds_failed,
        }
    }

    fn decision(&self, decided: &Decided) -> DecisionDocument<'a> {
        let (decision, payout, attempt) = match decided.decision {
            Decision::Keep(payout) => ("keep", Some(payout), None),
            Decision::Submit(attempt) => ("submit", None, Some(attempt)),
            Decision::Void(payout) => ("void", Some(payout), None),
            Decision::Refund(payout) => ("refund", Some(payout), None),
            Decision::AskAgain => ("ask-again", None, None),
            Decision::Close(payout) => ("close", Some(payout), None),
            Decision::GiveUp => ("give-up", None, None),
        };
        DecisionDocument {
            operator: self.claimant(decided.event).0,
            noted: self.when(decided.event),
            decision,
            payout,
            attempt,
            reason: decided.why,
            reason_text: phrases::reason(decided.why),
        }
    }

    fn export(&self, published: &Published) -> ExportDocument<'a> {
        let rows = match self.history.event(published.event).what {
            What::ExportPublished { export, .. } => self.history.exports[export.index()].as_slice(),
            _ => &[],
        };
        ExportDocument {
            export: published.export,
            worker: self.claimant(published.event).0,
            rows: rows.len(),
            total: Amount(rows.iter().map(|row| row.amount.0).sum()),
            published: self.when(published.event),
            superseded: published.superseded.map(|event| self.when(event)),
        }
    }
}

fn totals(totals: &Totals) -> TotalsDocument {
    TotalsDocument {
        operations: totals.operations,
        affected: totals.affected,
        entries_superseded: totals.superseded,
        entries_deleted: totals.deleted,
        entries_made_up_for: totals.entered,
        duplicates: totals.duplicates,
        voided: totals.voided,
        refunded: totals.refunded,
        resubmitted: totals.resubmitted,
        exports_superseded: totals.exports_superseded,
        unresolved: totals.unresolved,
        out_of_balance: totals.out_of_balance,
    }
}

fn sums(sums: Sums) -> SumsDocument {
    SumsDocument {
        batch: sums.batch,
        ledger: sums.ledger,
        paid: sums.paid,
        taken_back: sums.taken_back,
        provider: sums.provider(),
        difference: sums.difference(),
    }
}
