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

/// The provider with its gateway. All that it keeps is on disk.
pub struct Provider {
    rules: GatewayRules,
    payouts: u32,
    /// The first payout of each operation.
    payout_of: Vec<Option<PayoutId>>,
}

impl Provider {
    /// A provider that has paid nothing, for a settlement of `operations` operations.
    pub fn new(rules: GatewayRules, operations: usize) -> Provider {
        Provider { rules, payouts: 0, payout_of: vec![None; operations] }
    }
}

impl Service for Provider {
    type Request = Pay;
    type Response = Result<PayoutId, Refusal>;

    fn about(_: &Pay) -> &'static str {
        "provider.pay"
    }

    fn handle(&mut self, Pay { claim, op, amount }: Pay, context: &ServiceContext<'_>) -> Answer<Provider> {
        if let Err(why) = self.rules.door.admit(claim.token) {
            context.record(What::PayoutRejected { claim, op, why });
            return Answer::Now(Err(why));
        }
        let first = &mut self.payout_of[op.index()];
        if let Some(payout) = *first
            && self.rules.idempotency_keys
        {
            context.record(What::PayoutRepeated { claim, op, payout });
            return Answer::Now(Ok(payout));
        }
        self.payouts += 1;
        let payout = PayoutId(self.payouts);
        first.get_or_insert(payout);
        context.record(What::PayoutMade { claim, op, payout, amount });
        Answer::Now(Ok(payout))
    }

    fn crash(&mut self) {
        self.rules.door.crash();
    }
}
