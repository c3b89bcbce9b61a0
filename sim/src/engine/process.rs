//! The workers' processes: they begin, finish, are told to stop, are killed, and begin again.

use super::World;
use super::memory::{Input, strayed};
use super::queue::Due;
use super::tasks::Work;
use crate::fault::WorkerTask;
use crate::history::What;
use crate::id::{FaultId, NodeId};
use crate::time::{Span, TrueTime};

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
pub(super) enum Stage {
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
    /// By which faults, each with when it has to have stopped. One that was told before it was put back has none.
    told_by: Vec<(FaultId, TrueTime)>,
}

impl World {
    /// Has the copy of a worker that may come to `node` do what `again` gives it.
    pub(crate) fn expect_copy(&self, node: NodeId, again: Again) {
        let (stage, again) = (Stage::Over, Some(again));
        self.processes.borrow_mut().push(Process {
            node,
            stage,
            work: None,
            stop: None,
            again,
            is_told_to_stop: false,
            told_by: Vec::new(),
        });
    }

    /// Has the worker on `node` begin its `errand` at `at`; `again` is what it does after a crash that it comes back from.
    pub(crate) fn start_later(&self, node: NodeId, at: TrueTime, errand: Errand, again: Option<Again>) {
        let Errand { work, stop } = errand;
        let (stage, work) = (Stage::Unborn, Some(work));
        let (is_told_to_stop, told_by) = (false, Vec::new());
        self.processes.borrow_mut().push(Process { node, stage, work, stop, again, is_told_to_stop, told_by });
        self.push(at, Due::Start(node));
    }

    /// Runs `act` on the process of the worker on `node`.
    fn at_process<T>(&self, node: NodeId, act: impl FnOnce(&mut Process) -> T) -> T {
        let mut processes = self.processes.borrow_mut();
        act(processes.iter_mut().find(|process| process.node == node).expect("every worker has a process"))
    }

    /// The time has come for the worker on `node` to begin, or what kept it from that has ended.
    pub(super) fn start_worker(&self, node: NodeId) {
        self.at_process(node, |process| {
            if process.stage == Stage::Unborn {
                process.stage = Stage::Late;
            }
        });
        if !self.node(node).is_down() {
            self.begin_if_due(node);
        }
    }

    /// Has a process begin on `node` if one should run there and none does; where nothing runs, as soon as anything does.
    fn begin_if_due(&self, node: NodeId) {
        let stage = self.stage(node);
        if matches!(stage, Stage::Unborn | Stage::Alive | Stage::Over) {
            return;
        }
        let owner = self.node(node);
        if owner.is_paused() {
            owner.held.borrow_mut().push(Due::Start(node));
        } else if stage == Stage::Dead {
            self.begin_anew(node);
        } else {
            self.begin(node);
        }
    }

    /// Has a process begin on `node`, whose machine came up without any.
    pub(super) fn begin_on(&self, node: NodeId) {
        self.enlist(node);
        self.at_process(node, |process| process.stage = Stage::Dead);
        self.begin_if_due(node);
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
        if let Some(memory) = &self.node(node).memory {
            memory.begin();
        }
        self.start_task(node, WorkerTask::Work, work);
    }

    /// Notes that a worker has nothing more to do. Its process ends, with whatever another task of it was at.
    pub(crate) fn worker_finished(&self, node: NodeId) {
        self.record(node, What::WorkerFinished);
        self.give_up_on(node);
        self.tasks.cancel_all(node);
    }

    /// How far the worker on `node` has got.
    pub(super) fn stage(&self, node: NodeId) -> Stage {
        self.at_process(node, |process| process.stage)
    }

    /// There is a process on `node` from now on that isn't begun but put back.
    pub(super) fn enlist(&self, node: NodeId) {
        let was = self.at_process(node, |process| std::mem::replace(&mut process.stage, Stage::Alive));
        if was == Stage::Over {
            self.workers_at_work.set(self.workers_at_work.get() + 1);
        }
    }

    /// A new process begins on `node` in the place of one that is gone.
    fn begin_anew(&self, node: NodeId) {
        let Errand { work, stop } = self.new_errand(node);
        self.at_process(node, |process| (process.work, process.stop) = (Some(work), stop));
        self.begin(node);
    }

    /// What a new process on `node` does.
    pub(super) fn new_errand(&self, node: NodeId) -> Errand {
        self.at_process(node, |process| {
            process.again.as_ref().expect("a worker that comes back has something to do then")()
        })
    }

    /// The process on `node` remembers that it was told to stop: what it does about that.
    pub(super) fn stop_again(&self, node: NodeId) {
        let stop = self.at_process(node, |process| {
            process.is_told_to_stop = true;
            process.stop.take().unwrap_or_else(|| strayed())
        });
        self.start_task(node, WorkerTask::Work, stop);
    }

    /// The process that is to be on `node` doesn't know of being told to stop.
    pub(super) fn forget_stop(&self, node: NodeId) {
        self.at_process(node, |process| {
            (process.is_told_to_stop, process.stop) = (false, None);
            process.told_by.clear();
        });
    }

    /// The process on `node` does `stop` if it is told to stop.
    pub(super) fn expect_stop(&self, node: NodeId, stop: Option<Work>) {
        self.at_process(node, |process| process.stop = stop);
    }

    /// The process on `node`, whose memory was just built again, hears that it was told to stop meanwhile, if it was.
    pub(super) fn hear_stop(&self, node: NodeId) {
        if self.at_process(node, |process| !process.told_by.is_empty()) {
            self.begin_to_stop(node);
        }
    }

    /// The process on `node` does what it does when it is told to stop, if it runs and hasn't begun to before.
    fn begin_to_stop(&self, node: NodeId) {
        let stop = self.at_process(node, |process| process.stop.take().filter(|_| process.stage == Stage::Alive));
        if let Some(stop) = stop {
            if let Some(memory) = &self.node(node).memory {
                memory.note(Input::Stop);
            }
            self.start_task(node, WorkerTask::Work, stop);
        }
    }

    /// Notes that the worker on `node` does nothing more.
    pub(super) fn give_up_on(&self, node: NodeId) {
        let was = self.at_process(node, |process| std::mem::replace(&mut process.stage, Stage::Over));
        if was != Stage::Over {
            self.workers_at_work.set(self.workers_at_work.get() - 1);
        }
    }

    /// Kills the process on `node`, for `fault`; until [`World::revive`] none runs there, and if it is `for_ever` none ever
    /// will.
    pub(crate) fn kill(&self, node: NodeId, fault: FaultId, for_ever: bool) {
        let owner = self.node(node);
        owner.crash_for(fault);
        // What waited for the end of a pause finds nobody there.
        self.release_held(owner);
        self.end_process(node);
        if for_ever {
            self.give_up_on(node);
        }
    }

    /// The process on `node` is gone, with all that it was about to do. What it had sent goes on without it.
    pub(super) fn end_process(&self, node: NodeId) {
        self.node(node).restored.set(None);
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
    pub(crate) fn revive(&self, node: NodeId, fault: FaultId) {
        let owner = self.node(node);
        // Whoever was put back since is up already, and may be down for something else.
        if !owner.come_back_from(fault) || owner.is_down() || self.is_over.get() {
            return;
        }
        self.begin_if_due(node);
    }

    /// How long the process on `node` has until it must have stopped; `None` if it wasn't told to.
    pub(super) fn time_to_stop(&self, node: NodeId) -> Option<Span> {
        let until = self.at_process(node, |process| process.told_by.iter().map(|(_, until)| *until).min());
        let owner = self.node(node);
        let before_it_was_put_back =
            owner.stops.get().filter(|(_, life)| *life == owner.incarnation.get()).map(|(at, _)| at);
        until.into_iter().chain(before_it_was_put_back).min().map(|until| until - self.now())
    }

    /// Tells the process on `node` to stop within `time`, for `fault`.
    pub(crate) fn tell_to_stop(&self, node: NodeId, fault: FaultId, time: Span) {
        let until = self.now() + time;
        self.at_process(node, |process| {
            process.is_told_to_stop = true;
            process.told_by.push((fault, until));
        });
        self.begin_to_stop(node);
    }

    /// The process on `node` was told to stop by `fault`, and its time is over. One that was put back meanwhile was never
    /// told.
    pub(crate) fn end_shutdown(&self, node: NodeId, fault: FaultId) {
        if self.at_process(node, |process| process.told_by.iter().any(|(by, _)| *by == fault)) {
            self.end_for_good(node);
        }
    }

    /// The process on `node` ends, and none takes its place.
    pub(super) fn end_for_good(&self, node: NodeId) {
        let owner = self.node(node);
        owner.begin_life();
        self.end_process(node);
        self.give_up_on(node);
    }
}
