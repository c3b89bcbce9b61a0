//! What to do next about one operation: a pure function of what the ledger noted and what the provider tells.
//!
//! It never assumes. What the provider doesn't know yet is asked for again; a payout that may still fail isn't taken for an
//! effect; and a payout that anybody was once told to take back is never kept, because that may still be under way.

use crate::history::{Decision, PayoutState, Reason};
use crate::service::ledger::{EntryRecord, OpFile};
use crate::service::provider::{Told, ToldPayout};

/// What is known of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Its entries in the ledger, in the order of acceptance.
    pub entries: &'a [EntryRecord],
    /// What operators have decided so far.
    pub file: &'a OpFile,
    /// What the provider tells.
    pub told: &'a Told,
}

/// What to do next so that the operation has exactly one effect, and why.
pub fn next(facts: &Facts<'_>) -> (Decision, Reason) {
    let Facts { file, told, .. } = *facts;
    let keep = stays(file, told);
    // Where there is but one payout, and there never was another, nothing has to be chosen.
    if let Some((payout, why)) = keep
        && file.keep != Some(payout.payout)
        && (told.payouts.len() > 1 || file.keep.is_some())
    {
        return (Decision::Keep(payout.payout), why);
    }
    let keep = keep.map(|(payout, _)| payout);
    let others = || told.payouts.iter().filter(|other| keep.is_none_or(|keep| keep.payout != other.payout));
    for other in others() {
        match other.state {
            PayoutState::Pending => return (Decision::Void(other.payout), Reason::DuplicateUnderWay),
            PayoutState::Settled if !other.is_being_refunded => {
                return (Decision::Refund(other.payout), Reason::DuplicateSettled);
            }
            _ => {}
        }
    }
    if told.more_to_come {
        return (Decision::AskAgain, Reason::NotKnownYet);
    }
    match keep {
        None => {
            let why = if told.payouts.is_empty() { Reason::NeverPaid } else { Reason::NoneLeft };
            // As many as came to nothing: whoever asks gets to the same number, so asking twice is asking once.
            (Decision::Submit(told.payouts.len().try_into().unwrap_or(u16::MAX)), why)
        }
        Some(keep) if keep.state == PayoutState::Pending => (Decision::AskAgain, Reason::NotSettledYet),
        Some(_) if others().any(|other| other.is_being_refunded) => (Decision::AskAgain, Reason::RefundUnderWay),
        Some(keep) => (Decision::Close(keep.payout), Reason::OneEffect),
    }
}

/// The payout that stays, if one can: the one that was chosen before, else the first that settled, else the first that is
/// under way.
fn stays<'a>(file: &OpFile, told: &'a Told) -> Option<(&'a ToldPayout, Reason)> {
    let may_stay = |payout: &&ToldPayout| {
        matches!(payout.state, PayoutState::Pending | PayoutState::Settled)
            && !payout.is_being_refunded
            && !file.taken_back.contains(&payout.payout)
    };
    let candidates = || told.payouts.iter().filter(may_stay);
    let is_settled = |payout: &&ToldPayout| payout.state == PayoutState::Settled;
    let reason = |payout: &'a ToldPayout| match payout.state {
        PayoutState::Settled => (payout, Reason::FirstSettled),
        _ => (payout, Reason::FirstUnderWay),
    };
    candidates()
        .find(|payout| file.keep == Some(payout.payout))
        .or_else(|| candidates().find(is_settled))
        .or_else(|| candidates().next())
        .map(reason)
}
