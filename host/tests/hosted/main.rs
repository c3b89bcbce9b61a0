//! What a protocol's own code draws and reads of the host: what is determined by the seed, and what is caught because it
//! isn't.

mod clocks;
mod drawn;
#[path = "../../../tests/files/mod.rs"]
mod files;
mod same;
mod told;

use std::rc::Rc;

use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::history::{Fingerprint, History};
use holdover::sim::host::SimulatedHost;
use holdover::sim::protocol::{Fenced, Protocol, Renewal};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::Span;
use holdover::sim::worker::{Lease, Setback, Worker};
use holdover_host::SIMULATED;

/// [`Fenced`], but each worker waits for so many microseconds before it asks for the lease as it draws.
#[derive(Clone, Copy)]
struct Draws {
    draw: fn() -> u64,
    /// Whether it has a simulated host.
    is_hosted: bool,
    /// Whether it holds for ever what it has once had, which breaks as soon as it is paused.
    is_bold: bool,
}

impl Protocol for Draws {
    fn name(&self) -> &'static str {
        "draws"
    }

    fn summary(&self) -> &'static str {
        "fenced, at times that it draws"
    }

    fn host(&self) -> Option<&'static dyn SimulatedHost> {
        self.is_hosted.then_some(&SIMULATED)
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(&Fenced)
    }

    fn ledger(&self) -> LedgerRules {
        Protocol::ledger(&Fenced)
    }

    fn gateway(&self) -> GatewayRules {
        match self.is_bold {
            true => {
                GatewayRules { door: Box::new(holdover::sim::service::door::AnyLease), idempotency_keys: false }
            }
            false => Protocol::gateway(&Fenced),
        }
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        worker.sleep(Span::nanos((((self.draw)() % 1_000_003) * 1_000) as i64)).await;
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

fn draws(draw: fn() -> u64) -> Draws {
    Draws { draw, is_hosted: true, is_bold: false }
}

fn smallest() -> Scenario {
    Scenario::parse("two workers", SMALLEST).expect("it is a scenario")
}

fn history(protocol: &Draws, seed: u64) -> History {
    let scenario = smallest();
    run(&scenario.world, protocol, &scenario.plan, Seed(seed))
}

fn fingerprint(protocol: &Draws, seed: u64) -> Fingerprint {
    history(protocol, seed).fingerprint()
}
