//! What a repair decides, and why: the part of events that is about operators.

use serde::{Deserialize, Serialize};

use crate::id::PayoutId;

/// What an operator decided for one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Decision {
    /// This payout is the one that stays.
    Keep(PayoutId),
    /// The operation is paid, for the n-th time that the operator has to; counted from 0.
    Submit(u16),
    /// This payout is called back before the money moves.
    Void(PayoutId),
    /// What this payout paid is asked back.
    Refund(PayoutId),
    /// The provider is asked again later.
    AskAgain,
    /// Nothing is left to do: the operation has this one effect.
    Close(PayoutId),
    /// A person has to look at it: what became of it can't be told.
    GiveUp,
}

/// Why an operator decided so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reason {
    /// Of its payouts it is the first that settled.
    FirstSettled,
    /// None has settled, and of those under way it is the first.
    FirstUnderWay,
    /// The provider has no payout for it.
    NeverPaid,
    /// All its payouts failed or were taken back.
    NoneLeft,
    /// Another payout stays, and the money hasn't moved.
    DuplicateUnderWay,
    /// Another payout stays, and the money has moved.
    DuplicateSettled,
    /// The provider doesn't know yet what it has.
    NotKnownYet,
    /// The payout that stays hasn't settled.
    NotSettledYet,
    /// A refund hasn't come to an end.
    RefundUnderWay,
    /// One payout has settled, and no other is left.
    OneEffect,
    /// The provider answers no question, but never forgets a key: asking to pay under one is asking what became of it.
    AskedByKey,
    /// The provider answers no question, and has no keys by which asking to pay again would be one.
    NoAnswerAndNoKeys,
    /// The provider answers no question, and may have forgotten the key by which asking to pay again would be one.
    NoAnswerAndOldKeys,
    /// The provider was asked for as long as an operator does.
    AskedLongEnough,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 14] = [
        Reason::FirstSettled,
        Reason::FirstUnderWay,
        Reason::NeverPaid,
        Reason::NoneLeft,
        Reason::DuplicateUnderWay,
        Reason::DuplicateSettled,
        Reason::NotKnownYet,
        Reason::NotSettledYet,
        Reason::RefundUnderWay,
        Reason::OneEffect,
        Reason::AskedByKey,
        Reason::NoAnswerAndNoKeys,
        Reason::NoAnswerAndOldKeys,
        Reason::AskedLongEnough,
    ];
}

/// What became of a payout, as the provider tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PayoutState {
    /// The request was taken in, and nothing is known of it yet.
    Received,
    /// The money is about to move.
    Pending,
    /// The money has moved.
    Settled,
    /// It never will.
    Failed,
    /// It was called back, or has been given back.
    Reversed,
}

impl PayoutState {
    /// All of them, in the order in which a payout goes through them.
    pub const ALL: [PayoutState; 5] = [
        PayoutState::Received,
        PayoutState::Pending,
        PayoutState::Settled,
        PayoutState::Failed,
        PayoutState::Reversed,
    ];

    /// The state as reports spell it.
    pub const fn name(self) -> &'static str {
        match self {
            PayoutState::Received => "received",
            PayoutState::Pending => "pending",
            PayoutState::Settled => "settled",
            PayoutState::Failed => "failed",
            PayoutState::Reversed => "reversed",
        }
    }
}
