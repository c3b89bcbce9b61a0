//! Timers: (clock, deadline), worked out anew whenever that node's clocks change.

use std::task::Waker;

use super::queue::{Due, Queue};
use super::tasks::{Tasks, Wakeup};
use crate::clock::{ClockLine, Deadline};
use crate::id::NodeId;
use crate::time::TrueTime;

struct Timer {
    node: NodeId,
    deadline: Deadline,
    /// What it is queued as; `None` if its deadline is never reached the way the clocks run now. A timer that is armed
    /// anew is queued as something else, and what is left in the queue means nothing.
    armed: Option<u64>,
    /// Who waits; `None` once it has fired.
    wakeup: Option<Wakeup>,
}

/// The timers of all nodes.
#[derive(Default)]
pub(crate) struct Timers {
    slots: Vec<Option<Timer>>,
    free: Vec<u32>,
}

impl Timers {
    /// Sets a timer that fires at `at`, if that is known, and returns its slot.
    #[inline]
    pub(crate) fn set(
        &mut self,
        queue: &mut Queue,
        at: Option<TrueTime>,
        node: NodeId,
        deadline: Deadline,
        wakeup: Wakeup,
    ) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let armed = at.map(|at| queue.push(at, Due::Timer(slot)));
        self.slots[slot as usize] = Some(Timer { node, deadline, armed, wakeup: Some(wakeup) });
        slot
    }

    /// Whether the timer in `slot` has fired; if not, `waker` is who will be woken.
    pub(crate) fn poll(&mut self, slot: u32, tasks: &Tasks, waker: &Waker) -> bool {
        let timer = self.slots[slot as usize].as_mut().expect("a timer is polled before it is released");
        if let Some(wakeup) = &mut timer.wakeup {
            *wakeup = tasks.wakeup(waker);
        }
        timer.wakeup.is_none()
    }

    /// Gives a slot back.
    pub(crate) fn release(&mut self, slot: u32) {
        self.slots[slot as usize] = None;
        self.free.push(slot);
    }

    /// Fires the timer in `slot` that was queued as `armed` and gives out who waits for it; `None` if it was armed anew
    /// or released since.
    pub(crate) fn fire(&mut self, slot: u32, armed: u64) -> Option<Wakeup> {
        self.slots[slot as usize].as_mut().filter(|timer| timer.armed == Some(armed))?.wakeup.take()
    }

    /// Arms the unfired timers of `node` anew, after its clocks changed.
    pub(crate) fn rework(&mut self, queue: &mut Queue, clocks: &ClockLine, now: TrueTime, node: NodeId) {
        for (slot, timer) in self.slots.iter_mut().enumerate() {
            if let Some(timer) = timer
                && timer.node == node
                && timer.wakeup.is_some()
            {
                let at = clocks.current().when(timer.deadline.clock, timer.deadline.reading);
                timer.armed = at.map(|at| queue.push(at.max(now), Due::Timer(slot as u32)));
            }
        }
    }
}
