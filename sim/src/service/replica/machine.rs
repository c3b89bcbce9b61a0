//! What the order of commands means: who has the lease, and which request of a client was the last that was carried out.
//!
//! It follows from the commands alone. What else decides, such as what time it is, stands in the commands.

use std::collections::BTreeMap;

use crate::id::{NodeId, Token};
use crate::lease::{LeaseAsk, LeaseTold};
use crate::time::{Span, WallTime};

/// A place in the order of commands, from 1; 0 is before the first.
pub(crate) type Position = u64;

/// A client, from when it first came until it comes anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Session {
    /// The client's node.
    pub(super) client: NodeId,
    /// Where it was opened.
    pub(super) opened: Position,
}

impl Session {
    /// A number that no other session of the same client has.
    pub(crate) fn number(self) -> u64 {
        self.opened
    }
}

/// A command in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Command {
    /// Somebody leads from here on.
    Reign { leader: NodeId },
    /// A client comes, and has nothing of what it had before.
    Open {
        client: NodeId,
        /// What tells this coming from others of the same client.
        nonce: i64,
    },
    /// A client asks.
    Ask {
        by: Session,
        /// Which of its requests, so that one that comes twice is carried out once.
        number: u32,
        /// Whether it is.
        once: bool,
        ask: LeaseAsk,
        /// What the leader's wall clock read, if leases end by that.
        now: Option<WallTime>,
        /// The token of a grant; `None` for its place in the order.
        token: Option<Token>,
        /// Who had the lease for which nobody gets one yet, as the leader of this reign remembers it.
        delayed: Option<(NodeId, Position)>,
    },
    /// The leader takes the lease away, because it has run out.
    Revoke {
        lease: Position,
        /// Where it was last renewed as far as the leader knew, and the leader's reign. One that was renewed since, or
        /// whose leader was followed by another, stays; `None` to take it away anyway.
        sure: Option<(Position, Position)>,
    },
}

/// A lease that somebody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(super) by: Session,
    pub(super) token: Token,
    /// Where it was granted, and by which request.
    pub(super) granted: Position,
    pub(super) number: u32,
    /// Where it was last renewed.
    pub(super) renewed: Position,
    pub(super) ttl: Span,
    /// When it ends, if leases end by the leaders' wall clocks.
    pub(super) deadline: Option<WallTime>,
}

/// What a command did, as far as anybody wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Granted(Held),
    Refused { holder: NodeId },
    Renewed(Held),
    RenewalRefused { token: Token },
    Released(Held),
    Revoked(Held),
}

/// What is kept of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    opened: Position,
    nonce: i64,
    /// Its last request, and what came of it.
    last: Option<(u32, LeaseAsk, LeaseTold)>,
}

/// The state that the commands up to a place in the order lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Machine {
    /// How many commands that were.
    pub(super) position: Position,
    /// Where the present leader's reign began.
    pub(super) reign: Position,
    pub(super) lease: Option<Held>,
    /// Whether the last lease was taken away, and not given back.
    ran_out: bool,
    clients: BTreeMap<NodeId, Known>,
}

impl Machine {
    /// Carries the next command out.
    pub(super) fn apply(&mut self, command: Command) -> (LeaseTold, Effect) {
        self.position += 1;
        match command {
            Command::Reign { .. } => {
                self.reign = self.position;
                (LeaseTold::Done, Effect::Nothing)
            }
            Command::Open { client, nonce } => (LeaseTold::Done, self.open(client, nonce)),
            Command::Revoke { lease, sure } => (LeaseTold::Done, self.revoke(lease, sure)),
            Command::Ask { by, number, once, ask, .. } => {
                let known = self.clients.get(&by.client).copied().filter(|known| known.opened == by.opened);
                let Some(known) = known else { return (LeaseTold::Unknown, Effect::Nothing) };
                match known.last {
                    Some((last, of, told)) if once && last >= number => {
                        let told = if last == number && of == ask { told } else { LeaseTold::Unknown };
                        return (told, Effect::Nothing);
                    }
                    _ => {}
                }
                let (told, effect) = self.carry_out(command, by, ask);
                self.clients.insert(by.client, Known { last: Some((number, ask, told)), ..known });
                (told, effect)
            }
        }
    }

    /// The session of a client that came with this nonce, if it is still its newest.
    pub(super) fn opened(&self, client: NodeId, nonce: i64) -> Option<Session> {
        let known = self.clients.get(&client).filter(|known| known.nonce == nonce)?;
        Some(Session { client, opened: known.opened })
    }

    /// A client comes anew: what it had under its last session is free.
    fn open(&mut self, client: NodeId, nonce: i64) -> Effect {
        if self.opened(client, nonce).is_some() {
            return Effect::Nothing;
        }
        self.clients.insert(client, Known { opened: self.position, nonce, last: None });
        match self.lease.take_if(|held| held.by.client == client) {
            Some(held) => Effect::Released(held),
            None => Effect::Nothing,
        }
    }

    fn revoke(&mut self, lease: Position, sure: Option<(Position, Position)>) -> Effect {
        let reign = self.reign;
        let is_meant = |held: &mut Held| {
            held.granted == lease && sure.is_none_or(|(renewed, of)| held.renewed == renewed && of == reign)
        };
        let Some(held) = self.lease.take_if(is_meant) else { return Effect::Nothing };
        self.ran_out = true;
        Effect::Revoked(held)
    }

    fn carry_out(&mut self, command: Command, by: Session, ask: LeaseAsk) -> (LeaseTold, Effect) {
        let Command::Ask { number, now, token, delayed, .. } = command else {
            unreachable!("only what a client asks is carried out for one")
        };
        let position = self.position;
        let is_its = |held: &Held, token| held.by == by && held.token == token;
        match ask {
            LeaseAsk::Acquire { ttl } => {
                let is_over = |held: &Held| held.deadline.zip(now).is_some_and(|(deadline, now)| deadline <= now);
                if let Some(held) = self.lease.filter(|held| !is_over(held)) {
                    return (LeaseTold::Refused, Effect::Refused { holder: held.by.client });
                }
                // What another leader remembers, or of a lease that was given back meanwhile, delays nobody.
                let delayed = delayed.filter(|(_, reign)| self.ran_out && *reign == self.reign);
                if let Some((holder, _)) = delayed {
                    return (LeaseTold::Refused, Effect::Refused { holder });
                }
                self.ran_out = false;
                let token = token.unwrap_or(Token(position));
                let deadline = now.map(|now| now + ttl);
                let held = Held { by, token, granted: position, number, renewed: position, ttl, deadline };
                self.lease = Some(held);
                (LeaseTold::Granted { token }, Effect::Granted(held))
            }
            LeaseAsk::Renew { token, ttl } => match self.lease.as_mut() {
                Some(held) if is_its(held, token) => {
                    held.renewed = position;
                    held.ttl = ttl;
                    // A leader whose wall clock is behind takes nothing of the time that was promised.
                    held.deadline = now.map(|now| now + ttl).max(held.deadline);
                    (LeaseTold::Done, Effect::Renewed(*held))
                }
                _ => (LeaseTold::Refused, Effect::RenewalRefused { token }),
            },
            LeaseAsk::Release { token } => match self.lease.take_if(|held| is_its(held, token)) {
                Some(held) => (LeaseTold::Done, Effect::Released(held)),
                None => (LeaseTold::Refused, Effect::Nothing),
            },
            LeaseAsk::Come => (LeaseTold::Unknown, Effect::Nothing),
            LeaseAsk::Read => {
                (LeaseTold::Held { by: self.lease.map(|held| (held.by.client, held.token)) }, Effect::Nothing)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two clients come, and ask for a lease of 40 ns at these readings of the leader's wall clock; maybe the first renews it.
    fn second_is_granted(first: i64, renewed: Option<i64>, second: i64) -> bool {
        let mut machine = Machine::default();
        let [one, two] = [3, 4].map(|client| {
            let (client, nonce) = (NodeId(client), 7);
            machine.apply(Command::Open { client, nonce });
            machine.opened(client, nonce).expect("it just came")
        });
        let ttl = Span::nanos(40);
        let ask = |by, number, ask, now| Command::Ask {
            by,
            number,
            once: true,
            ask,
            now: Some(WallTime::from_nanos(now)),
            token: None,
            delayed: None,
        };
        let acquire = LeaseAsk::Acquire { ttl };
        let LeaseTold::Granted { token } = machine.apply(ask(one, 1, acquire, first)).0 else {
            panic!("nobody has it")
        };
        if let Some(now) = renewed {
            let told = machine.apply(ask(one, 2, LeaseAsk::Renew { token, ttl }, now)).0;
            assert_eq!(told, LeaseTold::Done);
        }
        matches!(machine.apply(ask(two, 1, acquire, second)).0, LeaseTold::Granted { .. })
    }

    #[test]
    fn a_replicated_deadline_ends_a_lease_at_its_very_instant() {
        for (second, granted) in [(100, false), (139, false), (140, true), (141, true)] {
            assert_eq!(second_is_granted(100, None, second), granted, "at {second}");
            assert_eq!(second_is_granted(90, Some(100), second), granted, "renewed, at {second}");
            // A leader whose wall clock is behind takes nothing away.
            assert_eq!(
                second_is_granted(100, Some(90), second),
                granted,
                "renewed by an earlier clock, at {second}"
            );
        }
    }
}
