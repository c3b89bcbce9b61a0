//! A protocol of one's own, first broken, then right: with a gateway that lets everybody in, and with one that checks tokens.

use std::rc::Rc;

use holdover::sim::protocol::{Fenced, Protocol, Renewal};
use holdover::sim::service::door::AnyLease;
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::worker::{Lease, Setback, Worker};

/// As fenced as the built-in protocol, but for the gateway's door.
#[derive(Clone)]
pub struct Own {
    open_gateway: bool,
}

impl Protocol for Own {
    fn name(&self) -> &'static str {
        if self.open_gateway { "open-gateway" } else { "both-doors" }
    }

    fn summary(&self) -> &'static str {
        "a protocol of one's own"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(&Fenced)
    }

    fn ledger(&self) -> LedgerRules {
        Protocol::ledger(&Fenced)
    }

    fn gateway(&self) -> GatewayRules {
        match self.open_gateway {
            true => GatewayRules { door: Box::new(AnyLease), idempotency_keys: false },
            false => Protocol::gateway(&Fenced),
        }
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        Fenced.acquire(worker).await
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        Fenced.renew(worker, lease).await
    }

    fn holds(&self, lease: &Lease) -> bool {
        Fenced.holds(lease)
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        Fenced.take_over(worker, lease).await
    }
}

/// Lets everybody pay.
pub static BROKEN: Own = Own { open_gateway: true };
/// Lets only the newest holder pay.
pub static RIGHT: Own = Own { open_gateway: false };
