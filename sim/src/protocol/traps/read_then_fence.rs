//! Fencing tokens, with the checkpoint read before the ledger is fenced: what the old holder does in between is repeated.

use std::rc::Rc;

use crate::protocol::{Fenced, Protocol, Renewal};
use crate::service::lease_store::LeaseStoreRules;
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::provider::GatewayRules;
use crate::worker::{Lease, Setback, Worker};

/// `fenced`, in the wrong order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadThenFence;

impl Protocol for ReadThenFence {
    fn name(&self) -> &'static str {
        "read-then-fence"
    }

    fn summary(&self) -> &'static str {
        "a trap: fencing tokens, but the checkpoint is read before the ledger is fenced"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Fenced.lease_store()
    }

    fn ledger(&self) -> LedgerRules {
        Fenced.ledger()
    }

    fn gateway(&self) -> GatewayRules {
        Fenced.gateway()
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
        let read = worker.read_checkpoint(lease).await?;
        worker.fence(lease).await?;
        Ok(read)
    }
}
