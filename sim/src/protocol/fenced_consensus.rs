//! Fencing tokens from a lease service that is several: what should have been there before the incident.
//!
//! The lease is a duration, counted on monotonic clocks on both sides: by whoever leads the service, and by the holder from
//! before it asked. The token is the place of the grant in the one order that the replicas agree on, so it is above all
//! earlier ones whoever leads. Ledger and gateway are fenced as under [`Fenced`]: which worker the service means decides
//! who *should* work, the token decides whose work counts.

use std::rc::Rc;

use super::{Fenced, Monotonic, Protocol, Renewal};
use crate::check::{Assumption, assumption};
use crate::lease::{LeaseService, ReplicaSpec};
use crate::service::lease_store::{Expiry, LeaseStoreRules, Tokens};
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::provider::GatewayRules;
use crate::worker::{Lease, Setback, Worker};

/// Fencing tokens from a replicated lease service.
#[derive(Clone, Copy, Debug, Default)]
pub struct FencedConsensus;

impl Protocol for FencedConsensus {
    fn name(&self) -> &'static str {
        "fenced-consensus"
    }

    fn summary(&self) -> &'static str {
        "fencing tokens from a lease service of replicas that agree, with leases that are counted on monotonic clocks"
    }

    fn lease_service(&self) -> LeaseService {
        LeaseService::Consensus(ReplicaSpec::THREE)
    }

    /// Where a scenario says that the lease service is a table.
    fn lease_store(&self) -> LeaseStoreRules {
        LeaseStoreRules { tokens: Tokens::Counted, expiry: Expiry::ByStore }
    }

    fn assumptions(&self) -> &'static [&'static Assumption] {
        &[
            &assumption::REPLICAS_AGREE,
            &assumption::REPLICAS_KEEP_THEIR_DISKS,
            &assumption::REPLICAS_CLOCKS_KEEP_TIME,
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
        ]
    }

    fn ledger(&self) -> LedgerRules {
        Fenced.ledger()
    }

    fn gateway(&self) -> GatewayRules {
        Fenced.gateway()
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        Monotonic.acquire(worker).await
    }

    /// Whoever isn't told asks who has the lease: a service with another leader has an answer to that.
    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        let renewal = Monotonic.renew(worker, lease).await;
        if renewal != Renewal::Unsure {
            return renewal;
        }
        match worker.read_lease().await {
            Ok(holder) if holder.map(|(_, token)| token) != lease.token() => {
                lease.give_up();
                Renewal::Lost
            }
            Ok(_) | Err(_) => Renewal::Unsure,
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        Monotonic.holds(lease)
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        Fenced.take_over(worker, lease).await
    }
}
