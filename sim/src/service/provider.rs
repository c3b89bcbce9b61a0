//! The provider: the external system that pays, and the gateway in front of it.
//!
//! The provider itself pays whatever it is asked to. The gateway is where authority can be checked: it may turn low
//! tokens away, and it may know an operation's idempotency key again and answer with the payout already made.

use super::door::Door;
use crate::engine::{Answer, Journal, Service, ServiceContext};
use crate::history::{Claim, Refusal, What};
use crate::id::{Amount, OpId, PayoutId};

/// How a gateway goes about it.
pub struct GatewayRules {
    /// Who may have payouts made.
    pub door: Box<dyn Door>,
    /// Whether it knows idempotency keys. The key is the operation's ID, which is the same for every worker.
    pub idempotency_keys: bool,
}

/// A request to pay, with the authority that it is made under.
#[derive(Clone, Copy, Debug)]
pub struct Pay {
    pub(crate) claim: Claim,
    /// For which operation.
    pub op: OpId,
    /// How much.
    pub amount: Amount,
}

/// What a provider knows of the payouts that it made. To forget one doesn't take it back.
#[derive(Clone, Debug)]
struct Payouts {
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
}

/// The provider with its gateway.
pub struct Provider {
    rules: GatewayRules,
    payouts: Payouts,
    journal: Journal<ProviderUndo>,
}

impl Provider {
    /// A provider that has paid nothing, for a settlement of `operations` operations.
    pub fn new(rules: GatewayRules, operations: usize) -> Provider {
        let payouts = Payouts { made: 0, first: vec![None; operations] };
        Provider { rules, payouts, journal: Journal::default() }
    }
}

#[cfg(test)]
impl Provider {
    /// What it has on disk, to be compared.
    pub(crate) fn disk(&self) -> String {
        format!("{:?} {:?}", self.payouts, super::door::admits(&*self.rules.door))
    }
}

impl Service for Provider {
    type Request = Pay;
    type Response = Result<PayoutId, Refusal>;
    type Undo = ProviderUndo;

    fn about(_: &Pay) -> &'static str {
        "provider.pay"
    }

    fn handle(&mut self, Pay { claim, op, amount }: Pay, context: &ServiceContext<'_>) -> Answer<Provider> {
        self.journal.note(|| ProviderUndo(Change::Door(self.rules.door.copy())));
        if let Err(why) = self.rules.door.admit(claim.token) {
            context.record(What::PayoutRejected { claim, op, why });
            return Answer::Now(Err(why));
        }
        let first = &mut self.payouts.first[op.index()];
        if let Some(payout) = *first
            && self.rules.idempotency_keys
        {
            context.record(What::PayoutRepeated { claim, op, payout });
            return Answer::Now(Ok(payout));
        }
        self.journal.note(|| ProviderUndo(Change::Payout(op, *first)));
        self.payouts.made += 1;
        let payout = PayoutId(self.payouts.made);
        first.get_or_insert(payout);
        context.record(What::PayoutMade { claim, op, payout, amount });
        Answer::Now(Ok(payout))
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
        }
    }

    fn fork(&self) -> Provider {
        let rules = GatewayRules { door: self.rules.door.copy(), ..self.rules };
        Provider { rules, payouts: self.payouts.clone(), journal: Journal::default() }
    }
}
