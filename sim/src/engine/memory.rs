//! What a worker's process was told, so that its memory can be built again.
//!
//! Async code can't be copied while it waits. But all that it does follows from what it was told: what its clocks read,
//! whether a sleep was over, what a service answered, in which order its tasks went on. Of a worker that a fault of the
//! plan takes a snapshot of, every such input is noted. To put the worker back, a new process is told the same again, in
//! the same order, without anything reaching the world, until it has come to where the snapshot was taken. From there on
//! it lives.
//!
//! Code that asks something else for the time, or keeps something outside of its process, isn't put back by that.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

use crate::id::TaskId;
use crate::panics::misused;

/// Something that a process was told. A *leaf* is a sleep or a call, numbered in the order of their first polls.
#[derive(Clone)]
pub(super) enum Input {
    /// It was the turn of the task that the process had started as its n-th.
    Turn(u32),
    /// It was told to stop: between two turns, or in the middle of one, by a fault that struck at a point.
    Stop,
    /// What one of its clocks read.
    Reading(i64),
    /// Whether a sleep was over.
    Slept { leaf: u32, over: bool },
    /// It passed a point.
    Passed,
    /// Whether it could go on from a point.
    WentOn(bool),
    /// No answer had come yet; whether the request had been sent.
    Asked { leaf: u32, sent: bool },
    /// An answer came.
    Answered { leaf: u32, answer: Rc<dyn Any> },
}

/// What the process on a node was told since it began.
#[derive(Default)]
pub(super) struct Memory(RefCell<Notes>);

/// All that a process was told up to some instant. It may have been told more since, and shares what it was told before.
#[derive(Clone)]
pub(super) struct Told {
    inputs: Rc<RefCell<Vec<Input>>>,
    count: usize,
}

#[derive(Default)]
struct Notes {
    inputs: Rc<RefCell<Vec<Input>>>,
    /// The first of `inputs` that the process is yet to be told again; `None` while it lives.
    next: Option<usize>,
    /// Whether the process's memory is being built again.
    is_built: bool,
    /// The process's tasks, in the order of their start.
    tasks: Vec<TaskId>,
    leaves: u32,
    /// How to wake the leaves that a process waits for which is told everything again.
    wakers: BTreeMap<u32, Waker>,
}

impl Memory {
    /// A new process begins, with nothing in memory.
    pub(super) fn begin(&self) {
        *self.0.borrow_mut() = Notes::default();
    }

    /// A new process begins that is to be told all of `told` before it lives.
    pub(super) fn begin_with(&self, told: &Told) {
        let inputs = told.inputs.borrow()[..told.count].to_vec();
        let inputs = Rc::new(RefCell::new(inputs));
        *self.0.borrow_mut() = Notes { inputs, next: Some(0), is_built: true, ..Notes::default() };
    }

    /// It has come to where the snapshot was taken, and all of it lives.
    pub(super) fn end_building(&self) {
        self.0.borrow_mut().is_built = false;
    }

    /// Whether it is still being built again. One of its tasks may live already, in the middle of its turn.
    pub(super) fn is_being_built(&self) -> bool {
        self.0.borrow().is_built
    }

    /// All that the process was told so far.
    pub(super) fn told(&self) -> Told {
        let inputs = self.0.borrow().inputs.clone();
        let count = inputs.borrow().len();
        Told { inputs, count }
    }

    /// The process has started one more task.
    pub(super) fn add_task(&self, task: TaskId) {
        self.0.borrow_mut().tasks.push(task);
    }

    /// The process's n-th task.
    pub(super) fn task(&self, place: u32) -> Option<TaskId> {
        self.0.borrow().tasks.get(place as usize).copied()
    }

    pub(super) fn tasks(&self) -> Vec<TaskId> {
        self.0.borrow().tasks.clone()
    }

    /// A number for the next leaf.
    pub(super) fn number_leaf(&self) -> u32 {
        let mut notes = self.0.borrow_mut();
        notes.leaves += 1;
        notes.leaves - 1
    }

    /// Notes what a living process is told.
    pub(super) fn note(&self, input: Input) {
        self.0.borrow().inputs.borrow_mut().push(input);
    }

    /// It is the turn of `task`, if it is one of the process's and that lives.
    pub(super) fn note_turn(&self, task: TaskId) {
        let notes = &mut *self.0.borrow_mut();
        if notes.next.is_some() {
            return;
        }
        if let Some(place) = notes.tasks.iter().rposition(|one| *one == task) {
            notes.inputs.borrow_mut().push(Input::Turn(place as u32));
        }
    }

    /// What the process is told next, if it is told everything again; at the end it lives.
    pub(super) fn recall(&self) -> Option<Input> {
        let notes = &mut *self.0.borrow_mut();
        let next = notes.next?;
        let input = notes.inputs.borrow().get(next).cloned();
        notes.next = input.is_some().then_some(next + 1);
        input
    }

    /// Whether the process is told everything again.
    pub(super) fn is_recalling(&self) -> bool {
        self.0.borrow().next.is_some()
    }

    /// A leaf waits of a process that is told everything again.
    pub(super) fn waits(&self, leaf: u32, waker: &Waker) {
        let earlier = self.0.borrow_mut().wakers.insert(leaf, waker.clone());
        drop(earlier);
    }

    /// A leaf of such a process is over.
    pub(super) fn is_over(&self, leaf: u32) {
        let waker = self.0.borrow_mut().wakers.remove(&leaf);
        drop(waker);
    }

    /// The wakers of the leaves that the turn which now comes is about, in the order in which it comes to them. Whatever
    /// polls only those that were woken must hear of them, and of no other.
    pub(super) fn woken_in_turn(&self) -> Vec<Waker> {
        let notes = &*self.0.borrow();
        let inputs = notes.inputs.borrow();
        let turn = notes.next.and_then(|next| inputs.get(next..)).unwrap_or_default();
        let leaf = |input: &Input| match *input {
            Input::Slept { leaf, .. } | Input::Asked { leaf, .. } | Input::Answered { leaf, .. } => Some(leaf),
            _ => None,
        };
        let turn = turn.iter().take_while(|input| !matches!(input, Input::Turn(_)));
        turn.filter_map(leaf).filter_map(|leaf| notes.wakers.get(&leaf).cloned()).collect()
    }

    /// The wakers of all leaves that the process still waits for, in their order.
    pub(super) fn all_wakers(&self) -> Vec<Waker> {
        std::mem::take(&mut self.0.borrow_mut().wakers).into_values().collect()
    }
}

/// The process did something else than the first time.
#[cold]
pub(super) fn strayed() -> ! {
    misused(
        "the worker's code did something else when its memory was built again from a snapshot; it must depend on \
         nothing but its worker: its clocks, its sleeps, its calls; not on random bytes, nor on the order of a `HashMap`",
    )
}
