//! The workers' processes: they begin, finish, are told to stop, are killed, and begin again.

use super::World;
use super::queue::Due;
use super::tasks::Work;
use crate::fault::WorkerTask;
use crate::history::What;
use crate::id::NodeId;
use crate::time::TrueTime;

/// What a process does.
pub(crate) struct Errand {
    /// From its beginning.
    pub(crate) work: Work,
    /// Beside that, when it is told to stop; only where the plan has that.
    pub(crate) stop: Option<Work>,
}

/// Makes a new process's errand: it has nothing of the one before it.
pub(crate) type Again = Box<dyn Fn() -> Errand>;

/// How far a worker has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its process is yet to begin.
    Unborn,
    /// Its process should have begun while it was down, and begins when it no longer is.
    Late,
    /// Its process runs.
    Alive,
    /// Its process was killed, and another is yet to begin.
    Dead,
    /// It has finished, or will never begin again.
    Over,
}

/// A worker's process.
pub(super) struct Process {
    node: NodeId,
    stage: Stage,
    work: Option<Work>,
    stop: Option<Work>,
    again: Option<Again>,
    /// Whether it was told to stop; then none takes its place.
    is_told_to_stop: bool,
}

impl World {
    /// Has the worker on `node` begin its `errand` at `at`; `again` is what it does after a crash that it comes back from.
    pub(crate) fn start_later(&self, node: NodeId, at: TrueTime, errand: Errand, again: Option<Again>) {
        let Errand { work, stop } = errand;
        let (stage, work) = (Stage::Unborn, Some(work));
        self.processes.borrow_mut().push(Process { node, stage, work, stop, again, is_told_to_stop: false });
        self.push(at, Due::Start(node));
    }

    /// Runs `act` on the process of the worker on `node`.
    fn at_process<T>(&self, node: NodeId, act: impl FnOnce(&mut Process) -> T) -> T {
        let mut processes = self.processes.borrow_mut();
        act(processes.iter_mut().find(|process| process.node == node).expect("every worker has a process"))
    }

    /// The time has come for the worker on `node` to begin.
    pub(super) fn start_worker(&self, node: NodeId) {
        let down = self.node(node).is_down();
        let begins = self.at_process(node, |process| {
            let due = process.stage == Stage::Unborn;
            if due {
                process.stage = Stage::Late;
            }
            due && !down
        });
        if begins {
            self.begin(node);
        }
    }

    fn begin(&self, node: NodeId) {
        if self.at_process(node, |process| process.is_told_to_stop) {
            return self.give_up_on(node);
        }
        let work = self.at_process(node, |process| {
            process.stage = Stage::Alive;
            process.work.take().expect("a process has something to do before it begins")
        });
        self.record(node, What::WorkerStarted);
        self.tasks.spawn(node, WorkerTask::Work, self.cause(), work);
    }

    /// Notes that a worker has nothing more to do.
    pub(crate) fn worker_finished(&self, node: NodeId) {
        self.record(node, What::WorkerFinished);
        self.give_up_on(node);
    }

    /// Notes that the worker on `node` does nothing more.
    fn give_up_on(&self, node: NodeId) {
        let was = self.at_process(node, |process| std::mem::replace(&mut process.stage, Stage::Over));
        if was != Stage::Over {
            self.workers_at_work.set(self.workers_at_work.get() - 1);
        }
    }

    /// Kills the process on `node`; until [`World::revive`] none runs there, and if it is `for_ever` none ever will.
    pub(crate) fn kill(&self, node: NodeId, for_ever: bool) {
        let owner = self.node(node);
        owner.crash();
        // What waited for the end of a pause finds nobody there.
        self.release_held(owner);
        self.end_process(node);
        if for_ever {
            self.give_up_on(node);
        }
    }

    /// The process on `node` is gone, with all that it was about to do. What it had sent goes on without it.
    fn end_process(&self, node: NodeId) {
        let was_alive = self.at_process(node, |process| {
            let was_alive = process.stage == Stage::Alive;
            if was_alive {
                process.stage = Stage::Dead;
            }
            was_alive
        });
        if was_alive {
            self.someone_died.set(true);
            self.record(node, What::WorkerDied);
            self.tasks.cancel_all(node);
        }
    }

    /// Ends what [`World::kill`] began: a new process takes the place of the one that was killed.
    pub(crate) fn revive(&self, node: NodeId) {
        let owner = self.node(node);
        owner.come_back();
        if owner.is_down() || self.is_over.get() {
            return;
        }
        let begins = self.at_process(node, |process| {
            if process.stage == Stage::Dead {
                let again = process.again.as_ref().expect("a worker that comes back has something to do then");
                let Errand { work, stop } = again();
                (process.work, process.stop) = (Some(work), stop);
            }
            matches!(process.stage, Stage::Dead | Stage::Late)
        });
        if begins {
            self.begin(node);
        }
    }

    /// Tells the process on `node` to stop.
    pub(crate) fn tell_to_stop(&self, node: NodeId) {
        let stop = self.at_process(node, |process| {
            process.is_told_to_stop = true;
            process.stop.take().filter(|_| process.stage == Stage::Alive)
        });
        if let Some(stop) = stop {
            self.tasks.spawn(node, WorkerTask::Work, self.cause(), stop);
        }
    }

    /// The process on `node` ends, and none takes its place.
    pub(crate) fn end_for_good(&self, node: NodeId) {
        let owner = self.node(node);
        owner.incarnation.set(owner.incarnation.get() + 1);
        self.end_process(node);
        self.give_up_on(node);
    }
}
