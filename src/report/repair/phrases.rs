//! Why operators decide what they do, in words.

use holdover_sim::history::{PayoutState, Reason};

/// Why something was decided, to stand behind a colon.
pub(in crate::report) const fn reason(why: Reason) -> &'static str {
    match why {
        Reason::FirstSettled => "the first that settled",
        Reason::FirstUnderWay => "the first under way",
        Reason::NeverPaid => "the provider has no payout for it",
        Reason::NoneLeft => "none of its payouts is left",
        Reason::DuplicateUnderWay => "no money has moved",
        Reason::DuplicateSettled => "money has moved",
        Reason::NotKnownYet => "the provider doesn't know yet what it has",
        Reason::NotSettledYet => "the payout that stays hasn't settled",
        Reason::RefundUnderWay => "a refund is still under way",
        Reason::OneEffect => "one payout has settled, and no other is left",
        Reason::AskedByKey => {
            "the provider answers no questions, but asking to pay under a key that it keeps is one"
        }
        Reason::NoAnswerAndNoKeys => {
            "the provider answers no questions, and without keys asking to pay again may pay again"
        }
        Reason::NoAnswerAndOldKeys => {
            "the provider answers no questions, and where it has forgotten the key asking to pay again pays again"
        }
        Reason::AskedLongEnough => "the provider was asked for as long as an operator does, and it isn't settled",
    }
}

/// What became of a payout, to stand behind a verb.
pub(in crate::report) const fn state(state: PayoutState) -> &'static str {
    match state {
        PayoutState::Received => "isn't known yet",
        PayoutState::Pending => "is under way",
        PayoutState::Settled => "has settled",
        PayoutState::Failed => "has failed",
        PayoutState::Reversed => "is taken back already",
    }
}
