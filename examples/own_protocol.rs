//! A protocol of one's own, first broken, then right: at first the ledger checks fencing tokens and the provider's gateway
//! doesn't.
//!
//! That is how many systems look after the first repair: the own database is fenced, and what lies outside can't be. The
//! scenario pauses a worker in the gap that is left, after the ledger took its entry and before the provider is called.
//! The lease itself is measured on the monotonic clock, so a step of the wall clock can't lengthen it in the holder's
//! mind. `cargo run --example own_protocol` shows what each rule comes to, and what a hunt finds: the gap in the one
//! protocol, and nothing in the other, which closes it.

use std::error::Error;
use std::io::{self, Write};
use std::rc::Rc;

use holdover::explore::hunt::Hunt;
use holdover::scenario::Scenario;
use holdover::sim::check::judge;
use holdover::sim::clock::{Clock, Deadline};
use holdover::sim::protocol::{AnyProtocol, Protocol, Renewal};
use holdover::sim::run::run;
use holdover::sim::service::door::{AnyLease, HighestToken};
use holdover::sim::service::lease_store::{Expiry, LeaseStoreRules, Tokens};
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{MonoTime, Span};
use holdover::sim::worker::{Lease, Setback, Worker};

const SCENARIO: &str = r#"
title = "A worker sleeps between its ledger entry and its payout"
start = 2026-01-15T02:00:00Z

[lease]
ttl = "40s"
renew_every = "10s"

[job]
operations = 5

[[worker]]
name = "worker-a"

[[worker]]
name = "worker-b"
starts = "+5s"

[[fault]]
when = { point = "write.done", node = "worker-a", nth = 3 }
inject = { pause = { node = "worker-a", for = "60s" } }
"#;

/// The ledger is fenced; the gateway is, or isn't.
#[derive(Clone)]
struct Own {
    gateway_is_fenced: bool,
}

static BROKEN: Own = Own { gateway_is_fenced: false };
static RIGHT: Own = Own { gateway_is_fenced: true };

impl Protocol for Own {
    fn name(&self) -> &'static str {
        if self.gateway_is_fenced { "both-doors" } else { "ledger-only" }
    }

    fn summary(&self) -> &'static str {
        "a monotonic lease with fencing tokens that the ledger checks, and the gateway or not"
    }

    fn lease_store(&self) -> LeaseStoreRules {
        LeaseStoreRules { tokens: Tokens::Counted, expiry: Expiry::ByStore }
    }

    fn ledger(&self) -> LedgerRules {
        let door = Box::new(HighestToken::default());
        LedgerRules { door, one_entry_per_operation: true, check_to_write: Span::ZERO }
    }

    fn gateway(&self) -> GatewayRules {
        match self.gateway_is_fenced {
            true => GatewayRules { door: Box::new(HighestToken::default()), idempotency_keys: true },
            false => GatewayRules { door: Box::new(AnyLease), idempotency_keys: false },
        }
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
        let grant = worker.acquire(ttl).await?;
        Some(Lease::take(worker, grant, since, on_monotonic(since + ttl)))
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        let (since, ttl) = (worker.mono(), worker.lease_spec().ttl);
        match worker.renew(lease, ttl).await {
            Ok(true) => {
                lease.extend(on_monotonic(since + ttl));
                Renewal::Kept
            }
            Ok(false) => {
                lease.give_up();
                Renewal::Lost
            }
            Err(_) => Renewal::Unsure,
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        !lease.is_given_up() && lease.is_before_end()
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        worker.fence(lease).await
    }
}

fn on_monotonic(until: MonoTime) -> Deadline {
    Deadline { clock: Clock::Monotonic, reading: until.as_nanos() }
}

/// Runs the scenario under the broken protocol and writes what each rule comes to; then hunts for failures of both.
pub(crate) fn report(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::parse("own_protocol.rs", SCENARIO)?;
    let history = run(&scenario.world, &BROKEN, &scenario.plan, scenario.seed);
    for (checker, verdict) in judge(&history) {
        writeln!(out, "{:<18}{}", checker.name, verdict.name())?;
    }
    let protocols: [&'static dyn AnyProtocol; 2] = [&BROKEN, &RIGHT];
    for protocol in protocols {
        let hunt = Hunt::new(&scenario).protocols(&[protocol]).faults("pauses".parse()?).seeds(0..500);
        let findings = hunt.run();
        let found = if findings.failures.is_empty() { "nothing failed" } else { "failed" };
        writeln!(out, "\n{}: {found} with {} seeds", protocol.name(), findings.seeds)?;
        for failure in &findings.failures {
            writeln!(out, "  {}, {} times", failure.cause, failure.seeds)?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    report(&mut io::stdout())
}
