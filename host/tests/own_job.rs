//! A protocol with a job of its own in place of the settlement, and what its code reads of the host.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Instant;

use holdover::scenario::Scenario;
use holdover::sim::check::{CHECKERS, Verdict, judge_one};
use holdover::sim::fault::{Anchor, Pause, PauseClocks, PlannedFault};
use holdover::sim::history::{History, What};
use holdover::sim::host::SimulatedHost;
use holdover::sim::id::OpId;
use holdover::sim::limits::Ending;
use holdover::sim::protocol::{Fenced, Protocol, Renewal};
use holdover::sim::run::run;
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::worker::{Lease, Setback, Worker};
use holdover::sim::world::worker_node;
use holdover_host::SIMULATED;

const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/incidents/clock-jump.toml");

/// [`Fenced`], with which a worker enters the whole batch as fast as it can, and does nothing else.
#[derive(Clone, Default)]
struct EntersAll {
    /// At each step, by how much the host's clock has gone on since the worker began, and the worker's own.
    clocks: Arc<Mutex<Vec<(Span, Span)>>>,
    /// Whether a task beside it panics as soon as it has the lease.
    breaks: bool,
}

/// Panics when it is polled, and gives a lease up when it is dropped. Being no async code, it drops nothing as it panics.
struct Breaks(Rc<Lease>);

impl Future for Breaks {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        panic!("it breaks")
    }
}

impl Drop for Breaks {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

impl Protocol for EntersAll {
    fn name(&self) -> &'static str {
        "enters-all"
    }

    fn summary(&self) -> &'static str {
        "fenced, with a job of its own"
    }

    fn host(&self) -> Option<&'static dyn SimulatedHost> {
        Some(&SIMULATED)
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

    async fn work(self, worker: Worker) {
        let (host, own) = (Instant::now(), worker.mono());
        let look = || {
            let host = Span::nanos(host.elapsed().as_nanos() as i64);
            self.clocks.lock().expect("nobody panics with it").push((host, worker.mono() - own));
        };
        let lease = loop {
            let lease = self.acquire(&worker).await;
            look();
            match lease {
                Some(lease) => break lease,
                None => worker.sleep(worker.lease_spec().poll_every).await,
            }
        };
        if self.breaks {
            worker.spawn(Breaks(lease.clone())).detach();
        }
        for op in 0..worker.job().operations {
            worker.note_check(&lease, self.holds(&lease));
            // One that is turned away has lost the lease, and leaves the rest to whoever has it.
            if worker.write(&lease, OpId(op)).await.is_err() {
                break;
            }
            look();
        }
        worker.finish();
    }
}

/// The incident's world, with `plan`, under a job of one's own; and what its workers read of the clocks.
fn work(plan: &[PlannedFault]) -> (History, Vec<(Span, Span)>) {
    let protocol = EntersAll::default();
    let history = work_by(&protocol, plan);
    let clocks = protocol.clocks.lock().expect("nobody panics with it").clone();
    (history, clocks)
}

fn work_by(protocol: &EntersAll, plan: &[PlannedFault]) -> History {
    let incident = Scenario::load(INCIDENT).expect("the incident is a scenario");
    run(&incident.world, protocol, plan, incident.seed)
}

/// A pause of the first worker as it is granted the lease.
fn pause(clocks: PauseClocks) -> PlannedFault {
    PlannedFault {
        when: Anchor::Event {
            event: "lease-granted".to_owned(),
            node: Some(worker_node(0)),
            after: TrueTime::START,
            nth: 1,
            delay: Span::ZERO,
        },
        inject: Pause { node: worker_node(0), beside: Vec::new(), lasting: Span::secs(60), clocks, task: None }
            .into(),
        note: None,
        name: None,
    }
}

fn verdict(history: &History, rule: &str) -> Verdict {
    let checker = CHECKERS.iter().find(|checker| checker.name == rule).expect("a rule of the registry");
    judge_one(checker, history)
}

#[test]
fn a_job_of_ones_own_is_run_recorded_and_judged() {
    let (history, _) = work(&[]);
    assert_eq!(history.ending, Ending::Finished);
    let count = |is_such: fn(&What) -> bool| history.events.iter().filter(|event| is_such(&event.what)).count();
    let operations = history.batch.len();
    assert_eq!(count(|what| matches!(what, What::WorkerFinished)), 2);
    assert_eq!(count(|what| matches!(what, What::LeaseGranted { .. })), 2);
    assert_eq!(count(|what| matches!(what, What::LeaseChecked { valid: true, .. })), 2 * operations);
    assert_eq!(count(|what| matches!(what, What::WriteAccepted { .. })), operations);
    assert_eq!(count(|what| matches!(what, What::WriteRepeated { .. })), operations);
    assert_eq!(verdict(&history, "stale-write"), Verdict::Holds { judged: operations });
}

#[test]
fn the_host_keeps_true_time_at_every_step() {
    let difference = |plan: &[PlannedFault]| {
        let (history, clocks) = work(plan);
        assert_eq!(history.ending, Ending::Finished);
        assert!(clocks.len() > history.batch.len(), "the workers looked only {} times", clocks.len());
        clocks.into_iter().map(|(host, own)| host - own).max().expect("they looked")
    };
    assert_eq!(difference(&[]), Span::ZERO);
    assert_eq!(difference(&[pause(PauseClocks::Running)]), Span::ZERO);
    assert_eq!(difference(&[pause(PauseClocks::Frozen)]), Span::secs(60));
}

#[test]
fn a_task_that_panics_is_gone_before_anything_is_healed() {
    let mut paused = pause(PauseClocks::Running);
    paused.when = Anchor::At(TrueTime::START);
    let history = work_by(&EntersAll { breaks: true, ..EntersAll::default() }, &[paused]);
    let Ending::Panicked { node, message } = &history.ending else { panic!("{:?}", history.ending) };
    assert_eq!((*node, message.as_str()), (worker_node(1), "it breaks"));
    let last = history.events.iter().rev().map(|event| event.what).take(2).collect::<Vec<_>>();
    assert!(matches!(last[..], [What::FaultEnded { .. }, What::LeaseDropped { .. }]), "{last:?}");
}
