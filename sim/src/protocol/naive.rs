//! The incident's own protocol: an expiry in a table row, computed and compared with whatever wall clock is at hand, and a
//! ledger that takes a write from anyone who presents a lease.

use std::rc::Rc;

use super::{Protocol, Renewal};
use crate::clock::{Clock, Deadline};
use crate::service::door::AnyLease;
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

    fn tokens(&self) -> bool {
        false
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
    let (since, now) = (worker.mono(), worker.wall());
    let until = now + worker.lease_spec().ttl;
    let grant = worker.acquire(now, until).await?;
    Some(Lease::take(worker, grant, since, on_wall(until)))
}

/// Prolongs the lease to one TTL from now, all by the worker's wall clock.
pub(super) async fn renew_by_wall_clock(worker: &Worker, lease: &Lease) -> Renewal {
    let until = worker.wall() + worker.lease_spec().ttl;
    match worker.renew(lease, until).await {
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
