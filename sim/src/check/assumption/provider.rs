//! What protocols rely on of the provider and its gateway.

use std::collections::BTreeMap;

use super::Assumption;
use crate::fault::Fault;
use crate::history::{Decision, Event, History, Refusal, Role, What};
use crate::id::OpId;
use crate::time::TrueTime;

/// See its sentence.
pub const KEYS_OUTLIVE_REQUESTS: Assumption = Assumption {
    name: "keys-outlive-requests",
    sentence: "the provider knows an idempotency key again for as long as anybody asks to pay under it",
    is_kept: |history| {
        let (mut primary, mut deposed) = (Keys::default(), Keys::default());
        // The attempt that operators decided on last, by operation. Workers only ever make the first.
        let mut attempts: Vec<u16> = vec![0; history.batch.len()];
        history.events.iter().all(|event| {
            match event.what {
                What::OperationDecided { op, decision: Decision::Submit(attempt), .. } => {
                    if let Some(newest) = attempts.get_mut(op.index()) {
                        *newest = attempt;
                    }
                }
                What::PayoutMade { claim, op, .. } => {
                    let attempt = match history.is(claim.worker, Role::Operator) {
                        true => attempts.get(op.index()).copied().unwrap_or(0),
                        false => 0,
                    };
                    let half = if history.by_deposed(event) { &mut deposed } else { &mut primary };
                    return half.is_new(op, attempt, event.at);
                }
                What::FaultBegan { .. } if splits(history, event) => deposed = primary.clone(),
                What::WritesLost { since } if history.is(event.node, Role::Provider) => primary.forget(since),
                _ => {}
            }
            true
        })
    },
};

/// See its sentence.
pub const NO_PAYOUT_FAILS: Assumption = Assumption {
    name: "no-payout-fails",
    sentence: "no payout fails that the provider has taken in",
    is_kept: |history| {
        let fails = |event: &Event| matches!(event.what, What::PayoutTakenIn { fails: true, .. });
        !history.events.iter().any(fails)
    },
};

/// See its sentence.
pub const GATEWAY_WANTS_NO_TOKEN: Assumption = Assumption {
    name: "gateway-wants-no-token",
    sentence: "the gateway turns nobody away for having no token",
    is_kept: |history| {
        let refused = |event: &Event| matches!(event.what, What::PayoutRejected { why: Refusal::NoToken, .. });
        !history.events.iter().any(refused)
    },
};

/// Under which keys one half of a provider has paid, and when.
#[derive(Clone, Default)]
struct Keys(BTreeMap<(OpId, u16), TrueTime>);

impl Keys {
    /// Notes a payout: whether it is the first under its key.
    fn is_new(&mut self, op: OpId, attempt: u16, at: TrueTime) -> bool {
        self.0.insert((op, attempt), at).is_none()
    }

    fn forget(&mut self, since: TrueTime) {
        self.0.retain(|_, at| *at <= since);
    }
}

/// Whether a replica takes the provider's place by `event` while the old primary goes on.
fn splits(history: &History, event: &Event) -> bool {
    let What::FaultBegan { fault } = event.what else { return false };
    let planned = history.plan.get(fault.index());
    history.is(event.node, Role::Provider)
        && planned.is_some_and(|planned| matches!(planned.inject, Fault::SplitBrain(_)))
}
