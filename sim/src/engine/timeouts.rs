//! How long a caller waits for an answer.
//!
//! All calls of a node time out after the same span by its monotonic clock, so they do so in the order of sending, and
//! one alarm for the oldest is enough. A call that is answered costs no place in the queue.

use super::call::CallId;
use super::queue::Due;
use super::{Node, World};
use crate::clock::{Clock, Deadline};
use crate::history::{Event, What};
use crate::id::{EventId, NodeId};

/// A call that a node waits for. What there is to know of it is in the history.
pub(crate) struct Waiting {
    call: CallId,
    /// The sending of its request.
    sent: EventId,
}

impl World {
    /// The code of `node` waits from now on for the answer to `call`, whose request was just `sent`.
    #[inline]
    pub(super) fn wait_for(&self, node: NodeId, call: CallId, sent: EventId) {
        let owner = self.node(node);
        owner.waiting.borrow_mut().push(Waiting { call, sent });
        if owner.alarm.get().is_none() {
            self.arm_alarm(node, owner);
        }
    }

    /// Nobody waits for `call` any more.
    #[inline]
    pub(super) fn wait_no_more(&self, node: &Node, call: CallId) {
        let mut waiting = node.waiting.borrow_mut();
        match waiting.iter().position(|one| one.call == call) {
            // Most often it is the only one.
            Some(index) if index + 1 == waiting.len() => {
                waiting.pop();
            }
            Some(index) => {
                waiting.remove(index);
            }
            None => {}
        }
    }

    /// Sets the alarm for the oldest call anew, if there is one: after the clocks changed, and at the end of a pause.
    pub(super) fn rework_alarm(&self, node: NodeId) {
        let owner = self.node(node);
        if !owner.waiting.borrow().is_empty() {
            self.arm_alarm(node, owner);
        }
    }

    #[cold]
    fn arm_alarm(&self, node: NodeId, owner: &Node) {
        let at = owner.waiting.borrow().first().and_then(|oldest| {
            let deadline = owner.clocks.borrow().mono(self.recorded(oldest.sent).at) + self.timeout;
            self.when(node, Deadline { clock: Clock::Monotonic, reading: deadline.as_nanos() })
        });
        owner.alarm.set(at.map(|at| self.push(at.max(self.now()), Due::Alarm(node))));
    }

    /// The alarm that was queued as `sequence` is due: ends the calls that have been waited for long enough. Whether there
    /// were any.
    pub(super) fn ring(&self, node: NodeId, sequence: u64) -> bool {
        let owner = self.node(node);
        if owner.alarm.get() != Some(sequence) {
            return false;
        }
        owner.alarm.set(None);
        // A paused node looks at its clock when it goes on, after taking in what has arrived by then.
        if owner.is_paused() {
            return false;
        }
        let mut rang = false;
        while let Some(Waiting { call, sent }) = self.overdue(owner) {
            let What::MessageSent { message, to, about, .. } = self.recorded(sent).what else {
                unreachable!("a call that is waited for was sent");
            };
            self.set_cause(Some(sent));
            let event = self.record(node, What::CallTimedOut { message, to, about });
            self.at_house(call, |house| house.time_out(self, call, event));
            rang = true;
        }
        self.arm_alarm(node, owner);
        rang
    }

    /// Takes out the oldest call of `owner`, if it has been waited for long enough.
    fn overdue(&self, owner: &Node) -> Option<Waiting> {
        let clocks = owner.clocks.borrow();
        let mut waiting = owner.waiting.borrow_mut();
        let since = self.recorded(waiting.first()?.sent).at;
        (clocks.mono(since) + self.timeout <= clocks.mono(self.now())).then(|| waiting.remove(0))
    }

    pub(super) fn recorded(&self, id: EventId) -> Event {
        self.recorder.borrow().event(id)
    }
}
