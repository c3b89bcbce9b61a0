//! lease-43 on holdover: a protocol with a job of its own, in a world with a pause in its plan. Every run has its whole
//! history, and all checkers judge it.

use std::rc::Rc;

use holdover_sim::check::{self, Verdict};
use holdover_sim::clock::{Clock, Deadline};
use holdover_sim::fault::{Anchor, Pause, PauseClocks, PlannedFault};
use holdover_sim::history::{History, What};
use holdover_sim::id::OpId;
use holdover_sim::limits::{Ending, Limits};
use holdover_sim::protocol::{Protocol, Renewal};
use holdover_sim::run::run;
use holdover_sim::seed::Seed;
use holdover_sim::service::door::AnyLease;
use holdover_sim::service::lease_store::{Expiry, LeaseStoreRules, Tokens};
use holdover_sim::service::ledger::{Checkpoint, LedgerRules};
use holdover_sim::service::provider::GatewayRules;
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::worker::{Lease, Setback, Worker};
use holdover_sim::world::{
    ClockSpec, JobSpec, Latency, LeaseSpec, LedgerSpec, NetworkSpec, ProviderSpec, RepairSpec, WorkerSpec, WorldSpec,
    worker_node,
};
use lease43::{
    LATENCY_MAX_US, LATENCY_MIN_US, Outcome, PAUSE_AT, PAUSE_FOR, POLL_EVERY, RENEW_EVERY, Store, TTL, WRITE_EVERY, WRITES,
    args, measure, mix,
};

const START: WallTime = WallTime::from_nanos(1_768_442_400_000_000_000);

fn main() {
    let (world, plan) = (world(), [pause()]);
    measure("holdover", &args(50_000), |seed| {
        let history = run(&world, &Lease43, &plan, Seed(seed));
        let verdicts = check::judge(&history);
        outcome(&history, &verdicts)
    });
}

const fn span(nanos: u64) -> Span {
    Span::nanos(nanos as i64)
}

fn world() -> WorldSpec {
    let worker = |name: &str| WorkerSpec {
        name: name.to_owned(),
        starts: TrueTime::START,
        clock: ClockSpec::default(),
    };
    let latency = Latency { min: span(LATENCY_MIN_US * 1_000), max: span(LATENCY_MAX_US * 1_000) };
    WorldSpec {
        start: START,
        workers: vec![worker("a"), worker("b")],
        service_clocks: Default::default(),
        lease: LeaseSpec {
            ttl: span(TTL),
            renew_every: span(RENEW_EVERY),
            poll_every: span(POLL_EVERY),
            expiry: None,
            service: None,
        },
        ledger: LedgerSpec::default(),
        provider: ProviderSpec::default(),
        operators: Vec::new(),
        repair: RepairSpec::default(),
        job: JobSpec { operations: WRITES, due: START, pace: span(WRITE_EVERY) },
        network: NetworkSpec { internal: latency, provider: latency, timeout: NetworkSpec::DEFAULT_TIMEOUT },
        limits: Limits { end: TrueTime::START + Span::secs(600), steps: Limits::DEFAULT_STEPS },
        progress_within: Span::secs(60),
    }
}

fn pause() -> PlannedFault {
    PlannedFault {
        when: Anchor::At(TrueTime::START + span(PAUSE_AT)),
        inject: Pause {
            node: worker_node(0),
            beside: Vec::new(),
            lasting: span(PAUSE_FOR),
            clocks: PauseClocks::Running,
            task: None,
        }
        .into(),
        note: None,
        name: None,
    }
}

/// A lease from the store, by the store's clock, and a ledger that takes a write from anyone: which of them were stale is
/// for the checkers to find.
#[derive(Clone)]
struct Lease43;

impl Protocol for Lease43 {
    fn name(&self) -> &'static str {
        "lease-43"
    }

    fn summary(&self) -> &'static str {
        "a lease by the store's clock, and writes that nobody checks"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        LeaseStoreRules { tokens: Tokens::Counted, expiry: Expiry::ByStore }
    }

    fn ledger(&self) -> LedgerRules {
        LedgerRules { door: Box::new(AnyLease), one_entry_per_operation: false, check_to_write: Span::ZERO }
    }

    fn gateway(&self) -> GatewayRules {
        GatewayRules { door: Box::new(AnyLease), idempotency_keys: false }
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
        let grant = worker.acquire(ttl).await?;
        Some(Lease::take(worker, grant, since, by_mono(since.as_nanos(), ttl)))
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
        match worker.renew(lease, ttl).await {
            Ok(true) => {
                lease.extend(by_mono(since.as_nanos(), ttl));
                Renewal::Kept
            }
            Ok(false) => Renewal::Lost,
            Err(_) => Renewal::Unsure,
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        lease.is_before_end()
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        worker.read_checkpoint(lease).await
    }

    /// A begins with asking for the lease, B with waiting; whoever has it makes its writes.
    async fn work(self, worker: Worker) {
        let is_first = worker.node() == worker_node(0);
        if !is_first {
            worker.sleep(worker.lease_spec().poll_every).await;
        }
        let lease = loop {
            match self.acquire(&worker).await {
                Some(lease) => break lease,
                None => worker.sleep(worker.lease_spec().poll_every).await,
            }
        };
        let renewals = is_first.then(|| worker.spawn(self.clone().keep_renewing(worker.clone(), lease.clone())));
        for op in 0..worker.job().operations {
            worker.write(&lease, OpId(op)).await.expect("this ledger takes every write, and no connection breaks");
            worker.sleep(worker.job().pace).await;
        }
        if let Some(renewals) = renewals {
            renewals.cancel();
        }
        worker.finish();
    }
}

impl Lease43 {
    async fn keep_renewing(self, worker: Worker, lease: Rc<Lease>) {
        loop {
            worker.sleep(worker.lease_spec().renew_every).await;
            self.renew(&worker, &lease).await;
        }
    }
}

fn by_mono(since: i64, ttl: Span) -> Deadline {
    Deadline { clock: Clock::Monotonic, reading: since + ttl.as_nanos() }
}

/// What the workload asks to be counted. The stale writes are those that the checker found.
fn outcome(history: &History, verdicts: &[(&check::Checker, Verdict)]) -> Outcome {
    let mut store = Store::default();
    for event in &history.events {
        if let What::MessageSent { .. } = event.what {
            store.messages += 1;
            continue;
        }
        match event.what {
            // As elsewhere it is the requests that are hashed; a store's and a ledger's node come first.
            What::MessageDelivered { from, .. } if event.node < worker_node(0) => {
                store.hash = mix(mix(store.hash, event.at.as_nanos() as u64), u64::from(from.0));
            }
            What::WriteAccepted { .. } => store.writes += 1,
            What::LeaseRefused { .. } => store.polls += 1,
            What::LeaseGranted { worker, .. } => {
                store.grants += 1;
                store.polls += u32::from(worker != worker_node(0));
            }
            What::LeaseRenewed { .. } | What::RenewalRefused { .. } => store.renewals += 1,
            _ => {}
        }
    }
    for (checker, verdict) in verdicts {
        if let ("stale-write", Verdict::Violated { times, .. }) = (checker.name, verdict) {
            store.stale = *times as u32;
        }
    }
    assert!(history.ending == Ending::Finished, "{:?}", history.ending);
    store.outcome(history.ended_at.as_nanos() as u64, store.events())
}
