//! Protocols that panic: a panic isn't what is looked for, and it isn't taken for it.

use std::rc::Rc;

use holdover::explore::shrink::{BUDGET, Shrunk, shrink};
use holdover::explore::{Signature, Subject};
use holdover::scenario::Scenario;
use holdover::sim::limits::Ending;
use holdover::sim::protocol::{Naive, Protocol, Renewal};
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::Span;
use holdover::sim::worker::{Lease, Setback, Worker};

use crate::support::{NOISY, scenario};

/// The naive protocol, but for a panic when it takes over in a world that it can't cope with.
#[derive(Clone, Copy)]
struct Touchy {
    panics: fn(&Worker) -> bool,
}

impl Protocol for Touchy {
    fn name(&self) -> &'static str {
        "touchy"
    }

    fn summary(&self) -> &'static str {
        "naive, with a panic"
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

    fn holds(&self, lease: &Lease) -> bool {
        Naive.holds(lease)
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        let checkpoint = Naive.take_over(worker, lease).await?;
        assert!(!(self.panics)(worker), "it can't cope with this");
        Ok(checkpoint)
    }
}

fn shrunk(night: &Scenario, protocol: &Touchy) -> (Shrunk, Ending) {
    let subject = Subject { world: &night.world, protocol, seed: night.seed };
    let signature = Signature::named("effect-once", "paid-twice").expect("a known signature");
    let small = shrink(night, protocol, signature, BUDGET).expect("it breaks this");
    let subject = Subject { world: &small.scenario.world, ..subject };
    let trial = subject.run(&small.scenario.plan);
    assert!(trial.times(signature) > 0);
    (small, trial.history.ending)
}

/// It panics wherever workers poll as usual, and nowhere else.
#[test]
fn a_panic_is_not_the_same_failure() {
    let protocol = Touchy { panics: |worker| worker.lease_spec().poll_every == Span::secs(1) };
    let mut night = scenario(NOISY);
    night.world.lease.poll_every = Span::millis(987);
    let (small, ending) = shrunk(&night, &protocol);
    assert!(!matches!(ending, Ending::Panicked { .. }), "{ending:?}");
    assert!(small.scenario.plan.len() <= 2);
    assert_eq!(small.scenario.world.lease.poll_every, Span::millis(980), "round, and not as usual");
}

/// It breaks something, and then it panics when another worker takes over.
#[test]
fn what_breaks_before_a_panic_can_be_shrunk() {
    let protocol = Touchy { panics: |worker| worker.wall().as_nanos() > 1_768_442_420_000_000_000 };
    let night = scenario(NOISY);
    let subject = Subject { world: &night.world, protocol: &protocol, seed: night.seed };
    assert!(matches!(subject.run(&night.plan).history.ending, Ending::Panicked { .. }));
    let (small, _) = shrunk(&night, &protocol);
    assert!(small.scenario.plan.len() <= 1);
}
