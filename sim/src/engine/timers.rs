//! Timers: (clock, deadline), worked out anew whenever that node's clocks change.

use std::task::Waker;

use super::queue::{Due, Queue};
use super::tasks::{Tasks, Wakeup};
use crate::clock::{ClockLine, Deadline};
use crate::id::{NodeId, TaskId};
use crate::time::TrueTime;

struct Timer {
    node: NodeId,
    deadline: Deadline,
    /// What it is queued as, or [`NOT_ARMED`] if its deadline is never reached the way the clocks run now. A timer that is
    /// armed anew is queued as something else, and what is left in the queue means nothing.
    armed: u64,
    /// Who waits; `None` once it has fired or was released.
    wakeup: Option<Wakeup>,
    /// Of a slot that is free, the next one that is.
    next_free: u32,
}

/// Nothing is queued as this.
const NOT_ARMED: u64 = u64::MAX;

/// No slot.
const NONE: u32 = u32::MAX;

/// The timers of all nodes, in slots that are used again.
pub(crate) struct Timers {
    slots: Vec<Timer>,
    /// The slot that became free last.
    free: u32,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { slots: Vec::new(), free: NONE }
    }
}

impl Timers {
    /// Sets a timer that fires at `at`, if that is known, and returns its slot.
    // Inlined so that it is made where it stays.
    #[inline(always)]
    pub(crate) fn set(
        &mut self,
        queue: &mut Queue,
        at: Option<TrueTime>,
        node: NodeId,
        deadline: Deadline,
        wakeup: Wakeup,
    ) -> u32 {
        if self.free == NONE {
            self.make_room(node, deadline);
        }
        let slot = self.free;
        let armed = at.map_or(NOT_ARMED, |at| queue.push(at, Due::Timer(slot)));
        let timer = &mut self.slots[slot as usize];
        self.free = timer.next_free;
        timer.node = node;
        timer.deadline = deadline;
        timer.armed = armed;
        timer.wakeup = Some(wakeup);
        slot
    }

    #[cold]
    fn make_room(&mut self, node: NodeId, deadline: Deadline) {
        self.free = self.slots.len() as u32;
        self.slots.push(Timer { node, deadline, armed: NOT_ARMED, wakeup: None, next_free: NONE });
    }

    /// Whether the timer in `slot` is still to fire; then `waker` is who will be woken. If it has fired, its slot is given
    /// back.
    #[inline]
    pub(crate) fn poll(&mut self, slot: u32, tasks: &Tasks, waker: &Waker) -> bool {
        let timer = &mut self.slots[slot as usize];
        match &mut timer.wakeup {
            Some(wakeup) => {
                *wakeup = tasks.wakeup(waker);
                true
            }
            None => {
                timer.next_free = std::mem::replace(&mut self.free, slot);
                false
            }
        }
    }

    /// Gives a slot back.
    #[inline]
    pub(crate) fn release(&mut self, slot: u32) {
        let timer = &mut self.slots[slot as usize];
        timer.armed = NOT_ARMED;
        timer.wakeup = None;
        timer.next_free = std::mem::replace(&mut self.free, slot);
    }

    /// Fires the timer in `slot` that was queued as `armed`, if it is a task that waits for it, and gives out which.
    #[inline]
    pub(crate) fn fire_for_task(&mut self, slot: u32, armed: u64) -> Option<TaskId> {
        let timer = &mut self.slots[slot as usize];
        match timer.wakeup {
            Some(Wakeup::Task(task)) if timer.armed == armed => {
                timer.wakeup = None;
                Some(task)
            }
            _ => None,
        }
    }

    /// Fires the timer in `slot` that was queued as `armed` and gives out who waits for it; `None` if it was armed anew
    /// or released since.
    #[inline]
    pub(crate) fn fire(&mut self, slot: u32, armed: u64) -> Option<Wakeup> {
        let timer = &mut self.slots[slot as usize];
        if timer.armed == armed { timer.wakeup.take() } else { None }
    }

    /// Arms the unfired timers of `node` anew, after its clocks changed.
    pub(crate) fn rework(&mut self, queue: &mut Queue, clocks: &ClockLine, now: TrueTime, node: NodeId) {
        for (slot, timer) in self.slots.iter_mut().enumerate() {
            if timer.node == node && timer.wakeup.is_some() {
                let at = clocks.current().when(timer.deadline.clock, timer.deadline.reading);
                timer.armed = at.map_or(NOT_ARMED, |at| queue.push(at.max(now), Due::Timer(slot as u32)));
            }
        }
    }
}
