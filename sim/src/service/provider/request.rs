//! What a provider can be asked, and what it answers.

use crate::history::{Claim, PayoutState};
use crate::id::{Amount, OpId, PayoutId};

/// How a payout is filed with the provider: the settlement's operation, and the how-manieth attempt to pay for it. It is the
/// idempotency key too. Whoever asks, whenever: for the same effect it is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The operation.
    pub op: OpId,
    /// Which attempt; workers know of the first one only, which is 0.
    pub attempt: u16,
}

/// A request to pay, with the authority that it is made under.
#[derive(Clone, Copy, Debug)]
pub struct Pay {
    pub(crate) claim: Claim,
    /// For which operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
    /// What the provider files it under.
    pub reference: Reference,
}

/// What a provider can be asked.
#[derive(Clone, Copy, Debug)]
pub enum ProviderRequest {
    /// Pay.
    Pay(Pay),
    /// What an operator asks, and under which authority.
    Repair(Claim, ProviderRepair),
}

/// What an operator can ask of a provider.
#[derive(Clone, Copy, Debug)]
pub enum ProviderRepair {
    /// Have the gateway shut out all lower tokens.
    Fence,
    /// Say which payouts there are for an operation.
    Status(OpId),
    /// Say which payouts there are for the settlement: a page of them.
    List {
        /// After this payout.
        after: PayoutId,
    },
    /// Call a payout back before the money moves.
    Void(PayoutId),
    /// Give back what a payout paid.
    Refund(PayoutId),
}

/// What a provider answers when it doesn't refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderResponse {
    /// To a request to pay: the payout, and how far it is.
    Paid(PayoutId, PayoutState),
    /// To a fence: whether the gateway checks tokens at all.
    Fenced(bool),
    /// To a question for an operation.
    Told(Told),
    /// To a question for the settlement: the payouts of the page in their order; none is on a page behind the last.
    Page(Vec<ToldPayout>),
    /// To a void or a refund: whether it was agreed to.
    Agreed(bool),
    /// It doesn't answer such questions.
    NoAnswer,
}

/// What a provider tells of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The payouts that it knows of, in their order.
    pub payouts: Vec<ToldPayout>,
    /// Whether there is a request of which it doesn't know yet what it is.
    pub more_to_come: bool,
}

/// What a provider tells of a payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldPayout {
    /// Its number.
    pub payout: PayoutId,
    /// For which operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
    /// How far it is.
    pub state: PayoutState,
    /// Whether it is about to be given back.
    pub is_being_refunded: bool,
}
