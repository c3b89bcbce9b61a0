//! Jobs of one's own: they are told to stop, begun anew after a crash, and met at points of their own; and what becomes of a
//! call that is about no operation of the batch.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use futures_util::future::{Either, select};
use holdover::replay::Replay;
use holdover::report::{jsonl, text};
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::check::{Bite, bites};
use holdover::sim::fault::{Anchor, Crash, Fault, Pause, PauseClocks, PlannedFault, Restore, Shutdown, Snapshot};
use holdover::sim::history::{History, Row, What};
use holdover::sim::id::{EntryId, NodeId, OpId, PayoutId};
use holdover::sim::limits::Ending;
use holdover::sim::point::Point;
use holdover::sim::protocol::{Fenced, Protocol, Renewal};
use holdover::sim::run::run;
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::worker::{Lease, Setback, Worker};
use holdover::sim::world::worker_node;

const A: NodeId = worker_node(0);

/// A point of the job's own.
const ENTERED: Point = Point("entered");

type Work = Pin<Box<dyn Future<Output = ()>>>;

/// [`Fenced`] with a job of its own.
#[derive(Clone, Copy)]
struct Own {
    /// What it does once it has the lease.
    job: fn(Worker, Rc<Lease>) -> Work,
    /// Whether it leaves it to the job what comes of being told to stop.
    hears_itself: bool,
}

impl Protocol for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn summary(&self) -> &'static str {
        "fenced, with a job of its own"
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
        let lease = loop {
            match self.acquire(&worker).await {
                Some(lease) => break lease,
                None => worker.sleep(worker.lease_spec().poll_every).await,
            }
        };
        (self.job)(worker.clone(), lease).await;
        worker.finish();
    }

    async fn stop(self, worker: Worker) {
        assert!(worker.is_told_to_stop());
        if !self.hears_itself {
            Protocol::stop(Fenced, worker).await;
        }
    }
}

/// Enters an operation a second, and looks at nothing else.
fn enters(worker: Worker, lease: Rc<Lease>) -> Work {
    Box::pin(async move {
        for op in 0..worker.job().operations {
            worker.sleep(Span::secs(1)).await;
            let _entered = worker.write(&lease, OpId(op)).await;
            worker.point(ENTERED).await;
        }
        let _released = worker.release(&lease).await;
    })
}

/// Enters an operation a second until it is told to stop, then gives its lease back.
fn enters_until_told(worker: Worker, lease: Rc<Lease>) -> Work {
    Box::pin(async move {
        let mut told = Box::pin(worker.told_to_stop());
        for op in 0..worker.job().operations {
            if let Either::Left(_) = select(&mut told, worker.sleep(Span::secs(1))).await {
                break;
            }
            let _entered = worker.write(&lease, OpId(op)).await;
        }
        let _released = worker.release(&lease).await;
    })
}

/// The smallest scenario, with `plan`, under `protocol`.
fn run_under(protocol: &Own, plan: impl IntoIterator<Item = (Anchor, Fault)>) -> History {
    let scenario = Scenario::parse("two workers", SMALLEST).expect("it is a scenario");
    let planned = |(when, inject)| PlannedFault { when, inject, note: None, name: None };
    let plan: Vec<_> = plan.into_iter().map(planned).collect();
    run(&scenario.world, protocol, &plan, scenario.seed)
}

fn at(secs: i64) -> Anchor {
    Anchor::At(TrueTime::START + Span::secs(secs))
}

fn shutdown(secs: i64, takes: i64) -> (Anchor, Fault) {
    (at(secs), Shutdown { node: A, lasting: Span::secs(takes) }.into())
}

/// In which second of a run each event that `is_such` happened, of the first worker.
fn seconds(history: &History, is_such: fn(&What) -> bool) -> Vec<i64> {
    let such = history.events.iter().filter(|event| event.concerns(A) && is_such(&event.what));
    such.map(|event| (event.at - TrueTime::START).as_nanos() / 1_000_000_000).collect()
}

fn released(what: &What) -> bool {
    matches!(what, What::LeaseReleased { .. })
}

fn written(what: &What) -> bool {
    matches!(what, What::WriteAccepted { .. })
}

fn died(what: &What) -> bool {
    matches!(what, What::WorkerDied)
}

#[test]
fn a_shutdown_gives_back_the_lease_of_any_job() {
    let job = Own { job: enters, hears_itself: false };
    let history = run_under(&job, [shutdown(3, 5)]);
    assert_eq!(bites(&history), [Bite::Bit]);
    assert_eq!(seconds(&history, released), [3]);
    // The work goes on as if nothing had been, until the process ends.
    assert_eq!(seconds(&history, |what| *what == What::PointPassed(ENTERED)), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(seconds(&history, died), [8]);
    // Nobody has anything to give back when it comes, and it hurts nobody.
    let history = run_under(&job, [shutdown(20, 5)]);
    assert_eq!((seconds(&history, released), bites(&history)), (vec![14], vec![Bite::Missed]));
}

#[test]
fn a_job_that_listens_stops_in_order() {
    let history = run_under(&Own { job: enters_until_told, hears_itself: true }, [shutdown(3, 5)]);
    assert_eq!(seconds(&history, released), [3]);
    assert_eq!(seconds(&history, written), [1, 2]);
    assert!(seconds(&history, died).is_empty());
    assert_eq!(seconds(&history, |what| matches!(what, What::WorkerFinished)), [3]);
    assert_eq!(history.ending, Ending::Finished);
}

/// What it was told before and after a snapshot it is told again.
#[test]
fn a_job_that_listens_is_put_back_to_a_snapshot() {
    let job = Own { job: enters_until_told, hears_itself: true };
    for (taken, told, back) in [(1, 4, 6), (4, 2, 6), (1, 8, 3), (1, 3, 3)] {
        let plan = [
            (at(taken), Snapshot { node: A }.into()),
            shutdown(told, 9),
            (at(back), Restore { node: A, original: holdover::sim::fault::Original::Gone }.into()),
        ];
        let history = run_under(&job, plan);
        assert_eq!(history.ending, Ending::Finished, "a snapshot at {taken}, told at {told}, put back at {back}");
    }
}

#[test]
fn after_a_crash_the_job_begins_anew() {
    let job = Own { job: enters, hears_itself: false };
    let history = run_under(&job, [(at(3), Crash { node: A, lasting: Some(Span::secs(60)) }.into())]);
    assert_eq!(seconds(&history, |what| matches!(what, What::WorkerStarted)), [0, 63]);
    assert_eq!(seconds(&history, |what| matches!(what, What::LeaseGranted { .. })), [0, 63]);
    assert_eq!(history.ending, Ending::Finished);
}

#[test]
fn a_fault_waits_for_a_point_of_the_jobs_own() {
    let when = Anchor::Point {
        point: ENTERED.0.to_owned(),
        node: Some(A),
        after: TrueTime::START,
        nth: 3,
        delay: Span::ZERO,
    };
    let pause = Pause::of(A, Span::secs(5), PauseClocks::Running);
    let history = run_under(&Own { job: enters, hears_itself: false }, [(when, pause.into())]);
    let began = history.events.iter().position(|event| matches!(event.what, What::FaultBegan { .. }));
    let before = &history.events[began.expect("it strikes") - 1];
    assert_eq!((before.node, before.what), (A, What::PointPassed(ENTERED)));
    let passed = |what: &What| *what == What::PointPassed(ENTERED);
    assert_eq!(seconds(&history, passed)[..4], [1, 2, 3, 9], "the third time");
}

const BEYOND: OpId = OpId(14);

fn row() -> Row {
    Row { op: BEYOND, amount: Default::default(), entry: EntryId(0), payout: PayoutId(0) }
}

/// It is the job's own panic, and says what is wrong.
#[test]
fn a_call_about_no_operation_of_the_batch() {
    let writes: fn(Worker, Rc<Lease>) -> Work = |worker, lease| {
        Box::pin(async move {
            let _answer = worker.write(&lease, BEYOND).await;
        })
    };
    let pays: fn(Worker, Rc<Lease>) -> Work = |worker, lease| {
        Box::pin(async move {
            let _answer = worker.pay(&lease, OpId(u32::MAX)).await;
        })
    };
    let moves: fn(Worker, Rc<Lease>) -> Work = |worker, lease| {
        Box::pin(async move {
            let _answer = worker.move_checkpoint(&lease, row()).await;
        })
    };
    for (job, op) in [(writes, 14), (pays, u32::MAX), (moves, 14)] {
        let history = run_under(&Own { job, hears_itself: false }, []);
        let Ending::Panicked { node, message } = history.ending else { panic!("{:?}", history.ending) };
        let said = format!("the worker's code asks for operation {op}, and the batch has 14, numbered from 0");
        assert!(node == A && message.starts_with(&said), "{message}");
    }
    // What is published is for the rules to judge.
    static PUBLISHES: Own = Own {
        job: |worker, lease| {
            Box::pin(async move {
                let _answer = worker.publish(&lease, vec![row(), row()]).await;
            })
        },
        hears_itself: false,
    };
    let scenario = Scenario::parse("two workers", SMALLEST).expect("it is a scenario");
    let replay = Replay::new(&scenario, &[&PUBLISHES], scenario.seed);
    assert_eq!(replay.runs[0].history.ending, Ending::Finished);
    let verdicts = &replay.runs[0].verdicts;
    assert!(verdicts.iter().any(|(_, found)| found.name() == "violated"));
    let mut told = Vec::new();
    text::write(&replay, "x.toml", text::Layout { width: 100, verbose: true }, &mut told)
        .expect("a Vec takes any bytes");
    jsonl::write(&replay, &mut told).expect("a Vec takes any bytes");
}
