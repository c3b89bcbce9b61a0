//! How a worker asks a lease service that is several: it asks the replica that it takes for the leader, goes where it is sent,
//! and asks another one if no answer comes.
//!
//! A request that is asked again has the same number, so it is carried out once. If no answer comes in the end, nobody can
//! tell whether it was; whoever then wants the lease comes anew, and is free of what it may have got.

use std::cell::Cell;

use super::Worker;
use crate::engine::{Address, Broken};
use crate::history::What;
use crate::id::{LeaseId, NodeId, Token};
use crate::lease::{LeaseAsk, LeaseTold};
use crate::service::lease_store::Grant;
use crate::service::replica::{Replica, ReplicaRequest, ReplicaResponse, Session};
use crate::time::Span;

/// How long a worker waits before it asks again that was sent back and forth.
const AGAIN_AFTER: Span = Span::millis(100);

/// What a worker's process remembers of the lease service.
#[derive(Default)]
pub(super) struct Known {
    session: Cell<Option<Session>>,
    /// How many requests it has made.
    asked: Cell<u32>,
    /// The place of the replica that it asks first.
    leader: Cell<usize>,
}

impl Worker {
    /// Asks for the lease. `None`: somebody else has it, or no answer came.
    pub(super) async fn acquire_of(&self, replicas: &[Address<Replica>], ttl: Span) -> Option<Grant> {
        let (told, epoch) = self.ask_for(replicas, LeaseAsk::Acquire { ttl }).await.ok()?;
        match (told, epoch) {
            (LeaseTold::Granted { token }, Some(epoch)) => {
                Some(Grant { lease: LeaseId(token.0), token: Some(token), epoch })
            }
            _ => None,
        }
    }

    /// Asks for something else that is done or refused: whether it is done.
    pub(super) async fn is_done_by(&self, replicas: &[Address<Replica>], ask: LeaseAsk) -> Result<bool, Broken> {
        Ok(self.ask_for(replicas, ask).await?.0 == LeaseTold::Done)
    }

    /// Asks who has the lease.
    pub(super) async fn read_of(&self, replicas: &[Address<Replica>]) -> Result<Option<(NodeId, Token)>, Broken> {
        match self.ask_for(replicas, LeaseAsk::Read).await?.0 {
            LeaseTold::Held { by } => Ok(by),
            _ => Err(Broken),
        }
    }

    async fn ask_for(
        &self,
        replicas: &[Address<Replica>],
        ask: LeaseAsk,
    ) -> Result<(LeaseTold, Option<crate::id::Epoch>), Broken> {
        let known = &self.0.replicas;
        let comes = matches!(ask, LeaseAsk::Acquire { .. } | LeaseAsk::Read);
        if known.session.get().is_none() && comes {
            self.come_to(replicas).await?;
        }
        // Whoever never came has nothing to renew or to give back.
        let Some(by) = known.session.get() else { return Ok((LeaseTold::Unknown, None)) };
        let number = self.note_asking(by.number(), ask);
        let answer = self.ask_around(replicas, ReplicaRequest::Ask { by, number, ask }).await;
        let (told, epoch) = match answer {
            Ok(ReplicaResponse::Told { told, epoch }) => (told, epoch),
            _ => (LeaseTold::Unknown, None),
        };
        self.record(What::LeaseTold { number, told });
        if told == LeaseTold::Unknown && matches!(ask, LeaseAsk::Acquire { .. }) && known.session.get() == Some(by)
        {
            known.session.set(None);
        }
        answer.map(|_| (told, epoch))
    }

    /// Becomes known to the service.
    async fn come_to(&self, replicas: &[Address<Replica>]) -> Result<(), Broken> {
        let nonce = self.mono().as_nanos();
        let number = self.note_asking(nonce.cast_unsigned(), LeaseAsk::Come);
        if let ReplicaResponse::Opened(session) = self.ask_around(replicas, ReplicaRequest::Open { nonce }).await?
        {
            self.0.replicas.session.set(Some(session));
            self.record(What::LeaseTold { number, told: LeaseTold::Done });
        }
        Ok(())
    }

    fn note_asking(&self, session: u64, ask: LeaseAsk) -> u32 {
        let asked = &self.0.replicas.asked;
        asked.set(asked.get() + 1);
        self.record(What::LeaseAsked { session, number: asked.get(), ask });
        asked.get()
    }

    /// Asks one replica after the other, until one says what came of it, or for as long as two answers may take.
    async fn ask_around(
        &self,
        replicas: &[Address<Replica>],
        request: ReplicaRequest,
    ) -> Result<ReplicaResponse, Broken> {
        let leader = &self.0.replicas.leader;
        let timeout = self.0.world.timeout();
        let until = self.mono() + timeout + timeout;
        let mut was_sent_on = false;
        // Whoever has asked all of them, and the first of them again, waits: a connection may break at once, each time.
        let mut at_once = replicas.len();
        loop {
            let place = leader.get();
            let answer = self.ask(&replicas[place], request).await;
            let sent_to = match answer {
                Ok(ReplicaResponse::NotLeader(leader)) => leader,
                Ok(answer) => return Ok(answer),
                Err(Broken) => None,
            };
            let sent_to = sent_to.and_then(|node| replicas.iter().position(|replica| replica.node() == node));
            leader.set(sent_to.unwrap_or((place + 1) % replicas.len()));
            if self.mono() >= until {
                return Err(Broken);
            }
            let goes_on_at_once = answer == Err(Broken) || (sent_to.is_some() && !was_sent_on);
            was_sent_on = sent_to.is_some();
            if goes_on_at_once && at_once > 0 {
                at_once -= 1;
            } else {
                at_once = replicas.len();
                self.sleep(AGAIN_AFTER).await;
            }
        }
    }
}
