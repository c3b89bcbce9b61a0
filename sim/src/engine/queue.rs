//! What is due, and when.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::call::CallId;
use crate::id::{FaultId, NodeId};
use crate::time::TrueTime;

/// Something to be done at an instant. Small, because the queue moves it about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A worker's process begins.
    Start(NodeId),
    /// The timer in this slot may have reached its deadline.
    Timer(u32),
    /// A request reaches its service.
    Request(CallId),
    /// A service is done with what it had put off.
    Finish(CallId),
    /// An answer reaches the caller.
    Answer(CallId),
    /// The oldest call that this node waits for may have been waited for long enough.
    Alarm(NodeId),
    /// A fault strikes.
    Strike(FaultId),
    /// A fault heals.
    Heal(FaultId),
    /// Something happens in the middle of a fault.
    Beat(FaultId),
    /// An agent of the host steps a node's wall clock by what it lost in a freeze.
    Correct(NodeId),
    /// A node's time daemon polls, having waited for the network.
    Poll(NodeId),
    /// The memory of a worker that was put back is built again.
    Recall(NodeId),
    /// A worker that had been told to stop before it was put back has no more time for it.
    Stop(NodeId),
    /// A letter from one replica to another arrives.
    Letter(u32),
    /// A replica that couldn't look up when it was time does so.
    Tick(NodeId),
}

impl Due {
    /// All of it in one number, because what is written in parts and then moved as a whole has the processor wait until
    /// the parts have arrived in its cache.
    #[inline(always)]
    fn pack(self) -> Packed {
        let pack =
            |kind: u64, small: u16, large: u32| Packed(kind | u64::from(small) << 16 | u64::from(large) << 32);
        match self {
            Due::Request(call) => pack(REQUEST, call.house, call.slot),
            Due::Answer(call) => pack(ANSWER, call.house, call.slot),
            Due::Timer(slot) => pack(TIMER, 0, slot),
            Due::Finish(call) => pack(3, call.house, call.slot),
            Due::Start(node) => pack(4, node.0, 0),
            Due::Alarm(node) => pack(5, node.0, 0),
            Due::Strike(fault) => pack(6, fault.0, 0),
            Due::Heal(fault) => pack(7, fault.0, 0),
            Due::Beat(fault) => pack(8, fault.0, 0),
            Due::Correct(node) => pack(9, node.0, 0),
            Due::Poll(node) => pack(10, node.0, 0),
            Due::Recall(node) => pack(11, node.0, 0),
            Due::Stop(node) => pack(12, node.0, 0),
            Due::Letter(slot) => pack(13, 0, slot),
            Due::Tick(node) => pack(14, node.0, 0),
        }
    }
}

/// What is due, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed(u64);

/// The numbers of what is due again and again; all others are greater.
const REQUEST: u64 = 0;
const ANSWER: u64 = 1;
const TIMER: u64 = 2;

impl Packed {
    fn kind(self) -> u64 {
        self.0 & 0xffff
    }

    fn small(self) -> u16 {
        (self.0 >> 16) as u16
    }

    fn large(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn call(self) -> CallId {
        CallId { house: self.small(), slot: self.large() }
    }

    #[inline(always)]
    fn unpack(self) -> Due {
        let (small, large) = (self.small(), self.large());
        let call = self.call();
        match self.kind() {
            REQUEST => Due::Request(call),
            ANSWER => Due::Answer(call),
            TIMER => Due::Timer(large),
            3 => Due::Finish(call),
            4 => Due::Start(NodeId(small)),
            5 => Due::Alarm(NodeId(small)),
            6 => Due::Strike(FaultId(small)),
            7 => Due::Heal(FaultId(small)),
            8 => Due::Beat(FaultId(small)),
            9 => Due::Correct(NodeId(small)),
            10 => Due::Poll(NodeId(small)),
            11 => Due::Recall(NodeId(small)),
            12 => Due::Stop(NodeId(small)),
            13 => Due::Letter(large),
            14 => Due::Tick(NodeId(small)),
            _ => unreachable!("nothing is packed with any other number"),
        }
    }
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) at: TrueTime,
    /// The number of this item among all that were ever queued.
    pub(crate) sequence: u64,
    due: Packed,
}

impl Item {
    /// What is due.
    pub(crate) fn due(&self) -> Due {
        self.due.unpack()
    }

    /// The call of which a message arrives, and whether that is the answer, if it is that.
    #[inline(always)]
    pub(crate) fn message(&self) -> Option<(CallId, bool)> {
        let kind = self.due.kind();
        (kind <= ANSWER).then(|| (self.due.call(), kind == ANSWER))
    }

    /// The slot of the timer that may have reached its deadline, if it is that.
    #[inline(always)]
    pub(crate) fn timer(&self) -> Option<u32> {
        (self.due.kind() == TIMER).then(|| self.due.large())
    }

    fn key(&self) -> (TrueTime, u64) {
        (self.at, self.sequence)
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Item) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest, because a [`BinaryHeap`] gives out the greatest first.
impl Ord for Item {
    fn cmp(&self, other: &Item) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// How many items `near` may have.
const NEAR: usize = 32;

/// What is due, in the order of time; things due at the same instant come in the order in which they were put in.
///
/// Most of what is put in is a message that is due almost at once, and few things are due before it. So the earliest
/// items are kept in order, where such a one goes in near the end; a heap for the rest bounds the cost of any other use.
pub(crate) struct Queue {
    /// The earliest items, the very earliest last. Empty only if `far` is.
    near: Vec<Item>,
    /// All others.
    far: BinaryHeap<Item>,
    /// When the earliest of those is due.
    far_from: TrueTime,
    next_sequence: u64,
}

impl Default for Queue {
    fn default() -> Queue {
        let near = Vec::with_capacity(NEAR + 1);
        Queue { near, far: BinaryHeap::new(), far_from: TrueTime::NEVER, next_sequence: 0 }
    }
}

impl Queue {
    /// Puts `due` in and returns its number.
    // Inlined so that what is due is made where it stays.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: TrueTime, due: Due) -> u64 {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let due = due.pack();
        // Of things due at one instant the new one comes last, so here it is enough to look at the time.
        if at >= self.far_from {
            self.push_far(at, sequence, due);
            return sequence;
        }
        let item = Item { at, sequence, due };
        // What is due before it moves up, which is little; so it needs no search.
        let last = self.near.len();
        self.near.push(item);
        let near = self.near.as_mut_slice();
        let mut place = last;
        while place > 0 && near[place - 1].at <= at {
            near[place] = near[place - 1];
            place -= 1;
        }
        if place < last {
            near[place] = item;
        }
        if last == NEAR {
            self.move_away();
        }
        sequence
    }

    #[cold]
    fn push_far(&mut self, at: TrueTime, sequence: u64, due: Packed) {
        let item = Item { at, sequence, due };
        // What is never due isn't before anything, not even where nothing else is left.
        if self.near.is_empty() {
            self.near.push(item);
        } else {
            self.far.push(item);
            self.see_far();
        }
    }

    /// Moves the later ones of the earliest to the others.
    #[cold]
    fn move_away(&mut self) {
        self.far.extend(self.near.drain(..NEAR / 2));
        self.see_far();
    }

    fn see_far(&mut self) {
        self.far_from = self.far.peek().map_or(TrueTime::NEVER, |earliest| earliest.at);
    }

    /// Forgets what is due.
    pub(crate) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.see_far();
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Item> {
        let item = self.near.pop();
        if self.near.is_empty() {
            self.move_near();
        }
        item
    }

    /// Moves the earliest of the others to where the earliest are.
    #[cold]
    fn move_near(&mut self) {
        self.near.extend((0..NEAR / 2).map_while(|_| self.far.pop()));
        self.near.reverse();
        self.see_far();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let (node, fault, call) = (NodeId(u16::MAX), FaultId(7), CallId { house: 3, slot: u32::MAX - 1 });
        let calls = [Due::Request(call), Due::Finish(call), Due::Answer(call)];
        let of_nodes = [Due::Start, Due::Alarm, Due::Correct, Due::Poll, Due::Recall, Due::Stop, Due::Tick]
            .map(|due| due(node));
        let of_faults = [Due::Strike, Due::Heal, Due::Beat].map(|due| due(fault));
        let of_slots = [Due::Timer(u32::MAX), Due::Timer(0), Due::Letter(u32::MAX)];
        let all = calls.into_iter().chain(of_nodes).chain(of_faults).chain(of_slots);
        for due in all {
            assert_eq!(due.pack().unpack(), due);
        }
    }

    proptest! {
        #[test]
        fn items_come_out_by_time_and_then_in_the_order_of_going_in(
            steps in prop::collection::vec(prop::option::weighted(0.6, 0..60i64), 0..400)
        ) {
            let mut queue = Queue::default();
            let mut expected: Vec<Item> = Vec::new();
            for step in steps {
                let Some(at) = step else {
                    let earliest = expected.iter().min_by_key(|item| item.key()).copied();
                    prop_assert_eq!(queue.pop(), earliest);
                    expected.retain(|item| Some(*item) != earliest);
                    continue;
                };
                let (at, due) = (TrueTime::from_nanos(at), Due::Timer(0));
                let sequence = queue.push(at, due);
                expected.push(Item { at, sequence, due: due.pack() });
            }
            expected.sort_by_key(Item::key);
            for item in expected {
                prop_assert_eq!(queue.pop(), Some(item));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
