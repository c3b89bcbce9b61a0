//! The one entry: world, protocol, fault plan and seed in, history out.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::thread;

use tracing::Dispatch;

use crate::engine::{Again, Errand, Work, World};
use crate::fault::PlannedFault;
use crate::history::History;
use crate::host::{self, Clocks, SimulatedHost};
use crate::id::{Amount, NodeId};
use crate::lease::LeaseService;
use crate::limits::Ending;
use crate::panics::{self, Panic};
use crate::protocol::{self, AnyProtocol, can_run};
use crate::repair::{self, Operator};
use crate::seed::{Purpose, Seed, Stream};
use crate::service::door::{AnyLease, Door, Forgetful, HighestToken};
use crate::service::lease_store::{LeaseStore, LeaseStoreRules};
use crate::service::ledger::{Ledger, LedgerRules};
use crate::service::provider::{GatewayRules, Provider};
use crate::service::replica;
use crate::time::TrueTime;
use crate::worker::{LeaseKeeper, Services, Worker};
use crate::world::{self, Keys, LeaseSpec, WorldSpec};

/// Amounts are drawn from 1.00 up to this, in minor units.
const LARGEST_AMOUNT: u64 = 1_000_000;

/// Runs `protocol` in a world made from `spec`, under the faults of `plan`, all drawn from `seed`.
///
/// The same arguments give the same history, byte for byte, on any thread, in any process. A panic of the protocol's
/// code is an [`Ending`], not a panic of this function, and so is one of ours while the world runs. A protocol that has a
/// [host](crate::protocol::Protocol::host) is run there; this function waits for it.
///
/// # Panics
/// With a plan that names a node that `spec` doesn't have, or with a protocol that [can't run](can_run) in that world; and where
/// the protocol's host does.
pub fn run(spec: &WorldSpec, protocol: &dyn AnyProtocol, plan: &[PlannedFault], seed: Seed) -> History {
    run_on_host(protocol.host(), spec, protocol, plan, seed)
}

/// The same, on `host` whatever the protocol says; on this machine if there is none. The history is the same, unless code of the
/// protocol reads something of the system.
///
/// # Panics
/// As [`run`] does.
pub fn run_on_host(
    host: Option<&dyn SimulatedHost>,
    spec: &WorldSpec,
    protocol: &dyn AnyProtocol,
    plan: &[PlannedFault],
    seed: Seed,
) -> History {
    host::on(host, seed, spec.start, |clocks| run_by(clocks, spec, protocol, plan, seed))
}

/// Whether another run with the same arguments gives `history` again. If not, the protocol isn't determined by its seed, and
/// nothing that its history shows means anything.
///
/// The other run of a protocol that isn't built in happens on another thread, where what is kept per thread is as new. Logs have
/// nothing of it.
///
/// # Panics
/// As [`run`] does, and if the machine has no room for a thread.
pub fn repeats(
    spec: &WorldSpec,
    protocol: &dyn AnyProtocol,
    plan: &[PlannedFault],
    seed: Seed,
    history: &History,
) -> bool {
    let quietly = || tracing::dispatcher::with_default(&Dispatch::none(), || run(spec, protocol, plan, seed));
    let again = if protocol::comes_along(protocol) { quietly() } else { elsewhere(quietly) };
    again == *history
}

/// What `run` gives on a thread of its own.
#[expect(clippy::disallowed_methods, reason = "the run still is one thread: this one only waits for it")]
fn elsewhere<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let ended = thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, || panics::catch(run));
        let thread = thread.unwrap_or_else(|error| panic!("another run needs another thread: {error}"));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    ended.unwrap_or_else(|panic| panics::go_on(panic))
}

fn run_by(
    clocks: Clocks,
    spec: &WorldSpec,
    protocol: &dyn AnyProtocol,
    plan: &[PlannedFault],
    seed: Seed,
) -> History {
    assert!(can_run(protocol, spec), "a repair needs the lease in a table row");
    let spec = &*with_lease_service(spec, protocol);
    let batch = draw_batch(spec.job.operations, seed);
    let world = World::new(clocks, spec, plan.into(), seed);
    // What nobody knows is as it is mostly: then the protocol panicked before anything was run.
    let (mut expiry_as_meant, mut store_clock) = (true, None);
    let drive = || {
        let lease_store = lease_store_rules(spec, protocol);
        expiry_as_meant = lease_store.expiry == protocol.lease_store().expiry;
        store_clock = match lease_service(spec) {
            LeaseService::Table => lease_store.expiry.clock_of_store(),
            replicated => replicated.clock(),
        };
        move_in(&world, spec, protocol, plan, &batch);
        world.drive()
    };
    let ending = panics::catch(drive).unwrap_or_else(|panic| panicked(panic, &world, spec));

    let ended_at = world.now();
    // Where the simulator broke down, winding up may break down as well.
    let (events, exports) = match &ending {
        Ending::Bug(_) => panics::catch(|| world.wind_up()).unwrap_or_else(|_| world.recorder.borrow_mut().take()),
        _ => world.wind_up(),
    };
    History {
        protocol: protocol.name(),
        seed,
        start: spec.start,
        nodes: world.records(),
        batch: batch.to_vec(),
        plan: plan.to_vec(),
        due: TrueTime::START + (spec.job.due - spec.start),
        progress_within: spec.progress_within,
        ttl: spec.lease.ttl,
        expiry_as_meant,
        store_clock,
        lease_service: lease_service(spec),
        events,
        exports,
        ending,
        ended_at,
    }
}

/// How a run ends that panicked. Replicas run no code but ours, and what ours uses.
fn panicked(panic: Panic, world: &World, spec: &WorldSpec) -> Ending {
    let node = world.active();
    let on_replica = || lease_service(spec) != LeaseService::Table && spec.replicas().contains(&node);
    if panic.is_own || (panic.place.is_some() && !world.runs_task() && on_replica()) {
        return Ending::Bug(panic);
    }
    Ending::Panicked { node, message: panic.message }
}

/// Puts the services on their nodes and has the workers start when they should.
fn move_in(
    world: &Rc<World>,
    spec: &WorldSpec,
    protocol: &dyn AnyProtocol,
    plan: &[PlannedFault],
    batch: &Rc<[Amount]>,
) {
    let services = Rc::new(Services {
        lease: lease_keeper(world, spec, protocol),
        ledger: world.house(world::LEDGER, ledger(spec, protocol, batch.len())),
        provider: world.house(world::PROVIDER, provider(spec, protocol, batch.len(), world.seed)),
    });
    move_operators_in(world, spec, protocol, plan, (&services, batch));
    for (index, worker) in spec.workers.iter().enumerate() {
        let node = world::worker_node(index);
        let needs = || plan.iter().filter(|planned| planned.inject.node() == node).map(|one| one.inject.needs());
        let farewell = needs().any(|needs| needs.farewell);
        let errand = {
            let (world, services, batch) = (world.clone(), services.clone(), batch.clone());
            let (lease, job) = (spec.lease, spec.job);
            move |protocol: &dyn AnyProtocol, seat: NodeId| {
                let worker = Worker::new(world.clone(), seat, node, services.clone(), lease, job, batch.clone());
                let stop = farewell.then(|| {
                    let (stop, worker) = (protocol.stop(worker.clone()), worker.clone());
                    let told = async move {
                        worker.note_told_to_stop();
                        stop.await;
                    };
                    Box::pin(told) as Work
                });
                Errand { work: protocol.work(worker), stop }
            }
        };
        let again_on = |seat: NodeId| {
            let (errand, protocol) = (errand.clone(), protocol.share());
            Box::new(move || errand(&*protocol, seat)) as Again
        };
        let again = needs().any(|needs| needs.new_beginning).then(|| again_on(node));
        world.start_later(node, worker.starts, errand(protocol, node), again);
        if let Some(copy) = world.copy_of(node) {
            world.expect_copy(copy, again_on(copy));
        }
    }
}

/// Has the operators start when they should.
fn move_operators_in(
    world: &Rc<World>,
    spec: &WorldSpec,
    protocol: &dyn AnyProtocol,
    plan: &[PlannedFault],
    (services, batch): (&Rc<Services>, &Rc<[Amount]>),
) {
    for (index, operator) in spec.operators.iter().enumerate() {
        let node = spec.operator_node(index);
        let errand = {
            let (world, services, batch) = (world.clone(), services.clone(), batch.clone());
            let rules = (spec.repair, keys(spec, protocol), spec.lease.ttl);
            move || {
                let operator = Operator::new(world.clone(), node, services.clone(), rules, batch.clone());
                Errand { work: Box::pin(repair::work(operator)), stop: None }
            }
        };
        let mut needs = plan.iter().filter(|planned| planned.inject.node() == node).map(|one| one.inject.needs());
        let first = errand();
        let again = needs.any(|needs| needs.new_beginning).then(|| Box::new(errand) as Again);
        world.start_later(node, operator.starts, first, again);
    }
}

fn lease_store(spec: &WorldSpec, protocol: &dyn AnyProtocol, ids: Stream) -> LeaseStore {
    let store = LeaseStore::new(lease_store_rules(spec, protocol), protocol.lock_service(), ids);
    if spec.operators.is_empty() { store } else { store.with_dispatch() }
}

fn ledger(spec: &WorldSpec, protocol: &dyn AnyProtocol, operations: usize) -> Ledger {
    let ledger = Ledger::new(ledger_rules(spec, protocol), operations);
    if spec.operators.is_empty() { ledger } else { ledger.with_records() }
}

fn provider(spec: &WorldSpec, protocol: &dyn AnyProtocol, operations: usize, seed: Seed) -> Provider {
    let provider = Provider::new(gateway_rules(spec, protocol), operations);
    match spec.payouts() {
        Some(payouts) => provider.slow(payouts, keys(spec, protocol), seed),
        None => provider,
    }
}

fn gateway_rules(spec: &WorldSpec, protocol: &dyn AnyProtocol) -> GatewayRules {
    let GatewayRules { door, idempotency_keys } = protocol.gateway();
    let door: Box<dyn Door> = match spec.provider.checks_tokens {
        None => door,
        Some(true) => Box::new(HighestToken::default()),
        Some(false) => Box::new(AnyLease),
    };
    let idempotency_keys = match spec.provider.keys {
        None => idempotency_keys,
        Some(keys) => keys != Keys::None,
    };
    GatewayRules { door, idempotency_keys }
}

/// The idempotency keys that the provider remembers.
fn keys(spec: &WorldSpec, protocol: &dyn AnyProtocol) -> Keys {
    let meant = if protocol.gateway().idempotency_keys { Keys::Kept } else { Keys::None };
    spec.provider.keys.unwrap_or(meant)
}

/// The world of `spec`, with what keeps the lease under `protocol` if the scenario doesn't say.
fn with_lease_service<'a>(spec: &'a WorldSpec, protocol: &dyn AnyProtocol) -> Cow<'a, WorldSpec> {
    match (spec.lease.service, protocol.lease_service()) {
        (None, service @ (LeaseService::AsyncReplica(_) | LeaseService::Consensus(_))) => {
            let lease = LeaseSpec { service: Some(service), ..spec.lease };
            Cow::Owned(WorldSpec { lease, ..spec.clone() })
        }
        _ => Cow::Borrowed(spec),
    }
}

fn lease_service(spec: &WorldSpec) -> LeaseService {
    spec.lease.service.unwrap_or(LeaseService::Table)
}

/// Moves in what keeps the lease.
fn lease_keeper(world: &Rc<World>, spec: &WorldSpec, protocol: &dyn AnyProtocol) -> LeaseKeeper {
    let service = lease_service(spec);
    if service != LeaseService::Table {
        let replicas = replica::found(service, &spec.replicas());
        let addresses: Vec<_> = replicas.into_iter().map(|(node, replica)| world.house(node, replica)).collect();
        world.join(&addresses, replica::TICK);
        return LeaseKeeper::Replicas(addresses);
    }
    let ids = Stream::new(world.seed, Purpose::LeaseIds(world::LEASE_STORE));
    LeaseKeeper::Row(world.house(world::LEASE_STORE, lease_store(spec, protocol, ids)))
}

fn lease_store_rules(spec: &WorldSpec, protocol: &dyn AnyProtocol) -> LeaseStoreRules {
    let rules = protocol.lease_store();
    LeaseStoreRules { expiry: spec.lease.expiry.unwrap_or(rules.expiry), ..rules }
}

fn ledger_rules(spec: &WorldSpec, protocol: &dyn AnyProtocol) -> LedgerRules {
    let rules = protocol.ledger();
    match spec.ledger.forgets_tokens {
        true => LedgerRules { door: Box::new(Forgetful::new(rules.door)), ..rules },
        false => rules,
    }
}

fn draw_batch(operations: u32, seed: Seed) -> Rc<[Amount]> {
    let mut stream = Stream::new(seed, Purpose::Workload);
    (0..operations).map(|_| Amount(100 + stream.below(LARGEST_AMOUNT - 100 + 1) as i64)).collect()
}
