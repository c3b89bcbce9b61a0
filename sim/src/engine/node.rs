//! A node: its clocks, whether it runs, and what waits for it meanwhile.

use std::cell::{Cell, RefCell};

use super::queue::Due;
use crate::clock::{ClockLine, Motion, Rate};
use crate::history::Role;
use crate::id::TaskId;
use crate::seed::Stream;

/// How many pauses of each kind a node is in. Pauses compose: it runs again when the last has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    stalled: u32,
    suspended: u32,
    frozen: u32,
}

impl Pauses {
    fn count(&mut self, clocks: Motion) -> &mut u32 {
        match clocks {
            Motion::Running => &mut self.stalled,
            Motion::Suspended => &mut self.suspended,
            Motion::Frozen => &mut self.frozen,
        }
    }

    /// What the clocks do: the strongest kind wins.
    fn motion(self) -> Motion {
        match (self.frozen, self.suspended) {
            (0, 0) => Motion::Running,
            (0, _) => Motion::Suspended,
            _ => Motion::Frozen,
        }
    }
}

/// A node of a running world.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) clocks: RefCell<ClockLine>,
    pauses: Cell<Pauses>,
    /// The sum of the slews that are in force, in parts per billion. It may be beyond what a clock can be bent by.
    slews: Cell<i64>,
    /// How many restarts it is down for.
    down: Cell<u32>,
    /// Counts crashes; what a service had put off before one is lost with it.
    pub(crate) incarnation: Cell<u32>,
    /// Tasks that were woken during a pause.
    pub(crate) parked: RefCell<Vec<TaskId>>,
    /// Messages and unfinished requests that wait for the end of a pause.
    pub(crate) held: RefCell<Vec<Due>>,
    /// What the order of its tasks after a pause is drawn from; made when first used.
    pub(crate) resume_order: RefCell<Option<Box<Stream>>>,
}

impl Node {
    pub(crate) fn new(name: String, role: Role, clocks: ClockLine) -> Node {
        Node {
            name,
            role,
            clocks: RefCell::new(clocks),
            pauses: Cell::default(),
            slews: Cell::new(0),
            down: Cell::new(0),
            incarnation: Cell::new(0),
            parked: RefCell::default(),
            held: RefCell::default(),
            resume_order: RefCell::default(),
        }
    }

    /// Whether nothing of the node's code runs.
    pub(crate) fn is_paused(&self) -> bool {
        let Pauses { stalled, suspended, frozen } = self.pauses.get();
        stalled + suspended + frozen > 0
    }

    /// Whether its kernel takes in messages: a stall leaves it alive, a suspend or a freeze doesn't.
    pub(crate) fn takes_messages(&self) -> bool {
        self.pauses.get().motion() == Motion::Running
    }

    /// Begins a pause, or ends one, and returns what the clocks do from now on.
    pub(crate) fn pause(&self, clocks: Motion, begin: bool) -> Motion {
        let mut pauses = self.pauses.get();
        let count = pauses.count(clocks);
        *count = if begin { *count + 1 } else { *count - 1 };
        self.pauses.set(pauses);
        pauses.motion()
    }

    /// Adds a slew of `ppb` parts per billion, or takes one away, and returns what the clocks are bent by from now on:
    /// the sum of all, as far as a clock can be bent.
    pub(crate) fn slew(&self, ppb: i32) -> Rate {
        self.slews.set(self.slews.get() + i64::from(ppb));
        let most = i64::from(Rate::MAX_PPB);
        Rate::from_ppb(self.slews.get().clamp(-most, most) as i32).expect("it was just brought into range")
    }

    pub(crate) fn is_down(&self) -> bool {
        self.down.get() > 0
    }

    pub(crate) fn crash(&self) {
        self.down.set(self.down.get() + 1);
        self.incarnation.set(self.incarnation.get() + 1);
    }

    pub(crate) fn come_back(&self) {
        self.down.set(self.down.get() - 1);
    }
}
