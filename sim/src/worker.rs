//! What a worker can do and see: its own clocks, the services, its lease. Never true time.

mod hands;
mod replicas;

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use self::hands::Hands;
use crate::clock::{Clock, Deadline};
use crate::engine::{Address, Broken, Calling, Passing, Service, Sleep, TaskHandle, World, call};
use crate::history::{Claim, Refusal, Row, What};
use crate::id::{Amount, Epoch, LeaseId, NodeId, OpId, PayoutId, Token};
use crate::lease::LeaseAsk;
use crate::panics;
use crate::point::Point;
use crate::service::lease_store::{Grant, LeaseRequest, LeaseResponse, LeaseStore, Term};
use crate::service::ledger::{Checkpoint, Ledger, LedgerRequest, LedgerResponse, Signed};
use crate::service::provider::{Pay, Provider, ProviderRequest, ProviderResponse, Reference};
use crate::service::replica::Replica;
use crate::time::{BootTime, MonoTime, RawTime, Span, WallTime};
use crate::world::{JobSpec, LeaseSpec};

/// Where the services of a world are.
pub(crate) struct Services {
    pub(crate) lease: LeaseKeeper,
    pub(crate) ledger: Address<Ledger>,
    pub(crate) provider: Address<Provider>,
}

/// Who keeps the lease.
pub(crate) enum LeaseKeeper {
    /// A table row.
    Row(Address<LeaseStore>),
    /// Replicas.
    Replicas(Vec<Address<Replica>>),
}

struct Inner {
    world: Rc<World>,
    /// Where it runs.
    machine: NodeId,
    /// Which node it takes itself for: that one, or the one that it is a copy of.
    node: NodeId,
    services: Rc<Services>,
    lease: LeaseSpec,
    job: JobSpec,
    batch: Rc<[Amount]>,
    hands: Hands,
    replicas: replicas::Known,
}

/// A worker, as its own code sees it. Cloning it gives another handle on the same worker.
#[derive(Clone)]
pub struct Worker(Rc<Inner>);

/// Why a service didn't do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setback {
    /// It turned the request away: the worker's authority is gone.
    Refused(Refusal),
    /// The connection broke; the request may have been carried out, or not.
    Broken,
}

impl From<Broken> for Setback {
    fn from(_: Broken) -> Setback {
        Setback::Broken
    }
}

impl Worker {
    pub(crate) fn new(
        world: Rc<World>,
        machine: NodeId,
        node: NodeId,
        services: Rc<Services>,
        lease: LeaseSpec,
        job: JobSpec,
        batch: Rc<[Amount]>,
    ) -> Worker {
        Worker(Rc::new(Inner {
            world,
            machine,
            node,
            services,
            lease,
            job,
            batch,
            hands: Hands::default(),
            replicas: replicas::Known::default(),
        }))
    }

    /// The worker's node. A copy of a worker takes itself for the worker.
    pub fn node(&self) -> NodeId {
        self.0.node
    }

    /// What the scenario says of the lease.
    pub fn lease_spec(&self) -> &LeaseSpec {
        &self.0.lease
    }

    /// What the scenario says of the job.
    pub fn job(&self) -> &JobSpec {
        &self.0.job
    }

    /// The amounts of the batch, by operation.
    pub fn batch(&self) -> &[Amount] {
        &self.0.batch
    }

    /// The wall clock.
    #[inline(always)]
    pub fn wall(&self) -> WallTime {
        WallTime::from_nanos(self.read(Clock::Wall))
    }

    /// The monotonic clock.
    #[inline(always)]
    pub fn mono(&self) -> MonoTime {
        MonoTime::from_nanos(self.read(Clock::Monotonic))
    }

    /// The raw clock.
    #[inline(always)]
    pub fn raw(&self) -> RawTime {
        RawTime::from_nanos(self.read(Clock::Raw))
    }

    /// The boottime clock.
    #[inline(always)]
    pub fn boottime(&self) -> BootTime {
        BootTime::from_nanos(self.read(Clock::Boottime))
    }

    // Inlined so that which clock it is costs nothing.
    #[inline(always)]
    fn read(&self, clock: Clock) -> i64 {
        self.0.world.tell_time(self.0.machine, clock)
    }

    /// Sleeps for `span` by the monotonic clock.
    #[inline(always)]
    pub fn sleep(&self, span: Span) -> Sleep {
        self.sleep_until(self.mono() + span)
    }

    /// Sleeps until the monotonic clock reads `deadline`.
    #[inline(always)]
    pub fn sleep_until(&self, deadline: MonoTime) -> Sleep {
        self.sleep_on(Deadline { clock: Clock::Monotonic, reading: deadline.as_nanos() })
    }

    /// Sleeps until the wall clock reads `deadline`; a step of the wall clock shortens or lengthens the sleep.
    #[inline(always)]
    pub fn sleep_until_wall(&self, deadline: WallTime) -> Sleep {
        self.sleep_on(Deadline { clock: Clock::Wall, reading: deadline.as_nanos() })
    }

    /// Sleeps until one of the worker's clocks reaches `deadline`.
    #[inline(always)]
    pub fn sleep_on(&self, deadline: Deadline) -> Sleep {
        Sleep::new(self.0.world.clone(), self.0.machine, deadline)
    }

    /// Passes a named point: the place where faults anchored to it strike.
    pub fn point(&self, point: Point) -> impl Future<Output = ()> + use<'_> {
        Passing::new(&self.0.world, self.0.machine, point)
    }

    /// Starts a task of this worker beside the one that runs.
    pub fn spawn(&self, work: impl Future<Output = ()> + 'static) -> TaskHandle {
        self.0.world.spawn(self.0.machine, work)
    }

    /// Asks the lease store for the lease for `ttl` from now. Whose now that is, and whether an earlier lease has run out
    /// by then, is a rule of the store; this worker's wall clock is in the request. `None`: somebody else has it, or no
    /// answer came.
    pub async fn acquire(&self, ttl: Span) -> Option<Grant> {
        let row = match &self.0.services.lease {
            LeaseKeeper::Row(row) => row,
            // Kept apart, so that whoever asks a row has no room for what this keeps.
            LeaseKeeper::Replicas(replicas) => return Box::pin(self.acquire_of(replicas, ttl)).await,
        };
        match self.ask(row, LeaseRequest::Acquire(self.term(ttl))).await {
            Ok(LeaseResponse::Granted(grant)) => Some(*grant),
            _ => None,
        }
    }

    /// Asks the lease store to prolong `lease` to `ttl` from now: whether it did.
    ///
    /// # Errors
    /// If the connection broke; the lease may have been prolonged, or not.
    pub async fn renew(&self, lease: &Lease, ttl: Span) -> Result<bool, Broken> {
        let row = match (&self.0.services.lease, lease.grant.token) {
            (LeaseKeeper::Row(row), _) => row,
            (LeaseKeeper::Replicas(replicas), Some(token)) => {
                return Box::pin(self.is_done_by(replicas, LeaseAsk::Renew { token, ttl })).await;
            }
            (LeaseKeeper::Replicas(_), None) => return Ok(false),
        };
        let renewal = LeaseRequest::Renew { grant: lease.grant, term: self.term(ttl) };
        Ok(self.ask(row, renewal).await? == LeaseResponse::Done)
    }

    /// Asks a replicated lease service who has the lease, and with what token; `None` if nobody has it. Its answer was true
    /// at some instant since the question.
    ///
    /// # Errors
    /// If no answer came, or the service is one that can't be asked this.
    pub async fn read_lease(&self) -> Result<Option<(NodeId, Token)>, Broken> {
        match &self.0.services.lease {
            LeaseKeeper::Row(_) => Err(Broken),
            LeaseKeeper::Replicas(replicas) => Box::pin(self.read_of(replicas)).await,
        }
    }

    fn term(&self, ttl: Span) -> Term {
        Term { now: self.wall(), ttl }
    }

    /// Gives `lease` back to the lease store: whether it was still in the row.
    ///
    /// # Errors
    /// If the connection broke; the row may have been emptied, or not.
    pub async fn release(&self, lease: &Lease) -> Result<bool, Broken> {
        let row = match (&self.0.services.lease, lease.grant.token) {
            (LeaseKeeper::Row(row), _) => row,
            (LeaseKeeper::Replicas(replicas), Some(token)) => {
                return Box::pin(self.is_done_by(replicas, LeaseAsk::Release { token })).await;
            }
            (LeaseKeeper::Replicas(_), None) => return Ok(false),
        };
        let release = LeaseRequest::Release { grant: lease.grant };
        Ok(self.ask(row, release).await? == LeaseResponse::Done)
    }

    /// Asks the ledger where to go on.
    ///
    /// # Errors
    /// If the ledger refused or the connection broke.
    pub async fn read_checkpoint(&self, lease: &Lease) -> Result<Checkpoint, Setback> {
        Ok(expect_checkpoint(self.ask_ledger(lease, LedgerRequest::ReadCheckpoint).await?))
    }

    /// Fences the ledger: all lower tokens are shut out, a generation is opened, and the checkpoint comes back, all in
    /// one step.
    ///
    /// # Errors
    /// If the ledger refused, because a higher token was there first, or the connection broke.
    pub async fn fence(&self, lease: &Lease) -> Result<Checkpoint, Setback> {
        Ok(expect_checkpoint(self.ask_ledger(lease, LedgerRequest::Fence).await?))
    }

    /// Enters `op` into the ledger.
    ///
    /// # Errors
    /// If the ledger refused or the connection broke.
    ///
    /// # Panics
    /// If `op` isn't in the [batch](Worker::batch).
    pub async fn write(&self, lease: &Lease, op: OpId) -> Result<crate::id::EntryId, Setback> {
        let amount = self.amount_of(op);
        match self.ask_ledger(lease, LedgerRequest::Write { op, amount }).await? {
            LedgerResponse::Entered(entry) => Ok(entry),
            other => unreachable!("the ledger answers a write with {other:?}"),
        }
    }

    /// Moves the ledger's checkpoint behind the operation of `row`.
    ///
    /// # Errors
    /// If the ledger refused or the connection broke.
    ///
    /// # Panics
    /// If the operation of `row` isn't in the [batch](Worker::batch).
    pub async fn move_checkpoint(&self, lease: &Lease, row: Row) -> Result<(), Setback> {
        self.amount_of(row.op);
        self.ask_ledger(lease, LedgerRequest::MoveCheckpoint { row }).await.map(drop)
    }

    /// Publishes an export of the settlement.
    ///
    /// # Errors
    /// If the ledger refused or the connection broke.
    pub async fn publish(&self, lease: &Lease, rows: Vec<Row>) -> Result<(), Setback> {
        self.ask_ledger(lease, LedgerRequest::Publish { rows }).await.map(drop)
    }

    /// Has the provider pay for `op`, with the operation's ID as the idempotency key.
    ///
    /// # Errors
    /// If the gateway refused or the connection broke.
    ///
    /// # Panics
    /// If `op` isn't in the [batch](Worker::batch).
    pub async fn pay(&self, lease: &Lease, op: OpId) -> Result<PayoutId, Setback> {
        let reference = Reference { op, attempt: 0 };
        let pay = Pay { claim: self.claim(lease), op, amount: self.amount_of(op), reference };
        match self.ask(&self.0.services.provider, ProviderRequest::Pay(pay)).await?.map_err(Setback::Refused)? {
            ProviderResponse::Paid(payout, _) => Ok(payout),
            other => unreachable!("the provider answers a request to pay with {other:?}"),
        }
    }

    /// The amount of `op`. That a worker asks for an operation that there isn't is a mistake of its own code.
    #[inline(always)]
    fn amount_of(&self, op: OpId) -> Amount {
        match self.0.batch.get(op.index()) {
            Some(amount) => *amount,
            None => not_in_the_batch(op, self.0.batch.len()),
        }
    }

    #[inline(always)]
    fn ask_ledger(&self, lease: &Lease, request: LedgerRequest) -> AskingLedger<'_> {
        let signed = Signed { claim: self.claim(lease), lease: lease.id(), request };
        AskingLedger(self.ask(&self.0.services.ledger, signed))
    }

    /// Asks a service.
    #[inline(always)]
    fn ask<'a, S: Service>(&'a self, address: &'a Address<S>, request: S::Request) -> Calling<'a, S> {
        call(&self.0.world, self.0.machine, address, request)
    }

    fn claim(&self, lease: &Lease) -> Claim {
        Claim { worker: self.0.machine, epoch: lease.grant.epoch, token: lease.grant.token }
    }

    /// Records that the worker looked whether `lease` still holds, and what it concluded.
    pub fn note_check(&self, lease: &Lease, valid: bool) {
        self.record(What::LeaseChecked { epoch: lease.grant.epoch, valid });
    }

    /// Records that the worker has nothing more to do. When none has, the run is over.
    pub fn finish(&self) {
        if !self.is_recalling() {
            self.0.world.worker_finished(self.0.machine);
        }
    }

    /// Nothing that a worker remembers happens again.
    fn record(&self, what: What) {
        if !self.is_recalling() {
            self.0.world.record(self.0.machine, what);
        }
    }

    #[inline]
    fn is_recalling(&self) -> bool {
        self.0.world.is_recalling(self.0.machine)
    }
}

/// A question to the ledger. It is no `async fn`, so that the call is made where it stays.
struct AskingLedger<'a>(Calling<'a, Ledger>);

impl Future for AskingLedger<'_> {
    type Output = Result<LedgerResponse, Setback>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|answer| answer?.map_err(|why| Setback::Refused(*why)))
    }
}

#[cold]
fn not_in_the_batch(op: OpId, operations: usize) -> ! {
    panics::misused(&format!(
        "the worker's code asks for operation {}, and the batch has {operations}, numbered from 0; see `Worker::batch`",
        op.0
    ))
}

fn expect_checkpoint(response: LedgerResponse) -> Checkpoint {
    match response {
        LedgerResponse::Checkpoint(checkpoint) => *checkpoint,
        other => unreachable!("the ledger answers a fence or a reading with {other:?}"),
    }
}

/// A lease in a worker's hands. The tasks of a worker share it.
pub struct Lease {
    worker: Worker,
    grant: Grant,
    since: MonoTime,
    until: Cell<Deadline>,
    given_up: Cell<bool>,
}

impl Lease {
    /// Takes a grant into the worker's hands: from now on it thinks that it holds the lease until its clock reaches
    /// `until`. `since` is when it asked, by its monotonic clock; renewals are due at whole intervals from there.
    pub fn take(worker: &Worker, grant: Grant, since: MonoTime, until: Deadline) -> Rc<Lease> {
        let lease =
            Lease { worker: worker.clone(), grant, since, until: Cell::new(until), given_up: Cell::new(false) };
        lease.worker.record(What::LeaseHeld { epoch: grant.epoch, until });
        let lease = Rc::new(lease);
        worker.0.hands.take(&lease);
        lease
    }

    /// What the holder presents as its lease.
    pub fn id(&self) -> LeaseId {
        self.grant.lease
    }

    /// The fencing token, if the lease service hands them out.
    pub fn token(&self) -> Option<Token> {
        self.grant.token
    }

    /// When the worker asked for the lease, by its monotonic clock.
    pub fn since(&self) -> MonoTime {
        self.since
    }

    /// When the worker will think that the lease has run out.
    pub fn until(&self) -> Deadline {
        self.until.get()
    }

    /// Whether the worker's own clock is still before the lease's end.
    pub fn is_before_end(&self) -> bool {
        let Deadline { clock, reading } = self.until.get();
        self.worker.read(clock) < reading
    }

    /// Notes a renewal: the worker now thinks that it holds the lease until its clock reaches `until`.
    pub fn extend(&self, until: Deadline) {
        if !self.given_up.get() {
            self.until.set(until);
            self.worker.record(What::LeaseHeld { epoch: self.grant.epoch, until });
        }
    }

    /// Notes that the lease is lost or given back, whatever the clock says.
    pub fn give_up(&self) {
        if !self.given_up.replace(true) {
            self.worker.record(What::LeaseDropped { epoch: self.epoch() });
        }
    }

    /// Whether the lease was given up.
    pub fn is_given_up(&self) -> bool {
        self.given_up.get()
    }

    fn epoch(&self) -> Epoch {
        self.grant.epoch
    }
}
