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

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) at: TrueTime,
    /// The number of this item among all that were ever queued.
    pub(crate) sequence: u64,
    pub(crate) due: Due,
}

impl Item {
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
#[derive(Default)]
pub(crate) struct Queue {
    /// The earliest items, the very earliest last. Empty only if `far` is.
    near: Vec<Item>,
    /// All others.
    far: BinaryHeap<Item>,
    next_sequence: u64,
}

impl Queue {
    /// Puts `due` in and returns its number.
    // Inlined so that what is due is made where it stays.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: TrueTime, due: Due) -> u64 {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let item = Item { at, sequence, due };
        // Of things due at one instant the new one comes last, so here it is enough to look at the time.
        if self.far.peek().is_some_and(|earliest| earliest.at <= at) {
            self.far.push(item);
            return sequence;
        }
        // What is due before it moves up, which is little; so it needs no search.
        let mut place = self.near.len();
        self.near.push(item);
        while place > 0 && self.near[place - 1].at <= at {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        self.near[place] = item;
        if self.near.len() > NEAR {
            self.move_away();
        }
        sequence
    }

    /// Moves the later ones of the earliest to the others.
    #[cold]
    fn move_away(&mut self) {
        self.far.extend(self.near.drain(..NEAR / 2));
    }

    pub(crate) fn next_at(&self) -> Option<TrueTime> {
        self.near.last().map(|item| item.at)
    }

    pub(crate) fn pop(&mut self) -> Option<Item> {
        let item = self.near.pop();
        if self.near.is_empty() && !self.far.is_empty() {
            self.near.extend((0..NEAR / 2).map_while(|_| self.far.pop()));
            self.near.reverse();
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
                    prop_assert_eq!(queue.next_at(), earliest.map(|item| item.at));
                    prop_assert_eq!(queue.pop(), earliest);
                    expected.retain(|item| Some(*item) != earliest);
                    continue;
                };
                let (at, due) = (TrueTime::from_nanos(at), Due::Timer(0));
                let sequence = queue.push(at, due);
                expected.push(Item { at, sequence, due });
            }
            expected.sort_by_key(Item::key);
            for item in expected {
                prop_assert_eq!(queue.pop(), Some(item));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
