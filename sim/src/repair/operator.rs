//! What an operator can do and see: its own clocks, the services, the authority that it has. Never true time.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use crate::clock::{Clock, Deadline};
use crate::engine::{Broken, Passing, Service, Sleep, World, call};
use crate::history::{Claim, Refusal, What};
use crate::id::{Amount, EntryId, NodeId, OpId, Token};
use crate::point::Point;
use crate::service::Address;
use crate::service::lease_store::{DispatchRequest, Grant, LeaseRequest, LeaseResponse, LeaseStore, PastGrant};
use crate::service::ledger::{Account, EntryRecord, LedgerRepair, LedgerRequest, LedgerResponse, Signed};
use crate::service::provider::{Pay, ProviderRepair, ProviderRequest, ProviderResponse};
use crate::time::{MonoTime, Span};
use crate::worker::{LeaseKeeper, Services};
use crate::world::{Keys, RepairSpec};

/// Another operator has taken charge: this one has nothing to say any more.
pub(super) struct Superseded;

/// An operator, as its own code sees it.
pub(crate) struct Operator {
    world: Rc<World>,
    node: NodeId,
    services: Rc<Services>,
    pub(super) spec: RepairSpec,
    /// Which idempotency keys the provider promises to remember.
    pub(super) keys: Keys,
    /// How long a lease lasts.
    ttl: Span,
    pub(super) batch: Rc<[Amount]>,
    /// What it acts under, once it is in charge.
    grant: Cell<Option<Grant>>,
}

impl Operator {
    pub(crate) fn new(
        world: Rc<World>,
        node: NodeId,
        services: Rc<Services>,
        (spec, keys, ttl): (RepairSpec, Keys, Span),
        batch: Rc<[Amount]>,
    ) -> Operator {
        Operator { world, node, services, spec, keys, ttl, batch, grant: Cell::new(None) }
    }

    /// The monotonic clock.
    pub(super) fn mono(&self) -> MonoTime {
        MonoTime::from_nanos(self.world.tell_time(self.node, Clock::Monotonic))
    }

    /// Sleeps for `span` by the monotonic clock.
    pub(super) fn sleep(&self, span: Span) -> Sleep {
        let reading = (self.mono() + span).as_nanos();
        Sleep::new(self.world.clone(), self.node, Deadline { clock: Clock::Monotonic, reading })
    }

    /// Passes a named point.
    pub(super) fn point(&self, point: Point) -> impl Future<Output = ()> + use<'_> {
        Passing::new(&self.world, self.node, point)
    }

    /// The token that it acts under.
    pub(super) fn token(&self) -> Option<Token> {
        self.grant.get().and_then(|grant| grant.token)
    }

    /// The record of an entry that it made itself.
    pub(super) fn own_entry(&self, entry: EntryId, op: OpId) -> EntryRecord {
        let (worker, lease, token) = (self.node, self.authority().lease, self.token());
        EntryRecord { entry, op, amount: self.batch[op.index()], worker, lease, token, is_superseded: false }
    }

    /// Notes that it has nothing more to do.
    pub(super) fn finish(&self) {
        self.world.worker_finished(self.node);
    }

    /// Notes that another operator has taken charge.
    pub(super) fn give_way(&self) {
        let claim = self.claim(self.authority());
        self.world.record(self.node, What::RepairLeft { claim });
        self.finish();
    }

    fn authority(&self) -> Grant {
        self.grant.get().expect("an operator acts only after it took charge")
    }

    fn claim(&self, grant: Grant) -> Claim {
        Claim { worker: self.node, epoch: grant.epoch, token: grant.token }
    }

    /// The lease store. Worlds in which replicas keep the lease have no operators.
    fn lease_store(&self) -> &Address<LeaseStore> {
        match &self.services.lease {
            LeaseKeeper::Row(row) => row,
            LeaseKeeper::Replicas(_) => unreachable!("a run with operators keeps its lease in a row"),
        }
    }

    /// Asks until an answer comes: for what can be asked twice without harm.
    async fn insist<S: Service>(&self, address: &Address<S>, request: S::Request) -> S::Response {
        loop {
            match call(&self.world, self.node, address, request.clone()).await {
                Ok(response) => return response,
                Err(Broken) => self.sleep(self.spec.ask_every).await,
            }
        }
    }

    /// Has the lease store stop dispatch. From now on this operator acts under a token above all that were handed out, and
    /// above `above`. What comes back are the grants so far.
    pub(super) async fn stop_dispatch(&self, above: Option<Token>) -> Vec<PastGrant> {
        let request = LeaseRequest::Dispatch(DispatchRequest::Stop { above });
        match self.insist(self.lease_store(), request).await {
            LeaseResponse::Stopped(stopped) => {
                self.grant.set(Some(stopped.grant));
                stopped.grants
            }
            other => unreachable!("a lease store answers a stop with {other:?}"),
        }
    }

    /// Has the lease store choose who goes on.
    pub(super) async fn elect(&self) -> Result<Option<NodeId>, Superseded> {
        let request = LeaseRequest::Dispatch(DispatchRequest::Elect { grant: self.authority() });
        match self.insist(self.lease_store(), request).await {
            LeaseResponse::Elected(elected) => Ok(elected),
            _ => Err(Superseded),
        }
    }

    /// Has the lease store go on.
    pub(super) async fn resume_dispatch(&self, elected: Option<NodeId>) -> Result<(), Superseded> {
        let (grant, ttl) = (self.authority(), self.ttl);
        let request = LeaseRequest::Dispatch(DispatchRequest::Resume { grant, elected, ttl });
        match self.insist(self.lease_store(), request).await {
            LeaseResponse::Done => Ok(()),
            _ => Err(Superseded),
        }
    }

    /// Shuts everybody else out of the ledger, and learns what it has.
    ///
    /// # Errors
    /// The highest token that the ledger saw, if this operator's is below.
    pub(super) async fn take_charge(&self) -> Result<Account, Token> {
        match self.ask_ledger(LedgerRepair::TakeCharge).await {
            Ok(LedgerResponse::Account(account)) => Ok(*account),
            Ok(other) => unreachable!("a ledger answers whoever takes charge with {other:?}"),
            Err(Refusal::TokenTooLow { highest }) => Err(highest),
            Err(Refusal::NoToken) => unreachable!("an operator has a token"),
        }
    }

    /// Has the ledger do something that can be asked for twice.
    pub(super) async fn ledger(&self, request: LedgerRepair) -> Result<LedgerResponse, Superseded> {
        self.ask_ledger(request).await.map_err(|_| Superseded)
    }

    async fn ask_ledger(&self, request: LedgerRepair) -> Result<LedgerResponse, Refusal> {
        let grant = self.authority();
        let request = LedgerRequest::Repair(request);
        let signed = Signed { claim: self.claim(grant), lease: grant.lease, request };
        self.insist(&self.services.ledger, signed).await.map_err(|why| *why)
    }

    /// Asks the provider once: `None` if no answer came.
    pub(super) async fn provider(&self, request: ProviderRepair) -> Result<Option<ProviderResponse>, Superseded> {
        let request = ProviderRequest::Repair(self.claim(self.authority()), request);
        match call(&self.world, self.node, &self.services.provider, request).await {
            Ok(Ok(response)) => Ok(Some(response)),
            Ok(Err(_)) => Err(Superseded),
            Err(Broken) => Ok(None),
        }
    }

    /// Has the provider pay for `op`, once: `None` if no answer came. It may have paid then, or not.
    pub(super) async fn pay(&self, op: OpId, attempt: u16) -> Result<Option<ProviderResponse>, Superseded> {
        let reference = self.spec.procedure.0.reference(op, attempt, self.token());
        let claim = self.claim(self.authority());
        let pay = Pay { claim, op, amount: self.batch[op.index()], reference };
        match call(&self.world, self.node, &self.services.provider, ProviderRequest::Pay(pay)).await {
            Ok(Ok(response)) => Ok(Some(response)),
            Ok(Err(_)) => Err(Superseded),
            Err(Broken) => Ok(None),
        }
    }
}
