//! Async tasks on one thread: what a worker's code runs as.
//!
//! Wakers are ordinary ones, so any combinator works inside a task, without a line of unsafe code. Being ordinary they
//! must work from any thread, which costs locked instructions; so what the engine itself wakes, a timer or an answer,
//! goes by the task's number wherever that comes to the same ([`Wakeup`]).

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::World;
use super::discipline::Alarm;
use super::ready::Ready;
use crate::fault::WorkerTask;
use crate::id::{EventId, NodeId, TaskId};

/// What a task does.
pub(crate) type Work = Pin<Box<dyn Future<Output = ()>>>;

/// How to wake who waits.
pub(crate) enum Wakeup {
    /// The task itself waits.
    Task(TaskId),
    /// Something within the task waits that wants to be woken its own way.
    Waker(Waker),
    /// A node's time daemon waits, which is no task.
    Daemon(NodeId, Alarm),
    /// A replica waits for the time to look up, which is no task either.
    Tick(NodeId),
}

/// The tasks that were woken through their wakers and aren't in the ready queue yet, in the order of waking.
#[derive(Default)]
struct Woken {
    /// Whether there are any, to be seen without taking the lock.
    any: AtomicBool,
    tasks: Mutex<Vec<TaskId>>,
}

struct TaskWaker {
    task: TaskId,
    /// Whether the task is among the [`Woken`].
    listed: AtomicBool,
    woken: Arc<Woken>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.listed.swap(true, Ordering::AcqRel) {
            let mut tasks = self.woken.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            tasks.push(self.task);
            self.woken.any.store(true, Ordering::Release);
        }
    }
}

struct Slot {
    node: NodeId,
    kind: WorkerTask,
    /// `None` while the task is being polled, and once it is done.
    work: Option<Work>,
    done: bool,
    /// Whether the task is in the ready queue or parked, so that waking it twice runs it once.
    queued: bool,
    state: Arc<TaskWaker>,
    waker: Rc<Waker>,
    /// The newest event of this task: the cause of its next one.
    last: Option<EventId>,
}

impl Slot {
    /// Ends the task, and gives out what it was at.
    fn end(&mut self) -> Option<Work> {
        self.done = true;
        self.work.take()
    }
}

/// All tasks of a run. Slots aren't reused: a task's ID is its own for the whole run.
#[derive(Default)]
pub(crate) struct Tasks {
    slots: RefCell<Vec<Slot>>,
    /// The tasks that were woken, in the order of waking; [`Woken`] has the newest ones.
    ready: Ready,
    woken: Arc<Woken>,
    running: Cell<Option<TaskId>>,
}

impl Tasks {
    /// Adds a task of `node` and makes it ready. Its first event will have `cause`.
    pub(crate) fn spawn(&self, node: NodeId, kind: WorkerTask, cause: Option<EventId>, work: Work) -> TaskId {
        let mut slots = self.slots.borrow_mut();
        let task = TaskId(slots.len() as u32);
        let state = Arc::new(TaskWaker { task, listed: AtomicBool::new(false), woken: self.woken.clone() });
        let waker = Rc::new(Waker::from(state.clone()));
        slots.push(Slot { node, kind, work: Some(work), done: false, queued: true, state, waker, last: cause });
        drop(slots);
        self.make_ready(task);
        task
    }

    /// Ends a task wherever it waits. A task that ends itself is dropped when its poll returns.
    pub(crate) fn cancel(&self, task: TaskId) {
        let work = self.slots.borrow_mut()[task.index()].end();
        // Dropped only here: dropping a future may drop its timers, which is no time to hold the slots.
        drop(work);
    }

    /// Ends all tasks of `node` wherever they wait.
    pub(crate) fn cancel_all(&self, node: NodeId) {
        let of_node = |slot: &&mut Slot| slot.node == node && !slot.done;
        let works: Vec<_> = self.slots.borrow_mut().iter_mut().filter(of_node).map(Slot::end).collect();
        // Dropped only here, as in `cancel`.
        drop(works);
    }

    /// Drops all tasks. They hold the world that holds them, so a run must do this before it ends.
    pub(crate) fn clear(&self) {
        let works: Vec<_> = self.slots.borrow_mut().drain(..).map(|slot| slot.work).collect();
        drop(works);
    }

    /// The next woken task, with its node and its kind.
    #[inline]
    pub(crate) fn next_ready(&self) -> Option<(TaskId, NodeId, WorkerTask)> {
        self.collect_woken();
        let task = self.ready.pop()?;
        let Slot { node, kind, .. } = self.slots.borrow()[task.index()];
        Some((task, node, kind))
    }

    /// Takes `tasks` out of the ready queue. They count as woken until they are [unparked](Tasks::unpark).
    pub(crate) fn withdraw(&self, tasks: &[TaskId]) {
        self.collect_woken();
        self.ready.retain(|ready| !tasks.contains(&ready));
    }

    /// Those of `tasks` that aren't done.
    pub(crate) fn unfinished(&self, tasks: Vec<TaskId>) -> Vec<TaskId> {
        let slots = self.slots.borrow();
        tasks.into_iter().filter(|task| !slots[task.index()].done).collect()
    }

    /// Of which kind `task` is.
    pub(crate) fn kind(&self, task: TaskId) -> WorkerTask {
        self.slots.borrow()[task.index()].kind
    }

    /// Of which kind the task is that runs; work, if none does.
    pub(crate) fn running_kind(&self) -> WorkerTask {
        self.running.get().map_or(WorkerTask::Work, |task| self.kind(task))
    }

    /// Whether the task that runs was ended in the middle of its turn.
    pub(crate) fn runs_on_dead(&self) -> bool {
        self.running.get().is_some_and(|task| self.slots.borrow()[task.index()].done)
    }

    /// Makes parked tasks ready again, in this order; their next events are caused by `cause`.
    pub(crate) fn unpark(&self, parked: impl IntoIterator<Item = TaskId>, cause: Option<EventId>) {
        for task in parked {
            self.slots.borrow_mut()[task.index()].last = cause;
            self.make_ready(task);
        }
    }

    /// How to wake whoever polls with `waker`.
    pub(crate) fn wakeup(&self, waker: &Waker) -> Wakeup {
        match self.running.get() {
            Some(task) if self.slots.borrow()[task.index()].waker.will_wake(waker) => Wakeup::Task(task),
            _ => Wakeup::Waker(waker.clone()),
        }
    }

    /// Wakes who waits.
    pub(crate) fn wake(&self, wakeup: Wakeup) {
        match wakeup {
            Wakeup::Task(task) => self.wake_task(task),
            Wakeup::Waker(waker) => waker.wake(),
            Wakeup::Daemon(..) | Wakeup::Tick(_) => unreachable!("the world sees to those itself"),
        }
    }

    /// Wakes a task that waits itself. No code that isn't ours runs by this.
    #[inline]
    pub(crate) fn wake_task(&self, task: TaskId) {
        // Before it, those come that were woken before it.
        self.collect_woken();
        if !self.note_queued(task) {
            self.ready.push(task);
        }
    }

    /// Notes that `task` is queued, and says whether it was before.
    #[inline]
    fn note_queued(&self, task: TaskId) -> bool {
        std::mem::replace(&mut self.slots.borrow_mut()[task.index()].queued, true)
    }

    #[inline]
    fn make_ready(&self, task: TaskId) {
        self.collect_woken();
        self.ready.push(task);
    }

    /// Moves what was woken through wakers into the ready queue: before anything later goes there, or comes out.
    #[inline]
    fn collect_woken(&self) {
        if self.woken.any.load(Ordering::Acquire) {
            self.collect_woken_under_lock();
        }
    }

    #[cold]
    fn collect_woken_under_lock(&self) {
        let mut woken = self.woken.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for task in woken.drain(..) {
            self.slots.borrow()[task.index()].state.listed.store(false, Ordering::Release);
            if !self.note_queued(task) {
                self.ready.push(task);
            }
        }
        self.woken.any.store(false, Ordering::Release);
    }

    /// Polls a task once.
    pub(crate) fn poll(&self, task: TaskId, world: &World) {
        let (mut work, waker) = {
            let slot = &mut self.slots.borrow_mut()[task.index()];
            slot.queued = false;
            let Some(work) = slot.work.take() else { return };
            world.set_cause(slot.last);
            (work, slot.waker.clone())
        };
        self.running.set(Some(task));
        let poll = work.as_mut().poll(&mut Context::from_waker(&waker));
        self.running.set(None);
        let slot = &mut self.slots.borrow_mut()[task.index()];
        slot.last = world.cause();
        match poll {
            Poll::Pending if !slot.done => slot.work = Some(work),
            _ => slot.done = true,
        }
    }
}

/// A task that was started.
#[must_use = "the task goes on when the handle is dropped; keep it to be able to cancel it"]
pub struct TaskHandle {
    world: Weak<World>,
    task: TaskId,
}

impl TaskHandle {
    pub(crate) fn new(world: &Rc<World>, task: TaskId) -> TaskHandle {
        TaskHandle { world: Rc::downgrade(world), task }
    }

    /// Ends the task wherever it waits.
    pub fn cancel(self) {
        if let Some(world) = self.world.upgrade() {
            world.tasks.cancel(self.task);
        }
    }

    /// Lets the task go on by itself.
    pub fn detach(self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(3);

    /// Tasks that wait.
    fn waiting(count: u32) -> Tasks {
        let tasks = Tasks::default();
        for _ in 0..count {
            tasks.spawn(NODE, WorkerTask::Work, None, Box::pin(std::future::pending()));
        }
        while let Some((task, ..)) = tasks.next_ready() {
            tasks.slots.borrow_mut()[task.index()].queued = false;
        }
        tasks
    }

    fn ready(tasks: &Tasks) -> Vec<u32> {
        std::iter::from_fn(|| tasks.next_ready()).map(|(task, ..)| task.0).collect()
    }

    fn waker(tasks: &Tasks, task: usize) -> Waker {
        Waker::clone(&tasks.slots.borrow()[task].waker)
    }

    #[test]
    fn tasks_get_ready_in_the_order_of_waking_however_they_are_woken() {
        let tasks = waiting(5);
        tasks.wake(Wakeup::Task(TaskId(2)));
        waker(&tasks, 4).wake();
        waker(&tasks, 0).wake();
        tasks.wake(Wakeup::Task(TaskId(3)));
        tasks.wake(Wakeup::Waker(waker(&tasks, 1)));
        assert_eq!(ready(&tasks), [2, 4, 0, 3, 1]);
    }

    #[test]
    fn waking_a_task_twice_runs_it_once() {
        let tasks = waiting(2);
        tasks.wake(Wakeup::Task(TaskId(1)));
        waker(&tasks, 1).wake();
        waker(&tasks, 0).wake();
        tasks.wake(Wakeup::Task(TaskId(0)));
        assert_eq!(ready(&tasks), [1, 0]);
    }

    #[test]
    fn only_the_running_task_is_woken_by_its_number() {
        let tasks = waiting(2);
        assert!(matches!(tasks.wakeup(&waker(&tasks, 1)), Wakeup::Waker(_)));
        tasks.running.set(Some(TaskId(1)));
        assert!(matches!(tasks.wakeup(&waker(&tasks, 1)), Wakeup::Task(TaskId(1))));
        assert!(matches!(tasks.wakeup(&waker(&tasks, 0)), Wakeup::Waker(_)));
        assert!(matches!(tasks.wakeup(Waker::noop()), Wakeup::Waker(_)));
    }
}
