//! How a service is taken back to what it kept on disk a while ago, for faults that bring that back.
//!
//! A service notes with each change how to take it back, so going back is taking back, the newest change first, and the
//! past takes room for what was changed and not for copies of everything. Only a service that such a fault is planned for
//! has a past: whoever has none takes no notes.

use std::collections::VecDeque;

use super::Service;
use crate::time::{Span, TrueTime};

/// Where a service notes how to take back what it changes on disk. Nothing is noted until somebody may ask for it.
#[derive(Debug)]
pub struct Journal<U>(Option<Vec<U>>);

impl<U> Default for Journal<U> {
    fn default() -> Journal<U> {
        Journal(None)
    }
}

impl<U> Journal<U> {
    /// Notes how to take the change back that is about to be made.
    #[inline]
    pub fn note(&mut self, undo: impl FnOnce() -> U) {
        if let Some(notes) = &mut self.0 {
            notes.push(undo());
        }
    }

    /// Whether notes are taken.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// From now on notes are taken.
    pub(super) fn open(&mut self) {
        self.0.get_or_insert_default();
    }

    /// From now on none are taken.
    pub(super) fn close(&mut self) {
        self.0 = None;
    }

    /// Takes out what was noted since the last time, in the order of the changes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = U> {
        self.0.iter_mut().flat_map(|notes| notes.drain(..))
    }
}

/// How to take back the changes of the last while, each with when it was made, in their order.
pub(super) struct Past<U> {
    reach: Span,
    changes: VecDeque<(TrueTime, U)>,
}

impl<U> Past<U> {
    /// A past that reaches back by `reach`.
    pub(super) fn new(reach: Span) -> Past<U> {
        Past { reach, changes: VecDeque::new() }
    }

    /// Notes how to take back what was changed at `now`, and forgets what is out of reach.
    pub(super) fn note(&mut self, now: TrueTime, undos: impl Iterator<Item = U>) {
        self.changes.extend(undos.map(|undo| (now, undo)));
        let oldest = now - self.reach;
        while self.changes.front().is_some_and(|(made, _)| *made <= oldest) {
            self.changes.pop_front();
        }
    }

    /// Takes back what `service` changed later than `at`. What holds at an instant is what its last event left behind.
    pub(super) fn take_back<S: Service<Undo = U>>(&mut self, at: TrueTime, service: &mut S) {
        let kept = self.changes.partition_point(|(made, _)| *made <= at);
        self.changes.drain(kept..).rev().for_each(|(_, undo)| service.undo(undo));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::engine::{Answer, ServiceContext, World};
    use crate::history::{Claim, Decision, Reason, Row};
    use crate::host::Clocks;
    use crate::id::{Amount, EntryId, Epoch, ExportId, LeaseId, NodeId, OpId, PayoutId, Token};
    use crate::limits::Limits;
    use crate::seed::{Purpose, Seed, Stream};
    use crate::service::door::{Door, Forgetful, HighestToken};
    use crate::service::lease_store::{
        DispatchRequest, Expiry, Grant, LeaseRequest, LeaseStore, LeaseStoreRules, Term, Tokens,
    };
    use crate::service::ledger::{Ledger, LedgerRepair, LedgerRequest, LedgerRules, Signed};
    use crate::service::provider::{GatewayRules, Pay, Provider, ProviderRepair, ProviderRequest, Reference};
    use crate::time::WallTime;
    use crate::world::{
        JobSpec, Keys, Latency, LeaseSpec, LedgerSpec, NetworkSpec, PayoutSpec, ProviderSpec, RepairSpec,
        WorkerSpec, WorldSpec,
    };

    const OPERATIONS: usize = 4;
    const REACH: i64 = 20;

    /// What befalls a service, one thing after the other.
    #[derive(Clone, Debug)]
    enum Step<R> {
        /// Milliseconds go by.
        Wait(i64),
        /// It is asked.
        Ask(R),
        /// It does the rest of the oldest request that it had put off, if there is one.
        Finish,
        /// Its memory is gone.
        Crash,
        /// It is taken back by so many milliseconds, and crashes.
        Back(i64),
    }

    fn steps<R: Clone + std::fmt::Debug>(ask: impl Strategy<Value = R>) -> impl Strategy<Value = Vec<Step<R>>> {
        let step = prop_oneof![
            6 => ask.prop_map(Step::Ask),
            4 => (0..8_i64).prop_map(Step::Wait),
            3 => Just(Step::Finish),
            1 => Just(Step::Crash),
            1 => (0..=REACH).prop_map(Step::Back),
        ];
        vec(step, 0..60)
    }

    fn world_spec() -> WorldSpec {
        let latency = Latency { min: Span::ZERO, max: Span::ZERO };
        let clock = Default::default();
        WorldSpec {
            start: WallTime::default(),
            workers: vec![WorkerSpec { name: "a".to_owned(), starts: TrueTime::START, clock }],
            service_clocks: BTreeMap::new(),
            lease: LeaseSpec {
                ttl: Span::millis(9),
                renew_every: Span::millis(3),
                poll_every: Span::millis(3),
                expiry: None,
                service: None,
            },
            ledger: LedgerSpec::default(),
            provider: ProviderSpec::default(),
            operators: Vec::new(),
            repair: RepairSpec::default(),
            job: JobSpec { operations: OPERATIONS as u32, due: WallTime::default(), pace: Span::ZERO },
            network: NetworkSpec { internal: latency, provider: latency, timeout: Span::secs(1) },
            limits: Limits { end: TrueTime::START + Span::secs(1), steps: 1 },
            progress_within: Span::secs(1),
        }
    }

    /// Going back gives what a full copy of that time says, as `disk` shows it.
    fn check<S: Service>(
        steps: &[Step<S::Request>],
        service: impl FnOnce() -> S,
        disk: fn(&S) -> String,
    ) -> Result<(), TestCaseError> {
        let host = Clocks::default();
        let world: Rc<World> = World::new(host, &world_spec(), Rc::new([]), Seed(1));
        let context = ServiceContext::new(&world, NodeId(0), NodeId(3));
        let mut service = service();
        service.journal().open();
        let mut past = Past::new(Span::millis(REACH));
        let mut now = TrueTime::START;
        let mut copies = vec![(now, disk(&service))];
        let mut put_off = std::collections::VecDeque::new();
        for step in steps {
            match step {
                Step::Wait(millis) => now = now + Span::millis(*millis),
                Step::Ask(request) => match service.handle(request.clone(), &context) {
                    Answer::Now(_) | Answer::Parked => {}
                    Answer::After(_, later) => put_off.push_back(later),
                },
                Step::Finish => {
                    if let Some(later) = put_off.pop_front() {
                        later(&mut service, &context);
                    }
                }
                Step::Crash => {
                    put_off.clear();
                    service.crash();
                }
                Step::Back(millis) => {
                    put_off.clear();
                    let at = (now - Span::millis(*millis)).max(TrueTime::START);
                    past.take_back(at, &mut service);
                    copies.truncate(copies.partition_point(|(made, _)| *made <= at));
                    let (_, copy) = copies.last().expect("the first copy is of the start");
                    prop_assert_eq!(&disk(&service), copy);
                    continue;
                }
            }
            past.note(now, service.journal().drain());
            copies.push((now, disk(&service)));
        }
        Ok(())
    }

    fn epoch_and_token() -> impl Strategy<Value = Claim> {
        (0..5_u64, any::<bool>()).prop_map(|(token, has)| Claim {
            worker: NodeId(3),
            epoch: Epoch(token as u32),
            token: has.then_some(Token(token)),
        })
    }

    fn lease_request() -> impl Strategy<Value = LeaseRequest> {
        let term = (0..40_i64)
            .prop_map(|now| Term { now: WallTime::default() + Span::millis(now), ttl: Span::millis(9) });
        // The first lease IDs of the store, and one that it never makes up.
        let mut ids = lease_ids();
        let mut leases: Vec<u64> = std::iter::repeat_with(|| ids.next() >> 32).take(4).collect();
        leases.push(7);
        let grant = proptest::sample::select(leases).prop_map(|lease| Grant {
            lease: LeaseId(lease),
            token: None,
            epoch: Epoch(1),
        });
        (term, grant, 0..6).prop_map(|(term, grant, kind)| match kind {
            0 => LeaseRequest::Renew { grant, term },
            1 => LeaseRequest::Release { grant },
            2 => LeaseRequest::Dispatch(DispatchRequest::Stop { above: None }),
            3 => LeaseRequest::Dispatch(DispatchRequest::Resume { grant, elected: None, ttl: term.ttl }),
            _ => LeaseRequest::Acquire(term),
        })
    }

    fn lease_ids() -> Stream {
        Stream::new(Seed(1), Purpose::LeaseIds(NodeId(0)))
    }

    fn ledger_request() -> impl Strategy<Value = Signed> {
        let op = (0..OPERATIONS as u32).prop_map(OpId);
        (epoch_and_token(), op, 0..14, 1..9_u32).prop_map(|(claim, op, kind, number)| {
            let (entry, by, rows) = (EntryId(number), EntryId(number + 1), Vec::new());
            let (decision, why) = (Decision::Void(PayoutId(number)), Reason::DuplicateUnderWay);
            let amount = Amount(number.into());
            let row = Row { op, amount, entry: EntryId(number), payout: PayoutId(number) };
            let request = match kind {
                0 => LedgerRequest::Fence,
                1 => LedgerRequest::ReadCheckpoint,
                2 => LedgerRequest::Publish { rows: Vec::new() },
                3 | 4 => LedgerRequest::MoveCheckpoint { row },
                8 => LedgerRequest::Repair(LedgerRepair::Supersede { entry, by }),
                9 => LedgerRequest::Repair(LedgerRepair::Decide { op, decision, why }),
                10 => LedgerRequest::Repair(LedgerRepair::SetCheckpoint { rows }),
                11 => LedgerRequest::Repair(LedgerRepair::SupersedeExport { export: ExportId(number / 4) }),
                12 => LedgerRequest::Repair(LedgerRepair::Delete { entry }),
                13 => LedgerRequest::Repair(LedgerRepair::Enter { op, amount }),
                _ => LedgerRequest::Write { op, amount },
            };
            Signed { claim, lease: LeaseId(1), request }
        })
    }

    fn pay(claim: Claim, op: OpId) -> ProviderRequest {
        ProviderRequest::Pay(Pay { claim, op, amount: Amount(1), reference: Reference { op, attempt: 0 } })
    }

    fn provider_request() -> impl Strategy<Value = ProviderRequest> {
        (epoch_and_token(), 0..OPERATIONS as u32, 0..6, 1..5_u32).prop_map(
            |(claim, op, kind, payout)| match kind {
                0 => ProviderRequest::Repair(claim, ProviderRepair::Void(PayoutId(payout))),
                1 => ProviderRequest::Repair(claim, ProviderRepair::Refund(PayoutId(payout))),
                _ => pay(claim, OpId(op)),
            },
        )
    }

    fn doors(forgets: bool) -> Box<dyn Door> {
        let door = Box::new(HighestToken::default());
        if forgets { Box::new(Forgetful::new(door)) } else { door }
    }

    proptest! {
        #[test]
        fn a_lease_store_that_is_taken_back_is_what_it_was(
            steps in steps(lease_request()),
            expiry in proptest::sample::select(vec![Expiry::ByAsker, Expiry::ByStore, Expiry::AT_TRANSACTION_START]),
        ) {
            let rules = LeaseStoreRules { tokens: Tokens::Counted, expiry };
            let store = || LeaseStore::new(rules, None, lease_ids());
            check(&steps, store, LeaseStore::disk)?;
            check(&steps, || store().with_dispatch(), LeaseStore::disk)?;
        }

        #[test]
        fn a_ledger_that_is_taken_back_is_what_it_was(
            steps in steps(ledger_request()),
            (one_entry_per_operation, check_to_write) in (any::<bool>(), 0..2_i64),
        ) {
            let rules = || LedgerRules {
                door: doors(false),
                one_entry_per_operation,
                check_to_write: Span::millis(check_to_write),
            };
            check(&steps, || Ledger::new(rules(), OPERATIONS), Ledger::disk)?;
            check(&steps, || Ledger::new(rules(), OPERATIONS).with_records(), Ledger::disk)?;
        }

        #[test]
        fn a_provider_that_is_taken_back_is_what_it_was(
            steps in steps(provider_request()),
            idempotency_keys in any::<bool>(),
        ) {
            let rules = || GatewayRules { door: doors(false), idempotency_keys };
            check(&steps, || Provider::new(rules(), OPERATIONS), Provider::disk)?;
            let keys = if idempotency_keys { Keys::For(Span::millis(5)) } else { Keys::None };
            let spec = PayoutSpec { fails_percent: 30, ..PayoutSpec::default() };
            check(&steps, || Provider::new(rules(), OPERATIONS).slow(spec, keys, Seed(1)), Provider::disk)?;
        }
    }

    /// A door that forgets keeps nothing on disk. It is taken back like any other, and forgets afterwards.
    #[test]
    fn a_door_that_forgets_is_taken_back_and_forgets() {
        let pay = |token: u64| {
            let claim = Claim { worker: NodeId(3), epoch: Epoch(1), token: Some(Token(token)) };
            pay(claim, OpId(0))
        };
        let rules = GatewayRules { door: doors(true), idempotency_keys: true };
        let steps = [Step::Ask(pay(1)), Step::Wait(2), Step::Ask(pay(3)), Step::Wait(2), Step::Back(3)];
        let outcome = check(&steps, || Provider::new(rules, OPERATIONS), Provider::disk);
        assert!(outcome.is_ok(), "{outcome:?}");
    }

    #[test]
    fn what_is_out_of_reach_is_forgotten() {
        let mut past = Past::new(Span::secs(2));
        let secs = |secs| TrueTime::START + Span::secs(secs);
        for (now, change) in [(1, 'b'), (2, 'c'), (10, 'd'), (11, 'e')] {
            past.note(secs(now), std::iter::once(change));
        }
        assert_eq!(past.changes, [(secs(10), 'd'), (secs(11), 'e')]);
        past.note(secs(12), std::iter::empty());
        assert_eq!(past.changes, [(secs(11), 'e')]);
    }

    #[test]
    fn a_journal_that_nobody_opened_takes_no_notes() {
        let mut journal = Journal::default();
        journal.note(|| unreachable!("nobody asks for it"));
        assert_eq!(journal.drain().collect::<Vec<()>>(), []);
        journal.open();
        journal.note(|| ());
        assert_eq!(journal.drain().collect::<Vec<()>>(), [()]);
        assert_eq!(journal.drain().collect::<Vec<()>>(), []);
    }
}
