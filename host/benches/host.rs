//! What a simulated host takes, with the thread that it gives each run: the incident without and with one.
//!
//! `cargo bench -p holdover-host`. By itself, as what is in one program with a simulated host reads its clocks through it.

use std::rc::Rc;

use divan::Bencher;
use holdover::scenario::Scenario;
use holdover_host::SIMULATED;
use holdover_sim::host::SimulatedHost;
use holdover_sim::protocol::{Fenced, Protocol, Renewal};
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::service::lease_store::LeaseStoreRules;
use holdover_sim::service::ledger::{Checkpoint, LedgerRules};
use holdover_sim::service::provider::GatewayRules;
use holdover_sim::worker::{Lease, Setback, Worker};

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/incidents/clock-jump.toml");

/// So many runs, each a sample: where a thread has to wait for a processor it takes many times as long, which is to be seen in
/// the slowest and not in the median.
const RUNS: u32 = 5_000;

fn main() {
    divan::main();
}

/// `fenced`, and what its runs happen on.
#[derive(Clone, Copy, Debug)]
enum On {
    ThisMachine,
    SimulatedHost,
}

impl Protocol for On {
    fn name(&self) -> &'static str {
        "fenced-on"
    }

    fn summary(&self) -> &'static str {
        "fenced, on a simulated host or on none"
    }

    fn host(&self) -> Option<&'static dyn SimulatedHost> {
        match self {
            On::ThisMachine => None,
            On::SimulatedHost => Some(&SIMULATED),
        }
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

#[divan::bench(args = [On::ThisMachine, On::SimulatedHost], sample_size = 1, sample_count = RUNS)]
fn incident(bencher: Bencher<'_, '_>, on: &On) {
    let scenario = Scenario::load(INCIDENT).expect("the incident is a valid scenario");
    let mut seeds = (0..).map(Seed);
    bencher
        .with_inputs(move || seeds.next().unwrap_or(Seed(0)))
        .bench_local_values(|seed| run(&scenario.world, on, &scenario.plan, seed));
}
