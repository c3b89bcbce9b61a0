//! Runs under protocols of one's own.

use std::rc::Rc;

use holdover::replay::{Deviation, Outcome, Replay};
use holdover::report::json;
use holdover::sim::protocol::{AnyProtocol, Naive, Protocol, Renewal};
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::worker::{Lease, Setback, Worker};

use crate::support::{SMALL, Small, USUAL, snapshot, told};

/// The naive protocol, but for how it renews.
#[derive(Clone)]
struct Odd {
    name: &'static str,
    summary: &'static str,
    /// Panics at the first renewal, with this message.
    panic: Option<&'static str>,
}

impl Protocol for Odd {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn lease_store(&self) -> LeaseStoreRules {
        Protocol::lease_store(&Naive)
    }
    fn ledger(&self) -> LedgerRules {
        Protocol::ledger(&Naive)
    }
    fn gateway(&self) -> GatewayRules {
        Protocol::gateway(&Naive)
    }
    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        Naive.acquire(worker).await
    }
    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        if let Some(message) = self.panic {
            panic!("{message}");
        }
        Naive.renew(worker, lease).await
    }
    fn holds(&self, lease: &Lease) -> bool {
        Naive.holds(lease)
    }
    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        Naive.take_over(worker, lease).await
    }
}

static PANICS: Odd = Odd {
    name: "panics",
    summary: "falls over at its first renewal",
    panic: Some(
        "no renewal:\n  at \u{1b}[31mline\u{1b}[0m 2,\tfor a reason that takes so many words to tell that they don't go on one line",
    ),
};

#[test]
fn a_protocol_that_panics() {
    let scenario = Small { job: "due = \"+20s\"", ..SMALL }.scenario();
    snapshot!("panicked", &told(&scenario, &[&PANICS], USUAL));

    let replay = Replay::new(&scenario, &[&PANICS], scenario.seed);
    assert_eq!(replay.outcome(), Outcome::NotAsExpected);
    assert!(matches!(&replay.deviations()[0], Deviation::Panicked { node, .. } if node == "worker-b"));
    let mut document = Vec::new();
    json::write(&replay, "small.toml", "holdover replay small.toml", &mut document)
        .expect("a Vec takes any bytes");
    let document: serde_json::Value = serde_json::from_slice(&document).expect("one JSON document");
    assert_eq!(document["runs"][0]["ending"]["panicked"]["node"], 4);
    assert_eq!(document["runs"][0]["verdicts"]["single-writer"]["reason"], "the run panicked");
}

/// As many protocols as anyone may want to compare, one with a name and a summary that are far too long.
static MANY: [Odd; 6] = [
    Odd { name: "one", summary: "", panic: None },
    Odd { name: "two", summary: "日本語の要約", panic: None },
    Odd {
        name: "a-protocol-of-the-longest-name-that-anyone-would-give-to-it-and-then-some",
        summary: "x",
        panic: None,
    },
    Odd {
        name: "four",
        summary: "with many words, more than go on a line, as those have who can't stop explaining what they do and how",
        panic: None,
    },
    Odd { name: "five", summary: "x", panic: None },
    Odd { name: "six", summary: "x", panic: None },
];

#[test]
fn protocols_that_do_not_fit_beside_each_other() {
    let scenario = Small {
        faults: &[(
            "point = \"write.checked\", node = \"worker-a\"",
            "pause = { node = \"worker-a\", for = \"41s\" }",
        )],
        ..SMALL
    }
    .scenario();
    let protocols: Vec<&'static dyn AnyProtocol> = MANY.iter().map(|odd| odd as &dyn AnyProtocol).collect();
    let text = told(&scenario, &protocols, USUAL);
    let verdicts = text.lines().position(|line| line.starts_with("  verdicts")).expect("there is a table");
    snapshot!("many-protocols", &text.lines().skip(verdicts).collect::<Vec<_>>().join("\n"));
}

#[test]
fn no_protocol_at_all() {
    snapshot!("no-protocol", &told(&SMALL.scenario(), &[], USUAL));
}
