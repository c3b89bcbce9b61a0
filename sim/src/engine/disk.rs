//! A disk that takes no writes for a while: the process that writes to it stands still in that write until the disk answers.
//!
//! A service is one process that does one thing after the other, so while it hangs it takes nothing in, as in a pause. What
//! it decided in the step that hangs it decided by what its clocks read then. Nobody knows of it before it is on disk: the
//! history is told, answers are given and letters are written when the write is done. A process that is gone before that
//! has written nothing.

use std::cell::{Cell, RefCell};

use super::World;
use crate::history::What;
use crate::id::{FaultId, NodeId};
use crate::time::{Span, TrueTime};

/// A node's disk.
#[derive(Default)]
pub(super) struct Disk {
    /// How many faults stall it, to be seen at a glance.
    stalls: Cell<u32>,
    /// Which those are.
    stalled_by: RefCell<Vec<FaultId>>,
    /// The write in which the node's process hangs: by which fault, and since when.
    hangs: Cell<Option<(FaultId, TrueTime)>>,
    /// What the step has done that is under way, or hangs.
    withheld: RefCell<Vec<Withheld>>,
}

/// What a step did of which nobody is to know yet.
struct Withheld {
    what: What,
    /// Whether it is told at all, if that is decided only when it is.
    is_told: Option<Box<dyn FnOnce() -> bool>>,
}

impl Disk {
    /// Whether it takes no writes.
    #[inline]
    pub(super) fn is_stalled(&self) -> bool {
        self.stalls.get() > 0
    }

    /// Whether the node's process stands still in a write.
    #[inline]
    pub(super) fn hangs(&self) -> bool {
        self.hangs.get().is_some()
    }

    /// Keeps what a step did until it is known whether it hangs.
    #[cold]
    pub(super) fn withhold(&self, what: What, is_told: Option<Box<dyn FnOnce() -> bool>>) {
        self.withheld.borrow_mut().push(Withheld { what, is_told });
    }
}

impl World {
    /// From now on the disk of `node` takes no writes, because of `fault`.
    pub(crate) fn stall_disk(&self, node: NodeId, fault: FaultId) {
        let disk = &self.node(node).disk;
        disk.stalls.set(disk.stalls.get() + 1);
        disk.stalled_by.borrow_mut().push(fault);
        self.each_house_on(node, |house| house.watch_writes(true));
    }

    /// The disk of `node` takes writes again, as far as it is up to `fault`.
    pub(crate) fn free_disk(&self, node: NodeId, fault: FaultId) {
        let disk = &self.node(node).disk;
        disk.stalls.set(disk.stalls.get() - 1);
        disk.stalled_by.borrow_mut().retain(|by| *by != fault);
        if disk.is_stalled() {
            return;
        }
        self.each_house_on(node, |house| house.watch_writes(false));
        match self.is_over.get() {
            true => self.give_write_up(node),
            false => self.go_on_from_write(node),
        }
    }

    /// The step that was just taken on `node` wrote to its disk, which takes no writes: it hangs.
    pub(super) fn hang(&self, node: NodeId) {
        let disk = &self.node(node).disk;
        let fault =
            disk.stalled_by.borrow().first().copied().expect("only a disk that is stalled takes no writes");
        disk.hangs.set(Some((fault, self.now())));
        self.record(node, What::WriteHung { fault });
    }

    /// The process on `node` goes on if it hung in a write that is done, and nothing else has it stand still.
    pub(super) fn go_on_from_write(&self, node: NodeId) {
        let owner = self.node(node);
        if owner.disk.hangs() && !owner.disk.is_stalled() && !owner.is_paused() {
            self.finish_write(node);
            self.release_held(owner);
        }
    }

    /// The write in which the process on `node` hangs is done, if it does, and what follows from it happens.
    pub(crate) fn finish_write(&self, node: NodeId) {
        let Some((fault, since)) = self.node(node).disk.hangs.take() else { return };
        self.each_house_on(node, |house| house.finish_write(self, fault, self.now() - since));
        self.at_peers(|peers| peers.catch_up(self, node));
    }

    /// The process on `node` no longer waits for its write, if it hangs in one: it is gone, and nothing was written.
    pub(super) fn give_write_up(&self, node: NodeId) {
        let disk = &self.node(node).disk;
        let Some((fault, _)) = disk.hangs.take() else { return };
        disk.withheld.borrow_mut().clear();
        self.record(node, What::WriteReturned { fault, written: false });
        self.each_house_on(node, |house| house.give_write_up(self));
    }

    /// Tells the history what the step did on `node` that was under way, or hung; `late` by so much.
    pub(super) fn tell_withheld(&self, node: NodeId, late: Span) {
        for Withheld { what, is_told } in self.node(node).disk.withheld.take() {
            if is_told.is_none_or(|is_told| is_told()) {
                self.record(node, as_told_later(what, late));
            }
        }
    }
}

/// `what`, told later by `late`: what takes its time from when it was decided has less of it left.
fn as_told_later(what: What, late: Span) -> What {
    let left = |span: Span| (span - late).max(Span::ZERO);
    match what {
        What::PayoutTakenIn { payout, known_in, decided_in, fails } => {
            What::PayoutTakenIn { payout, known_in: left(known_in), decided_in: left(decided_in), fails }
        }
        What::RefundBegun { claim, op, payout, takes, fails } => {
            What::RefundBegun { claim, op, payout, takes: left(takes), fails }
        }
        what => what,
    }
}
