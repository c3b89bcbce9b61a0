//! The tasks that were woken, in the order of waking.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::id::TaskId;

/// Those that were woken. Most often it is one at a time, which costs no look at the others.
#[derive(Default)]
pub(super) struct Ready {
    first: Cell<Option<TaskId>>,
    /// Those behind the first; empty if there is none.
    others: RefCell<VecDeque<TaskId>>,
    has_others: Cell<bool>,
}

impl Ready {
    #[inline]
    pub(super) fn push(&self, task: TaskId) {
        match self.first.get() {
            None => self.first.set(Some(task)),
            Some(_) => {
                self.others.borrow_mut().push_back(task);
                self.has_others.set(true);
            }
        }
    }

    #[inline]
    pub(super) fn pop(&self) -> Option<TaskId> {
        let first = self.first.take();
        if self.has_others.get() {
            self.move_up();
        }
        first
    }

    /// Takes out all but those that are to `stay`.
    pub(super) fn retain(&self, stay: impl Fn(TaskId) -> bool) {
        self.others.borrow_mut().retain(|task| stay(*task));
        if self.first.get().is_some_and(|first| !stay(first)) {
            self.move_up();
        }
    }

    fn move_up(&self) {
        let mut others = self.others.borrow_mut();
        self.first.set(others.pop_front());
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
