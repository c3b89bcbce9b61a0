//! The lease store: one row with holder, lease ID and expiry, compared and written in one step.
//!
//! Whose clock computes the expiry and judges it is a rule of the store ([`Expiry`]). Where the asker's does, one
//! conditional statement compares two machines' wall clocks: this is how lease tables in SQL are commonly used, and the
//! incident's was.

mod dispatch;

pub use dispatch::{Dispatch, DispatchRequest, PastGrant};

use std::cell::RefCell;
use std::rc::Rc;

use crate::clock::{Clock, Deadline};
use crate::engine::{Answer, Journal, Service, ServiceContext};
use crate::history::What;
use crate::id::{Epoch, LeaseId, NodeId, Token};
use crate::seed::Stream;
use crate::service::lock::{Lock, LockClocks, LockService};
use crate::time::{Span, WallTime};

/// How a lease store goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseStoreRules {
    /// What fencing tokens it hands out.
    pub tokens: Tokens,
    /// Whose clock a lease ends by.
    pub expiry: Expiry,
}

/// What fencing tokens a lease store hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// None.
    None,
    /// From a counter that is kept on disk, like the row.
    Counted,
    /// From a counter that is kept in memory, so that a crash takes it back to the beginning.
    CountedInMemory,
}

/// Whose clock computes the expiry of a lease and compares it with now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// The asker's wall clock: it brings its own idea of now, and the expiry is one TTL after that. The store looks at no
    /// clock.
    ByAsker,
    /// The store's monotonic clock, read as the row is written, as in a lease service with timers of its own.
    ByStore,
    /// The store's wall clock, read when the transaction begins and not when its turn comes, as `CURRENT_TIMESTAMP` is in
    /// SQL: an expiry that had to wait is that much older when it is written.
    ByStoreAtTransactionStart {
        /// How long each transaction waits for the row. Others come in between.
        lock_wait: Span,
    },
}

impl Expiry {
    /// [`Expiry::ByStoreAtTransactionStart`] with the wait that scenarios get.
    pub const AT_TRANSACTION_START: Expiry = Expiry::ByStoreAtTransactionStart { lock_wait: Span::millis(500) };

    /// The clock of the store that a lease ends by; `None` if it is the asker's.
    pub const fn clock_of_store(self) -> Option<Clock> {
        match self {
            Expiry::ByAsker => None,
            Expiry::ByStore => Some(Clock::Monotonic),
            Expiry::ByStoreAtTransactionStart { .. } => Some(Clock::Wall),
        }
    }
}

/// What the lease store can be asked.
#[derive(Clone, Copy, Debug)]
pub enum LeaseRequest {
    /// Take the lease if it is free or has run out.
    Acquire(Term),
    /// Write a new expiry if the row still has this lease.
    Renew {
        /// The lease.
        grant: Grant,
        /// For how long from now.
        term: Term,
    },
    /// Empty the row if it still has this lease.
    Release {
        /// The lease.
        grant: Grant,
    },
    /// What an operator asks.
    Dispatch(DispatchRequest),
}

/// How long a lease is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The asker's wall clock; only a store without an idea of its own goes by it.
    pub now: WallTime,
    /// How long the lease shall last from now.
    pub ttl: Span,
}

/// What the lease store answers. Small, because it is moved about.
#[derive(Clone, Debug, PartialEq, Eq)]
// What comes behind a number of this size is moved in one piece, and read in one piece right after.
#[repr(u64)]
pub enum LeaseResponse {
    /// The lease is the asker's.
    Granted(Box<Grant>),
    /// The new expiry is written, or the row emptied.
    Done,
    /// Somebody else has the lease.
    Refused,
    /// Dispatch is stopped.
    Stopped(Box<Stopped>),
    /// Who goes on; `None` if nobody was heard of.
    Elected(Option<NodeId>),
}

/// What an operator is told that had dispatch stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The operator's authority.
    pub grant: Grant,
    /// Who had the lease before.
    pub grants: Vec<PastGrant>,
}

/// A grant as its holder knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What the holder presents as its lease.
    pub lease: LeaseId,
    /// The fencing token, if the store hands them out.
    pub token: Option<Token>,
    /// The simulator's note. It rides along so that checkers can tell; no service and no protocol can read it.
    pub(crate) epoch: Epoch,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    holder: NodeId,
    grant: Grant,
    /// On whichever clock the store goes by; an asker's is a wall clock.
    expiry: Deadline,
}

/// What a lease store keeps on disk.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTable {
    row: Option<Row>,
    last_token: Token,
}

/// How to take one change back.
pub enum LeaseUndo {
    /// The table as it was before; it is small.
    Table(LeaseTable),
    /// The lock service as it was before, and whether it then did what it was asked.
    Own(Box<dyn LockService>, bool),
    /// Dispatch as it was before.
    Dispatch(Box<Dispatch>),
    /// What lease IDs were made of, before one was.
    Ids(Box<Stream>),
}

/// The lease store.
pub struct LeaseStore {
    rules: LeaseStoreRules,
    table: LeaseTable,
    /// What decides in place of the table, if the protocol has that.
    own: Option<Box<dyn LockService>>,
    /// Only worlds with an operator have it.
    dispatch: Option<Box<Dispatch>>,
    journal: Journal<LeaseUndo>,
    /// A replica goes on with the same, so that no lease ID is made up twice.
    ids: Rc<RefCell<Stream>>,
}

/// The clock that a lease ends by, and what it reads.
struct Now {
    clock: Clock,
    reading: i64,
}

impl Now {
    fn after(&self, ttl: Span) -> Deadline {
        Deadline { clock: self.clock, reading: self.reading.saturating_add(ttl.as_nanos()) }
    }

    /// What the wall clock that goes with it reads.
    fn wall(&self, context: &ServiceContext<'_>) -> WallTime {
        if self.clock == Clock::Wall { WallTime::from_nanos(self.reading) } else { context.wall() }
    }
}

/// When the wall clock will read that `until` has come, as far as can be told now.
fn by_wall_clock(until: Deadline, context: &ServiceContext<'_>) -> WallTime {
    match until.clock {
        Clock::Wall => WallTime::from_nanos(until.reading),
        clock => context.wall() + Span::nanos(until.reading.saturating_sub(context.read(clock))),
    }
}

impl LeaseStore {
    /// An empty store. `ids` is what it makes lease IDs from; `own` decides in place of its row.
    pub fn new(rules: LeaseStoreRules, own: Option<Box<dyn LockService>>, ids: Stream) -> LeaseStore {
        let table = LeaseTable { row: None, last_token: Token(0) };
        LeaseStore {
            rules,
            table,
            own,
            dispatch: None,
            journal: Journal::default(),
            ids: Rc::new(RefCell::new(ids)),
        }
    }

    /// Has the lock service of the protocol's own decide.
    fn ask_own(&mut self, request: LeaseRequest, context: &ServiceContext<'_>) -> Option<LeaseResponse> {
        let before = self.own.as_ref().filter(|_| self.journal.is_open()).map(|own| own.copy());
        let answer = self.have_own_decide(request, context)?;
        if let Some(before) = before {
            let is_done = !matches!(answer, LeaseResponse::Refused);
            self.journal.note(|| LeaseUndo::Own(before, is_done));
        }
        Some(answer)
    }

    fn have_own_decide(&mut self, request: LeaseRequest, context: &ServiceContext<'_>) -> Option<LeaseResponse> {
        let own = self.own.as_mut()?;
        context.set_host_clocks();
        let clocks = LockClocks { mono: context.mono(), wall: context.wall() };
        let worker = context.from;
        Some(match request {
            LeaseRequest::Acquire(term) => {
                // A lease that nobody gets is offered to the next one.
                let mut ids = self.ids.borrow().clone();
                let lease = LeaseId(ids.next() >> 32);
                match own.acquire(worker, lease, term, clocks) {
                    Ok(Lock { token, until }) => {
                        let before = self.ids.replace(ids);
                        self.journal.note(|| LeaseUndo::Ids(Box::new(before)));
                        let token = self.raised(token);
                        let grant = Grant { lease, token, epoch: context.next_epoch() };
                        let until = by_wall_clock(until, context);
                        context.record(|| What::LeaseGranted { worker, epoch: grant.epoch, lease, token, until });
                        self.note_grant(grant, worker);
                        LeaseResponse::Granted(Box::new(grant))
                    }
                    Err(holder) => {
                        context.record(|| What::LeaseRefused { worker, holder });
                        LeaseResponse::Refused
                    }
                }
            }
            LeaseRequest::Renew { grant, term } => match own.renew(grant.lease, term, clocks) {
                Some(until) => {
                    let until = by_wall_clock(until, context);
                    context.record(|| What::LeaseRenewed { worker, epoch: grant.epoch, until });
                    LeaseResponse::Done
                }
                None => {
                    context.record(|| What::RenewalRefused { worker, epoch: grant.epoch });
                    LeaseResponse::Refused
                }
            },
            LeaseRequest::Release { grant } => match own.release(grant.lease) {
                true => {
                    context.record(|| What::LeaseReleased { worker, epoch: grant.epoch });
                    LeaseResponse::Done
                }
                false => LeaseResponse::Refused,
            },
            LeaseRequest::Dispatch(request) => self.ask_dispatch(request, context),
        })
    }

    /// What it has on disk, to be compared.
    #[cfg(test)]
    pub(crate) fn disk(&self) -> String {
        format!("{:?} {:?}", self.table, self.dispatch.as_ref().map(|dispatch| dispatch.disk()))
    }

    #[inline]
    fn now(&self, term: Term, context: &ServiceContext<'_>) -> Now {
        match self.rules.expiry {
            Expiry::ByAsker => Now { clock: Clock::Wall, reading: term.now.as_nanos() },
            Expiry::ByStore => Now { clock: Clock::Monotonic, reading: context.mono().as_nanos() },
            Expiry::ByStoreAtTransactionStart { .. } => {
                Now { clock: Clock::Wall, reading: context.wall().as_nanos() }
            }
        }
    }

    #[inline(always)]
    fn acquire(&mut self, now: &Now, ttl: Span, context: &ServiceContext<'_>) -> LeaseResponse {
        let worker = context.from;
        if let Some(row) = &self.table.row
            && row.expiry.reading > now.reading
        {
            context.record(|| What::LeaseRefused { worker, holder: row.holder });
            return LeaseResponse::Refused;
        }
        LeaseResponse::Granted(self.grant(now, ttl, context))
    }

    fn grant(&mut self, now: &Now, ttl: Span, context: &ServiceContext<'_>) -> Box<Grant> {
        let worker = context.from;
        self.journal.note(|| LeaseUndo::Table(self.table));
        let token = (self.rules.tokens != Tokens::None || self.was_repaired()).then(|| {
            self.table.last_token.0 += 1;
            self.table.last_token
        });
        let lease = self.next_lease();
        let grant = Grant { lease, token, epoch: context.next_epoch() };
        self.table.row = Some(Row { holder: worker, grant, expiry: now.after(ttl) });
        let until = now.wall(context) + ttl;
        context.record(|| What::LeaseGranted { worker, epoch: grant.epoch, lease, token, until });
        self.note_grant(grant, worker);
        Box::new(grant)
    }

    /// An ID for a new lease.
    fn next_lease(&mut self) -> LeaseId {
        let mut ids = self.ids.borrow_mut();
        self.journal.note(|| LeaseUndo::Ids(Box::new(ids.clone())));
        LeaseId(ids.next() >> 32)
    }

    /// Whether the lease was still in the row.
    fn renew(&mut self, grant: Grant, now: &Now, ttl: Span, context: &ServiceContext<'_>) -> bool {
        let worker = context.from;
        let before = self.table;
        match &mut self.table.row {
            Some(row) if row.grant.lease == grant.lease => {
                self.journal.note(|| LeaseUndo::Table(before));
                row.expiry = now.after(ttl);
                context.record(|| What::LeaseRenewed {
                    worker,
                    epoch: grant.epoch,
                    until: now.wall(context) + ttl,
                });
                true
            }
            _ => {
                context.record(|| What::RenewalRefused { worker, epoch: grant.epoch });
                false
            }
        }
    }

    /// Whether the lease was still in the row.
    fn release(&mut self, grant: Grant, context: &ServiceContext<'_>) -> bool {
        if self.table.row.as_ref().is_none_or(|row| row.grant.lease != grant.lease) {
            return false;
        }
        self.journal.note(|| LeaseUndo::Table(self.table));
        self.table.row = None;
        context.record(|| What::LeaseReleased { worker: context.from, epoch: grant.epoch });
        true
    }

    /// Does what needs to know what time it is.
    #[inline(always)]
    fn write(&mut self, request: LeaseRequest, now: &Now, context: &ServiceContext<'_>) -> LeaseResponse {
        let is_done = match request {
            LeaseRequest::Acquire(term) => return self.acquire(now, term.ttl, context),
            LeaseRequest::Renew { grant, term } => self.renew(grant, now, term.ttl, context),
            LeaseRequest::Release { grant } => self.release(grant, context),
            LeaseRequest::Dispatch(request) => return self.ask_dispatch(request, context),
        };
        if is_done { LeaseResponse::Done } else { LeaseResponse::Refused }
    }

    /// The same, by a transaction that waited: it may find that dispatch was stopped meanwhile.
    fn write_late(&mut self, request: LeaseRequest, now: &Now, context: &ServiceContext<'_>) -> LeaseResponse {
        let refused = match self.dispatch {
            Some(_) => self.refuse_for_dispatch(request, context),
            None => None,
        };
        refused.unwrap_or_else(|| self.write(request, now, context))
    }
}

impl Service for LeaseStore {
    type Request = LeaseRequest;
    type Response = LeaseResponse;
    type Undo = LeaseUndo;

    fn about(request: &LeaseRequest) -> &'static str {
        match request {
            LeaseRequest::Acquire { .. } => "lease.acquire",
            LeaseRequest::Renew { .. } => "lease.renew",
            LeaseRequest::Release { .. } => "lease.release",
            LeaseRequest::Dispatch(DispatchRequest::Stop { .. }) => "lease.stop-dispatch",
            LeaseRequest::Dispatch(DispatchRequest::Elect { .. }) => "lease.elect",
            LeaseRequest::Dispatch(DispatchRequest::Resume { .. }) => "lease.resume-dispatch",
        }
    }

    #[inline(always)]
    fn handle(&mut self, request: LeaseRequest, context: &ServiceContext<'_>) -> Answer<LeaseStore> {
        if self.dispatch.is_some()
            && let Some(answer) = self.refuse_for_dispatch(request, context)
        {
            return Answer::Now(answer);
        }
        if self.own.is_some()
            && let Some(answer) = self.ask_own(request, context)
        {
            return Answer::Now(answer);
        }
        let term = match request {
            LeaseRequest::Acquire(term) | LeaseRequest::Renew { term, .. } => term,
            LeaseRequest::Release { grant } => {
                let is_done = self.release(grant, context);
                return Answer::Now(if is_done { LeaseResponse::Done } else { LeaseResponse::Refused });
            }
            LeaseRequest::Dispatch(request) => return Answer::Now(self.ask_dispatch(request, context)),
        };
        let now = self.now(term, context);
        match self.rules.expiry {
            Expiry::ByStoreAtTransactionStart { lock_wait } if lock_wait > Span::ZERO => Answer::After(
                lock_wait,
                Box::new(move |store: &mut LeaseStore, context| store.write_late(request, &now, context)),
            ),
            _ => Answer::Now(self.write(request, &now, context)),
        }
    }

    fn crash(&mut self) {
        if let Some(own) = &mut self.own {
            own.crash();
        }
        if let Some(dispatch) = &mut self.dispatch {
            dispatch.crash();
        }
        if self.rules.tokens == Tokens::CountedInMemory {
            self.table.last_token = Token(0);
        }
    }

    fn journal(&mut self) -> &mut Journal<LeaseUndo> {
        &mut self.journal
    }

    /// The lease IDs to come stay what they are: they are made up at random, and randomness isn't kept.
    fn undo(&mut self, before: LeaseUndo) {
        match before {
            LeaseUndo::Table(table) => self.table = table,
            LeaseUndo::Own(own, _) => self.own = Some(own),
            LeaseUndo::Dispatch(dispatch) => self.dispatch = Some(dispatch),
            LeaseUndo::Ids(_) => {}
        }
    }

    /// Who refuses has nothing to write, whatever it counts.
    fn has_written(&self, undo: &LeaseUndo) -> bool {
        !matches!(undo, LeaseUndo::Own(_, false))
    }

    /// A lease ID that nobody got is offered to the next one.
    fn undo_unseen(&mut self, before: LeaseUndo) {
        match before {
            LeaseUndo::Ids(ids) => *self.ids.borrow_mut() = *ids,
            before => self.undo(before),
        }
    }

    fn fork(&self) -> LeaseStore {
        let own = self.own.as_ref().map(|own| own.copy());
        let dispatch = self.dispatch.clone();
        LeaseStore { journal: Journal::default(), ids: self.ids.clone(), own, dispatch, ..*self }
    }
}
