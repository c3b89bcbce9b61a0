//! The steps of a repair, in their order.

use std::collections::BTreeMap;

use super::decide::Facts;
use super::entries::canonical;
use super::operator::{Operator, Superseded};
use crate::history::{Decision, PayoutState, Reason, Row};
use crate::id::{EntryId, NodeId, OpId, PayoutId};
use crate::point::Point;
use crate::service::lease_store::PastGrant;
use crate::service::ledger::{Account, EntryRecord, LedgerRepair, LedgerResponse};
use crate::service::provider::{ProviderRepair, ProviderResponse, Told, ToldPayout};
use crate::world::Keys;

/// The life of an operator's process.
pub(crate) async fn work(operator: Operator) {
    match repair(&operator).await {
        Ok(()) => operator.finish(),
        Err(Superseded) => operator.give_way(),
    }
}

/// What is known of the settlement, and what was done about it.
struct Settlement {
    grants: Vec<PastGrant>,
    account: Account,
    /// The first operation that isn't affected; all before it are.
    until: OpId,
    /// The canonical entry of each affected operation.
    entries: BTreeMap<OpId, EntryId>,
    /// The payout that each reconciled operation has in the end.
    paid: BTreeMap<OpId, PayoutId>,
    /// Those that can't be told.
    unresolved: Vec<OpId>,
}

async fn repair(operator: &Operator) -> Result<(), Superseded> {
    operator.point(Point::REPAIR_BEGUN).await;
    let mut settlement = take_charge(operator).await;
    // Without an answer the gateway isn't known to be fenced; the next look at the payouts tells what that let through.
    operator.provider(ProviderRepair::Fence).await?;
    operator.point(Point::REPAIR_GATEWAY_FENCED).await;
    let elected = operator.elect().await?;
    operator.point(Point::REPAIR_ELECTED).await;
    let unwanted = operator.spec.procedure.0.deletes(&settlement.account.entries);
    if !unwanted.is_empty() {
        return delete_and_resume(operator, settlement, unwanted, elected).await;
    }
    loop {
        mark(operator, &mut settlement).await?;
        choose_entries(operator, &mut settlement).await?;
        reconcile(operator, &mut settlement).await?;
        operator.point(Point::REPAIR_RECONCILED).await;
        // What is left to a person stays so, whatever comes late.
        let is_open = settlement.unresolved.is_empty() && operator.spec.procedure.0.looks_again();
        if !is_open || !something_may_have_come_late(operator, &settlement).await? {
            break;
        }
    }
    if settlement.unresolved.is_empty() {
        publish_and_resume(operator, &settlement, elected).await?;
    }
    end(operator, &settlement).await
}

/// Stops dispatch and fences the ledger. From here on nobody else enters anything.
async fn take_charge(operator: &Operator) -> Settlement {
    let mut above = None;
    loop {
        let grants = operator.stop_dispatch(above).await;
        operator.point(Point::REPAIR_DISPATCH_STOPPED).await;
        match operator.take_charge().await {
            Ok(account) => {
                operator.point(Point::REPAIR_LEDGER_FENCED).await;
                let (until, unresolved) = (OpId(0), Vec::new());
                let (entries, paid) = (BTreeMap::new(), BTreeMap::new());
                return Settlement { grants, account, until, entries, paid, unresolved };
            }
            // The lease store has forgotten tokens that it had handed out.
            Err(highest) => above = Some(highest),
        }
    }
}

/// Notes which operations are affected: all up to the last that anybody entered or had paid, and all if any export was
/// published.
async fn mark(operator: &Operator, settlement: &mut Settlement) -> Result<(), Superseded> {
    // Without an answer the ledger's own entries are what there is to begin with, and none of them will be closed.
    let listed = list(operator).await?.unwrap_or_default();
    operator.point(Point::REPAIR_LISTED).await;
    let account = &settlement.account;
    let entered = account.entries.iter().map(|record| record.op);
    let paid = listed.iter().map(|payout| payout.op);
    let all = operator.batch.len() as u32;
    let until = match account.exports.is_empty() {
        true => entered.chain(paid).map(|op| op.number()).max().unwrap_or(0).min(all),
        false => all,
    };
    settlement.until = OpId(until);
    operator.ledger(LedgerRepair::Mark { until: settlement.until }).await?;
    operator.point(Point::REPAIR_MARKED).await;
    Ok(())
}

/// All payouts of the settlement, none if the provider answers no such questions; `None` if it can't be reached for as long as
/// an operator asks.
async fn list(operator: &Operator) -> Result<Option<Vec<ToldPayout>>, Superseded> {
    let mut all: Vec<ToldPayout> = Vec::new();
    let give_up = operator.mono() + operator.spec.ask_for;
    loop {
        let after = all.last().map_or(PayoutId(0), |payout| payout.payout);
        match operator.provider(ProviderRepair::List { after }).await? {
            Some(ProviderResponse::Page(page)) if !page.is_empty() => all.extend(page),
            Some(_) => return Ok(Some(all)),
            None if operator.mono() < give_up => operator.sleep(operator.spec.ask_every).await,
            None => return Ok(None),
        }
    }
}

/// Has each affected operation have one canonical entry, with the others marked.
async fn choose_entries(operator: &Operator, settlement: &mut Settlement) -> Result<(), Superseded> {
    for op in (0..settlement.until.0).map(OpId) {
        let records: Vec<EntryRecord> = entries_of(&settlement.account, op);
        let entry = match canonical(&records, &settlement.grants) {
            Some(record) => record.entry,
            None => enter(operator, &mut settlement.account, op).await?,
        };
        for other in records.iter().filter(|record| !record.is_superseded && record.entry != entry) {
            let supersede = LedgerRepair::Supersede { entry: other.entry, by: entry };
            operator.ledger(supersede).await?;
            let known = settlement.account.entries.iter_mut().find(|known| known.entry == other.entry);
            known.expect("it was just found there").is_superseded = true;
        }
        settlement.entries.insert(op, entry);
        operator.point(Point::REPAIR_ENTRY_CHOSEN).await;
    }
    Ok(())
}

fn entries_of(account: &Account, op: OpId) -> Vec<EntryRecord> {
    account.entries.iter().filter(|record| record.op == op).copied().collect()
}

/// Enters an operation that was paid, or published, and has no entry.
async fn enter(operator: &Operator, account: &mut Account, op: OpId) -> Result<EntryId, Superseded> {
    let amount = operator.batch[op.index()];
    let entered = operator.ledger(LedgerRepair::Enter { op, amount }).await?;
    let LedgerResponse::Entered(entry) = entered else {
        unreachable!("a ledger answers an entry with {entered:?}");
    };
    account.entries.push(operator.own_entry(entry, op));
    Ok(entry)
}

/// Asks, decides and acts, operation by operation and round by round, until nothing is left to do or to hope for.
async fn reconcile(operator: &Operator, settlement: &mut Settlement) -> Result<(), Superseded> {
    let give_up = operator.mono() + operator.spec.ask_for;
    settlement.unresolved.clear();
    let mut open: Vec<OpId> = (0..settlement.until.0).map(OpId).collect();
    loop {
        let mut still_open = Vec::new();
        for op in open {
            let is_late = operator.mono() >= give_up;
            match reconcile_one(operator, settlement, op, is_late).await? {
                Decision::Close(payout) => drop(settlement.paid.insert(op, payout)),
                Decision::GiveUp => settlement.unresolved.push(op),
                _ => still_open.push(op),
            }
        }
        if still_open.is_empty() {
            return Ok(());
        }
        open = still_open;
        operator.sleep(operator.spec.ask_every).await;
    }
}

/// Takes one operation as far as it goes now. What comes back is the last decision: it is closed, left to a person, or to be
/// asked for again.
async fn reconcile_one(
    operator: &Operator,
    settlement: &mut Settlement,
    op: OpId,
    is_late: bool,
) -> Result<Decision, Superseded> {
    let entries = entries_of(&settlement.account, op);
    let mut told = None;
    loop {
        let known = match told.take() {
            Some(told) => Ok(told),
            None => ask(operator, settlement, op).await?,
        };
        let file = &settlement.account.files[op.index()];
        let (mut decision, mut why) = match &known {
            Ok(told) => operator.spec.procedure.0.next(&Facts { entries: &entries, file, told }),
            Err(decided) => *decided,
        };
        if is_late && !matches!(decision, Decision::Close(_) | Decision::GiveUp) {
            (decision, why) = (Decision::GiveUp, Reason::AskedLongEnough);
        }
        decide(operator, settlement, op, (decision, why)).await?;
        match decision {
            Decision::Keep(_) => told = known.ok(),
            Decision::Submit(attempt) => drop(operator.pay(op, attempt).await?),
            Decision::Void(payout) => drop(operator.provider(ProviderRepair::Void(payout)).await?),
            Decision::Refund(payout) => drop(operator.provider(ProviderRepair::Refund(payout)).await?),
            Decision::AskAgain | Decision::Close(_) | Decision::GiveUp => return Ok(decision),
        }
        operator.point(Point::REPAIR_DONE).await;
        if !matches!(decision, Decision::Keep(_)) {
            // Whatever was asked for takes its time; the other operations needn't wait for it.
            return Ok(Decision::AskAgain);
        }
    }
}

/// What the provider tells of `op`; or what to decide because it tells nothing.
async fn ask(
    operator: &Operator,
    settlement: &mut Settlement,
    op: OpId,
) -> Result<Result<Told, (Decision, Reason)>, Superseded> {
    let answer = operator.provider(ProviderRepair::Status(op)).await?;
    operator.point(Point::REPAIR_ASKED).await;
    Ok(match answer {
        Some(ProviderResponse::Told(told)) => Ok(told),
        Some(_) => match operator.keys {
            Keys::None => Err((Decision::GiveUp, Reason::NoAnswerAndNoKeys)),
            Keys::For(_) => Err((Decision::GiveUp, Reason::NoAnswerAndOldKeys)),
            Keys::Kept => ask_by_key(operator, settlement, op).await?,
        },
        None => Err((Decision::AskAgain, Reason::NotKnownYet)),
    })
}

/// Asks a provider that answers no questions but never forgets a key: asking to pay under a key that it knows is asking what
/// became of that payout, and under one that it doesn't know the payout is missing anyway.
async fn ask_by_key(
    operator: &Operator,
    settlement: &mut Settlement,
    op: OpId,
) -> Result<Result<Told, (Decision, Reason)>, Superseded> {
    if settlement.account.files[op.index()].submitted == 0 {
        decide(operator, settlement, op, (Decision::Submit(0), Reason::AskedByKey)).await?;
    }
    let attempts = settlement.account.files[op.index()].submitted;
    let mut payouts = Vec::new();
    for attempt in 0..attempts {
        let Some(ProviderResponse::Paid(payout, state)) = operator.pay(op, attempt).await? else {
            return Ok(Err((Decision::AskAgain, Reason::NotKnownYet)));
        };
        let amount = operator.batch[op.index()];
        payouts.push(ToldPayout { payout, op, amount, state, is_being_refunded: false });
    }
    let more_to_come = payouts.iter().any(|payout| payout.state == PayoutState::Received);
    payouts.retain(|payout| payout.state != PayoutState::Received);
    Ok(Ok(Told { payouts, more_to_come }))
}

/// Notes a decision, unless it was noted last.
async fn decide(
    operator: &Operator,
    settlement: &mut Settlement,
    op: OpId,
    (decision, why): (Decision, Reason),
) -> Result<Decision, Superseded> {
    let file = &mut settlement.account.files[op.index()];
    if file.last != Some((decision, why)) {
        operator.ledger(LedgerRepair::Decide { op, decision, why }).await?;
        file.note(decision, why);
        operator.point(Point::REPAIR_DECIDED).await;
    }
    Ok(decision)
}

/// Waits for what may still be under way, and looks at all payouts once more: whether there may be one that isn't accounted
/// for.
async fn something_may_have_come_late(operator: &Operator, settlement: &Settlement) -> Result<bool, Superseded> {
    operator.sleep(operator.spec.quiet_for).await;
    let Some(listed) = list(operator).await? else { return Ok(true) };
    let is_accounted_for = |payout: &ToldPayout| match payout.state {
        PayoutState::Failed | PayoutState::Reversed => true,
        PayoutState::Settled if payout.is_being_refunded => true,
        _ => settlement.paid.get(&payout.op) == Some(&payout.payout),
    };
    Ok(!listed.iter().all(is_accounted_for))
}

/// Puts the checkpoint behind what is reconciled, publishes the canonical export if that is everything, and lets the work go
/// on.
async fn publish_and_resume(
    operator: &Operator,
    settlement: &Settlement,
    elected: Option<NodeId>,
) -> Result<(), Superseded> {
    let rows: Vec<Row> = (0..settlement.until.0)
        .map(OpId)
        .map(|op| Row {
            op,
            amount: operator.batch[op.index()],
            entry: settlement.entries[&op],
            payout: settlement.paid[&op],
        })
        .collect();
    if operator.spec.procedure.0.sets_checkpoint() && settlement.account.rows != rows {
        operator.ledger(LedgerRepair::SetCheckpoint { rows: rows.clone() }).await?;
    }
    operator.point(Point::REPAIR_CHECKPOINT_SET).await;
    for export in settlement.account.exports.iter().filter(|export| !export.is_superseded && export.rows != rows) {
        operator.ledger(LedgerRepair::SupersedeExport { export: export.export }).await?;
    }
    operator.point(Point::REPAIR_EXPORTS_MARKED).await;
    if rows.len() == operator.batch.len() {
        operator.ledger(LedgerRepair::Publish { rows }).await?;
    }
    operator.point(Point::REPAIR_EXPORTED).await;
    operator.resume_dispatch(elected).await?;
    operator.point(Point::REPAIR_RESUMED).await;
    Ok(())
}

async fn end(operator: &Operator, settlement: &Settlement) -> Result<(), Superseded> {
    operator.ledger(LedgerRepair::End { unresolved: settlement.unresolved.len() as u32 }).await?;
    operator.point(Point::REPAIR_ENDED).await;
    Ok(())
}

/// The trap: entries are deleted, those that are unwanted and those behind which the checkpoint can't be put, and the work
/// goes on from what is left.
async fn delete_and_resume(
    operator: &Operator,
    settlement: Settlement,
    mut unwanted: Vec<EntryId>,
    elected: Option<NodeId>,
) -> Result<(), Superseded> {
    let Account { entries, rows, .. } = &settlement.account;
    let left = |op: OpId| entries.iter().find(|record| record.op == op && !unwanted.contains(&record.entry));
    let rows = rows.iter().map_while(|row| left(row.op).map(|record| Row { entry: record.entry, ..*row }));
    let rows: Vec<Row> = rows.collect();
    let behind = entries.iter().filter(|record| record.op.index() >= rows.len()).map(|record| record.entry);
    unwanted.extend(behind.filter(|entry| !unwanted.contains(entry)).collect::<Vec<_>>());
    for entry in unwanted {
        operator.ledger(LedgerRepair::Delete { entry }).await?;
    }
    operator.ledger(LedgerRepair::SetCheckpoint { rows }).await?;
    operator.resume_dispatch(elected).await?;
    end(operator, &settlement).await
}
