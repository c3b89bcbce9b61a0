//! The lease store: one table row with holder, lease ID and expiry, compared and written as the incident's was.
//!
//! The store never looks at a clock of its own. Whoever asks brings the expiry that it computed and its own idea of now,
//! both from its own wall clock, and one conditional statement compares and writes: this is how lease tables in SQL
//! are commonly used, and it is where the clocks of two machines meet.

use crate::engine::{Answer, Service, ServiceContext};
use crate::history::What;
use crate::id::{Epoch, LeaseId, NodeId, Token};
use crate::seed::Stream;
use crate::time::WallTime;

/// What the lease store can be asked.
#[derive(Clone, Copy, Debug)]
pub enum LeaseRequest {
    /// Take the lease if it is free or its expiry isn't after `now`.
    Acquire {
        /// The asker's wall clock.
        now: WallTime,
        /// The expiry to write.
        until: WallTime,
    },
    /// Write a new expiry if the row still has this lease.
    Renew {
        /// The lease.
        grant: Grant,
        /// The expiry to write.
        until: WallTime,
    },
    /// Empty the row if it still has this lease.
    Release {
        /// The lease.
        grant: Grant,
    },
}

/// What the lease store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseResponse {
    /// The lease is the asker's.
    Granted(Grant),
    /// The new expiry is written, or the row emptied.
    Done,
    /// Somebody else has the lease.
    Refused,
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

#[derive(Debug)]
struct Row {
    holder: NodeId,
    grant: Grant,
    expiry: WallTime,
}

/// The lease store.
#[derive(Debug)]
pub struct LeaseStore {
    row: Option<Row>,
    hands_out_tokens: bool,
    /// On disk, like the row.
    last_token: Token,
    ids: Stream,
}

impl LeaseStore {
    /// An empty store. `ids` is what it makes lease IDs from.
    pub fn new(hands_out_tokens: bool, ids: Stream) -> LeaseStore {
        LeaseStore { row: None, hands_out_tokens, last_token: Token(0), ids }
    }

    fn acquire(&mut self, now: WallTime, until: WallTime, context: &ServiceContext<'_>) -> LeaseResponse {
        let worker = context.from;
        if let Some(row) = &self.row
            && row.expiry > now
        {
            context.record(What::LeaseRefused { worker, holder: row.holder });
            return LeaseResponse::Refused;
        }
        let token = self.hands_out_tokens.then(|| {
            self.last_token.0 += 1;
            self.last_token
        });
        let lease = LeaseId(self.ids.next() >> 32);
        let grant = Grant { lease, token, epoch: context.next_epoch() };
        self.row = Some(Row { holder: worker, grant, expiry: until });
        context.record(What::LeaseGranted { worker, epoch: grant.epoch, lease, token, until });
        LeaseResponse::Granted(grant)
    }

    fn renew(&mut self, grant: Grant, until: WallTime, context: &ServiceContext<'_>) -> LeaseResponse {
        let worker = context.from;
        match &mut self.row {
            Some(row) if row.grant.lease == grant.lease => {
                row.expiry = until;
                context.record(What::LeaseRenewed { worker, epoch: grant.epoch, until });
                LeaseResponse::Done
            }
            _ => {
                context.record(What::RenewalRefused { worker, epoch: grant.epoch });
                LeaseResponse::Refused
            }
        }
    }

    fn release(&mut self, grant: Grant, context: &ServiceContext<'_>) -> LeaseResponse {
        if self.row.as_ref().is_none_or(|row| row.grant.lease != grant.lease) {
            return LeaseResponse::Refused;
        }
        self.row = None;
        context.record(What::LeaseReleased { worker: context.from, epoch: grant.epoch });
        LeaseResponse::Done
    }
}

impl Service for LeaseStore {
    type Request = LeaseRequest;
    type Response = LeaseResponse;

    fn about(request: &LeaseRequest) -> &'static str {
        match request {
            LeaseRequest::Acquire { .. } => "lease.acquire",
            LeaseRequest::Renew { .. } => "lease.renew",
            LeaseRequest::Release { .. } => "lease.release",
        }
    }

    fn handle(&mut self, request: LeaseRequest, context: &ServiceContext<'_>) -> Answer<LeaseStore> {
        Answer::Now(match request {
            LeaseRequest::Acquire { now, until } => self.acquire(now, until, context),
            LeaseRequest::Renew { grant, until } => self.renew(grant, until, context),
            LeaseRequest::Release { grant } => self.release(grant, context),
        })
    }
}
