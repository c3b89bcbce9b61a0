//! A protocol of one's own under a hunt: with a gateway that lets everybody in it breaks, and the test says how; with one
//! that checks tokens it holds.

use std::panic::catch_unwind;
use std::rc::Rc;

use holdover::explore::hunt::Hunt;
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::protocol::{AnyProtocol, Fenced, Protocol, Renewal};
use holdover::sim::service::door::AnyLease;
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::worker::{Lease, Setback, Worker};

/// As fenced as the protocol that comes along, but for the gateway's door.
#[derive(Clone)]
struct Own {
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

static BROKEN: Own = Own { open_gateway: true };
static RIGHT: Own = Own { open_gateway: false };

fn hunt(protocol: &'static dyn AnyProtocol, seeds: u64) {
    let scenario = Scenario::parse("two workers", SMALLEST).expect("a scenario");
    let pauses = "pauses".parse().expect("a group of faults");
    Hunt::new(&scenario).protocols(&[protocol]).faults(pauses).seeds(0..seeds).assert_holds();
}

#[test]
fn the_broken_one_is_told_in_its_smallest_form() {
    let panic = catch_unwind(|| hunt(&BROKEN, 1_000)).expect_err("it breaks");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(message.starts_with("open-gateway breaks effect-once: an operation paid twice\n"), "{message}");
    assert_eq!(message.matches("[[fault]]").count(), 1, "{message}");
    let again = "To see it again: Hunt::new(&scenario).protocols(&[protocol]).faults(\"pause";
    assert!(message.contains(again) && message.contains(", where protocol is open-gateway"), "{message}");
}

#[test]
fn the_right_one_holds() {
    hunt(&RIGHT, 10_000);
}
