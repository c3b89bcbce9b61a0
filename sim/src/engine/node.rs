//! A node: its clocks, whether it runs, and what waits for it meanwhile.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::discipline::{Daemon, Source};
use super::disk::Disk;
use super::glance::Glance;
use super::memory::Memory;
use super::queue::Due;
use super::restoring::{Snapshot, copied};
use super::timeouts::Waiting;
use crate::clock::{ClockLine, Motion, Rate};
use crate::fault::WorkerTask;
use crate::history::{NodeRecord, Role};
use crate::id::{EventId, FaultId, NodeId, TaskId};
use crate::seed::Stream;
use crate::time::{Span, TrueTime};

/// A way in which a node stands still. Ways compose: it runs again when the last has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Its processes stall; kernel, network and clocks live.
    Stalled,
    /// One kind of task stalls, the rest goes on.
    Task(WorkerTask),
    /// It is stopped and its network dead, while its clocks run on.
    CutOff,
    /// The same, and its clocks do what a suspend does.
    Suspended,
    /// The same, and its clocks stand still.
    Frozen,
}

/// In how many halts of each kind a node is.
#[derive(Clone, Copy, Debug, Default)]
struct Halts {
    stalled: u32,
    work: u32,
    renewal: u32,
    cut_off: u32,
    suspended: u32,
    frozen: u32,
}

impl Halts {
    fn count(&mut self, halt: Halt) -> &mut u32 {
        match halt {
            Halt::Stalled => &mut self.stalled,
            Halt::Task(WorkerTask::Work) => &mut self.work,
            Halt::Task(WorkerTask::Renewal) => &mut self.renewal,
            Halt::CutOff => &mut self.cut_off,
            Halt::Suspended => &mut self.suspended,
            Halt::Frozen => &mut self.frozen,
        }
    }

    /// Whether there is any.
    fn any(self) -> bool {
        self.all() || self.work + self.renewal > 0
    }

    /// Whether nothing runs.
    fn all(self) -> bool {
        self.stalled + self.cut_off + self.suspended + self.frozen > 0
    }

    fn task(self, task: WorkerTask) -> bool {
        self.all()
            || match task {
                WorkerTask::Work => self.work > 0,
                WorkerTask::Renewal => self.renewal > 0,
            }
    }

    fn network(self) -> bool {
        self.cut_off + self.suspended + self.frozen > 0
    }

    /// What the clocks do at an instant: what the strongest halt of that instant says. So a clock advances across halts
    /// that overlap by the time in which none of them has it stand still.
    fn motion(self) -> Motion {
        match (self.frozen, self.suspended) {
            (0, 0) => Motion::Running,
            (0, _) => Motion::Suspended,
            _ => Motion::Frozen,
        }
    }
}

/// What bends a node's clocks, in parts per billion. Sums may be beyond what a clock can be bent by.
#[derive(Clone, Copy, Debug, Default)]
struct Bends {
    /// The oscillator's rate error, with all that faults and migrations added.
    drift: i64,
    /// The slews by faults that are in force.
    slews: i64,
    /// The slew by the node's own time daemon.
    daemon: i64,
}

/// The nearest rate that a clock can be bent by.
fn nearest(ppb: i64) -> Rate {
    let most = i64::from(Rate::MAX_PPB);
    Rate::from_ppb(ppb.clamp(-most, most) as i32).expect("it was just brought into range")
}

/// A node of a running world.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Whose name its draws go by: its own, or for a copy one that doesn't depend on what other copies there are.
    pub(super) draws_as: NodeId,
    pub(crate) clocks: RefCell<ClockLine>,
    /// What they read now.
    pub(super) glance: Glance,
    halts: Cell<Halts>,
    /// Whether it is in any halt.
    is_halted: Cell<bool>,
    bends: Cell<Bends>,
    /// If they stand still, since when.
    pub(crate) frozen_since: Cell<TrueTime>,
    /// What its clocks lost by standing still, as far as nothing has set them since.
    pub(crate) lost: Cell<Span>,
    /// What sets its clocks, if anything does.
    pub(crate) daemon: RefCell<Option<Box<Daemon>>>,
    /// What its daemon would be told.
    pub(crate) source: Cell<Source>,
    /// How many faults it is down for.
    down: Cell<u32>,
    /// Of a worker, which those are: whoever is put back is up, and what had it down no longer counts.
    down_for: RefCell<Vec<FaultId>>,
    /// Counts its lives; what a service had put off in one that ended by a crash is lost with it.
    pub(crate) incarnation: Cell<u32>,
    /// Tasks that were woken during a pause.
    pub(crate) parked: RefCell<Vec<TaskId>>,
    /// Messages and unfinished requests that wait for the end of a pause.
    pub(crate) held: RefCell<Vec<Due>>,
    /// The calls that its code waits for, the oldest first.
    pub(super) waiting: RefCell<Vec<Waiting>>,
    /// What the alarm for the oldest of them is queued as; `None` if none is.
    pub(super) alarm: Cell<Option<u64>>,
    /// What the order of its tasks after a pause is drawn from; made when first used.
    pub(crate) resume_order: RefCell<Option<Box<Stream>>>,
    /// Where the service on it keeps what outlives its process.
    pub(super) disk: Disk,
    /// What its process was told, if a fault of the plan may ask for that.
    pub(super) memory: Option<Box<Memory>>,
    /// The newest snapshot of it.
    pub(super) snapshot: RefCell<Option<Rc<Snapshot>>>,
    /// That it was put back, if its process's memory is yet to be built again.
    pub(super) restored: Cell<Option<EventId>>,
    /// When its process has to have stopped that had been told to before it was put back; and in which life.
    pub(super) stops: Cell<Option<(TrueTime, u32)>>,
}

impl Node {
    /// Of one that `remembers`, what its process is told is noted.
    pub(super) fn new(name: String, role: Role, draws_as: NodeId, clocks: ClockLine, remembers: bool) -> Node {
        let bends = Bends { drift: i64::from(clocks.current().drift.as_ppb()), ..Bends::default() };
        let glance = Glance::default();
        glance.look(clocks.current());
        Node {
            name,
            role,
            draws_as,
            clocks: RefCell::new(clocks),
            glance,
            halts: Cell::default(),
            is_halted: Cell::default(),
            bends: Cell::new(bends),
            frozen_since: Cell::default(),
            lost: Cell::default(),
            daemon: RefCell::default(),
            source: Cell::default(),
            down: Cell::new(0),
            down_for: RefCell::default(),
            incarnation: Cell::new(0),
            parked: RefCell::default(),
            held: RefCell::default(),
            waiting: RefCell::default(),
            alarm: Cell::new(None),
            resume_order: RefCell::default(),
            disk: Disk::default(),
            memory: remembers.then(Box::default),
            snapshot: RefCell::default(),
            restored: Cell::default(),
            stops: Cell::default(),
        }
    }

    /// The node for the history.
    pub(super) fn record(&self) -> NodeRecord {
        let (clocks, copy_of) = (self.clocks.borrow().clone(), copied(self.draws_as));
        NodeRecord { name: self.name.clone(), role: self.role, clocks, copy_of }
    }

    /// The same, where nobody needs the node any more.
    pub(super) fn into_record(self) -> NodeRecord {
        let copy_of = copied(self.draws_as);
        NodeRecord { name: self.name, role: self.role, clocks: self.clocks.into_inner(), copy_of }
    }

    /// Whether nothing of the node's code runs.
    pub(crate) fn is_paused(&self) -> bool {
        self.is_halted.get() && self.halts.get().all()
    }

    /// Whether what comes to the service on it has to wait: nothing of its code runs, or its process hangs in a write.
    pub(super) fn has_all_wait(&self) -> bool {
        self.is_paused() || self.disk.hangs()
    }

    /// Whether its tasks of this kind stand still.
    pub(crate) fn halts_task(&self, task: WorkerTask) -> bool {
        self.is_halted.get() && self.halts.get().task(task)
    }

    /// Whether its network lives, and its kernel takes in messages: a stall leaves them alive, anything else doesn't.
    pub(crate) fn takes_messages(&self) -> bool {
        !self.is_halted.get() || !self.halts.get().network()
    }

    /// What its clocks do.
    pub(crate) fn motion(&self) -> Motion {
        self.halts.get().motion()
    }

    /// Begins a halt, or ends one.
    pub(crate) fn halt(&self, halt: Halt, begin: bool) {
        let mut halts = self.halts.get();
        let count = halts.count(halt);
        *count = if begin { *count + 1 } else { *count - 1 };
        self.halts.set(halts);
        self.is_halted.set(halts.any());
    }

    /// Adds a slew of `ppb` parts per billion, or takes one away.
    pub(crate) fn add_slew(&self, ppb: i32) {
        let bends = self.bends.get();
        self.bends.set(Bends { slews: bends.slews + i64::from(ppb), ..bends });
    }

    /// Adds to the oscillator's rate error, or takes away from it.
    pub(crate) fn add_drift(&self, ppb: i32) {
        let bends = self.bends.get();
        self.bends.set(Bends { drift: bends.drift + i64::from(ppb), ..bends });
    }

    /// Has the node's own time daemon slew by `ppb`; whether that is a change.
    pub(crate) fn set_daemon_slew(&self, ppb: i32) -> bool {
        let bends = self.bends.get();
        self.bends.set(Bends { daemon: i64::from(ppb), ..bends });
        bends.daemon != i64::from(ppb)
    }

    /// By how much its own time daemon slews, in parts per billion.
    pub(crate) fn daemon_slew(&self) -> i32 {
        self.bends.get().daemon as i32
    }

    /// The oscillator's rate error and the slew, each the sum of all that bends the clocks, as far as a clock can be
    /// bent.
    pub(crate) fn rates(&self) -> (Rate, Rate) {
        let Bends { drift, slews, daemon } = self.bends.get();
        (nearest(drift), nearest(slews + daemon))
    }

    pub(crate) fn is_down(&self) -> bool {
        self.down.get() > 0
    }

    pub(crate) fn crash(&self) {
        self.down.set(self.down.get() + 1);
        self.begin_life();
    }

    /// What is in the hands of its earlier lives isn't in those of the new one; its number.
    pub(super) fn begin_life(&self) -> u32 {
        self.incarnation.set(self.incarnation.get() + 1);
        self.incarnation.get()
    }

    pub(crate) fn come_back(&self) {
        self.down.set(self.down.get() - 1);
    }

    /// A crash of a worker, by `fault`.
    pub(super) fn crash_for(&self, fault: FaultId) {
        self.down_for.borrow_mut().push(fault);
        self.crash();
    }

    /// Ends what a crash by `fault` began; whether it was still down for that.
    pub(super) fn come_back_from(&self, fault: FaultId) -> bool {
        let mut down_for = self.down_for.borrow_mut();
        let Some(place) = down_for.iter().position(|one| *one == fault) else { return false };
        down_for.swap_remove(place);
        self.come_back();
        true
    }

    /// Is up again, whatever it was down for.
    pub(super) fn be_up(&self) {
        self.down_for.borrow_mut().clear();
        self.down.set(0);
    }
}
