//! The state of a running world, and the loop that drives it.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::task::Waker;

use super::call::{AnyHouse, CallId};
use super::network::Network;
use super::peers::AnyPeers;
use super::process::Process;
use super::queue::{Due, Item, Queue};
use super::restoring::make_nodes;
use super::strikes::Awaited;
use super::tasks::{Task, TaskHandle, Tasks, Wakeup, Work};
use super::timers::Timers;
use super::{Address, Node, Service};
use crate::clock::{Clock, Deadline, Segment};
use crate::fault::{Anchor, Injector, PlannedFault, WorkerTask};
use crate::history::{Event, NodeRecord, Recorder, Row, What};
use crate::host::Clocks;
use crate::id::{Epoch, EventId, ExportId, MessageId, NodeId, TaskId};
use crate::limits::{Ending, Limits};
use crate::seed::Seed;
use crate::time::{Span, TrueTime, WallTime};
use crate::world::WorldSpec;

/// A running world. Everything in it belongs to one thread and one run.
pub(crate) struct World {
    pub(crate) seed: Seed,
    start: WallTime,
    limits: Limits,
    host: Clocks,
    now: Cell<TrueTime>,
    steps_left: Cell<u64>,
    queue: RefCell<Queue>,
    pub(super) tasks: Tasks,
    pub(super) timers: RefCell<Timers>,
    pub(super) network: RefCell<Network>,
    /// How long a caller waits for an answer, by its monotonic clock.
    pub(super) timeout: Span,
    nodes: Vec<Node>,
    /// Whether what any process is told is noted, to be seen at a glance.
    pub(super) remembers: bool,
    /// The workers that a fault of the plan may copy, each with its copy's node.
    pub(super) copies: Vec<(NodeId, NodeId)>,
    /// The workers' processes.
    pub(super) processes: RefCell<Vec<Process>>,
    /// The services.
    pub(super) houses: RefCell<Vec<Box<dyn AnyHouse>>>,
    /// The replicas of a service that is several, if there is one.
    pub(super) peers: OnceCell<Rc<dyn AnyPeers>>,
    pub(super) injector: RefCell<Injector>,
    pub(super) awaited: Awaited,
    pub(crate) recorder: RefCell<Recorder>,
    cause: Cell<Option<EventId>>,
    /// The node whose code runs, to say where a panic came from.
    active: Cell<NodeId>,
    epochs: Cell<u32>,
    /// How many workers and operators do something still, or will.
    pub(super) workers_at_work: Cell<usize>,
    /// Whether a worker's process was ended, so that something may be under way that nobody waits for.
    pub(super) someone_died: Cell<bool>,
    /// Whether the run is over: what heals now heals for the record only.
    pub(super) is_over: Cell<bool>,
}

impl World {
    /// A world at its start; its services and workers are yet to move in.
    pub(crate) fn new(host: Clocks, spec: &WorldSpec, plan: Rc<[PlannedFault]>, seed: Seed) -> Rc<World> {
        let (nodes, copies) = make_nodes(spec, &plan);
        let remembers = nodes.iter().any(|node| node.memory.is_some());
        let draws_as = nodes.iter().map(|node| node.draws_as).collect();
        let network = Network::new(seed, spec.network, crate::world::PROVIDER, draws_as);
        let mut queue = Queue::default();
        let injector = Injector::new(plan.clone(), &mut queue);
        let world = Rc::new(World {
            seed,
            start: spec.start,
            limits: spec.limits,
            host,
            now: Cell::new(TrueTime::START),
            steps_left: Cell::new(spec.limits.steps),
            queue: RefCell::new(queue),
            tasks: Tasks::default(),
            timers: RefCell::default(),
            network: RefCell::new(network),
            timeout: spec.network.timeout,
            nodes,
            remembers,
            copies,
            processes: RefCell::default(),
            houses: RefCell::default(),
            peers: OnceCell::new(),
            awaited: Awaited::by(&injector),
            injector: RefCell::new(injector),
            recorder: RefCell::new(Recorder::new()),
            cause: Cell::new(None),
            active: Cell::new(NodeId(0)),
            epochs: Cell::new(0),
            workers_at_work: Cell::new(spec.workers.len() + spec.operators.len()),
            someone_died: Cell::new(false),
            is_over: Cell::new(false),
        });
        for planned in plan.iter() {
            if let Anchor::At(strike) = planned.when {
                planned.inject.prepare(&world, strike);
            }
        }
        world.start_daemons(spec);
        world
    }

    /// Puts a service on its node.
    pub(crate) fn house<S: Service>(&self, node: NodeId, service: S) -> Address<S> {
        let mut houses = self.houses.borrow_mut();
        let reach = self.injector.borrow().reach_into_the_past(node);
        let address = Address::new(houses.len() as u16, node, service, reach);
        houses.push(address.house());
        address
    }

    /// Runs until nothing is left to do, or a limit is hit.
    // Never inlined, so that the loop has the processor's registers for itself.
    #[inline(never)]
    pub(crate) fn drive(&self) -> Ending {
        // Nobody moves in once the run has begun.
        let houses = &**self.houses.borrow();
        loop {
            self.run_ready_tasks();
            if self.steps_left.get() == 0 {
                return Ending::StepsUsedUp;
            }
            let all_done = self.is_all_done();
            // Whoever finishes waits for all that it asked for; what the dead asked for is still to happen.
            if all_done && !self.someone_died.get() {
                return Ending::Finished;
            }
            let Some(item) = self.queue.borrow_mut().pop() else {
                return if all_done { Ending::Finished } else { Ending::Stuck };
            };
            if item.at > self.limits.end {
                self.advance_to(self.limits.end);
                return Ending::TimeUp;
            }
            self.advance_to(item.at);
            self.handle(houses, item);
        }
    }

    /// Whether every worker is done, and every fault has had its time.
    pub(super) fn is_all_done(&self) -> bool {
        self.workers_at_work.get() == 0 && !self.injector.borrow().has_scheduled()
    }

    /// Does what is due: the three things that are due again and again. What is left has a way of its own, so that it
    /// doesn't take the processor's registers from these.
    #[inline(always)]
    fn handle(&self, houses: &[Box<dyn AnyHouse>], item: Item) {
        self.set_cause(None);
        if let Some((call, is_answer)) = item.message() {
            let house = &*houses[usize::from(call.house)];
            if is_answer { house.answer(self, call) } else { house.request(self, call) }
        } else if let Some(slot) = item.timer() {
            let task = self.timers.borrow_mut().fire_for_task(slot, item.sequence);
            match task {
                Some(task) => self.tasks.wake_task(task),
                None if self.fire(slot, item.sequence) => {}
                None => return,
            }
        } else if !self.handle_the_rest(item) {
            return;
        }
        self.strike_awaited();
        self.spend_step();
    }

    /// Does what is due, and tells whether it was a step of the world.
    #[cold]
    fn handle_the_rest(&self, item: Item) -> bool {
        match item.due() {
            Due::Request(_) | Due::Answer(_) | Due::Timer(_) => unreachable!("those are done already"),
            Due::Finish(call) => self.at_house(call, |house| house.finish(self, call)),
            Due::Start(node) => self.start_worker(node),
            Due::Alarm(node) => return self.ring(node, item.sequence),
            Due::Strike(fault) => self.strike_when_due(fault),
            Due::Heal(fault) => self.heal(fault),
            Due::Beat(fault) => self.beat(fault),
            Due::Correct(node) => self.correct(node),
            Due::Poll(node) => self.poll_source(node),
            Due::Recall(node) => self.recall(node),
            Due::Stop(node) => self.stop_in_time(node),
            Due::Letter(slot) => self.at_peers(|peers| peers.deliver(self, slot)),
            Due::Tick(node) => self.at_peers(|peers| peers.tick(self, node)),
        }
        true
    }

    /// Fires a timer of whoever is no task, if it wasn't armed anew: that left this behind, which is no step of the world.
    #[cold]
    fn fire(&self, slot: u32, sequence: u64) -> bool {
        let fired = self.timers.borrow_mut().fire(slot, sequence);
        match fired {
            Some(Wakeup::Daemon(node, alarm)) => self.wake_daemon(node, alarm, slot),
            Some(Wakeup::Tick(node)) => self.at_peers(|peers| peers.time_to_tick(self, node)),
            Some(wakeup) => self.tasks.wake(wakeup),
            None => return false,
        }
        true
    }

    /// Does something with the replicas, if there are any.
    pub(super) fn at_peers(&self, visit: impl FnOnce(&dyn AnyPeers)) {
        if let Some(peers) = self.peers.get() {
            visit(&**peers);
        }
    }

    pub(super) fn each_house(&self, visit: impl Fn(&dyn AnyHouse)) {
        self.houses.borrow().iter().for_each(|house| visit(&**house));
    }

    pub(super) fn each_house_on(&self, node: NodeId, visit: impl Fn(&dyn AnyHouse)) {
        self.houses.borrow().iter().filter(|house| house.node() == node).for_each(|house| visit(&**house));
    }

    pub(super) fn at_house(&self, call: CallId, visit: impl FnOnce(&dyn AnyHouse)) {
        visit(&*self.houses.borrow()[usize::from(call.house)]);
    }

    fn run_ready_tasks(&self) {
        while let Some(task) = self.tasks.next_ready() {
            let owner = self.node(task.node);
            if owner.halts_task(task.kind) {
                owner.parked.borrow_mut().push(task.id);
                continue;
            }
            if !self.spend_step() {
                return;
            }
            self.give_turn(&task);
            self.strike_awaited();
        }
    }

    /// Polls `task`.
    #[inline]
    pub(super) fn give_turn(&self, task: &Task) {
        if let Some(memory) = self.memory(task.node) {
            memory.note_turn(task.id);
        }
        self.active.set(task.node);
        self.set_host_clocks();
        self.tasks.poll(task, self);
    }

    /// Heals what is still broken, lets go of everything that holds the world, and gives out what was recorded.
    pub(crate) fn wind_up(&self) -> (Vec<Event>, Vec<Vec<Row>>) {
        self.is_over.set(true);
        self.awaited.stop();
        let active = self.injector.borrow().active();
        for fault in active {
            self.set_cause(None);
            self.heal(fault);
        }
        self.processes.borrow_mut().clear();
        self.tasks.clear();
        self.queue.borrow_mut().clear();
        for node in &self.nodes {
            node.held.borrow_mut().clear();
        }
        self.recorder.borrow_mut().take()
    }

    /// The nodes for the history, when all is over.
    pub(crate) fn records(self: Rc<World>) -> Vec<NodeRecord> {
        match Rc::try_unwrap(self) {
            Ok(world) => world.nodes.into_iter().map(Node::into_record).collect(),
            // A protocol has kept a worker somewhere.
            Err(world) => world.nodes.iter().map(Node::record).collect(),
        }
    }

    #[inline]
    fn advance_to(&self, at: TrueTime) {
        self.now.set(self.now().max(at));
    }

    /// Has the host's clocks read what it is now, before code runs that may read them.
    #[inline]
    pub(super) fn set_host_clocks(&self) {
        self.host.advance_to(self.now());
    }

    /// Takes one of the steps that the run has left; `false` if there is none, and whoever asked must not go on.
    pub(crate) fn spend_step(&self) -> bool {
        let left = self.steps_left.get();
        self.steps_left.set(left.saturating_sub(1));
        left > 1
    }

    /// How long a caller waits for an answer.
    #[inline]
    pub(crate) fn timeout(&self) -> Span {
        self.timeout
    }

    /// The wall time at true time 0.
    pub(super) fn start(&self) -> WallTime {
        self.start
    }

    pub(crate) fn now(&self) -> TrueTime {
        self.now.get()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Whether a task runs, or did when it panicked.
    pub(crate) fn runs_task(&self) -> bool {
        self.tasks.runs_one()
    }

    /// How many nodes a plan can name: all but the copies of workers.
    pub(super) fn named_nodes(&self) -> usize {
        self.nodes.len() - self.copies.len()
    }

    /// The node whose code ran last.
    pub(crate) fn active(&self) -> NodeId {
        self.active.get()
    }

    /// The code of `node` runs now.
    #[inline]
    pub(super) fn set_active(&self, node: NodeId) {
        self.active.set(node);
    }

    /// Puts `due` into the queue and returns its number there.
    #[inline(always)]
    pub(crate) fn push(&self, at: TrueTime, due: Due) -> u64 {
        self.queue.borrow_mut().push(at, due)
    }

    /// Starts a task of `node` beside the one that its process began with.
    pub(crate) fn spawn(self: &Rc<Self>, node: NodeId, work: impl Future<Output = ()> + 'static) -> TaskHandle {
        TaskHandle::new(self, self.start_task(node, WorkerTask::Renewal, Box::pin(work)))
    }

    /// Starts a task of the process on `node`.
    pub(super) fn start_task(&self, node: NodeId, kind: WorkerTask, work: Work) -> TaskId {
        let task = self.tasks.spawn(node, kind, self.cause(), work);
        if let Some(memory) = &self.node(node).memory {
            memory.add_task(task);
        }
        task
    }

    /// What `clock` reads to the code of `node`.
    #[inline(always)]
    pub(crate) fn tell_time(&self, node: NodeId, clock: Clock) -> i64 {
        match self.memory(node) {
            None => self.read_clock(node, clock),
            Some(memory) => self.tell_noted_time(memory, node, clock),
        }
    }

    #[inline(always)]
    pub(crate) fn read_clock(&self, node: NodeId, clock: Clock) -> i64 {
        let owner = self.node(node);
        match owner.glance.read(clock, self.now()) {
            Some(reading) => reading,
            None => owner.clocks.borrow().current().read(clock, self.now()),
        }
    }

    /// Sets a timer for when `node` reaches `deadline`, and returns its slot; `None` if it has.
    #[inline(always)]
    pub(super) fn set_timer_ahead(&self, node: NodeId, deadline: Deadline, waker: &Waker) -> Option<u32> {
        let at = self.when(node, deadline);
        if at.is_some_and(|at| at <= self.now()) {
            return None;
        }
        // Most are of a task that waits itself and knows when, so those have a way of their own.
        if let (Some(at), Some(task)) = (at, self.tasks.task_of(waker)) {
            let mut timers = self.timers.borrow_mut();
            return Some(timers.set(&mut self.queue.borrow_mut(), Some(at), node, deadline, Wakeup::Task(task)));
        }
        Some(self.set_any_timer(at, node, deadline, self.tasks.wakeup(waker)))
    }

    #[inline(never)]
    fn set_any_timer(&self, at: Option<TrueTime>, node: NodeId, deadline: Deadline, wakeup: Wakeup) -> u32 {
        self.timers.borrow_mut().set(&mut self.queue.borrow_mut(), at, node, deadline, wakeup)
    }

    /// Sets a timer for when `node` reaches `deadline`, or for now if it has, and returns its slot.
    pub(super) fn set_timer(&self, node: NodeId, deadline: Deadline, wakeup: Wakeup) -> u32 {
        let at = self.when(node, deadline).map(|at| at.max(self.now()));
        self.set_any_timer(at, node, deadline, wakeup)
    }

    /// When `node` reaches `deadline` the way its clocks run now, or has reached it.
    #[inline]
    pub(super) fn when(&self, node: NodeId, Deadline { clock, reading }: Deadline) -> Option<TrueTime> {
        let owner = self.node(node);
        owner.glance.when(clock, reading).or_else(|| owner.clocks.borrow().current().when(clock, reading))
    }

    /// Gives a timer back.
    #[inline(never)]
    pub(super) fn release_timer(&self, slot: u32) {
        self.timers.borrow_mut().release(slot);
    }

    #[inline(always)]
    pub(super) fn draw_message(&self, from: NodeId, to: NodeId) -> (MessageId, Span) {
        let mut network = self.network.borrow_mut();
        (MessageId(network.next_message()), network.latency(from, to))
    }

    pub(super) fn next_epoch(&self) -> Epoch {
        self.epochs.set(self.epochs.get() + 1);
        Epoch(self.epochs.get())
    }
}

/// The history.
impl World {
    /// Records what happened on `node` now. It becomes the cause of what follows.
    // Inlined, and with nothing here that needs the event's address, so that it is written where it stays.
    #[inline(always)]
    pub(crate) fn record(&self, node: NodeId, what: What) -> EventId {
        let id = self.recorder.borrow_mut().record(self.now(), node, self.cause(), what);
        self.set_cause(Some(id));
        if self.awaited.tells() {
            self.tell(id);
        }
        id
    }

    /// Keeps the rows of an export that is about to be published.
    pub(crate) fn keep_export(&self, rows: Vec<Row>) -> ExportId {
        let exports = &mut self.recorder.borrow_mut().exports;
        exports.push(rows);
        ExportId((exports.len() - 1) as u32)
    }

    #[inline(always)]
    pub(super) fn cause(&self) -> Option<EventId> {
        self.cause.get()
    }

    #[inline(always)]
    pub(super) fn set_cause(&self, cause: Option<EventId>) {
        self.cause.set(cause);
    }

    /// Makes `event` the cause of what follows, unless that is already something later: a task that was resumed after
    /// the answer it waits for had arrived goes on because of the resumption.
    pub(super) fn cause_at_least(&self, event: EventId) {
        self.set_cause(self.cause().max(Some(event)));
    }
}

/// What the injector does to the world.
impl World {
    /// Messages that waited are due now, in the order in which they came.
    pub(super) fn release_held(&self, owner: &Node) {
        for due in owner.held.take() {
            self.push(self.now(), due);
        }
    }

    /// Changes the clocks of `node` from now on, and works its timers out anew.
    pub(crate) fn change_clocks(&self, node: NodeId, change: impl FnOnce(&mut Segment)) {
        let owner = self.node(node);
        let mut clocks = owner.clocks.borrow_mut();
        clocks.change_with(self.recorder.borrow().next_reading(), self.now(), change);
        owner.glance.look(clocks.current());
        self.timers.borrow_mut().rework(&mut self.queue.borrow_mut(), &clocks, self.now(), node);
        drop(clocks);
        self.rework_alarm(node);
    }
}
