//! What is usually done about wall clocks: the lease is a duration, counted on monotonic clocks on both sides.
//!
//! The store computes and judges the expiry on a clock of its own, and the holder counts from *before* it sent the request,
//! so its lease ends at the store no earlier than in its mind as long as both clocks run at about the same rate. No step of
//! a wall clock can touch it. But the ledger still takes a write from anyone: what is between the check and the write, and
//! what the holder's clock doesn't see, is as dangerous as ever.

use std::rc::Rc;

use super::{Naive, Protocol, Renewal};
use crate::check::{Assumption, assumption};
use crate::clock::{Clock, Deadline};
use crate::service::lease_store::{Expiry, LeaseStoreRules, Tokens};
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::provider::GatewayRules;
use crate::time::MonoTime;
use crate::worker::{Lease, Setback, Worker};

/// A lease on monotonic clocks, without a fence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Protocol for Monotonic {
    fn name(&self) -> &'static str {
        "monotonic"
    }

    fn summary(&self) -> &'static str {
        "a lease of a duration, counted on monotonic clocks by store and holder; ledger and provider accept any lease"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        LeaseStoreRules { tokens: Tokens::None, expiry: Expiry::ByStore }
    }

    fn assumptions(&self) -> &'static [&'static Assumption] {
        &[
            &assumption::PAUSE_NOT_BETWEEN_CHECK_AND_ACT,
            &assumption::REQUESTS_ARE_QUICK,
            &assumption::CHECKS_LEAVE_TIME,
            &assumption::OPERATIONS_RUN_THROUGH,
            &assumption::REQUESTS_COME_ONCE,
            &assumption::RELEASED_WHEN_DONE,
            &assumption::A_WORKER_REMAINS,
            &assumption::NO_WORKER_GOES_BACK,
            &assumption::NO_WORKER_IS_COPIED,
            &assumption::NO_LATE_WALL_CLOCK,
            &assumption::CLOCK_RATE,
            &assumption::FROZEN_CLOCKS_NEVER,
            &assumption::NO_SUSPEND,
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
        Naive.ledger()
    }

    /// The incident's own, as the ledger is.
    fn gateway(&self) -> GatewayRules {
        Naive.gateway()
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
        let grant = worker.acquire(ttl).await?;
        Some(Lease::take(worker, grant, since, on_monotonic(since + ttl)))
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
        match worker.renew(lease, ttl).await {
            Ok(true) => {
                lease.extend(on_monotonic(since + ttl));
                Renewal::Kept
            }
            Ok(false) => {
                lease.give_up();
                Renewal::Lost
            }
            Err(_) => Renewal::Unsure,
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        !lease.is_given_up() && lease.is_before_end()
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        worker.read_checkpoint(lease).await
    }
}

fn on_monotonic(until: MonoTime) -> Deadline {
    Deadline { clock: Clock::Monotonic, reading: until.as_nanos() }
}
