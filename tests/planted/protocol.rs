//! The fenced protocol with one thing wrong, or more: what each checker must catch, and what it must not.

use std::rc::Rc;

use holdover::sim::check::Assumption;
use holdover::sim::clock::{Clock, Deadline};
use holdover::sim::history::Refusal;
use holdover::sim::id::Token;
use holdover::sim::point::Point;
use holdover::sim::protocol::{Fenced, Protocol, Renewal};
use holdover::sim::service::door::{AnyLease, Door, Forgetful};
use holdover::sim::service::lease_store::{LeaseStoreRules, Tokens};
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::{Span, WallTime};
use holdover::sim::worker::{Lease, Setback, Worker};

/// A way to get it wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// The ledger checks the token first and writes 10 ms later.
    LedgerChecksThenWrites,
    /// The ledger keeps the highest token in memory only.
    LedgerForgets,
    /// The ledger's token check lets everybody in.
    LedgerAdmitsAll,
    /// The ledger lets the highest token in, and turns away whoever is above it: the comparison is the wrong way round.
    LedgerTurnsNewTokensAway,
    /// The ledger enters an operation once more whenever it is asked to.
    LedgerEntersTwice,
    /// The gateway's token check lets everybody in.
    GatewayAdmitsAll,
    /// The gateway doesn't know idempotency keys.
    GatewayWithoutKeys,
    /// Taking over reads the checkpoint, and fences the ledger only then.
    ReadsThenFences,
    /// Taking over takes what a fenced ledger says to be one operation further than it is.
    SkipsOne,
    /// Taking over reads the rows in pages that overlap by one, and no page says that the settlement is published.
    PagesOverlap,
    /// Taking over doesn't look whether the settlement is published.
    IgnoresPublished,
    /// The worker looks at its lease, and concludes the opposite.
    CheckInverted,
    /// The worker takes the TTL for a millionth of what it is.
    TtlInWrongUnit,
    /// The worker never asks whether it still has the lease.
    NeverChecks,
    /// The worker believes a lost renewal no more than a naive one does.
    IgnoresLostRenewals,
    /// The worker never renews.
    NeverRenews,
    /// The lease store keeps its count of tokens in memory only.
    StoreForgetsTokens,
}

/// The fenced protocol with all of `bugs`. Without any it is [`Fenced`], but for one point on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planted {
    pub(crate) bugs: &'static [Bug],
}

impl Planted {
    /// When a worker is about to fence the ledger: after it read the checkpoint, if that is what it does first.
    pub(crate) const FENCE_DUE: Point = Point("fence.due");

    fn has(&self, bug: Bug) -> bool {
        self.bugs.contains(&bug)
    }

    fn ttl(&self, worker: &Worker) -> Span {
        let ttl = worker.lease_spec().ttl;
        if self.has(Bug::TtlInWrongUnit) { Span::nanos(ttl.as_nanos() / 1_000_000) } else { ttl }
    }
}

fn on_wall(until: WallTime) -> Deadline {
    Deadline { clock: Clock::Wall, reading: until.as_nanos() }
}

/// Compares the wrong way round.
#[derive(Clone, Default)]
struct LowestToken {
    lowest: Option<Token>,
}

impl Door for LowestToken {
    fn admit(&mut self, token: Option<Token>) -> Result<(), Refusal> {
        let token = token.ok_or(Refusal::NoToken)?;
        match self.lowest {
            Some(lowest) if token > lowest => Err(Refusal::TokenTooLow { highest: lowest }),
            _ => {
                self.lowest = Some(token);
                Ok(())
            }
        }
    }

    fn copy(&self) -> Box<dyn Door> {
        Box::new(self.clone())
    }
}

impl Protocol for Planted {
    fn name(&self) -> &'static str {
        "planted"
    }

    fn summary(&self) -> &'static str {
        "fenced, with something wrong"
    }

    fn assumptions(&self) -> &'static [&'static Assumption] {
        Fenced.assumptions()
    }

    fn lease_store(&self) -> LeaseStoreRules {
        let mut rules = Fenced.lease_store();
        if self.has(Bug::StoreForgetsTokens) {
            rules.tokens = Tokens::CountedInMemory;
        }
        rules
    }

    fn ledger(&self) -> LedgerRules {
        let mut rules = Fenced.ledger();
        if self.has(Bug::LedgerForgets) {
            rules.door = Box::new(Forgetful::new(rules.door));
        }
        if self.has(Bug::LedgerAdmitsAll) {
            rules.door = Box::new(AnyLease);
        }
        if self.has(Bug::LedgerTurnsNewTokensAway) {
            rules.door = Box::new(LowestToken::default());
        }
        if self.has(Bug::LedgerChecksThenWrites) {
            rules.check_to_write = Span::millis(10);
        }
        rules.one_entry_per_operation &= !self.has(Bug::LedgerEntersTwice);
        rules
    }

    fn gateway(&self) -> GatewayRules {
        let mut rules = Fenced.gateway();
        if self.has(Bug::GatewayAdmitsAll) {
            rules.door = Box::new(AnyLease);
        }
        rules.idempotency_keys &= !self.has(Bug::GatewayWithoutKeys);
        rules
    }

    async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
        if !self.has(Bug::TtlInWrongUnit) {
            return Fenced.acquire(worker).await;
        }
        let (since, ttl) = (worker.mono(), self.ttl(worker));
        let until = worker.wall() + ttl;
        let grant = worker.acquire(ttl).await?;
        Some(Lease::take(worker, grant, since, on_wall(until)))
    }

    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        if self.has(Bug::NeverRenews) {
            return Renewal::Lost;
        }
        if !self.has(Bug::TtlInWrongUnit) && !self.has(Bug::IgnoresLostRenewals) {
            return Fenced.renew(worker, lease).await;
        }
        let ttl = self.ttl(worker);
        let until = worker.wall() + ttl;
        match worker.renew(lease, ttl).await {
            Ok(true) => {
                lease.extend(on_wall(until));
                Renewal::Kept
            }
            Ok(false) | Err(_) => Renewal::Unsure,
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        if self.has(Bug::NeverChecks) {
            return true;
        }
        if self.has(Bug::IgnoresLostRenewals) {
            return lease.is_before_end();
        }
        Fenced.holds(lease) != self.has(Bug::CheckInverted)
    }

    async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
        let read = match self.has(Bug::ReadsThenFences) {
            true => Some(worker.read_checkpoint(lease).await?),
            false => None,
        };
        worker.point(Planted::FENCE_DUE).await;
        let fenced = Fenced.take_over(worker, lease).await?;
        let mut checkpoint = read.unwrap_or(fenced);
        if self.has(Bug::SkipsOne)
            && let Some(last) = checkpoint.rows.last().copied()
        {
            checkpoint.rows.push(last);
        }
        if self.has(Bug::PagesOverlap) {
            const PAGE: usize = 7;
            for n in (PAGE..checkpoint.rows.len()).rev() {
                checkpoint.rows[n] = checkpoint.rows[n - 1];
            }
        }
        checkpoint.published &= !self.has(Bug::PagesOverlap) && !self.has(Bug::IgnoresPublished);
        Ok(checkpoint)
    }
}
