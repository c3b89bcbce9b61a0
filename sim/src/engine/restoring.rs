//! Snapshots of workers' machines, and what it is to go on from one.

use std::rc::Rc;
use std::task::Waker;

use super::discipline::DaemonImage;
use super::memory::{Input, Memory, Told, strayed};
use super::process::{Errand, Stage};
use super::queue::Due;
use super::tasks::Wakeup;
use super::{Node, World};
use crate::clock::{Clock, ClockLine, Segment};
use crate::fault::{Needs, PlannedFault, WorkerTask};
use crate::history::{Role, What};
use crate::id::{EventId, NodeId};
use crate::time::Span;
use crate::world::{ClockSpec, WorldSpec, worker_node};

/// A machine at an instant.
pub(super) struct Snapshot {
    /// The beginning of the fault that took it.
    taken: EventId,
    /// What the clocks read.
    clocks: Segment,
    daemon: Option<DaemonImage>,
    process: Image,
}

/// A worker's process at an instant.
enum Image {
    /// It ran, and had been told this; and if it had been told to stop, so long it had left.
    Running(Told, Option<Span>),
    /// It had finished, or was gone for good.
    Over,
    /// There was none: it hadn't begun, or was to begin anew.
    None,
}

impl World {
    /// The node that a copy of the worker on `node` would have, if the plan may make one.
    pub(crate) fn copy_of(&self, node: NodeId) -> Option<NodeId> {
        self.copies.iter().find(|(of, _)| *of == node).map(|(_, copy)| *copy)
    }

    /// Takes a snapshot of the machine on `node`.
    pub(crate) fn take_snapshot(&self, node: NodeId) {
        let owner = self.node(node);
        let (Some(memory), Some(taken)) = (owner.memory.as_deref(), self.cause()) else {
            unreachable!("a snapshot is taken by a fault that needs the memory, and has begun");
        };
        let process = match self.stage(node) {
            Stage::Alive => Image::Running(memory.told(), self.time_to_stop(node)),
            Stage::Over => Image::Over,
            Stage::Unborn | Stage::Late | Stage::Dead => Image::None,
        };
        let clocks = owner.clocks.borrow().current().cut(self.now());
        let daemon = self.daemon_image(node);
        *owner.snapshot.borrow_mut() = Some(Rc::new(Snapshot { taken, clocks, daemon, process }));
    }

    /// Has the machine on `node`, or a copy `beside` it, go on from the newest snapshot; from nothing if there is none.
    pub(crate) fn restore(&self, node: NodeId, beside: bool) {
        let Some(snapshot) = self.node(node).snapshot.borrow().clone() else { return };
        let seat = if beside { self.copy_of(node).expect("the plan needs a node for a copy") } else { node };
        let owner = self.node(seat);
        owner.begin_life();
        // What waited for the end of a pause finds nobody there.
        self.release_held(owner);
        self.end_process(seat);
        owner.be_up();
        self.forget_stop(seat);
        self.rewind_clocks(seat, &snapshot.clocks);
        if let Image::Running(told, _) = &snapshot.process {
            self.enlist(seat);
            let restored = self.record(seat, What::WorkerRestored { of: node, snapshot: snapshot.taken });
            owner.memory.as_deref().expect("whoever can be restored remembers").begin_with(told);
            owner.restored.set(Some(restored));
        }
        self.put_daemon_back(seat, snapshot.daemon);
        match &snapshot.process {
            Image::Running(_, time_to_stop) => {
                self.push(self.now(), Due::Recall(seat));
                if let Some(left) = *time_to_stop {
                    owner.stops.set(Some((self.now() + left, owner.incarnation.get())));
                    self.push(self.now() + left, Due::Stop(seat));
                }
            }
            Image::Over => self.give_up_on(seat),
            // A copy of a machine that nothing runs on is one that nothing runs on.
            Image::None if beside => {}
            // The machine comes up without a process, so a new one begins, unless its first is yet to.
            Image::None if matches!(self.stage(seat), Stage::Unborn | Stage::Late) => {}
            Image::None => self.begin_on(seat),
        }
        self.wake_host_agent(seat);
    }

    /// The clocks of `node` read what they read at a snapshot, and go on from there.
    fn rewind_clocks(&self, node: NodeId, then: &Segment) {
        let owner = self.node(node);
        let behind = Span::nanos(self.read_clock(node, Clock::Wall).saturating_sub(then.wall.as_nanos()));
        owner.lost.set((owner.lost.get() + behind).max(Span::ZERO));
        self.change_clocks(node, |segment| {
            *segment = Segment {
                from: segment.from,
                drift: segment.drift,
                slew: segment.slew,
                motion: segment.motion,
                since: segment.since,
                ..*then
            }
        });
    }

    /// Builds the memory of the process on `node` again, from which it then goes on.
    pub(super) fn recall(&self, node: NodeId) {
        let owner = self.node(node);
        if owner.is_paused() {
            return owner.held.borrow_mut().push(Due::Recall(node));
        }
        let (Some(restored), Some(memory)) = (owner.restored.take(), owner.memory.as_deref()) else { return };
        self.set_cause(Some(restored));
        let Errand { work, stop } = self.new_errand(node);
        self.expect_stop(node, stop);
        self.start_task(node, WorkerTask::Work, work);
        let life = owner.incarnation.get();
        while let Some(input) = memory.recall() {
            // To tell it all again is work that a run has to be bounded by.
            if !self.spend_step() {
                return;
            }
            match input {
                Input::Turn(place) => self.recall_turn(memory, place),
                Input::Stop => self.stop_again(node),
                _ => strayed(),
            }
            // In its last turn it may live already, and pass a point where it is killed or put back once more.
            if owner.incarnation.get() != life {
                return;
            }
        }
        memory.end_building();
        self.hear_stop(node);
        self.wake_all(owner, memory);
    }

    /// Whether a task of the process on `node` that has come to where the snapshot was taken goes no further for now: its
    /// memory is still being built, and the task stands still.
    pub(super) fn holds_back(&self, memory: &Memory, node: NodeId) -> bool {
        memory.is_being_built() && self.node(node).halts_task(self.tasks.running_kind())
    }

    /// The process on `node` had been told to stop before it was put back, and its time is over.
    pub(super) fn stop_in_time(&self, node: NodeId) {
        let owner = self.node(node);
        // Who ends it is on the same machine.
        if !owner.takes_messages() {
            return owner.held.borrow_mut().push(Due::Stop(node));
        }
        if owner.stops.get().is_some_and(|(at, life)| at <= self.now() && life == owner.incarnation.get()) {
            owner.stops.set(None);
            self.end_for_good(node);
        }
    }

    /// It is again the turn of the process's task that was started as number `place`.
    fn recall_turn(&self, memory: &Memory, place: u32) {
        let task = memory.task(place).unwrap_or_else(|| strayed());
        memory.woken_in_turn().into_iter().for_each(Waker::wake);
        self.give_turn(&self.tasks.get(task));
    }

    /// Whatever the process waits for, it looks at it anew: the sleeps by the clocks that it has now, and the connections,
    /// which are broken. In which order its tasks do so is drawn as after a pause.
    fn wake_all(&self, owner: &Node, memory: &Memory) {
        memory.all_wakers().into_iter().for_each(Waker::wake);
        let tasks = memory.tasks();
        for task in &tasks {
            self.tasks.wake(Wakeup::Task(*task));
        }
        self.tasks.withdraw(&tasks);
        *owner.parked.borrow_mut() = self.tasks.unfinished(tasks);
        self.resume_tasks(owner);
    }

    /// What the process on `node` was told, if that is noted. What is left of a process that was ended in the middle of its
    /// turn is told nothing any more.
    #[inline]
    pub(super) fn memory(&self, node: NodeId) -> Option<&Memory> {
        if !self.remembers {
            return None;
        }
        self.node(node).memory.as_deref().filter(|_| !self.tasks.runs_on_dead())
    }

    /// Whether the process whose turn it is was ended in the middle of that, and its machine may be up again.
    #[inline]
    pub(super) fn is_ended(&self) -> bool {
        self.remembers && self.tasks.runs_on_dead()
    }

    /// Whether the process on `node` is told again what it was told before.
    #[inline]
    pub(crate) fn is_recalling(&self, node: NodeId) -> bool {
        self.memory(node).is_some_and(Memory::is_recalling)
    }

    #[cold]
    pub(super) fn tell_noted_time(&self, memory: &Memory, node: NodeId, clock: Clock) -> i64 {
        match memory.recall() {
            Some(Input::Reading(reading)) => reading,
            Some(_) => strayed(),
            None => {
                let reading = self.read_clock(node, clock);
                memory.note(Input::Reading(reading));
                reading
            }
        }
    }
}

/// What the draws of a copy go by instead of its node: a name that no other node has, whatever other copies there are.
const COPY: u16 = 0x8000;

/// The node of whose copy these are the draws, if it is a copy's.
pub(super) fn copied(draws_as: NodeId) -> Option<NodeId> {
    (draws_as.0 & COPY != 0).then_some(NodeId(draws_as.0 & !COPY))
}

/// The nodes of a world, and which of them are for copies of which.
pub(super) fn make_nodes(spec: &WorldSpec, plan: &[PlannedFault]) -> (Vec<Node>, Vec<(NodeId, NodeId)>) {
    let clocks = |clock: &ClockSpec| ClockLine::new(spec.start + clock.offset, clock.drift);
    let services = [Role::LeaseStore, Role::Ledger, Role::Provider];
    let services = services.into_iter().zip(crate::world::SERVICE_NAMES).zip(0..).map(|((role, name), index)| {
        let node = NodeId(index);
        Node::new(name.to_owned(), role, node, clocks(&spec.service_clock(node)), false)
    });
    let replicas = spec.replicas();
    let (remembering, copied) = (who_needs(plan, |needs| needs.memory), who_needs(plan, |needs| needs.copy));
    let workers = spec.workers.iter().zip(0..).map(|(worker, index)| {
        let node = worker_node(index);
        let remembers = remembering.binary_search(&node).is_ok();
        Node::new(worker.name.clone(), Role::Worker, node, clocks(&worker.clock), remembers)
    });
    let operators = spec.operators.iter().enumerate().map(|(index, operator)| {
        let node = spec.operator_node(index);
        Node::new(operator.name.clone(), Role::Operator, node, clocks(&operator.clock), false)
    });
    let mut nodes: Vec<Node> = services.chain(workers).chain(operators).collect();
    for (node, index) in replicas.into_iter().zip(0..) {
        let name = crate::world::replica_name(index);
        match nodes.get_mut(node.index()) {
            Some(first) => first.name = name,
            None => nodes.push(Node::new(name, Role::LeaseStore, node, clocks(&spec.service_clock(node)), false)),
        }
    }
    let mut copies = Vec::new();
    for (worker, index) in spec.workers.iter().zip(0..) {
        let node = worker_node(index);
        if copied.binary_search(&node).is_ok() {
            copies.push((node, NodeId(nodes.len() as u16)));
            let name = format!("{}(2)", worker.name);
            nodes.push(Node::new(name, Role::Worker, NodeId(COPY | node.0), clocks(&worker.clock), true));
        }
    }
    (nodes, copies)
}

/// The nodes of which a fault of the plan needs something, in their order.
fn who_needs(plan: &[PlannedFault], what: impl Fn(&Needs) -> bool) -> Vec<NodeId> {
    let needy = plan.iter().map(|planned| &planned.inject).filter(|inject| what(&inject.needs()));
    let mut nodes: Vec<NodeId> = needy.map(|inject| inject.node()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
