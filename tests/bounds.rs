//! Every bound that is hit ends the run with an outcome of its own: no code that waits can hang it.

use std::rc::Rc;

use holdover::replay::{Deviation, Outcome, Replay};
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::limits::Ending;
use holdover::sim::point::Point;
use holdover::sim::protocol::{AnyProtocol, Fenced, Protocol, Renewal};
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::worker::{Lease, Setback, Worker};

/// A worker that never gets as far as asking for the lease.
#[derive(Clone, Copy)]
enum Spins {
    /// It waits for no time at all, for ever.
    Sleeping,
    /// It passes one point after the other.
    Passing,
    /// It starts one task after the other, and waits for none.
    Spawning,
}

impl Protocol for Spins {
    fn name(&self) -> &'static str {
        "spins"
    }

    fn summary(&self) -> &'static str {
        "never gets anywhere, in no time"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(&Fenced)
    }

    fn ledger(&self) -> LedgerRules {
        Protocol::ledger(&Fenced)
    }

    fn gateway(&self) -> GatewayRules {
        Protocol::gateway(&Fenced)
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        loop {
            match self {
                Spins::Sleeping => worker.sleep(Span::ZERO).await,
                Spins::Passing => worker.point(Point::LEASE_WANTED).await,
                Spins::Spawning => {
                    worker.spawn(async {}).detach();
                    worker.sleep(Span::nanos(1)).await;
                }
            }
        }
    }

    async fn renew(&self, _: &Worker, _: &Lease) -> Renewal {
        Renewal::Lost
    }

    fn holds(&self, _: &Lease) -> bool {
        false
    }

    async fn take_over(&self, _: &Worker, _: &Lease) -> Result<Checkpoint, Setback> {
        Err(Setback::Broken)
    }
}

fn scenario(head: &str) -> Scenario {
    Scenario::parse("bounds", &format!("{head}\n{SMALLEST}")).expect("a scenario")
}

#[test]
fn a_worker_that_spins_uses_up_its_steps() {
    static SLEEPING: Spins = Spins::Sleeping;
    static PASSING: Spins = Spins::Passing;
    static SPAWNING: Spins = Spins::Spawning;
    let scenario = scenario("steps = 10_000");
    for spins in [&SLEEPING, &PASSING, &SPAWNING] {
        let replay = Replay::new(&scenario, &[spins as &dyn AnyProtocol], scenario.seed);
        assert_eq!(replay.runs[0].history.ending, Ending::StepsUsedUp);
        assert!(replay.deviations().contains(&Deviation::BoundHit { protocol: "spins", steps: 10_000 }));
        assert_eq!(replay.outcome(), Outcome::Inconclusive);
    }
}

#[test]
fn a_run_ends_with_its_steps_or_at_its_end() {
    let few = scenario("steps = 100");
    assert_eq!(Replay::of(&few).runs[0].history.ending, Ending::StepsUsedUp);
    let short = scenario("end = \"+1s\"");
    let history = &Replay::of(&short).runs[0].history;
    assert_eq!((&history.ending, history.ended_at), (&Ending::TimeUp, TrueTime::START + Span::secs(1)));
}
