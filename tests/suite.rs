//! Suites: what can be added to one, and that a scenario goes by the names of the suite that it was read with.

use std::rc::Rc;

use holdover::explore::hunt::Hunt;
use holdover::replay::{Outcome, Replay};
use holdover::scenario::{SMALLEST, Scenario, json_schema};
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive, Protocol, Renewal};
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::worker::{Lease, Setback, Worker};
use holdover::suite::{Suite, Unfit};

/// As fenced as the built-in protocol, under a name of its own.
#[derive(Clone)]
struct Named(&'static str);

impl Protocol for Named {
    fn name(&self) -> &'static str {
        self.0
    }

    fn summary(&self) -> &'static str {
        "a lock of somebody's own"
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

static MYLOCK: Named = Named("mylock");
static OTHER: Named = Named("other");

fn listed(protocols: &str) -> String {
    SMALLEST.replace("\n[lease]", &format!("protocols = {protocols}\n\n[lease]"))
}

#[test]
fn a_name_is_one_protocols_and_can_stand_in_a_file() {
    let check = |name: &'static str, unfit: Option<Unfit>| {
        let protocol: &'static Named = Box::leak(Box::new(Named(name)));
        assert_eq!(Suite::builtin().with(&MYLOCK).try_with(protocol).err(), unfit, "{name:?}");
    };
    check("yours", None);
    check("your_lock-2", None);
    for taken in ["naive", "fenced-consensus", "check-once", "mylock"] {
        check(taken, Some(Unfit::Taken { name: taken }));
    }
    for none in ["", "all", "my lock", "a/b", "lock\u{202e}", "größe"] {
        check(none, Some(Unfit::NoName { name: none }));
    }
}

#[test]
#[should_panic(expected = "there is a protocol named `naive` already")]
fn what_does_not_fit_is_refused_where_it_is_added() {
    static NAIVE: Named = Named("naive");
    let _suite = Suite::builtin().with(&NAIVE);
}

#[test]
fn a_scenario_has_the_names_of_its_suite() {
    let suite = Suite::builtin().with(&MYLOCK);
    let text = listed("[\"fenced\", \"mylock\"]");
    let scenario = suite.parse("own.toml", &text).expect("all names are known");
    assert_eq!(Replay::of(&scenario).outcome(), Outcome::AsExpected);
    // The way back is a file of the same suite.
    assert_eq!(scenario.to_toml().as_deref(), Ok(text.as_str()));
    let refused = Scenario::parse("own.toml", &text).expect_err("holdover has no such protocol");
    assert!(refused.to_string().contains("unknown protocol `mylock`"), "{refused}");
    // Where nobody names any, those that were added are of interest as well.
    let unlisted = suite.parse("own.toml", SMALLEST).expect("a scenario");
    assert_eq!(unlisted.protocols.last().map(String::as_str), Some("mylock"));
    // A suite that has nothing else knows nothing else.
    let alone = Suite::empty().with(&MYLOCK).with(&OTHER);
    assert_eq!(alone.parse("own.toml", SMALLEST).expect("a scenario").protocols, ["mylock", "other"]);
    let refused = alone.parse("own.toml", &text).expect_err("it has no fenced");
    assert!(refused.to_string().contains("unknown protocol `fenced`"), "{refused}");
    let nobody = Suite::empty().parse("own.toml", SMALLEST).expect_err("nothing can be run");
    assert!(nobody.to_string().contains("no protocol"), "{nobody}");
}

#[test]
fn the_schema_has_the_names_of_its_suite() {
    let schema = json_schema(&Suite::empty().with(&MYLOCK));
    let names = schema.pointer("/properties/protocols/items/enum").expect("names");
    assert_eq!(names, &serde_json::json!(["mylock"]));
    let expect = schema.pointer("/properties/expect/properties").and_then(|all| all.as_object()).expect("tables");
    assert_eq!(expect.keys().collect::<Vec<_>>(), ["mylock"]);
}

#[test]
fn a_case_says_how_its_own_program_shows_it() {
    let hunted = |suite: &Suite, protocol: &'static dyn AnyProtocol| {
        let scenario = suite.parse("smallest", SMALLEST).expect("a scenario");
        let protocols = [protocol];
        let hunt = Hunt::new(&scenario).protocols(&protocols).seeds(0..200);
        let findings = hunt.run();
        let failure = findings.failures.first().expect("the naive one breaks");
        let case = hunt.case_of(failure, "the command").expect("it can be written").expect("it is made smaller");
        (case.about.replay, case.scenario.contains("[expect."))
    };
    let own = Suite::builtin().with(&MYLOCK);
    let (replay, _) = hunted(&own, &Naive);
    assert!(replay.starts_with("Replay::new(&scenario"), "{replay}");
    let (replay, is_expected) = hunted(&own.of_program("bin/mylock"), &Naive);
    assert_eq!((replay.as_str(), is_expected), ("bin/mylock replay scenario.toml --protocol naive", true));
    let (replay, _) = hunted(&Suite::builtin(), &Naive);
    assert_eq!(replay, "holdover replay scenario.toml --protocol naive");
}
