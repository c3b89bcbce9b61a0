//! What the simulator notes of a replicated lease service: which of its replicas did something first, and the epochs of its
//! grants. No replica can read it.
//!
//! All replicas carry the same commands out, one after the other; what happens by that happens once, where it is done first.

use std::collections::BTreeMap;

use super::machine::{Command, Held, Position};
use crate::id::{Epoch, Token};

/// The notes.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The commands that some replica carried out, by their place in its order. With one order there is one for each.
    done: BTreeMap<Position, Vec<Command>>,
    grants: Vec<(Held, Epoch)>,
}

impl Notes {
    /// Notes that a replica carried a command out: whether it is the first.
    pub(super) fn is_first(&mut self, position: Position, command: Command) -> bool {
        let done = self.done.entry(position).or_default();
        let is_first = !done.contains(&command);
        if is_first {
            done.push(command);
        }
        is_first
    }

    /// The epoch of the grant of a lease, which is made up by `next` if it is the first time that anybody asks.
    pub(super) fn epoch(&mut self, held: &Held, next: impl FnOnce() -> Epoch) -> Epoch {
        let is_same = |(of, _): &&(Held, Epoch)| {
            (of.granted, of.number, of.by, of.token) == (held.granted, held.number, held.by, held.token)
        };
        if let Some((_, epoch)) = self.grants.iter().rev().find(is_same) {
            return *epoch;
        }
        let epoch = next();
        self.grants.push((*held, epoch));
        epoch
    }

    /// The epoch of the newest grant with this token.
    pub(super) fn epoch_of(&self, token: Token) -> Option<Epoch> {
        self.grants.iter().rev().find(|(held, _)| held.token == token).map(|(_, epoch)| *epoch)
    }
}
