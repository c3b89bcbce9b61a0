//! Laws of reconciliation: whatever was entered and whatever the provider has, it ends in exactly one effect, comes to the
//! same when it is run again, and takes nothing away.

use holdover::sim::history::{Decision, PayoutState};
use holdover::sim::id::{Amount, EntryId, LeaseId, NodeId, OpId, PayoutId};
use holdover::sim::repair::{Facts, next};
use holdover::sim::service::ledger::{EntryRecord, OpFile};
use holdover::sim::service::provider::{Told, ToldPayout};
use proptest::collection::vec;
use proptest::prelude::*;

const OP: OpId = OpId(0);

/// What becomes of a payout if nobody takes it back.
#[derive(Clone, Copy, Debug)]
struct Course {
    state: PayoutState,
    fails: bool,
    /// How many of its refunds fail first.
    refunds_fail: u8,
    is_being_refunded: bool,
}

/// A provider, as far as one operation sees it.
#[derive(Clone, Debug)]
struct Provider {
    payouts: Vec<Course>,
    /// How many payouts to come fail first.
    fails_first: u8,
    voids: usize,
    refunds: Vec<usize>,
}

impl Provider {
    fn told(&self) -> Told {
        let number = |index: usize| PayoutId(index as u32 + 1);
        let known = self.payouts.iter().enumerate().filter(|(_, payout)| payout.state != PayoutState::Received);
        Told {
            payouts: known
                .map(|(index, payout)| ToldPayout {
                    payout: number(index),
                    op: OP,
                    amount: Amount(1),
                    state: payout.state,
                    is_being_refunded: payout.is_being_refunded,
                })
                .collect(),
            more_to_come: self.payouts.iter().any(|payout| payout.state == PayoutState::Received),
        }
    }

    /// Time goes by: everything goes one step on.
    fn wait(&mut self) {
        for payout in &mut self.payouts {
            payout.state = match payout.state {
                PayoutState::Received => PayoutState::Pending,
                PayoutState::Pending if payout.fails => PayoutState::Failed,
                PayoutState::Pending => PayoutState::Settled,
                PayoutState::Settled if payout.is_being_refunded => {
                    payout.is_being_refunded = false;
                    match payout.refunds_fail.checked_sub(1) {
                        Some(left) => {
                            payout.refunds_fail = left;
                            PayoutState::Settled
                        }
                        None => PayoutState::Reversed,
                    }
                }
                state => state,
            };
        }
    }

    fn act(&mut self, decision: Decision) {
        match decision {
            Decision::Submit(_) => {
                let fails = self.fails_first > 0;
                self.fails_first = self.fails_first.saturating_sub(1);
                let (state, refunds_fail, is_being_refunded) = (PayoutState::Received, 0, false);
                self.payouts.push(Course { state, fails, refunds_fail, is_being_refunded });
            }
            Decision::Void(payout) => {
                let payout = &mut self.payouts[payout.index() - 1];
                assert_eq!(payout.state, PayoutState::Pending, "only what is pending is voided");
                payout.state = PayoutState::Reversed;
                self.voids += 1;
            }
            Decision::Refund(payout) => {
                self.refunds.push(payout.index() - 1);
                let payout = &mut self.payouts[payout.index() - 1];
                assert_eq!(payout.state, PayoutState::Settled, "only what has settled is asked back");
                assert!(!payout.is_being_refunded, "nothing is asked back twice");
                payout.is_being_refunded = true;
            }
            Decision::AskAgain => self.wait(),
            Decision::Keep(_) | Decision::Close(_) | Decision::GiveUp => {}
        }
    }

    fn effects(&self) -> usize {
        let counts = |payout: &&Course| payout.state == PayoutState::Settled && !payout.is_being_refunded;
        self.payouts.iter().filter(counts).count()
    }
}

fn entries() -> impl Strategy<Value = Vec<EntryRecord>> {
    vec((3..6_u16, 1..4_u64, any::<bool>()), 0..5).prop_map(|drawn| {
        let record = |(index, (worker, lease, is_superseded)): (usize, (u16, u64, bool))| EntryRecord {
            entry: EntryId(index as u32 + 1),
            op: OP,
            amount: Amount(1),
            worker: NodeId(worker),
            lease: LeaseId(lease),
            token: None,
            is_superseded,
        };
        drawn.into_iter().enumerate().map(record).collect()
    })
}

fn provider() -> impl Strategy<Value = Provider> {
    let state = proptest::sample::select(vec![
        PayoutState::Received,
        PayoutState::Pending,
        PayoutState::Settled,
        PayoutState::Failed,
        PayoutState::Reversed,
    ]);
    let payout =
        (state, any::<bool>(), 0..3_u8, any::<bool>()).prop_map(|(state, fails, refunds_fail, refund)| Course {
            state,
            fails,
            refunds_fail,
            is_being_refunded: refund && state == PayoutState::Settled,
        });
    (vec(payout, 0..6), 0..3_u8).prop_map(|(payouts, fails_first)| Provider {
        payouts,
        fails_first,
        voids: 0,
        refunds: Vec::new(),
    })
}

/// Goes on until it is closed; how many steps that took.
fn reconcile(
    entries: &[EntryRecord],
    file: &mut OpFile,
    provider: &mut Provider,
    late: Option<(usize, Course)>,
) -> usize {
    for step in 0..200 {
        if let Some((when, payout)) = late
            && when == step
        {
            provider.payouts.push(payout);
        }
        let told = provider.told();
        let (decision, why) = next(&Facts { entries, file, told: &told });
        file.note(decision, why);
        if let Decision::Close(_) = decision {
            return step;
        }
        provider.act(decision);
    }
    panic!("no end: {provider:?}, {file:?}");
}

proptest! {
    /// From any state it ends in one effect, and run again it does nothing.
    #[test]
    fn ends_in_one_effect_and_is_idempotent(entries in entries(), mut provider in provider()) {
        let mut file = OpFile::default();
        reconcile(&entries, &mut file, &mut provider, None);
        prop_assert_eq!(provider.effects(), 1);
        let done = format!("{provider:?}");
        let kept = file.keep;
        // Once more by the same operator, and by one that finds no file at all.
        prop_assert_eq!(reconcile(&entries, &mut file, &mut provider, None), 0);
        prop_assert_eq!(file.keep, kept);
        prop_assert_eq!(format!("{provider:?}"), done);
    }

    /// An operator that is gone at any step is followed by one that has its file, and acts on it as it likes: what the first
    /// had decided may be carried out later still.
    #[test]
    fn whoever_goes_on_comes_to_one_effect(mut provider in provider(), gone_after in 0..20_usize, carried_out in any::<bool>()) {
        let mut file = OpFile::default();
        for _ in 0..gone_after {
            let told = provider.told();
            let (decision, why) = next(&Facts { entries: &[], file: &file, told: &told });
            file.note(decision, why);
            if matches!(decision, Decision::Close(_)) {
                break;
            }
            provider.act(decision);
        }
        let told = provider.told();
        let (decision, why) = next(&Facts { entries: &[], file: &file, told: &told });
        file.note(decision, why);
        if carried_out && !matches!(decision, Decision::AskAgain) {
            provider.act(decision);
        }
        reconcile(&[], &mut file, &mut provider, None);
        prop_assert_eq!(provider.effects(), 1);
    }

    /// A payout that comes late is taken back like any other, and the one that was kept stays.
    #[test]
    fn what_comes_late_is_taken_back(mut provider in provider(), when in 0..30_usize, fails in any::<bool>()) {
        let mut file = OpFile::default();
        reconcile(&[], &mut file, &mut provider, None);
        let kept = file.keep;
        provider.wait();
        let late = Course { state: PayoutState::Received, fails, refunds_fail: 1, is_being_refunded: false };
        provider.payouts.push(late);
        reconcile(&[], &mut file, &mut provider, Some((when, late)));
        // It may come after everything was closed; then somebody has to look again.
        reconcile(&[], &mut file, &mut provider, None);
        prop_assert_eq!(provider.effects(), 1);
        prop_assert_eq!(file.keep, kept);
    }
}
