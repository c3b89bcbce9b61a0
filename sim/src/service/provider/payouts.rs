//! Payouts that take their time: received, pending, settled or failed, and maybe reversed.
//!
//! What a payout is at an instant follows from when it came, what was drawn for it, and who took it back, so nothing has to
//! happen for it to go on. The time is the provider's own, by its monotonic clock.

use super::request::{Told, ToldPayout};
use crate::history::PayoutState;
use crate::id::{Amount, OpId, PayoutId};
use crate::seed::{Purpose, Seed, Stream};
use crate::service::provider::Reference;
use crate::time::{MonoTime, Span};
use crate::world::{Keys, PayoutSpec};

/// What was drawn for a payout: how long it takes, and whether it fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) known_in: Span,
    pub(super) decided_in: Span,
    pub(super) fails: bool,
}

/// That somebody wants a payout back.
#[derive(Clone, Copy, Debug)]
struct Refund {
    begun: MonoTime,
    takes: Span,
    fails: bool,
}

#[derive(Clone, Copy, Debug)]
struct Payout {
    op: OpId,
    amount: Amount,
    reference: Reference,
    came: MonoTime,
    course: Course,
    is_voided: bool,
    refund: Option<Refund>,
    /// How many refunds failed before this one.
    refunds: u32,
}

impl Payout {
    fn state(&self, now: MonoTime) -> PayoutState {
        let age = now - self.came;
        match self.course {
            _ if self.is_voided => PayoutState::Reversed,
            Course { known_in, .. } if age < known_in => PayoutState::Received,
            Course { decided_in, .. } if age < decided_in => PayoutState::Pending,
            Course { fails: true, .. } => PayoutState::Failed,
            _ => match self.refund {
                Some(refund) if !refund.fails && refund.is_over(now) => PayoutState::Reversed,
                _ => PayoutState::Settled,
            },
        }
    }

    fn is_being_refunded(&self, now: MonoTime) -> bool {
        self.refund.is_some_and(|refund| !refund.is_over(now))
    }
}

impl Refund {
    fn is_over(&self, now: MonoTime) -> bool {
        now - self.begun >= self.takes
    }
}

/// All payouts of a provider, in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Payouts {
    spec: PayoutSpec,
    keys: Keys,
    seed: Seed,
    all: Vec<Payout>,
}

/// What became of a wish to take a payout back.
pub(super) enum Reversal {
    /// It is voided.
    Voided,
    /// It is being given back.
    Begun { takes: Span, fails: bool },
    /// It was or is being given back already, so nothing more is done.
    Already,
    /// It isn't in a state for that.
    Refused(PayoutState),
    /// There is none.
    Unknown,
}

impl Payouts {
    pub(super) fn new(spec: PayoutSpec, keys: Keys, seed: Seed) -> Payouts {
        Payouts { spec, keys, seed, all: Vec::new() }
    }

    /// Whether the provider answers questions.
    pub(super) fn answers(&self) -> bool {
        self.spec.answers
    }

    /// The payout that was made under this reference before, as far as the provider remembers it, and how far it is.
    pub(super) fn known_by_key(&self, reference: Reference, now: MonoTime) -> Option<(PayoutId, PayoutState)> {
        let remembers = |payout: &Payout| match self.keys {
            Keys::None => false,
            Keys::Kept => true,
            Keys::For(span) => now - payout.came < span,
        };
        let same = |payout: &Payout| payout.reference == reference && remembers(payout);
        let known = self.all.iter().enumerate().find(|(_, payout)| same(payout))?;
        Some((number(known.0), known.1.state(now)))
    }

    pub(super) fn add(
        &mut self,
        reference: Reference,
        op: OpId,
        amount: Amount,
        now: MonoTime,
    ) -> (PayoutId, Course) {
        let payout = number(self.all.len());
        // A stream of its own for each payout: what becomes of one doesn't depend on how many others there are.
        let mut stream = Stream::new(self.seed, Purpose::Payout(payout.0));
        let known_in = stream.between(self.spec.known_in.min, self.spec.known_in.max);
        let pending = stream.between(self.spec.settles_in.min, self.spec.settles_in.max);
        let fails = stream.below(100) < u64::from(self.spec.fails_percent);
        let course = Course { known_in, decided_in: known_in + pending, fails };
        let (is_voided, refund, refunds) = (false, None, 0);
        self.all.push(Payout { op, amount, reference, came: now, course, is_voided, refund, refunds });
        (payout, course)
    }

    /// What the provider tells of an operation.
    pub(super) fn told(&self, op: OpId, now: MonoTime) -> Told {
        let of_op = || self.all.iter().enumerate().filter(move |(_, payout)| payout.reference.op == op);
        let is_known = |payout: &Payout| payout.state(now) != PayoutState::Received;
        let known = of_op().filter(|(_, payout)| is_known(payout));
        Told {
            payouts: known.map(|(index, payout)| told_payout(index, payout, now)).collect(),
            more_to_come: of_op().any(|(_, payout)| !is_known(payout)),
        }
    }

    /// A page of what the provider tells of the settlement.
    pub(super) fn page(&self, after: PayoutId, now: MonoTime) -> Vec<ToldPayout> {
        let behind = self.all.iter().enumerate().skip(after.index());
        behind.take(self.spec.page).map(|(index, payout)| told_payout(index, payout, now)).collect()
    }

    pub(super) fn void(&mut self, payout: PayoutId, now: MonoTime) -> Reversal {
        let Some(payout) = self.get(payout) else { return Reversal::Unknown };
        match payout.state(now) {
            PayoutState::Received | PayoutState::Pending => {
                payout.is_voided = true;
                Reversal::Voided
            }
            PayoutState::Reversed => Reversal::Already,
            state => Reversal::Refused(state),
        }
    }

    pub(super) fn refund(&mut self, number: PayoutId, now: MonoTime) -> Reversal {
        let (spec, seed) = (self.spec, self.seed);
        let Some(payout) = self.get(number) else { return Reversal::Unknown };
        match payout.state(now) {
            PayoutState::Settled if payout.is_being_refunded(now) => Reversal::Already,
            PayoutState::Settled => {
                let mut stream = Stream::new(seed, Purpose::Refund(number.0, payout.refunds));
                let takes = stream.between(spec.refunds_in.min, spec.refunds_in.max);
                let fails = stream.below(100) < u64::from(spec.refunds_fail_percent);
                payout.refund = Some(Refund { begun: now, takes, fails });
                payout.refunds += 1;
                Reversal::Begun { takes, fails }
            }
            PayoutState::Reversed => Reversal::Already,
            state => Reversal::Refused(state),
        }
    }

    pub(super) fn op_of(&self, payout: PayoutId) -> Option<OpId> {
        self.all.get(payout.index().checked_sub(1)?).map(|payout| payout.op)
    }

    fn get(&mut self, payout: PayoutId) -> Option<&mut Payout> {
        self.all.get_mut(payout.index().checked_sub(1)?)
    }
}

fn number(index: usize) -> PayoutId {
    PayoutId(index as u32 + 1)
}

fn told_payout(index: usize, payout: &Payout, now: MonoTime) -> ToldPayout {
    ToldPayout {
        payout: number(index),
        op: payout.reference.op,
        amount: payout.amount,
        state: payout.state(now),
        is_being_refunded: payout.is_being_refunded(now),
    }
}
