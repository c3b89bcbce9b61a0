//! What histories say of clocks is what nodes read, whatever changes the clocks at the same instant.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Mutex;

use holdover::scenario::Scenario;
use holdover::sim::clock::Clock;
use holdover::sim::fault::Fault;
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::NodeId;
use holdover::sim::point::POINTS;
use holdover::sim::protocol::{Fenced, Naive, PROTOCOLS, Protocol, Renewal};
use holdover::sim::run::run;
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::worker::{Lease, Setback, Worker};
use proptest::prelude::*;

use crate::night::{Night, any_night, night};

/// What each clock read before each point that a node passed.
type Readings = BTreeMap<NodeId, Vec<[i64; 4]>>;

/// Its workers pass all points again and again, and read their clocks before each.
#[derive(Clone, Copy)]
struct ReadsClocks<'a>(&'a Mutex<Readings>);

impl Protocol for ReadsClocks<'static> {
    fn name(&self) -> &'static str {
        "reads-clocks"
    }

    fn summary(&self) -> &'static str {
        "reads clocks and passes points"
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
        for _ in 0..60 {
            for (point, _) in POINTS {
                let [wall, mono] = [worker.wall().as_nanos(), worker.mono().as_nanos()];
                let read = [wall, mono, worker.raw().as_nanos(), worker.boottime().as_nanos()];
                self.0.lock().expect("nobody panics with it").entry(worker.node()).or_default().push(read);
                worker.point(*point).await;
            }
            worker.sleep(Span::secs(2)).await;
        }
        worker.finish();
    }
}

/// What the history says that clocks read at those points.
fn told(history: &History) -> Readings {
    let mut told = Readings::new();
    for (id, event) in history.numbered().filter(|(_, event)| matches!(event.what, What::PointPassed(_))) {
        let clocks = [Clock::Wall, Clock::Monotonic, Clock::Raw, Clock::Boottime];
        told.entry(event.node).or_default().push(clocks.map(|clock| history.reading(id, event.node, clock)));
    }
    told
}

/// Whether a worker found what its clocks say of each lease that it looked at.
fn checks_are_explained(history: &History) -> Result<(), TestCaseError> {
    let mut held = BTreeMap::new();
    let mut dropped = BTreeMap::new();
    for (id, event) in history.numbered() {
        match event.what {
            What::LeaseHeld { epoch, until } => {
                held.insert((event.node, epoch), until);
            }
            What::LeaseDropped { epoch } => {
                dropped.insert((event.node, epoch), ());
            }
            What::LeaseChecked { epoch, valid } => {
                let until = held[&(event.node, epoch)];
                let is_before = history.reading(id, event.node, until.clock) < until.reading;
                let is_dropped = dropped.contains_key(&(event.node, epoch));
                prop_assert_eq!(valid, is_before && !is_dropped, "{}: {:?}", id, event);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whoever is put back knows what it knew then, and is told its readings once more.
fn puts_nobody_back(night: &Night) -> bool {
    !night.plan.iter().any(|planned| matches!(planned.inject, Fault::Restore(_)))
}

/// The clock jumps where the worker has just looked, at the same instant: it looked before.
#[test]
fn a_check_reads_the_clock_before_the_step_that_comes_after_it() {
    let text = r#"
        title = "The clock is stepped at the very instant of a check"
        start = 2026-01-15T02:00:00Z
        lease = { ttl = "20s", renew_every = "5s" }
        job = { operations = 3 }
        worker = [{ name = "worker-a" }]
        [[fault]]
        when = { point = "write.checked", node = "worker-a", nth = 2 }
        inject = { clock-step = { node = "worker-a", by = "1h" } }"#;
    let night = Scenario::parse("step.toml", text).expect("it is a scenario");
    let history = run(&night.world, &Naive, &night.plan, night.seed);
    let is_step = |event: &Event| matches!(event.what, What::FaultBegan { .. });
    let (step, began) = history.numbered().find(|(_, event)| is_step(event)).expect("it strikes");
    let at_once = history.numbered().filter(|(_, event)| (event.at, event.node) == (began.at, began.node));
    let read: Vec<_> =
        at_once.map(|(id, _)| (id >= step, history.wall(id, began.node) - history.utc(began.at))).collect();
    assert!(read.iter().any(|(is_after, _)| !is_after) && read.iter().any(|(is_after, _)| *is_after), "{read:?}");
    for (is_after, off) in read {
        assert_eq!(off, if is_after { Span::secs(3_600) } else { Span::ZERO });
    }
    assert!(checks_are_explained(&history).is_ok());
}

/// A process that would begin on a machine that is stopped, begins when that goes on.
#[test]
fn no_process_begins_on_a_machine_that_is_stopped() {
    let check = |faults: &str, expected: &[i64]| {
        let text = format!(
            "title = \"Beginnings\"\nstart = 2026-01-15T02:00:00Z\nlease = {{ ttl = \"20s\", renew_every = \"5s\" }}\n\
             job = {{ operations = 30, pace = \"2s\" }}\nworker = [{{ name = \"w\", starts = \"+3s\" }}]\n{faults}"
        );
        let night = Scenario::parse("beginnings.toml", &text).unwrap_or_else(|error| panic!("{error:?}"));
        let history = run(&night.world, &Naive, &night.plan, night.seed);
        let began = history.events.iter().filter(|event| event.what == What::WorkerStarted);
        let began: Vec<_> = began.map(|event| (event.at - TrueTime::START).as_nanos() / 1_000_000_000).collect();
        assert_eq!(began, expected, "{faults}");
    };
    let fault =
        |at: i64, inject: &str| format!("[[fault]]\nwhen = {{ at = \"+{at}s\" }}\ninject = {{ {inject} }}\n");
    for clocks in ["running", "suspended", "frozen", "counted", "migrated"] {
        let pause = format!("pause = {{ node = \"w\", for = \"10s\", clocks = \"{clocks}\" }}");
        check(&fault(1, &pause), &[11]);
        check(&fault(4, &pause), &[3]);
        // It dies before the machine stops, and may run again while it is.
        let crash = fault(6, "crash = { node = \"w\", for = \"2s\" }");
        check(&(crash.clone() + &fault(7, &pause)), &[3, 17]);
        check(&(fault(5, &pause) + &crash), &[3, 15]);
        check(&(fault(2, &pause) + &crash), &[12]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_told_of_clocks_is_what_was_read(night in any_night().prop_filter("restores", puts_nobody_back)) {
        static READ: Mutex<Readings> = Mutex::new(Readings::new());
        READ.lock().expect("nobody panics with it").clear();
        let history = run(&night.world, &ReadsClocks(&READ), &night.plan, night.seed);
        prop_assert_eq!(told(&history), READ.lock().expect("nobody panics with it").clone());
    }

    #[test]
    fn what_is_found_of_a_lease_is_what_clocks_say(night in night().prop_filter("restores", puts_nobody_back)) {
        for protocol in PROTOCOLS {
            checks_are_explained(&night.run(*protocol))?;
        }
    }
}
