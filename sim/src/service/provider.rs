//! The provider: the external system that pays, and the gateway in front of it.
//!
//! The provider itself pays whatever it is asked to. The gateway is where authority can be checked: it may turn low
//! tokens away, and it may know an operation's idempotency key again and answer with the payout already made.

use super::door::Door;
use crate::engine::{Answer, Service, ServiceContext};
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
#[derive(Clone)]
struct Payouts {
    made: u32,
    /// The first payout of each operation.
    first: Vec<Option<PayoutId>>,
}

/// What a provider keeps on disk: its payouts, and what its gateway's door knows.
pub struct ProviderDisk {
    door: Box<dyn Door>,
    payouts: Payouts,
}

/// The provider with its gateway.
pub struct Provider {
    rules: GatewayRules,
    payouts: Payouts,
}

impl Provider {
    /// A provider that has paid nothing, for a settlement of `operations` operations.
    pub fn new(rules: GatewayRules, operations: usize) -> Provider {
        Provider { rules, payouts: Payouts { made: 0, first: vec![None; operations] } }
    }
}

impl Service for Provider {
    type Request = Pay;
    type Response = Result<PayoutId, Refusal>;
    type Kept = ProviderDisk;

    fn about(_: &Pay) -> &'static str {
        "provider.pay"
    }

    fn handle(&mut self, Pay { claim, op, amount }: Pay, context: &ServiceContext<'_>) -> Answer<Provider> {
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
        self.payouts.made += 1;
        let payout = PayoutId(self.payouts.made);
        first.get_or_insert(payout);
        context.record(What::PayoutMade { claim, op, payout, amount });
        Answer::Now(Ok(payout))
    }

    fn crash(&mut self) {
        self.rules.door.crash();
    }

    fn kept(&self) -> ProviderDisk {
        ProviderDisk { door: self.rules.door.copy(), payouts: self.payouts.clone() }
    }

    fn go_back_to(&mut self, ProviderDisk { door, payouts }: ProviderDisk) {
        self.rules.door = door;
        self.payouts = payouts;
    }
}
