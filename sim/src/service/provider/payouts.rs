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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) known_in: Span,
    pub(super) decided_in: Span,
    pub(super) fails: bool,
}

/// That somebody wants a payout back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refund {
    begun: MonoTime,
    takes: Span,
    fails: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Whether it has other payouts than `before`, or of other states.
    pub(super) fn differs_from(&self, before: &Payouts) -> bool {
        self.all != before.all
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Latency;

    const OP: OpId = OpId(0);

    /// Known after 100 ms, settled after 2 s more, refunded within 1 s.
    fn exact() -> PayoutSpec {
        let exactly = |millis| Latency { min: Span::millis(millis), max: Span::millis(millis) };
        let (known_in, settles_in, refunds_in) = (exactly(100), exactly(2_000), exactly(1_000));
        PayoutSpec { known_in, settles_in, refunds_in, page: 2, ..PayoutSpec::default() }
    }

    fn ms(millis: i64) -> MonoTime {
        MonoTime::from_nanos(0) + Span::millis(millis)
    }

    fn paid(payouts: &mut Payouts, attempt: u16, at: i64) -> PayoutId {
        payouts.add(Reference { op: OP, attempt }, OP, Amount(100), ms(at)).0
    }

    /// The states of all payouts at an instant.
    #[track_caller]
    fn check(payouts: &Payouts, at: i64, expected: &[PayoutState]) {
        let states: Vec<_> = payouts.all.iter().map(|payout| payout.state(ms(at))).collect();
        assert_eq!(states, expected, "at {at} ms");
    }

    #[test]
    fn a_payout_goes_its_way_by_itself() {
        use PayoutState::{Failed, Pending, Received, Settled};
        let mut payouts = Payouts::new(exact(), Keys::None, Seed(1));
        paid(&mut payouts, 0, 0);
        for (at, state) in [(0, Received), (99, Received), (100, Pending), (2_099, Pending), (2_100, Settled)] {
            check(&payouts, at, &[state]);
        }
        let mut failing = Payouts::new(PayoutSpec { fails_percent: 100, ..exact() }, Keys::None, Seed(1));
        paid(&mut failing, 0, 0);
        check(&failing, 2_099, &[Pending]);
        check(&failing, 2_100, &[Failed]);
    }

    #[test]
    fn what_has_not_moved_is_voided_and_what_has_is_refunded() {
        use PayoutState::{Pending, Reversed, Settled};
        let mut payouts = Payouts::new(exact(), Keys::None, Seed(1));
        let (first, second) = (paid(&mut payouts, 0, 0), paid(&mut payouts, 0, 0));
        assert!(matches!(payouts.refund(first, ms(500)), Reversal::Refused(Pending)));
        assert!(matches!(payouts.void(first, ms(500)), Reversal::Voided));
        assert!(matches!(payouts.void(first, ms(501)), Reversal::Already));
        assert!(matches!(payouts.void(second, ms(3_000)), Reversal::Refused(Settled)));
        assert!(matches!(payouts.refund(second, ms(3_000)), Reversal::Begun { fails: false, .. }));
        assert!(matches!(payouts.refund(second, ms(3_500)), Reversal::Already));
        check(&payouts, 3_999, &[Reversed, Settled]);
        check(&payouts, 4_000, &[Reversed, Reversed]);
        assert!(matches!(payouts.refund(second, ms(9_000)), Reversal::Already));
        for nobodys in [PayoutId(0), PayoutId(3)] {
            assert!(matches!(payouts.void(nobodys, ms(0)), Reversal::Unknown));
        }
    }

    #[test]
    fn a_refund_that_fails_leaves_the_payout_settled_and_can_be_asked_for_again() {
        let spec = PayoutSpec { refunds_fail_percent: 99, ..exact() };
        let mut payouts = Payouts::new(spec, Keys::None, Seed(1));
        let payout = paid(&mut payouts, 0, 0);
        assert!(matches!(payouts.refund(payout, ms(3_000)), Reversal::Begun { fails: true, .. }));
        check(&payouts, 9_000, &[PayoutState::Settled]);
        assert!(matches!(payouts.refund(payout, ms(9_000)), Reversal::Begun { .. }));
    }

    /// As many fail as the numbers say that are drawn for them: what is as high as the percentage does not.
    #[test]
    fn a_payout_or_refund_fails_if_the_number_that_is_drawn_for_it_is_below_the_percentage() {
        let third = |purpose| {
            let mut stream = Stream::new(Seed(1), purpose);
            (0..3).map(|_| stream.below(100)).last().expect("three were drawn")
        };
        let second = |purpose| {
            let mut stream = Stream::new(Seed(1), purpose);
            (0..2).map(|_| stream.below(100)).last().expect("two were drawn")
        };
        for index in 0..20 {
            // Known in, pending, and then whether it fails; of a refund how long it takes, and whether it fails.
            let (payout, refund) = (third(Purpose::Payout(index + 1)), second(Purpose::Refund(index + 1, 0)));
            for percent in 0..=100 {
                let paying = PayoutSpec { fails_percent: percent, ..exact() };
                let mut payouts = Payouts::new(paying, Keys::None, Seed(1));
                let made: Vec<_> = (0..=index).map(|_| paid(&mut payouts, 0, 0)).collect();
                let expected =
                    if payout < u64::from(percent) { PayoutState::Failed } else { PayoutState::Settled };
                assert_eq!(payouts.all[index as usize].state(ms(9_000)), expected, "{percent} % of {payout}");
                let refunding = PayoutSpec { refunds_fail_percent: percent, ..exact() };
                let mut payouts = Payouts::new(refunding, Keys::None, Seed(1));
                for _ in 0..=index {
                    paid(&mut payouts, 0, 0);
                }
                let Reversal::Begun { fails, .. } = payouts.refund(made[index as usize], ms(3_000)) else {
                    panic!("it is settled")
                };
                assert_eq!(fails, refund < u64::from(percent), "{percent} % of {refund}");
            }
        }
    }

    #[test]
    fn keys_are_known_as_long_as_they_are_remembered() {
        let known = |keys, attempt, at| {
            let mut payouts = Payouts::new(exact(), keys, Seed(1));
            paid(&mut payouts, 0, 0);
            payouts.known_by_key(Reference { op: OP, attempt }, ms(at)).map(|(payout, _)| payout)
        };
        assert_eq!(known(Keys::None, 0, 0), None);
        assert_eq!(known(Keys::Kept, 0, 900_000), Some(PayoutId(1)));
        assert_eq!(known(Keys::Kept, 1, 0), None);
        assert_eq!(known(Keys::For(Span::secs(5)), 0, 4_999), Some(PayoutId(1)));
        assert_eq!(known(Keys::For(Span::secs(5)), 0, 5_000), None);
        let day = 86_400_000;
        assert_eq!(known(Keys::For(Span::secs(86_400)), 0, day - 1), Some(PayoutId(1)));
        assert_eq!(known(Keys::For(Span::secs(86_400)), 0, day), None);
    }

    #[test]
    fn what_it_tells_is_what_it_knows() {
        let mut payouts = Payouts::new(exact(), Keys::None, Seed(1));
        let numbers = |told: &[ToldPayout]| told.iter().map(|payout| payout.payout.0).collect::<Vec<_>>();
        assert_eq!(payouts.told(OP, ms(0)), Told::default());
        for at in [0, 50, 400] {
            paid(&mut payouts, 0, at);
        }
        let told = payouts.told(OP, ms(420));
        assert_eq!((numbers(&told.payouts), told.more_to_come), (vec![1, 2], true));
        let told = payouts.told(OP, ms(500));
        assert_eq!((numbers(&told.payouts), told.more_to_come), (vec![1, 2, 3], false));
        assert_eq!(payouts.told(OpId(1), ms(500)), Told::default());
        for (after, page) in [(0, vec![1, 2]), (2, vec![3]), (3, vec![]), (9, vec![])] {
            assert_eq!(numbers(&payouts.page(PayoutId(after), ms(500))), page, "after {after}");
        }
    }
}
