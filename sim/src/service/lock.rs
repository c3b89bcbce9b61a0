//! A lock service of one's own, on the lease store's node in place of its row.
//!
//! Faults reach it as they reach the lease store: its node is paused, restarted, split from workers, failed over to a replica
//! that is behind. What workers ask it goes over the same network, and is recorded by the same events, so all rules judge it
//! as they judge the lease store.

use crate::clock::Deadline;
use crate::id::{LeaseId, NodeId, Token};
use crate::service::lease_store::Term;
use crate::time::{MonoTime, WallTime};

/// What the clocks of the lock service's node read as it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockClocks {
    /// The monotonic clock.
    pub mono: MonoTime,
    /// The wall clock.
    pub wall: WallTime,
}

/// A lock that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The fencing token that goes with it, if there is one.
    pub token: Option<Token>,
    /// Until when it is granted, on the clock that the service goes by: the asker's wall clock, if that is whose time it takes
    /// from a [`Term`], or a clock of its own node. Only reports and checkers look at it, and have it by the wall clock.
    pub until: Deadline,
}

/// Decides who has the lock. One call is one atomic step. What it does must follow from what it is told alone.
pub trait LockService: 'static {
    /// `asker` asks for the lock under a lease that nobody has had before.
    ///
    /// # Errors
    /// Who has the lock, if it isn't to be had.
    fn acquire(&mut self, asker: NodeId, lease: LeaseId, term: Term, clocks: LockClocks) -> Result<Lock, NodeId>;

    /// Prolongs the lock under `lease`; until when. `None` if it isn't there any more.
    fn renew(&mut self, lease: LeaseId, term: Term, clocks: LockClocks) -> Option<Deadline>;

    /// Gives the lock under `lease` up: whether it was there.
    fn release(&mut self, lease: LeaseId) -> bool;

    /// Its process dies: what isn't on disk is gone. The default is that all of it is on disk.
    fn crash(&mut self) {}

    /// The same once more: what it is taken back to if its disk loses writes, and what a replica has.
    fn copy(&self) -> Box<dyn LockService>;
}
