//! What became of each payout: the effects at the provider, as the history has them.

use super::halves::Halves;
use super::{Decision, History, Role, What};
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
    /// The provider's number for it. A provider that lost its newest payouts uses their numbers again, and of one that is
    /// split each half has numbers of its own; [`Payout::made`] is of one payout only.
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
///
/// A payout that a provider forgot, or that a deposed one made, was made all the same. But taking back what the provider
/// knows is taken back itself if it is lost: if the provider forgot it, or if only the half knew of it that was deposed.
pub fn payouts(history: &History) -> Vec<Payout> {
    accounts(history).payouts.into_iter().map(|account| account.payout).collect()
}

/// All that a history says of payouts.
pub(crate) struct Accounts {
    /// In the order in which they were made.
    pub(crate) payouts: Vec<Account>,
    /// The decisions on a payout by the events that noted them, in order, each with the event that made the payout.
    pub(crate) decided_on: Vec<(EventId, EventId)>,
}

/// A payout, and when it was taken back.
pub(crate) struct Account {
    pub(crate) payout: Payout,
    /// The events by which the provider agreed to take it back, but for those that were lost.
    pub(crate) taken_back: Vec<EventId>,
    /// How it ends if nobody takes it back.
    by_itself: PayoutEnd,
}

/// What one half of a provider calls which payouts: its number, and the payout's index.
type Numbers = Vec<(PayoutId, usize)>;

pub(crate) fn accounts(history: &History) -> Accounts {
    let mut accounts = Accounts { payouts: Vec::new(), decided_on: Vec::new() };
    let payouts = &mut accounts.payouts;
    let mut halves = Halves::new(Role::Provider, Numbers::new());
    for (id, event) in history.numbered() {
        halves.note(history, id, event);
        match event.what {
            What::PayoutMade { op, payout, amount, .. } => {
                halves.of(history, event).push((payout, payouts.len()));
                let end = PayoutEnd::Settled;
                let (made, decided, compensations, refunds_failed) = (id, event.at, 0, 0);
                let payout = Payout { id: payout, op, amount, made, decided, end, compensations, refunds_failed };
                payouts.push(Account { payout, taken_back: Vec::new(), by_itself: end });
            }
            What::PayoutTakenIn { payout, decided_in, fails, .. } => {
                let Some(index) = called(halves.of(history, event), payout) else { continue };
                let account = &mut payouts[index];
                account.payout.decided = event.at + decided_in;
                if fails {
                    account.by_itself = PayoutEnd::Failed;
                    account.payout.end = PayoutEnd::Failed;
                }
            }
            What::PayoutVoided { payout, .. } | What::RefundBegun { payout, .. } => {
                let Some(index) = called(halves.of(history, event), payout) else { continue };
                let is_deposed = halves.half_of(history, event).is_some();
                if is_deposed && halves.half(None).iter().any(|(_, known)| *known == index) {
                    continue;
                }
                let Account { payout, taken_back, .. } = &mut payouts[index];
                match event.what {
                    What::RefundBegun { fails: true, .. } => payout.refunds_failed += 1,
                    What::RefundBegun { .. } => {
                        payout.end = PayoutEnd::Refunded(id);
                        taken_back.push(id);
                    }
                    _ => {
                        payout.end = PayoutEnd::Voided(id);
                        taken_back.push(id);
                    }
                }
            }
            What::WritesLost { since } if history.is(event.node, Role::Provider) => {
                let known = halves.half(None);
                known.retain(|(_, index)| history.event(payouts[*index].payout.made).at <= since);
                known.iter().for_each(|(_, index)| payouts[*index].forget(history, since));
            }
            What::OperationDecided { claim, decision, .. } => {
                let (Decision::Keep(number)
                | Decision::Close(number)
                | Decision::Void(number)
                | Decision::Refund(number)) = decision
                else {
                    continue;
                };
                let half = halves.half_for(history, claim.worker);
                if let Some(index) = called(halves.half(half), number) {
                    accounts.decided_on.push((id, payouts[index].payout.made));
                }
            }
            _ => {}
        }
    }
    for Account { payout, taken_back, .. } in &mut accounts.payouts {
        payout.compensations = taken_back.len() as u32;
    }
    accounts
}

impl Account {
    /// The provider, which knows it, loses what it wrote later than `since`: it goes on as if nobody had taken it back then.
    fn forget(&mut self, history: &History, since: TrueTime) {
        let Account { payout, taken_back, by_itself } = self;
        taken_back.retain(|back| history.event(*back).at <= since);
        if let PayoutEnd::Voided(back) | PayoutEnd::Refunded(back) = payout.end
            && history.event(back).at > since
        {
            payout.end = *by_itself;
        }
    }
}

/// The payout that a half calls so. Numbers that are free again are used again, so the newest is meant.
fn called(half: &Numbers, number: PayoutId) -> Option<usize> {
    half.iter().rev().find(|(known, _)| *known == number).map(|(_, index)| *index)
}

#[cfg(test)]
mod tests {
    use super::PayoutEnd::{Failed, Refunded, Settled, Voided};
    use super::*;
    use crate::history::fixture::{A, B, OPERATORS, PROVIDER, Story, ms};

    const OPERATOR: crate::id::NodeId = OPERATORS[0];

    /// Of each payout its operation, its number and its end; in place of events there are numbers of them.
    #[track_caller]
    fn check(story: Story, expected: &[(u32, u32, PayoutEnd)]) {
        let told = payouts(&story.history());
        let told = told.iter().map(|payout| (payout.op.0, payout.id.0, payout.end));
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    /// A was paid an operation, and then the provider was split in two: the old half answers A and the operator.
    fn split() -> Story {
        let story = Story::new().with_operators().paid_as(A, 1, 0, 1, false);
        story.at(10).split(PROVIDER, OPERATOR)
    }

    fn old(story: Story) -> Story {
        story.deposed(PROVIDER, OPERATOR)
    }

    #[test]
    fn each_half_of_a_provider_has_its_own_numbers() {
        let both = || old(split()).paid_as(A, 1, 0, 2, false).paid_as(B, 2, 1, 2, true);
        check(both(), &[(0, 1, Settled), (0, 2, Settled), (1, 2, Failed)]);
        let last = both().last().0;
        let voided = old(both()).voided(OPERATOR, 3, 0, 2);
        check(voided, &[(0, 1, Settled), (0, 2, Voided(EventId(last + 2))), (1, 2, Failed)]);
        let refunded = both().refund_begun(OPERATOR, 3, 1, 2, false);
        check(refunded, &[(0, 1, Settled), (0, 2, Settled), (1, 2, Refunded(EventId(last + 1)))]);
        // What one half made is unknown to the other.
        let unknown = old(split()).paid_as(A, 1, 0, 2, false).voided(OPERATOR, 3, 0, 2);
        check(unknown, &[(0, 1, Settled), (0, 2, Settled)]);
    }

    #[test]
    fn what_a_deposed_provider_takes_back_is_lost_with_it_if_the_other_knows_the_payout() {
        check(old(split()).voided(OPERATOR, 3, 0, 1), &[(0, 1, Settled)]);
        check(old(split()).refund_begun(OPERATOR, 3, 0, 1, false), &[(0, 1, Settled)]);
        let both = old(split()).voided(OPERATOR, 3, 0, 1).voided(OPERATOR, 3, 0, 1);
        let last = both.last();
        check(both.clone(), &[(0, 1, Voided(last))]);
        assert_eq!(payouts(&both.history())[0].compensations, 1);
        // The new half was behind, so the old one alone knows it.
        let behind = split().on(PROVIDER, What::WritesLost { since: ms(-1) });
        let voided = old(behind).voided(OPERATOR, 3, 0, 1);
        let last = voided.last();
        check(voided, &[(0, 1, Voided(last))]);
    }

    #[test]
    fn a_number_that_is_used_again_means_the_newer_payout() {
        let lost = |story: Story| story.at(30).on(PROVIDER, What::WritesLost { since: ms(15) });
        let again = lost(split().at(20).paid_as(A, 1, 0, 2, false)).paid_as(B, 2, 1, 2, false);
        let last = again.last().0;
        check(
            again.voided(OPERATOR, 3, 1, 2),
            &[(0, 1, Settled), (0, 2, Settled), (1, 2, Voided(EventId(last + 1)))],
        );
        // Nobody can take back what was forgotten.
        let forgot = lost(split().at(20).paid_as(A, 1, 0, 2, false)).voided(OPERATOR, 3, 0, 2);
        check(forgot, &[(0, 1, Settled), (0, 2, Settled)]);
    }

    #[test]
    fn a_decision_is_on_the_payout_that_its_operator_can_see() {
        let both = old(split()).paid_as(A, 1, 0, 2, false).paid_as(B, 2, 0, 2, false);
        let [by_old, by_new] = [4, 6].map(EventId);
        let keep = (Decision::Keep(PayoutId(2)), crate::history::Reason::FirstSettled);
        let decided = |story: Story, operator| {
            let decided = story.decided(operator, 3, 0, keep);
            let event = decided.last();
            let on = accounts(&decided.history()).decided_on;
            assert_eq!(on.iter().map(|(event, _)| *event).collect::<Vec<_>>(), [event]);
            on[0].1
        };
        assert_eq!(decided(both.clone(), OPERATOR), by_old);
        assert_eq!(decided(both.clone(), OPERATORS[1]), by_new);
        assert_eq!(decided(both.heals(0), OPERATOR), by_new);
    }
}
