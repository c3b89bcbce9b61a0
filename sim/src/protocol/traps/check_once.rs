//! The lease is looked at when the job starts, and never again.

use std::rc::Rc;

use crate::protocol::{Naive, Protocol, Renewal};
use crate::service::lease_store::LeaseStoreRules;
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::provider::GatewayRules;
use crate::worker::{Lease, Setback, Worker};

/// The incident's own protocol, with the lease checked once.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOnce;

impl Protocol for CheckOnce {
    fn name(&self) -> &'static str {
        "check-once"
    }

    fn summary(&self) -> &'static str {
        "a trap: a wall-clock lease that is checked when the job starts, and never again"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Naive.lease_store()
    }

    fn ledger(&self) -> LedgerRules {
        Naive.ledger()
    }

    fn gateway(&self) -> GatewayRules {
        Naive.gateway()
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        Naive.acquire(worker).await
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        Naive.renew(worker, lease).await
    }

    /// The grant was the check.
    fn holds(&self, _: &Lease) -> bool {
        true
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        Naive.take_over(worker, lease).await
    }
}
