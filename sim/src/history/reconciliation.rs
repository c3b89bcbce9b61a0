//! How a repair went: what operators found, decided and did, operation by operation, and what it comes to in the end.
//!
//! All of it is derived from the history, so it says what became of each effect also where no operator could know.

mod entries;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

pub(crate) use entries::entries;
pub use entries::{Entered, Standing};
pub use turns::{Turn, TurnEnd};

use super::{Decision, History, Payout, PayoutEnd, Published, Reason, Role, What, accounts, exports};
use crate::id::{Amount, EventId, OpId, PayoutId};

/// How a repair went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciliation {
    /// What each operator did, in the order in which they took over.
    pub turns: Vec<Turn>,
    /// The affected operations, in order.
    pub operations: Vec<Reconciled>,
    /// What was published, in order.
    pub exports: Vec<Published>,
    /// What there was of everything.
    pub totals: Totals,
    /// What the affected operations come to.
    pub sums: Sums,
}

/// An operation that operators looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    /// Which.
    pub op: OpId,
    /// How much it is for.
    pub amount: Amount,
    /// What the ledger took in for it, in order.
    pub entries: Vec<Entered>,
    /// What the provider was asked to pay for it, in order.
    pub payouts: Vec<Payout>,
    /// What was decided, in order.
    pub decisions: Vec<Decided>,
    /// What that came to.
    pub resolution: Resolution,
}

/// A decision on an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The event that noted it.
    pub event: EventId,
    /// What.
    pub decision: Decision,
    /// Why.
    pub why: Reason,
    /// The event that made the payout that it is about, if it is about one. The operator has its number from the half of the
    /// provider that answers it.
    pub payout: Option<EventId>,
}

/// What an operation's decisions came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It is closed, with this payout as its one effect.
    Closed(PayoutId),
    /// It is left to a person.
    GivenUp(Reason),
    /// Nobody came to an end with it.
    Open,
}

/// What there was of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Operations of the batch.
    pub operations: usize,
    /// Those that operators looked at.
    pub affected: usize,
    /// Entries that were marked as superseded.
    pub superseded: usize,
    /// Entries that were deleted.
    pub deleted: usize,
    /// Entries that operators made because there was none.
    pub entered: usize,
    /// Payouts beyond the first of those for one operation that didn't fail.
    pub duplicates: usize,
    /// Payouts that were called back.
    pub voided: usize,
    /// Payouts that were given back.
    pub refunded: usize,
    /// Payouts that operators asked for.
    pub resubmitted: usize,
    /// Exports that were marked as superseded.
    pub exports_superseded: usize,
    /// Operations that aren't closed.
    pub unresolved: usize,
    /// Operations for which ledger or provider have in the end something else than the batch, once.
    pub out_of_balance: usize,
}

/// What operations come to, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// What the batch has.
    pub batch: Amount,
    /// What the entries that stand say.
    pub ledger: Amount,
    /// What the payouts came to that didn't fail.
    pub paid: Amount,
    /// What of that was voided or refunded.
    pub taken_back: Amount,
}

/// How the repair in `history` went; `None` if no operator did anything.
pub fn reconciliation(history: &History) -> Option<Reconciliation> {
    let turns = turns::turns(history);
    if turns.is_empty() {
        return None;
    }
    let mut entries =
        by_operation(entries(history, history.numbered(), history.batch.len()), |entered| entered.op);
    let accounts = accounts(history);
    let mut decisions = by_operation(decisions(history, &accounts.decided_on), |(op, _)| *op);
    let payouts = accounts.payouts.into_iter().map(|account| account.payout).collect();
    let mut payouts = by_operation(payouts, |payout: &Payout| payout.op);
    let mut reconciled = |op: OpId| {
        let decisions = decisions.remove(&op).unwrap_or_default();
        let decisions: Vec<Decided> = decisions.into_iter().map(|(_, decided)| decided).collect();
        Reconciled {
            op,
            amount: history.batch[op.index()],
            entries: entries.remove(&op).unwrap_or_default(),
            payouts: payouts.remove(&op).unwrap_or_default(),
            resolution: resolution(&decisions),
            decisions,
        }
    };
    let operations: Vec<Reconciled> = affected(history).into_iter().map(&mut reconciled).collect();
    let exports = exports(history, history.numbered());
    let mut sums = Sums::default();
    operations.iter().for_each(|operation| sums += operation.sums());
    let totals = totals(history, &operations, &exports);
    Some(Reconciliation { turns, operations, exports, totals, sums })
}

/// The operations of the batch that operators marked, or did anything about.
fn affected(history: &History) -> BTreeSet<OpId> {
    let mut ops = BTreeSet::new();
    for event in &history.events {
        match event.what {
            What::GenerationMarked { until, .. } => ops.extend((0..until.0).map(OpId)),
            What::EntrySuperseded { op, .. }
            | What::EntryDeleted { op, .. }
            | What::OperationDecided { op, .. }
            | What::PayoutVoided { op, .. }
            | What::RefundBegun { op, .. } => {
                ops.insert(op);
            }
            _ => {}
        }
    }
    ops.retain(|op| op.index() < history.batch.len());
    ops
}

fn by_operation<T>(all: Vec<T>, op: impl Fn(&T) -> OpId) -> BTreeMap<OpId, Vec<T>> {
    let mut sorted: BTreeMap<OpId, Vec<T>> = BTreeMap::new();
    for one in all {
        sorted.entry(op(&one)).or_default().push(one);
    }
    sorted
}

/// What the ledger has noted in the end: not what a deposed one did, nor what it lost. `decided_on` says which payouts
/// decisions are about.
fn decisions(history: &History, decided_on: &[(EventId, EventId)]) -> Vec<(OpId, Decided)> {
    let mut decisions: Vec<(OpId, Decided)> = Vec::new();
    for (event, told) in history.numbered() {
        match told.what {
            What::OperationDecided { op, decision, why, .. } if !history.by_deposed(told) => {
                let known = decided_on.binary_search_by_key(&event, |(decided, _)| *decided);
                let payout = known.ok().map(|place| decided_on[place].1);
                decisions.push((op, Decided { event, decision, why, payout }));
            }
            What::WritesLost { since } if history.is(told.node, Role::Ledger) => {
                decisions.retain(|(_, decided)| history.event(decided.event).at <= since);
            }
            _ => {}
        }
    }
    decisions
}

/// The last decision counts: an operator that looks again may open what was closed.
fn resolution(decisions: &[Decided]) -> Resolution {
    match decisions.last() {
        Some(Decided { decision: Decision::Close(payout), .. }) => Resolution::Closed(*payout),
        Some(Decided { decision: Decision::GiveUp, why, .. }) => Resolution::GivenUp(*why),
        _ => Resolution::Open,
    }
}

fn totals(history: &History, operations: &[Reconciled], exports: &[Published]) -> Totals {
    let by_operator =
        |id: EventId| history.event(id).what.claim().is_some_and(|claim| history.is(claim.worker, Role::Operator));
    let entries = |counts: &dyn Fn(&Entered) -> bool| {
        operations.iter().flat_map(|operation| &operation.entries).filter(|entered| counts(entered)).count()
    };
    let payouts = |counts: &dyn Fn(&Payout) -> bool| {
        operations.iter().flat_map(|operation| &operation.payouts).filter(|payout| counts(payout)).count()
    };
    let are =
        |counts: &dyn Fn(&Reconciled) -> bool| operations.iter().filter(|operation| counts(operation)).count();
    Totals {
        operations: history.batch.len(),
        affected: operations.len(),
        superseded: entries(&|entered| matches!(entered.standing, Standing::Superseded { .. })),
        deleted: entries(&|entered| matches!(entered.standing, Standing::Deleted(_))),
        entered: entries(&|entered| by_operator(entered.event)),
        duplicates: operations.iter().map(Reconciled::duplicates).sum(),
        voided: payouts(&|payout| matches!(payout.end, PayoutEnd::Voided(_))),
        refunded: payouts(&|payout| matches!(payout.end, PayoutEnd::Refunded(_))),
        resubmitted: payouts(&|payout| by_operator(payout.made)),
        exports_superseded: exports.iter().filter(|export| export.superseded.is_some()).count(),
        unresolved: are(&|operation| !matches!(operation.resolution, Resolution::Closed(_))),
        out_of_balance: are(&|operation| !operation.is_balanced()),
    }
}

impl Reconciled {
    /// The entries that stand.
    pub fn standing(&self) -> impl Iterator<Item = &Entered> {
        self.entries.iter().filter(|entered| entered.standing == Standing::Stands)
    }

    /// The payouts that count in the end.
    pub fn effects(&self) -> impl Iterator<Item = &Payout> {
        self.payouts.iter().filter(|payout| payout.is_effect())
    }

    /// The payout that was decided to stay, if the last word on that is that one does.
    pub fn stays(&self) -> Option<&Payout> {
        let told = self.decisions.iter().rev().find_map(|decided| match decided.decision {
            Decision::Keep(_) | Decision::Close(_) => Some(decided.payout),
            Decision::Submit(_) => Some(None),
            Decision::Void(_) | Decision::Refund(_) | Decision::AskAgain | Decision::GiveUp => None,
        });
        let stays = told.flatten()?;
        self.payouts.iter().find(|payout| payout.made == stays)
    }

    /// How many payouts it had beyond the first, of those that didn't fail.
    pub fn duplicates(&self) -> usize {
        self.payouts.iter().filter(|payout| payout.end != PayoutEnd::Failed).count().saturating_sub(1)
    }

    /// What it comes to.
    pub fn sums(&self) -> Sums {
        let total = |amounts: &mut dyn Iterator<Item = Amount>| Amount(amounts.map(|amount| amount.0).sum());
        let paid = || self.payouts.iter().filter(|payout| payout.end != PayoutEnd::Failed);
        Sums {
            batch: self.amount,
            ledger: total(&mut self.standing().map(|entered| entered.amount)),
            paid: total(&mut paid().map(|payout| payout.amount)),
            taken_back: total(&mut paid().filter(|payout| !payout.is_effect()).map(|payout| payout.amount)),
        }
    }

    /// Whether it has one entry and one effect in the end, each of the right amount.
    pub fn is_balanced(&self) -> bool {
        let mut entries = self.standing().map(|entered| entered.amount);
        let mut effects = self.effects().map(|payout| payout.amount);
        let once = |amounts: &mut dyn Iterator<Item = Amount>| {
            amounts.next() == Some(self.amount) && amounts.next().is_none()
        };
        once(&mut entries) && once(&mut effects)
    }
}

impl Sums {
    /// What the provider paid in the end.
    pub fn provider(self) -> Amount {
        Amount(self.paid.0 - self.taken_back.0)
    }

    /// By how much the provider paid more than the ledger says.
    pub fn difference(self) -> Amount {
        Amount(self.provider().0 - self.ledger.0)
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.batch.0 += other.batch.0;
        self.ledger.0 += other.ledger.0;
        self.paid.0 += other.paid.0;
        self.taken_back.0 += other.taken_back.0;
    }
}
