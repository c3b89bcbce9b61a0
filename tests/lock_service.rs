//! A lock service of one's own on the lease store's node: faults reach it as they reach the lease store, and it is judged as
//! that is.

use std::rc::Rc;

use holdover::explore::hunt::Hunt;
use holdover::scenario::Scenario;
use holdover::sim::check::judge;
use holdover::sim::clock::Deadline;
use holdover::sim::history::{Event, What};
use holdover::sim::id::{LeaseId, NodeId, Token};
use holdover::sim::protocol::{AnyProtocol, Fenced, Protocol, Renewal};
use holdover::sim::run::run;
use holdover::sim::service::lease_store::{Expiry, LeaseStoreRules, Term};
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::lock::{Lock, LockClocks, LockService};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::worker::{Lease, Setback, Worker};

/// What the lease store's row does, written once more: whose the lease is, and until when by the asker's clock, or by its
/// own monotonic one.
#[derive(Clone, Default)]
struct Row {
    held: Option<(NodeId, LeaseId, Deadline)>,
    token: u64,
    /// Whether the count of tokens stands still.
    repeats_tokens: bool,
    /// Whether it goes by its own monotonic clock.
    by_mono: bool,
}

impl Row {
    /// What the clock that it goes by reads, and when a lease granted now ends by that.
    fn now(&self, term: Term, clocks: LockClocks) -> (i64, Deadline) {
        match self.by_mono {
            true => (clocks.mono.as_nanos(), (clocks.mono + term.ttl).into()),
            false => (term.now.as_nanos(), (term.now + term.ttl).into()),
        }
    }
}

impl LockService for Row {
    fn acquire(&mut self, asker: NodeId, lease: LeaseId, term: Term, clocks: LockClocks) -> Result<Lock, NodeId> {
        let (now, until) = self.now(term, clocks);
        if let Some((holder, _, until)) = self.held
            && until.reading > now
        {
            return Err(holder);
        }
        self.token += u64::from(!self.repeats_tokens || self.token == 0);
        self.held = Some((asker, lease, until));
        Ok(Lock { token: Some(Token(self.token)), until })
    }

    fn renew(&mut self, lease: LeaseId, term: Term, clocks: LockClocks) -> Option<Deadline> {
        let (_, new) = self.now(term, clocks);
        let (_, held, until) = self.held.as_mut()?;
        (*held == lease).then(|| {
            *until = new;
            *until
        })
    }

    fn release(&mut self, lease: LeaseId) -> bool {
        self.held.take_if(|(_, held, _)| *held == lease).is_some()
    }

    fn copy(&self) -> Box<dyn LockService> {
        Box::new(self.clone())
    }
}

/// [`Fenced`] on it.
#[derive(Clone)]
struct OnRow {
    repeats_tokens: bool,
    by_mono: bool,
}

impl Protocol for OnRow {
    fn name(&self) -> &'static str {
        "on-row"
    }

    fn summary(&self) -> &'static str {
        "fenced on a lock service of one's own"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(&Fenced)
    }

    fn lock_service(&self) -> Option<Box<dyn LockService>> {
        let OnRow { repeats_tokens, by_mono } = *self;
        Some(Box::new(Row { repeats_tokens, by_mono, ..Row::default() }))
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

static RIGHT: OnRow = OnRow { repeats_tokens: false, by_mono: false };
static BY_MONO: OnRow = OnRow { by_mono: true, ..RIGHT };
static WRONG: OnRow = OnRow { repeats_tokens: true, ..RIGHT };

#[test]
fn one_that_does_what_the_row_does_comes_to_the_same_whatever_befalls_it() {
    let incident = Scenario::load("scenarios/incidents/clock-jump.toml").expect("the incident is a scenario");
    let hunt = Hunt::new(&incident).faults("stores,pauses,clocks".parse().expect("groups"));
    let mut taken_back = 0;
    for seed in 0..600 {
        let mut night = hunt.scenario_of(seed, "fenced");
        // What the events say of a lease's end is by the wall clock, whatever the service goes by.
        let protocol = match seed % 3 {
            0 => &BY_MONO,
            _ => &RIGHT,
        };
        night.world.lease.expiry = protocol.by_mono.then_some(Expiry::ByStore);
        let [own, row] = [protocol as &dyn AnyProtocol, &Fenced]
            .map(|protocol| run(&night.world, protocol, &night.plan, night.seed));
        assert!(own.events == row.events, "seed {seed}");
        let is_lost = |what: &What| matches!(what, What::WritesLost { .. });
        taken_back += own.events.iter().filter(|event| event.node.0 == 0 && is_lost(&event.what)).count();
    }
    assert!(taken_back > 20, "it was taken back only {taken_back} times");
}

#[test]
fn what_is_wrong_with_it_is_found() {
    let incident = Scenario::load("scenarios/incidents/clock-jump.toml").expect("the incident is a scenario");
    let hunt = |protocol: &'static dyn AnyProtocol| {
        let pauses = "pauses".parse().expect("a group");
        Hunt::new(&incident).protocols(&[protocol]).faults(pauses).seeds(0..300).run().failures
    };
    let found = hunt(&WRONG);
    assert!(found.iter().any(|failure| failure.cause.name().starts_with("token-order")), "{found:?}");
    assert_eq!(hunt(&RIGHT), []);
}

#[test]
fn a_repair_stops_it_and_has_it_go_on_above_the_operators_token() {
    let Scenario { mut world, plan, seed, .. } =
        Scenario::load("scenarios/incidents/repair-midway.toml").expect("it is one of ours");
    // Nobody gives anything back in the middle of the job, so that there is something to resume.
    world.operators[0].starts = TrueTime::START + Span::millis(58_200);
    let history = run(&world, &RIGHT, &plan, seed);
    let token = |event: &Event| match event.what {
        What::DispatchStopped { claim } => claim.token,
        What::LeaseGranted { token, .. } => token,
        _ => None,
    };
    let stopped = history.events.iter().position(|event| matches!(event.what, What::DispatchStopped { .. }));
    let (before, after) = history.events.split_at(stopped.expect("the operator stops dispatch") + 1);
    let operators = before.iter().filter_map(token).max();
    let later: Vec<_> = after.iter().filter_map(token).collect();
    assert!(
        !later.is_empty() && later.iter().all(|token| Some(*token) > operators),
        "{later:?} after {operators:?}"
    );
    for (checker, verdict) in judge(&history) {
        assert_eq!(verdict.name(), "holds", "{}", checker.name);
    }
}
