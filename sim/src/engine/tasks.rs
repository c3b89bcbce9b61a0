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
use std::task::{Context, RawWakerVTable, Wake, Waker};

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

/// A task.
pub(super) struct Task {
    pub(super) id: TaskId,
    pub(super) node: NodeId,
    pub(super) kind: WorkerTask,
    /// `None` once it is done. It is borrowed while the task is being polled.
    work: RefCell<Option<Work>>,
    done: Cell<bool>,
    /// Whether the task is in the ready queue or parked, so that waking it twice runs it once.
    queued: Cell<bool>,
    state: Arc<TaskWaker>,
    waker: Waker,
    /// The newest event of this task: the cause of its next one.
    last: Cell<Option<EventId>>,
}

impl Task {
    /// Ends the task wherever it waits, and gives out what it was at: to be dropped when nothing is borrowed, because that may
    /// do anything. Nothing comes of a task that ends itself, which is dropped when its poll returns.
    fn end(&self) -> Option<Work> {
        self.done.set(true);
        self.take_work()
    }

    fn take_work(&self) -> Option<Work> {
        self.work.try_borrow_mut().ok()?.take()
    }
}

/// The poll of a task. If it panics the task is dropped at once, and not when the run is wound up.
struct Turn<'a>(&'a Task);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.0.take_work());
    }
}

/// How many times what is dropped at the end of a run may start tasks that are dropped as well.
const MOST_GENERATIONS: usize = 16;

/// A waker as it can be compared, without being one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Looks(*const (), *const RawWakerVTable);

impl Looks {
    #[inline]
    fn of(waker: &Waker) -> Looks {
        Looks(waker.data(), waker.vtable())
    }
}

/// All tasks of a run. Their places aren't reused: a task's ID is its own for the whole run.
#[derive(Default)]
pub(crate) struct Tasks {
    all: RefCell<Vec<Rc<Task>>>,
    /// The tasks that were woken, in the order of waking; [`Woken`] has the newest ones.
    ready: Ready,
    woken: Arc<Woken>,
    /// The task that is being polled, and its waker.
    running: Cell<Option<(TaskId, Looks)>>,
}

impl Tasks {
    /// Adds a task of `node` and makes it ready. Its first event will have `cause`.
    pub(crate) fn spawn(&self, node: NodeId, kind: WorkerTask, cause: Option<EventId>, work: Work) -> TaskId {
        let mut all = self.all.borrow_mut();
        let id = TaskId(all.len() as u32);
        let state = Arc::new(TaskWaker { task: id, listed: AtomicBool::new(false), woken: self.woken.clone() });
        all.push(Rc::new(Task {
            id,
            node,
            kind,
            work: RefCell::new(Some(work)),
            done: Cell::new(false),
            queued: Cell::new(true),
            waker: Waker::from(state.clone()),
            state,
            last: Cell::new(cause),
        }));
        drop(all);
        self.make_ready(id);
        id
    }

    /// The task `id`.
    pub(super) fn get(&self, id: TaskId) -> Rc<Task> {
        self.all.borrow()[id.index()].clone()
    }

    /// Ends a task.
    pub(crate) fn cancel(&self, task: TaskId) {
        drop(self.get(task).end());
    }

    /// Ends all tasks of `node`.
    pub(crate) fn cancel_all(&self, node: NodeId) {
        drop(self.end_those(|task| task.node == node));
    }

    /// Ends those that `are_meant`, and gives out what they were at.
    fn end_those(&self, are_meant: impl Fn(&Task) -> bool) -> Vec<Work> {
        let all = self.all.borrow();
        all.iter().filter(|task| are_meant(task) && !task.done.get()).filter_map(|task| task.end()).collect()
    }

    /// Drops all tasks. They hold the world that holds them, so a run must do this before it ends.
    pub(crate) fn clear(&self) {
        // Whoever is dropped may start another. If that goes on and on, what is left is never dropped.
        for _ in 0..MOST_GENERATIONS {
            let works = self.end_those(|_| true);
            if works.is_empty() {
                return;
            }
            drop(works);
        }
    }

    /// The next woken task.
    #[inline]
    pub(super) fn next_ready(&self) -> Option<Rc<Task>> {
        self.collect_woken();
        self.ready.pop().map(|task| self.get(task))
    }

    /// Takes `tasks` out of the ready queue. They count as woken until they are [unparked](Tasks::unpark).
    pub(crate) fn withdraw(&self, tasks: &[TaskId]) {
        self.collect_woken();
        self.ready.retain(|ready| !tasks.contains(&ready));
    }

    /// Those of `tasks` that aren't done.
    pub(crate) fn unfinished(&self, tasks: Vec<TaskId>) -> Vec<TaskId> {
        let all = self.all.borrow();
        tasks.into_iter().filter(|task| !all[task.index()].done.get()).collect()
    }

    /// Of which kind `task` is.
    pub(crate) fn kind(&self, task: TaskId) -> WorkerTask {
        self.all.borrow()[task.index()].kind
    }

    /// Of which kind the task is that runs; work, if none does.
    pub(crate) fn running_kind(&self) -> WorkerTask {
        self.running.get().map_or(WorkerTask::Work, |(task, _)| self.kind(task))
    }

    /// Whether a task runs, or was running when it panicked.
    pub(super) fn runs_one(&self) -> bool {
        self.running.get().is_some()
    }

    /// Whether the task that runs was ended in the middle of its turn.
    pub(crate) fn runs_on_dead(&self) -> bool {
        self.running.get().is_some_and(|(task, _)| self.all.borrow()[task.index()].done.get())
    }

    /// Makes parked tasks ready again, in this order; their next events are caused by `cause`.
    pub(crate) fn unpark(&self, parked: impl IntoIterator<Item = TaskId>, cause: Option<EventId>) {
        for task in parked {
            self.all.borrow()[task.index()].last.set(cause);
            self.make_ready(task);
        }
    }

    /// How to wake whoever polls with `waker`.
    #[inline]
    pub(crate) fn wakeup(&self, waker: &Waker) -> Wakeup {
        match self.task_of(waker) {
            Some(task) => Wakeup::Task(task),
            None => Wakeup::Waker(waker.clone()),
        }
    }

    /// The task that runs, if it is the one that `waker` wakes.
    #[inline]
    pub(super) fn task_of(&self, waker: &Waker) -> Option<TaskId> {
        self.running.get().filter(|(_, looks)| *looks == Looks::of(waker)).map(|(task, _)| task)
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
    #[inline(always)]
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
        self.all.borrow()[task.index()].queued.replace(true)
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
            self.all.borrow()[task.index()].state.listed.store(false, Ordering::Release);
            if !self.note_queued(task) {
                self.ready.push(task);
            }
        }
        self.woken.any.store(false, Ordering::Release);
    }

    /// Polls `task` once.
    #[inline]
    pub(super) fn poll(&self, task: &Task, world: &World) {
        task.queued.set(false);
        let turn = Turn(task);
        let mut work = task.work.borrow_mut();
        let Some(future) = &mut *work else { return };
        world.set_cause(task.last.get());
        self.running.set(Some((task.id, Looks::of(&task.waker))));
        let poll = future.as_mut().poll(&mut Context::from_waker(&task.waker));
        self.running.set(None);
        task.last.set(world.cause());
        drop(work);
        if poll.is_ready() || task.done.get() {
            task.done.set(true);
            drop(turn);
        } else {
            std::mem::forget(turn);
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
        while let Some(task) = tasks.next_ready() {
            task.queued.set(false);
        }
        tasks
    }

    fn ready(tasks: &Tasks) -> Vec<u32> {
        std::iter::from_fn(|| tasks.next_ready()).map(|task| task.id.0).collect()
    }

    fn waker(tasks: &Tasks, task: u32) -> Waker {
        tasks.get(TaskId(task)).waker.clone()
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
        tasks.running.set(Some((TaskId(1), Looks::of(&waker(&tasks, 1)))));
        assert!(matches!(tasks.wakeup(&waker(&tasks, 1)), Wakeup::Task(TaskId(1))));
        assert!(matches!(tasks.wakeup(&waker(&tasks, 0)), Wakeup::Waker(_)));
        assert!(matches!(tasks.wakeup(Waker::noop()), Wakeup::Waker(_)));
    }

    /// A task that waits for ever, and does `at_end` when it is dropped.
    fn ending(at_end: impl FnOnce() + 'static) -> Work {
        struct AtEnd<F: FnOnce()>(Option<F>);

        impl<F: FnOnce()> Drop for AtEnd<F> {
            fn drop(&mut self) {
                if let Some(at_end) = self.0.take() {
                    at_end();
                }
            }
        }

        let kept = AtEnd(Some(at_end));
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(kept);
        })
    }

    fn start(tasks: &Tasks, work: Work) -> TaskId {
        tasks.spawn(NODE, WorkerTask::Work, None, work)
    }

    /// Starts a task that starts another when it is dropped, and so on.
    fn start_one_after_another(tasks: &Rc<Tasks>, ended: Rc<Cell<usize>>, count: usize) {
        let them = tasks.clone();
        let next = move || {
            ended.set(ended.get() + 1);
            if count > 1 {
                start_one_after_another(&them, ended, count - 1);
            }
        };
        start(tasks, ending(next));
    }

    #[test]
    fn what_is_started_while_all_end_ends_with_them_but_not_for_ever() {
        for (count, expected) in [(1, 1), (3, 3), (MOST_GENERATIONS, MOST_GENERATIONS), (1_000, MOST_GENERATIONS)]
        {
            let (tasks, ended) = (Rc::new(Tasks::default()), Rc::new(Cell::new(0)));
            start_one_after_another(&tasks, ended.clone(), count);
            tasks.clear();
            assert_eq!(ended.get(), expected);
        }
    }

    #[test]
    fn all_end_even_if_one_panics_at_that() {
        let (tasks, ended) = (Tasks::default(), Rc::new(Cell::new(0)));
        let end = |ended: Rc<Cell<usize>>| move || ended.set(ended.get() + 1);
        start(&tasks, ending(end(ended.clone())));
        start(&tasks, ending(|| panic!("at its end")));
        start(&tasks, ending(end(ended.clone())));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tasks.clear())).expect_err("one panics");
        assert_eq!(ended.get(), 2);
    }

    #[test]
    fn of_tasks_that_end_together_one_that_is_cancelled_by_another_keeps_its_turn() {
        let (tasks, order) = (Rc::new(Tasks::default()), Rc::new(RefCell::new(Vec::new())));
        let (them, first, second) = (tasks.clone(), order.clone(), order.clone());
        start(
            &tasks,
            ending(move || {
                them.cancel(TaskId(1));
                first.borrow_mut().push(0);
            }),
        );
        start(&tasks, ending(move || second.borrow_mut().push(1)));
        tasks.cancel_all(NODE);
        assert_eq!(*order.borrow(), [0, 1]);
    }
}
