//! A lease service that is several: replicas that agree on one order of commands, or copy one another's.
//!
//! Whoever leads takes requests, has them put into the order, and answers when they are there; the others name the leader.
//! A fencing token is the place of its grant in that order, so none is handed out twice as long as the order is one.
//! `consensus` keeps it one whatever happens to fewer than half of the replicas. `copies` doesn't: a primary answers
//! first and copies afterwards, and whoever an operator promotes in its place doesn't know what was not copied yet.

mod consensus;
mod copies;
mod disk;
mod leading;
mod machine;
mod notes;
mod order;
mod serving;

pub(crate) use machine::Session;
pub(crate) use serving::{Replica, ReplicaRequest, ReplicaResponse, found};

use crate::time::Span;

/// How often a replica looks up: whether a lease has run out, and, every second time, whether the leader is alive. Leases
/// last for tens of seconds, so ticks may be rare, and a run stays cheap.
pub(crate) const TICK: Span = Span::millis(500);
