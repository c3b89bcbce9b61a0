//! Dispatch: whether anybody may get the lease at all, who comes first, and who had it before. Only worlds with an operator
//! have it.

use super::{Grant, LeaseRequest, LeaseResponse, LeaseStore, LeaseUndo, Stopped};
use crate::engine::ServiceContext;
use crate::history::{Claim, What};
use crate::id::{LeaseId, NodeId, Token};
use crate::time::{MonoTime, Span};

/// What an operator can ask of a lease store.
#[derive(Clone, Copy, Debug)]
pub enum DispatchRequest {
    /// Take every lease back and hand none out, and make a token for the operator that is above all tokens so far, and
    /// above this one.
    Stop {
        /// A token that was seen elsewhere.
        above: Option<Token>,
    },
    /// Choose who goes on.
    Elect {
        /// Under which authority.
        grant: Grant,
    },
    /// Hand leases out again.
    Resume {
        /// Under which authority.
        grant: Grant,
        /// Who comes first, for as long as a lease lasts.
        elected: Option<NodeId>,
        /// How long that is.
        ttl: Span,
    },
}

/// A grant of the past, in the order of granting: whose entry is newer is decided by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastGrant {
    /// What its holder presented.
    pub lease: LeaseId,
    /// Its holder.
    pub worker: NodeId,
}

/// What a lease store knows of who worked, and whether anyone may.
#[derive(Clone, Debug, Default)]
pub struct Dispatch {
    grants: Vec<PastGrant>,
    /// Above what its tokens begin.
    highest: Option<Token>,
    /// The operator that stopped it, with its authority.
    stopped_for: Option<(NodeId, Grant)>,
    /// The authority under which it was stopped last.
    last_stop: Option<Grant>,
    /// The workers that asked for the lease, the one that asked last at the end. This isn't kept on disk.
    heard: Vec<NodeId>,
    elected: Option<(NodeId, MonoTime)>,
}

impl Dispatch {
    /// Who is in the way of `worker`, if anybody is.
    fn holder_before(&self, worker: NodeId, now: MonoTime) -> Option<NodeId> {
        match (self.stopped_for, self.elected) {
            (Some((operator, _)), _) => Some(operator),
            (None, Some((elected, until))) if elected != worker && now < until => Some(elected),
            _ => None,
        }
    }

    /// Who was heard of is forgotten.
    pub(super) fn crash(&mut self) {
        self.heard.clear();
    }

    /// What is kept on disk, to be compared.
    #[cfg(test)]
    pub(super) fn disk(&self) -> Dispatch {
        Dispatch { heard: Vec::new(), ..self.clone() }
    }

    fn is_current(&self, grant: Grant) -> bool {
        self.last_stop.is_some_and(|last| last.lease == grant.lease)
    }
}

impl LeaseStore {
    /// The same store with dispatch.
    pub(crate) fn with_dispatch(self) -> LeaseStore {
        LeaseStore { dispatch: Some(Box::default()), ..self }
    }

    /// Refuses what a worker asks for while dispatch is stopped, or another worker comes first.
    pub(super) fn refuse_for_dispatch(
        &mut self,
        request: LeaseRequest,
        context: &ServiceContext<'_>,
    ) -> Option<LeaseResponse> {
        let worker = context.from;
        match request {
            LeaseRequest::Acquire(_) => {
                let holder = self.holder_before(context)?;
                context.record(|| What::LeaseRefused { worker, holder });
            }
            LeaseRequest::Renew { grant, .. } => {
                self.dispatch.as_ref()?.stopped_for?;
                context.record(|| What::RenewalRefused { worker, epoch: grant.epoch });
            }
            LeaseRequest::Release { .. } | LeaseRequest::Dispatch(_) => return None,
        }
        Some(LeaseResponse::Refused)
    }

    /// Notes that a worker asked, and says who is in its way, if anybody is.
    fn holder_before(&mut self, context: &ServiceContext<'_>) -> Option<NodeId> {
        let dispatch = self.dispatch.as_mut()?;
        let worker = context.from;
        if dispatch.heard.last() != Some(&worker) {
            dispatch.heard.retain(|heard| *heard != worker);
            dispatch.heard.push(worker);
        }
        dispatch.holder_before(worker, context.mono())
    }

    /// Notes a grant.
    pub(super) fn note_grant(&mut self, grant: Grant, worker: NodeId) {
        self.note_dispatch();
        if let Some(dispatch) = &mut self.dispatch {
            dispatch.grants.push(PastGrant { lease: grant.lease, worker });
            dispatch.highest = dispatch.highest.max(grant.token);
            // Whoever was chosen has had its turn.
            dispatch.elected = None;
        }
    }

    /// Whether a repair has made tokens necessary, also where the protocol has none.
    pub(super) fn was_repaired(&self) -> bool {
        self.dispatch.as_ref().is_some_and(|dispatch| dispatch.last_stop.is_some())
    }

    /// The token of a grant by a lock service of one's own. After a repair it is above the operator's, whatever that service
    /// would hand out, because nobody gets past the ledger's door with less.
    pub(super) fn raised(&self, token: Option<Token>) -> Option<Token> {
        match self.dispatch.as_deref() {
            Some(Dispatch { highest: Some(highest), last_stop: Some(_), .. }) => {
                token.max(Some(Token(highest.0.saturating_add(1))))
            }
            _ => token,
        }
    }

    fn note_dispatch(&mut self) {
        let Some(dispatch) = &self.dispatch else { return };
        self.journal.note(|| LeaseUndo::Dispatch(dispatch.clone()));
    }

    pub(super) fn ask_dispatch(
        &mut self,
        request: DispatchRequest,
        context: &ServiceContext<'_>,
    ) -> LeaseResponse {
        match request {
            DispatchRequest::Stop { above } => self.stop(above, context),
            DispatchRequest::Elect { grant } => self.elect(grant, context),
            DispatchRequest::Resume { grant, elected, ttl } => self.resume(grant, elected, ttl, context),
        }
    }

    fn stop(&mut self, above: Option<Token>, context: &ServiceContext<'_>) -> LeaseResponse {
        self.note_dispatch();
        self.journal.note(|| LeaseUndo::Table(self.table));
        let lease = self.next_lease();
        let Some(dispatch) = &mut self.dispatch else { return LeaseResponse::Refused };
        if let (Some(own), Some(last)) = (&mut self.own, dispatch.grants.last()) {
            self.journal.note(|| LeaseUndo::Own(own.copy(), true));
            own.release(last.lease);
        }
        let highest = above.max(dispatch.highest).max(Some(self.table.last_token)).unwrap_or(Token(0));
        let token = Token(highest.0.saturating_add(1));
        (self.table.row, self.table.last_token, dispatch.highest) = (None, token, Some(token));
        let grant = Grant { lease, token: Some(token), epoch: context.next_epoch() };
        dispatch.stopped_for = Some((context.from, grant));
        dispatch.last_stop = Some(grant);
        dispatch.elected = None;
        let grants = dispatch.grants.clone();
        context.record(|| What::DispatchStopped { claim: claim(grant, context) });
        LeaseResponse::Stopped(Box::new(Stopped { grant, grants }))
    }

    fn elect(&mut self, grant: Grant, context: &ServiceContext<'_>) -> LeaseResponse {
        match &self.dispatch {
            Some(dispatch) if dispatch.is_current(grant) => {
                let elected = dispatch.heard.last().copied();
                context.record(|| What::WorkerElected { claim: claim(grant, context), elected });
                LeaseResponse::Elected(elected)
            }
            _ => LeaseResponse::Refused,
        }
    }

    fn resume(
        &mut self,
        grant: Grant,
        elected: Option<NodeId>,
        ttl: Span,
        context: &ServiceContext<'_>,
    ) -> LeaseResponse {
        self.note_dispatch();
        match &mut self.dispatch {
            Some(dispatch) if dispatch.is_current(grant) => {
                dispatch.stopped_for = None;
                dispatch.elected = elected.map(|worker| (worker, context.mono() + ttl));
                context.record(|| What::DispatchResumed { claim: claim(grant, context), elected });
                LeaseResponse::Done
            }
            _ => LeaseResponse::Refused,
        }
    }
}

fn claim(grant: Grant, context: &ServiceContext<'_>) -> Claim {
    Claim { worker: context.from, epoch: grant.epoch, token: grant.token }
}
