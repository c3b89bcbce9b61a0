//! The provider: the external system that pays, and the gateway in front of it.
//!
//! The provider itself pays whatever it is asked to. The gateway is where authority can be checked: it may turn low
//! tokens away, and it may know an operation's idempotency key again and answer with the payout already made. Where a
//! scenario says so, payouts take their time and can be asked for and taken back (`payouts`).

mod payouts;
mod request;

pub use request::{Pay, ProviderRepair, ProviderRequest, ProviderResponse, Reference, Told, ToldPayout};

use self::payouts::{Payouts, Reversal};
use super::door::Door;
use crate::engine::{Answer, Journal, Service, ServiceContext};
use crate::history::{Claim, PayoutState, Refusal, What};
use crate::id::{OpId, PayoutId};
use crate::seed::Seed;
use crate::world::{Keys, PayoutSpec};

/// How a gateway goes about it.
pub struct GatewayRules {
    /// Who may have payouts made.
    pub door: Box<dyn Door>,
    /// Whether it knows idempotency keys. The key is the operation's ID, which is the same for every worker.
    pub idempotency_keys: bool,
}

/// What a provider knows of payouts that are made and settled at once. To forget one doesn't take it back.
#[derive(Clone, Debug)]
struct AtOnce {
    made: u32,
    /// The first payout of each operation.
    first: Vec<Option<PayoutId>>,
}

/// How to take back one change of what a provider keeps on disk: its payouts, and what its gateway's door knows.
pub struct ProviderUndo(Change);

/// A change, with what was there before.
enum Change {
    /// Somebody came to the door.
    Door(Box<dyn Door>),
    /// A payout was made for an operation, whose first one is here.
    Payout(OpId, Option<PayoutId>),
    /// A payout that takes its time was made or taken back.
    Slow(Box<Payouts>),
}

/// The provider with its gateway.
pub struct Provider {
    rules: GatewayRules,
    payouts: AtOnce,
    /// The payouts, where they take their time.
    slow: Option<Box<Payouts>>,
    journal: Journal<ProviderUndo>,
}

impl Provider {
    /// A provider that has paid nothing, for a settlement of `operations` operations.
    pub fn new(rules: GatewayRules, operations: usize) -> Provider {
        let payouts = AtOnce { made: 0, first: vec![None; operations] };
        Provider { rules, payouts, slow: None, journal: Journal::default() }
    }

    /// The same provider with payouts that take their time, which is drawn from `seed`.
    pub(crate) fn slow(self, spec: PayoutSpec, keys: Keys, seed: Seed) -> Provider {
        Provider { slow: Some(Box::new(Payouts::new(spec, keys, seed))), ..self }
    }

    fn pay(
        &mut self,
        Pay { claim, op, amount, reference }: Pay,
        context: &ServiceContext<'_>,
    ) -> ProviderResponse {
        if self.slow.is_some() {
            return self.pay_slowly(Pay { claim, op, amount, reference }, context);
        }
        let first = &mut self.payouts.first[op.index()];
        if let Some(payout) = *first
            && self.rules.idempotency_keys
        {
            context.record(|| What::PayoutRepeated { claim, op, payout });
            return ProviderResponse::Paid(payout, PayoutState::Settled);
        }
        self.journal.note(|| ProviderUndo(Change::Payout(op, *first)));
        self.payouts.made += 1;
        let payout = PayoutId(self.payouts.made);
        first.get_or_insert(payout);
        context.record(|| What::PayoutMade { claim, op, payout, amount });
        ProviderResponse::Paid(payout, PayoutState::Settled)
    }

    fn pay_slowly(&mut self, pay: Pay, context: &ServiceContext<'_>) -> ProviderResponse {
        let Pay { claim, op, amount, reference } = pay;
        let now = context.mono();
        let known = self.slow.as_ref().and_then(|slow| slow.known_by_key(reference, now));
        if let Some((payout, state)) = known {
            context.record(|| What::PayoutRepeated { claim, op, payout });
            return ProviderResponse::Paid(payout, state);
        }
        let (payout, course) = self.changing().add(reference, op, amount, now);
        context.record(|| What::PayoutMade { claim, op, payout, amount });
        let (known_in, decided_in, fails) = (course.known_in, course.decided_in, course.fails);
        context.record(|| What::PayoutTakenIn { payout, known_in, decided_in, fails });
        ProviderResponse::Paid(payout, PayoutState::Received)
    }

    /// The payouts that take their time, about to be changed.
    fn changing(&mut self) -> &mut Payouts {
        let slow = self.slow.as_mut().expect("only a provider that takes its time is asked for such payouts");
        self.journal.note(|| ProviderUndo(Change::Slow(slow.clone())));
        slow
    }

    /// Does what an operator asks that the gateway has let in.
    fn repair(&mut self, claim: Claim, request: ProviderRepair, context: &ServiceContext<'_>) -> ProviderResponse {
        let Some(slow) = &self.slow else { return ProviderResponse::NoAnswer };
        let (answers, now) = (slow.answers(), context.mono());
        match request {
            ProviderRepair::Fence => {
                let fenced = self.rules.door.checks_tokens();
                context.record(|| What::GatewayFenced { claim, fenced });
                ProviderResponse::Fenced(fenced)
            }
            ProviderRepair::Status(_) | ProviderRepair::List { .. } if !answers => ProviderResponse::NoAnswer,
            ProviderRepair::Status(op) => {
                let told = slow.told(op, now);
                let (payouts, known) = (told.payouts.len() as u32, !told.more_to_come);
                context.record(|| What::PayoutsTold { claim, op, payouts, known });
                ProviderResponse::Told(told)
            }
            ProviderRepair::List { after } => ProviderResponse::Page(slow.page(after, now)),
            ProviderRepair::Void(payout) => {
                let reversal = self.changing().void(payout, now);
                self.reversed(claim, payout, &reversal, context)
            }
            ProviderRepair::Refund(payout) => {
                let reversal = self.changing().refund(payout, now);
                self.reversed(claim, payout, &reversal, context)
            }
        }
    }

    fn reversed(
        &self,
        claim: Claim,
        payout: PayoutId,
        reversal: &Reversal,
        context: &ServiceContext<'_>,
    ) -> ProviderResponse {
        let Some(op) = self.slow.as_ref().and_then(|slow| slow.op_of(payout)) else {
            return ProviderResponse::Agreed(false);
        };
        match *reversal {
            Reversal::Voided => context.record(|| What::PayoutVoided { claim, op, payout }),
            Reversal::Begun { takes, fails } => {
                context.record(|| What::RefundBegun { claim, op, payout, takes, fails })
            }
            Reversal::Refused(state) => {
                context.record(|| What::CompensationRefused { claim, op, payout, state });
                return ProviderResponse::Agreed(false);
            }
            Reversal::Unknown => return ProviderResponse::Agreed(false),
            Reversal::Already => return ProviderResponse::Agreed(true),
        };
        ProviderResponse::Agreed(true)
    }
}

#[cfg(test)]
impl Provider {
    /// What it has on disk, to be compared.
    pub(crate) fn disk(&self) -> String {
        format!("{:?} {:?} {:?}", self.payouts, self.slow, super::door::admits(&*self.rules.door))
    }
}

fn rejected(claim: Claim, request: &ProviderRequest, why: Refusal) -> What {
    match *request {
        ProviderRequest::Pay(Pay { op, .. }) => What::PayoutRejected { claim, op, why },
        ProviderRequest::Repair(..) => What::OperatorRejected { claim, why },
    }
}

impl Service for Provider {
    type Request = ProviderRequest;
    type Response = Result<ProviderResponse, Refusal>;
    type Undo = ProviderUndo;

    fn about(request: &ProviderRequest) -> &'static str {
        match request {
            ProviderRequest::Pay(_) => "provider.pay",
            ProviderRequest::Repair(_, ProviderRepair::Fence) => "provider.fence",
            ProviderRequest::Repair(_, ProviderRepair::Status(_)) => "provider.status",
            ProviderRequest::Repair(_, ProviderRepair::List { .. }) => "provider.list",
            ProviderRequest::Repair(_, ProviderRepair::Void(_)) => "provider.void",
            ProviderRequest::Repair(_, ProviderRepair::Refund(_)) => "provider.refund",
        }
    }

    fn handle(&mut self, request: ProviderRequest, context: &ServiceContext<'_>) -> Answer<Provider> {
        let (ProviderRequest::Pay(Pay { claim, .. }) | ProviderRequest::Repair(claim, _)) = request;
        self.journal.note(|| ProviderUndo(Change::Door(self.rules.door.copy())));
        if let Err(why) = self.rules.door.admit(claim.token) {
            context.record(|| rejected(claim, &request, why));
            return Answer::Now(Err(why));
        }
        Answer::Now(Ok(match request {
            ProviderRequest::Pay(pay) => self.pay(pay, context),
            ProviderRequest::Repair(claim, request) => self.repair(claim, request, context),
        }))
    }

    fn crash(&mut self) {
        self.rules.door.crash();
    }

    fn journal(&mut self) -> &mut Journal<ProviderUndo> {
        &mut self.journal
    }

    fn undo(&mut self, ProviderUndo(change): ProviderUndo) {
        match change {
            Change::Door(door) => self.rules.door = door,
            Change::Payout(op, first) => {
                self.payouts.made -= 1;
                self.payouts.first[op.index()] = first;
            }
            Change::Slow(slow) => self.slow = Some(slow),
        }
    }

    fn has_written(&self, ProviderUndo(change): &ProviderUndo) -> bool {
        match change {
            Change::Door(before) => before.highest() != self.rules.door.highest(),
            Change::Payout(..) => true,
            Change::Slow(before) => self.slow.as_ref().is_none_or(|slow| slow.differs_from(before)),
        }
    }

    fn fork(&self) -> Provider {
        let rules = GatewayRules { door: self.rules.door.copy(), ..self.rules };
        let (payouts, slow) = (self.payouts.clone(), self.slow.clone());
        Provider { rules, payouts, slow, journal: Journal::default() }
    }
}
