//! Panics of ours: they are told with their place, are not taken for the protocol's, and take nothing with them that was
//! found until then.
//!
//! A plan that names a node that isn't there is one way to have the simulator panic: no file can say it.

use std::rc::Rc;

use holdover::explore::hunt::{Cause, Findings, Hunt, OwnPlan};
use holdover::explore::shrink::{BUDGET, shrink};
use holdover::explore::{Signature, Subject};
use holdover::replay::{Deviation, Outcome, Replay};
use holdover::scenario::Scenario;
use holdover::sim::fault::{Anchor, ClockStep, PlannedFault};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::sim::protocol::{Fenced, Naive, Protocol, Renewal};
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::worker::{Lease, Setback, Worker};

const INCIDENT: &str = include_str!("../scenarios/incidents/clock-jump.toml");

/// The naive protocol, but for a part of it that panics.
#[derive(Clone, Copy)]
struct Breaks(Part);

#[derive(Clone, Copy, PartialEq)]
enum Part {
    LeaseStore,
    Ledger,
    Gateway,
    Service,
    Work,
}

impl Breaks {
    fn at(self, part: Part) {
        assert!(self.0 != part, "it breaks");
    }
}

impl Protocol for Breaks {
    fn name(&self) -> &'static str {
        "breaks"
    }

    fn summary(&self) -> &'static str {
        "naive, with a part that panics"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        self.at(Part::LeaseStore);
        Naive.lease_store()
    }

    fn lease_service(&self) -> holdover::sim::lease::LeaseService {
        self.at(Part::Service);
        Protocol::lease_service(&Naive)
    }

    fn ledger(&self) -> LedgerRules {
        self.at(Part::Ledger);
        Naive.ledger()
    }

    fn gateway(&self) -> GatewayRules {
        self.at(Part::Gateway);
        Naive.gateway()
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        self.at(Part::Work);
        Naive.acquire(worker).await
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        Naive.renew(worker, lease).await
    }

    fn holds(&self, lease: &Lease) -> bool {
        Naive.holds(lease)
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        Naive.take_over(worker, lease).await
    }
}

/// The incident, and later a fault at a node that isn't there.
fn broken() -> Scenario {
    let mut scenario = Scenario::parse("incident", INCIDENT).expect("the incident is a scenario");
    scenario.plan.push(PlannedFault {
        when: Anchor::At(TrueTime::START + Span::millis(58_200)),
        inject: ClockStep { node: NodeId(99), by: Span::secs(1) }.into(),
        note: None,
        name: None,
    });
    scenario
}

fn causes(findings: &Findings) -> Vec<String> {
    findings.failures.iter().map(|failure| failure.cause.name()).collect()
}

#[test]
fn a_panic_of_ours_ends_a_run_and_is_told_as_ours() {
    let scenario = broken();
    let run = || Subject { world: &scenario.world, protocol: &Naive, seed: scenario.seed }.run(&scenario.plan);
    let history = run().history;
    let Ending::Bug(panic) = &history.ending else { panic!("{:?}", history.ending) };
    assert!(panic.place.as_ref().is_some_and(|place| place.starts_with("sim/src/engine/")), "{panic}");
    assert!(panic.message.contains("99"), "{panic}");
    assert_eq!(run().history, history);
    let replay = Replay::new(&scenario, &[&Naive, &Fenced], scenario.seed);
    assert_eq!(replay.outcome(), Outcome::Bug);
    let bugs = replay.deviations().into_iter().filter(|deviation| matches!(deviation, Deviation::Bug { .. }));
    assert!(bugs.count() >= 2);
    // What was broken until then is.
    let verdict = |name: &str| {
        replay.runs[0].verdicts.iter().find(|(checker, _)| checker.name == name).map(|(_, verdict)| verdict.name())
    };
    assert_eq!((verdict("single-writer"), verdict("progress")), (Some("violated"), Some("unknown")));
}

#[test]
fn a_panic_of_a_part_of_the_protocol_is_the_protocols() {
    static BREAKS: [Breaks; 5] = [
        Breaks(Part::LeaseStore),
        Breaks(Part::Ledger),
        Breaks(Part::Gateway),
        Breaks(Part::Work),
        Breaks(Part::Service),
    ];
    let scenario = Scenario::parse("incident", INCIDENT).expect("the incident is a scenario");
    for breaks in &BREAKS {
        let hunt = Hunt::new(&scenario).protocols(&[breaks]).seeds(0..3).jobs(std::num::NonZeroUsize::MIN);
        assert_eq!(causes(&hunt.keep_going().run()), ["panicked"]);
        if breaks.0 == Part::Service {
            continue;
        }
        let history = Subject { world: &scenario.world, protocol: breaks, seed: scenario.seed }.run(&[]).history;
        let Ending::Panicked { message, .. } = &history.ending else { panic!("{:?}", history.ending) };
        assert_eq!(message, "it breaks");
    }
}

#[test]
fn a_hunt_keeps_what_it_found_and_says_with_which_seed_it_broke_down() {
    let scenario = broken();
    let hunt = Hunt::new(&scenario).protocols(&[&Naive]).own_plan(OwnPlan::Kept).seeds(0..200);
    for jobs in [1, 3] {
        let found = hunt.clone().jobs(jobs.try_into().expect("above zero")).run();
        // It goes on to the end of a task, and no further.
        assert!(!found.complete && found.seeds == 32, "{}", found.seeds);
        let bug = found.failures.iter().find(|failure| failure.cause == Cause::Bug).expect("it is told");
        assert_eq!((bug.seeds, bug.example.seed), (32, 0));
        assert!(bug.message.as_ref().is_some_and(|message| message.contains("at sim/src/")), "{bug:?}");
        assert!(causes(&found).contains(&"stale-write-stale-write".to_owned()), "{:?}", causes(&found));
        let json = serde_json::to_string(&found).expect("findings can be written");
        assert_eq!(serde_json::from_str::<Findings>(&json).expect("and read"), found);
    }
    assert!(hunt.keep_going().run().complete);
}

#[test]
fn shrinking_goes_on_without_what_breaks_down() {
    let scenario = broken();
    let signature = Signature::named("single-writer", "two-writers").expect("a known signature");
    let small = shrink(&scenario, &Naive, signature, BUDGET).expect("it breaks this");
    assert_eq!(small.scenario.plan.len(), 1);
    let subject = Subject { world: &small.scenario.world, protocol: &Naive, seed: small.scenario.seed };
    assert!(subject.run(&small.scenario.plan).times(signature) > 0);
}
