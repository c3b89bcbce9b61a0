//! Lease protocols: the trait that one implements, and those that come along.
//!
//! A protocol says how a worker gets the lease, keeps it, looks whether it still has it, and takes the settlement over;
//! and which doors ledger and gateway have under it. The job itself is the same for all of them
//! ([`settlement`]), unless a protocol brings its own. To add one: a file here, a line in [`PROTOCOLS`].

mod fenced;
mod fenced_consensus;
mod monotonic;
mod naive;
mod traps;

pub use fenced::Fenced;
pub use fenced_consensus::FencedConsensus;
pub use monotonic::Monotonic;
pub use naive::Naive;
pub use traps::{CheckOnce, ReadThenFence, TRAPS};

use std::any::TypeId;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::check::Assumption;
use crate::host::SimulatedHost;
use crate::lease::LeaseService;
use crate::service::lease_store::LeaseStoreRules;
use crate::service::ledger::{Checkpoint, LedgerRules};
use crate::service::lock::LockService;
use crate::service::provider::GatewayRules;
use crate::settlement;
use crate::worker::{Lease, Setback, Worker};
use crate::world::WorldSpec;

/// What became of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The lease store prolonged the lease.
    Kept,
    /// The lease is somebody else's: renewing it again is no use.
    Lost,
    /// No answer came.
    Unsure,
}

/// A lease protocol.
///
/// The worker's code sees its own clocks only, and every step of it is a point where a pause can land; see
/// [`Worker`]. A protocol keeps no state of its own beyond the [`Lease`].
pub trait Protocol: Clone + Send + Sync + 'static {
    /// The name that scenarios and reports use.
    fn name(&self) -> &'static str;

    /// One sentence on how it works.
    fn summary(&self) -> &'static str;

    /// How the lease store goes about leases.
    fn lease_store(&self) -> LeaseStoreRules;

    /// What keeps the lease where the scenario doesn't say. The default is a table row, by the rules of
    /// [`Protocol::lease_store`].
    fn lease_service(&self) -> LeaseService {
        LeaseService::Table
    }

    /// A lock service of one's own that decides in place of the lease store's row; `None` for the row. Then the rules of
    /// [`Protocol::lease_store`] only say by whose clock leases end, for those who judge.
    fn lock_service(&self) -> Option<Box<dyn LockService>> {
        None
    }

    /// What must be so for the protocol to keep the rules. A run in which it breaks one is told apart by whether all of
    /// this was so. The default is nothing: then runs aren't told apart.
    fn assumptions(&self) -> &'static [&'static Assumption] {
        &[]
    }

    /// The simulated host that its runs happen on; `None`, which is the default, for this machine as it is.
    ///
    /// Code that reads a clock of the standard library, or draws random bytes from the system, needs one to be determined by the
    /// seed. So does code that uses a crate that does, or a `HashMap` of the standard library's, whose order is drawn. Without one
    /// it reads what the machine has, and is caught where a run is [repeated](crate::run::repeats): replays and checks do that
    /// with each, hunts with all runs that fail and some of the others. The crate `holdover-host` has a host, and says what is
    /// determined there; a run takes about 40 µs more on it.
    ///
    /// Without a host as well as on one: what outlasts a run isn't determined by its seed, such as a `static` that counts.
    fn host(&self) -> Option<&'static dyn SimulatedHost> {
        None
    }

    /// How the ledger goes about mutations.
    fn ledger(&self) -> LedgerRules;

    /// How the provider's gateway goes about payouts.
    fn gateway(&self) -> GatewayRules;

    /// Tries once to get the lease; `None` if somebody else has it.
    fn acquire(&self, worker: &Worker) -> impl Future<Output = Option<Rc<Lease>>>;

    /// Renews the lease once. The renewal task calls this at every interval until it hears [`Renewal::Lost`].
    fn renew(&self, worker: &Worker, lease: &Lease) -> impl Future<Output = Renewal>;

    /// Looks whether the lease still holds, before each operation and before the export. Takes no time.
    fn holds(&self, lease: &Lease) -> bool;

    /// Takes the settlement over and learns where to go on.
    ///
    /// # Errors
    /// What stood in the way; after a refusal the lease is given up, after a broken connection this is tried again.
    fn take_over(&self, worker: &Worker, lease: &Lease) -> impl Future<Output = Result<Checkpoint, Setback>>;

    /// The whole life of a worker's process. The default is the settlement, which calls the functions above; a job of
    /// one's own ends with [`Worker::finish`]. Called anew for each process: after a crash that the worker comes back from,
    /// and for a copy of its machine.
    ///
    /// A job may pass [points](crate::point::Point) by any name. A plan made in code can have faults wait for one
    /// ([`Anchor::Point`](crate::fault::Anchor::Point)); scenario files and drawn plans only know those of the settlement.
    fn work(self, worker: Worker) -> impl Future<Output = ()> {
        settlement::work(self, worker)
    }

    /// What a worker does beside its [work](Protocol::work) when a `shutdown` tells it to stop; the work goes on until its
    /// time is over, and learns of it from [`Worker::told_to_stop`]. The default is a usual mistake: it gives back the lease
    /// that the worker [took](Lease::take) last and ends the renewals that [are in hand](Worker::take_in_hand), as if that
    /// were all that there is to stop.
    fn stop(self, worker: Worker) -> impl Future<Output = ()> {
        settlement::stop(worker)
    }
}

/// A protocol whatever its type, as registries and runs hold it.
pub trait AnyProtocol: Sync {
    /// See [`Protocol::name`].
    fn name(&self) -> &'static str;
    /// See [`Protocol::summary`].
    fn summary(&self) -> &'static str;
    /// See [`Protocol::lease_store`].
    fn lease_store(&self) -> LeaseStoreRules;
    /// See [`Protocol::lease_service`].
    fn lease_service(&self) -> LeaseService;
    /// See [`Protocol::lock_service`].
    fn lock_service(&self) -> Option<Box<dyn LockService>>;
    /// See [`Protocol::assumptions`].
    fn assumptions(&self) -> &'static [&'static Assumption];
    /// See [`Protocol::host`].
    fn host(&self) -> Option<&'static dyn SimulatedHost>;
    /// See [`Protocol::ledger`].
    fn ledger(&self) -> LedgerRules;
    /// See [`Protocol::gateway`].
    fn gateway(&self) -> GatewayRules;
    /// See [`Protocol::work`].
    fn work(&self, worker: Worker) -> Pin<Box<dyn Future<Output = ()>>>;
    /// See [`Protocol::stop`].
    fn stop(&self, worker: Worker) -> Pin<Box<dyn Future<Output = ()>>>;
    /// The same protocol once more, for who outlives this one.
    fn share(&self) -> Rc<dyn AnyProtocol>;
    /// Its type.
    fn kind(&self) -> TypeId;
}

impl<P: Protocol> AnyProtocol for P {
    fn name(&self) -> &'static str {
        Protocol::name(self)
    }

    fn summary(&self) -> &'static str {
        Protocol::summary(self)
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(self)
    }

    fn lease_service(&self) -> LeaseService {
        Protocol::lease_service(self)
    }

    fn lock_service(&self) -> Option<Box<dyn LockService>> {
        Protocol::lock_service(self)
    }

    fn assumptions(&self) -> &'static [&'static Assumption] {
        Protocol::assumptions(self)
    }

    fn host(&self) -> Option<&'static dyn SimulatedHost> {
        Protocol::host(self)
    }

    fn ledger(&self) -> LedgerRules {
        Protocol::ledger(self)
    }

    fn gateway(&self) -> GatewayRules {
        Protocol::gateway(self)
    }

    fn work(&self, worker: Worker) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(Protocol::work(self.clone(), worker))
    }

    fn stop(&self, worker: Worker) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(Protocol::stop(self.clone(), worker))
    }

    fn share(&self) -> Rc<dyn AnyProtocol> {
        Rc::new(self.clone())
    }

    fn kind(&self) -> TypeId {
        TypeId::of::<P>()
    }
}

/// Every protocol that comes along, in the order of reports.
pub const PROTOCOLS: &[&dyn AnyProtocol] = &[&Naive, &Monotonic, &Fenced, &FencedConsensus];

/// Whether `protocol` can be run in `world`. Operators repair what a lease in a table row led to, and know of no replicas.
pub fn can_run(protocol: &dyn AnyProtocol, world: &WorldSpec) -> bool {
    let service = world.lease.service.unwrap_or(protocol.lease_service());
    world.operators.is_empty() || service == LeaseService::Table
}

/// The protocol of this name, traps among them.
pub fn find(name: &str) -> Option<&'static dyn AnyProtocol> {
    named().find(|protocol| protocol.name() == name)
}

/// Every protocol that has a name to be run by: those of [`PROTOCOLS`], then the traps.
pub fn named() -> impl Iterator<Item = &'static dyn AnyProtocol> {
    PROTOCOLS.iter().chain(TRAPS).copied()
}

/// Whether `protocol` is one of those that have a name to be run by. One of a program's own may only be called the same.
pub fn comes_along(protocol: &dyn AnyProtocol) -> bool {
    named().any(|known| known.kind() == protocol.kind())
}
