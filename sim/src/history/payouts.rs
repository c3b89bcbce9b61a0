//! What became of each payout: the effects at the provider, as the history has them.

use super::{History, Role, What};
use crate::id::{Amount, EventId, OpId, PayoutId};
use crate::time::TrueTime;

/// How a payout ended, or will end if the run was over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayoutEnd {
    /// The money moved.
    Settled,
    /// The provider failed to pay.
    Failed,
    /// It was called back, by this event.
    Voided(EventId),
    /// It was given back; this event began that.
    Refunded(EventId),
}

/// A payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payout {
    /// The provider's number for it.
    pub id: PayoutId,
    /// For which operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
    /// The event that made it.
    pub made: EventId,
    /// When it settled or failed; when it was made if the provider doesn't take its time.
    pub decided: TrueTime,
    /// How it ended.
    pub end: PayoutEnd,
    /// How often the provider agreed to take it back.
    pub compensations: u32,
    /// How many refunds of it failed.
    pub refunds_failed: u32,
}

impl Payout {
    /// Whether it counts in the end.
    pub fn is_effect(&self) -> bool {
        self.end == PayoutEnd::Settled
    }
}

/// The payouts of `history`, in the order in which they were made.
pub fn payouts(history: &History) -> Vec<Payout> {
    let mut payouts: Vec<Payout> = Vec::new();
    for (id, event) in history.numbered() {
        match event.what {
            What::PayoutMade { op, payout, amount, .. } => payouts.push(Payout {
                id: payout,
                op,
                amount,
                made: id,
                decided: event.at,
                end: PayoutEnd::Settled,
                compensations: 0,
                refunds_failed: 0,
            }),
            What::PayoutTakenIn { payout, decided_in, fails, .. } => with_number(&mut payouts, payout, |payout| {
                payout.decided = event.at + decided_in;
                if fails {
                    payout.end = PayoutEnd::Failed;
                }
            }),
            What::PayoutVoided { payout, .. } => with_number(&mut payouts, payout, |payout| {
                payout.end = PayoutEnd::Voided(id);
                payout.compensations += 1;
            }),
            What::RefundBegun { payout, fails: false, .. } => with_number(&mut payouts, payout, |payout| {
                payout.end = PayoutEnd::Refunded(id);
                payout.compensations += 1;
            }),
            What::RefundBegun { payout, fails: true, .. } => {
                with_number(&mut payouts, payout, |payout| payout.refunds_failed += 1);
            }
            What::WritesLost { since } if history.is(event.node, Role::Provider) => {
                payouts.iter_mut().for_each(|payout| forget(history, payout, since));
            }
            _ => {}
        }
    }
    payouts
}

/// The provider loses what it wrote later than `since`. To forget a payout doesn't take it back; but one that it knows, and of
/// which it has forgotten that somebody took it back, goes on as if nobody had.
fn forget(history: &History, payout: &mut Payout, since: TrueTime) {
    let (PayoutEnd::Voided(back) | PayoutEnd::Refunded(back)) = payout.end else { return };
    if history.event(back).at > since && history.event(payout.made).at <= since {
        // What becomes of a payout by itself is told right behind it.
        let course = history.events.get(payout.made.index() + 1).map(|event| event.what);
        let fails = matches!(course, Some(What::PayoutTakenIn { fails: true, .. }));
        payout.end = if fails { PayoutEnd::Failed } else { PayoutEnd::Settled };
        payout.compensations -= 1;
    }
}

/// A provider that lost its newest payouts uses their numbers again; whatever is said of a number is said of the newest.
fn with_number(payouts: &mut [Payout], number: PayoutId, change: impl FnOnce(&mut Payout)) {
    if let Some(payout) = payouts.iter_mut().rev().find(|payout| payout.id == number) {
        change(payout);
    }
}
