//! The incident's own protocol: an expiry in a table row, computed and compared with whatever wall clock is at hand, and a
//! ledger that takes a write from anyone who presents a lease.

use std::rc::Rc;

use super::{Protocol, Renewal};
use crate::check::{Assumption, assumption};
use crate::clock::{Clock, Deadline};
use crate::service::door::AnyLease;
use crate::service::lease_store::{Expiry, LeaseStoreRules, Tokens};
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::provider::GatewayRules;
use crate::time::{Span, WallTime};
use crate::worker::{Lease, Setback, Worker};

/// The incident's own protocol.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naive;

impl Protocol for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn summary(&self) -> &'static str {
        "wall-clock lease in a table row; ledger and provider accept any lease"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        LeaseStoreRules { tokens: Tokens::None, expiry: Expiry::ByAsker }
    }

    fn assumptions(&self) -> &'static [&'static Assumption] {
        &[
            &assumption::NO_PAUSE_OVER_TTL,
            &assumption::PAUSE_NOT_BETWEEN_CHECK_AND_ACT,
            &assumption::REQUESTS_ARE_QUICK,
            &assumption::CHECKS_LEAVE_TIME,
            &assumption::OPERATIONS_RUN_THROUGH,
            &assumption::REQUESTS_COME_ONCE,
            &assumption::RELEASED_WHEN_DONE,
            &assumption::A_WORKER_REMAINS,
            &assumption::NO_WORKER_GOES_BACK,
            &assumption::NO_WORKER_IS_COPIED,
            &assumption::CLOCKS_AGREE,
            &assumption::CLOCK_RATE,
            &assumption::FROZEN_CLOCKS_NEVER,
            &assumption::EXPIRY_AS_MEANT,
            &assumption::ONE_PRIMARY_ANSWERS,
            &assumption::LEASES_SURVIVE_FAILOVER,
            &assumption::ACCEPTED_IS_DURABLE,
            &assumption::NO_PAYOUT_FAILS,
            &assumption::GATEWAY_WANTS_NO_TOKEN,
            &assumption::REPAIRS_OUTWAIT_REQUESTS,
            &assumption::REPAIRS_DELETE_NOTHING,
            &assumption::REPLICAS_AGREE,
            &assumption::REPLICAS_KEEP_THEIR_DISKS,
            &assumption::REPLICAS_CLOCKS_KEEP_TIME,
        ]
    }

    fn ledger(&self) -> LedgerRules {
        LedgerRules { door: Box::new(AnyLease), one_entry_per_operation: false, check_to_write: Span::ZERO }
    }

    fn gateway(&self) -> GatewayRules {
        GatewayRules { door: Box::new(AnyLease), idempotency_keys: false }
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        acquire_by_wall_clock(worker).await
    }

    /// Losing the renewal only stops the renewals, as in common lock libraries: the work isn't told.
    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        renew_by_wall_clock(worker, lease).await
    }

    fn holds(&self, lease: &Lease) -> bool {
        lease.is_before_end()
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        worker.read_checkpoint(lease).await
    }
}

/// Asks for the lease with an expiry of one TTL from now, all by the worker's wall clock.
pub(super) async fn acquire_by_wall_clock(worker: &Worker) -> Option<Rc<Lease>> {
    let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
    let until = worker.wall() + ttl;
    let grant = worker.acquire(ttl).await?;
    Some(Lease::take(worker, grant, since, on_wall(until)))
}

/// Prolongs the lease to one TTL from now, all by the worker's wall clock.
pub(super) async fn renew_by_wall_clock(worker: &Worker, lease: &Lease) -> Renewal {
    let ttl = worker.lease_spec().ttl;
    let until = worker.wall() + ttl;
    match worker.renew(lease, ttl).await {
        Ok(true) => {
            lease.extend(on_wall(until));
            Renewal::Kept
        }
        Ok(false) => Renewal::Lost,
        Err(_) => Renewal::Unsure,
    }
}

fn on_wall(until: WallTime) -> Deadline {
    Deadline { clock: Clock::Wall, reading: until.as_nanos() }
}
