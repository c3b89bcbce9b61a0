//! The same wall-clock lease, made safe where it matters: at the resource.
//!
//! Each grant comes with a higher token. A worker that takes over first fences the ledger with its token and learns the
//! checkpoint in the same step, and only then reads and writes. Ledger and gateway turn lower tokens away. The lease
//! decides who *should* work; the token decides whose work counts, so no clock is trusted with safety.

use std::rc::Rc;

use super::naive::{acquire_by_wall_clock, renew_by_wall_clock};
use super::{Protocol, Renewal};
use crate::check::{Assumption, assumption};
use crate::service::door::HighestToken;
use crate::service::lease_store::{Expiry, LeaseStoreRules, Tokens};
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::provider::GatewayRules;
use crate::time::Span;
use crate::worker::{Lease, Setback, Worker};

/// A wall-clock lease with fencing tokens that ledger and gateway check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fenced;

impl Protocol for Fenced {
    fn name(&self) -> &'static str {
        "fenced"
    }

    fn summary(&self) -> &'static str {
        "the same lease with fencing tokens; the ledger is fenced at take-over, ledger and gateway reject lower tokens"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        LeaseStoreRules { tokens: Tokens::Counted, expiry: Expiry::ByAsker }
    }

    fn assumptions(&self) -> &'static [&'static Assumption] {
        &[
            &assumption::ONE_PRIMARY_ANSWERS,
            &assumption::TOKEN_COUNTER_SURVIVES_FAILOVER,
            &assumption::RESOURCE_CHECKS_TOKENS,
            &assumption::HIGHEST_TOKEN_DURABLE,
            &assumption::ACCEPTED_IS_DURABLE,
            &assumption::KEYS_OUTLIVE_REQUESTS,
            &assumption::NO_PAYOUT_FAILS,
            &assumption::REPAIRS_DELETE_NOTHING,
            &assumption::A_WORKER_REMAINS,
            &assumption::NO_WORKER_IS_COPIED,
            &assumption::NO_LATE_WALL_CLOCK,
            &assumption::NO_LATE_EXPIRY,
            &assumption::REPLICAS_AGREE,
            &assumption::REPLICAS_KEEP_THEIR_DISKS,
            &assumption::REPLICAS_CLOCKS_KEEP_TIME,
        ]
    }

    fn ledger(&self) -> LedgerRules {
        LedgerRules {
            door: Box::new(HighestToken::default()),
            one_entry_per_operation: true,
            check_to_write: Span::ZERO,
        }
    }

    fn gateway(&self) -> GatewayRules {
        GatewayRules { door: Box::new(HighestToken::default()), idempotency_keys: true }
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        acquire_by_wall_clock(worker).await
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        let renewal = renew_by_wall_clock(worker, lease).await;
        if renewal == Renewal::Lost {
            lease.give_up();
        }
        renewal
    }

    fn holds(&self, lease: &Lease) -> bool {
        !lease.is_given_up() && lease.is_before_end()
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        worker.fence(lease).await
    }
}
