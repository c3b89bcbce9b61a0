//! The tasks that were woken, in the order of waking.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::id::TaskId;

/// Those that were woken. Most often it is one at a time, which costs no look at the others.
pub(super) struct Ready {
    /// [`NOBODY`] if there is none.
    first: Cell<TaskId>,
    /// Those behind the first; empty if there is none.
    others: RefCell<VecDeque<TaskId>>,
    has_others: Cell<bool>,
}

/// No task.
const NOBODY: TaskId = TaskId(u32::MAX);

impl Default for Ready {
    fn default() -> Ready {
        Ready { first: Cell::new(NOBODY), others: RefCell::default(), has_others: Cell::new(false) }
    }
}

impl Ready {
    #[inline]
    pub(super) fn push(&self, task: TaskId) {
        if self.first.get() == NOBODY {
            self.first.set(task);
        } else {
            self.push_behind(task);
        }
    }

    #[cold]
    fn push_behind(&self, task: TaskId) {
        self.others.borrow_mut().push_back(task);
        self.has_others.set(true);
    }

    #[inline]
    pub(super) fn pop(&self) -> Option<TaskId> {
        let first = self.first.get();
        if first == NOBODY {
            return None;
        }
        self.first.set(NOBODY);
        if self.has_others.get() {
            self.move_up();
        }
        Some(first)
    }

    /// Takes out all but those that are to `stay`.
    pub(super) fn retain(&self, stay: impl Fn(TaskId) -> bool) {
        self.others.borrow_mut().retain(|task| stay(*task));
        if self.first.get() != NOBODY && !stay(self.first.get()) {
            self.move_up();
        }
    }

    #[cold]
    fn move_up(&self) {
        let mut others = self.others.borrow_mut();
        self.first.set(others.pop_front().unwrap_or(NOBODY));
        self.has_others.set(!others.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u32),
        Pop,
        /// Only those stay whose number divided by this leaves a rest.
        Retain(u32),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let push = (0..9u32).prop_map(Step::Push);
        prop::collection::vec(
            prop_oneof![3 => push, 3 => Just(Step::Pop), 1 => (2..4u32).prop_map(Step::Retain)],
            0..99,
        )
    }

    proptest! {
        #[test]
        fn it_is_a_queue(steps in steps()) {
            let (ready, mut expected) = (Ready::default(), VecDeque::new());
            for step in steps {
                match step {
                    Step::Push(task) => {
                        ready.push(TaskId(task));
                        expected.push_back(TaskId(task));
                    }
                    Step::Pop => prop_assert_eq!(ready.pop(), expected.pop_front()),
                    Step::Retain(by) => {
                        ready.retain(|task| task.0 % by > 0);
                        expected.retain(|task| task.0 % by > 0);
                    }
                }
            }
        }
    }
}
