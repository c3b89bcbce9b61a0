//! What faults do to the running of nodes and to their clocks.

use super::{Halt, Node, World};
use crate::clock::Motion;
use crate::history::What;
use crate::id::{FaultId, NodeId, TaskId};
use crate::seed::{Purpose, Stream};
use crate::time::Span;

impl World {
    /// Begins a halt of `node`, or ends one.
    pub(crate) fn pause(&self, node: NodeId, halt: Halt, begin: bool) {
        let owner = self.node(node);
        let (was_on_network, before) = (owner.takes_messages(), owner.motion());
        owner.halt(halt, begin);
        let motion = owner.motion();
        if motion != before {
            if before == Motion::Frozen {
                owner.lost.set(owner.lost.get() + (self.now() - owner.frozen_since.get()));
            }
            owner.frozen_since.set(self.now());
            self.change_clocks(node, |segment| segment.motion = motion);
        }
        self.go_on_from_write(node);
        match (was_on_network, owner.takes_messages()) {
            (true, false) => {
                self.each_house(|house| house.hold_back(self, node));
                self.at_peers(|peers| peers.hold_back(self, node));
            }
            (false, true) => {
                self.each_house(|house| house.let_go(self, node));
                self.at_peers(|peers| peers.let_go(self, node));
                self.release_held(owner);
                self.wake_daemon_up(node);
                self.wake_host_agent(node);
            }
            (true, true) => self.release_held(owner),
            (false, false) => {}
        }
        if !owner.is_paused() {
            // After what was held, so that an answer that had arrived wins over the timeout.
            self.rework_alarm(node);
            self.resume_tasks(owner);
        }
    }

    /// The process on `node` has used its quota up, as `fault` has it, or gets a new one.
    pub(crate) fn throttle(&self, node: NodeId, fault: FaultId, begin: bool) {
        self.record(node, if begin { What::Throttled { fault } } else { What::Unthrottled { fault } });
        self.pause(node, Halt::Stalled, begin);
    }

    /// Which of a node's tasks runs first after a pause is anybody's guess, so it is drawn. One that stands still for
    /// another reason is parked again when its turn comes.
    pub(super) fn resume_tasks(&self, owner: &Node) {
        let mut parked: Vec<TaskId> = owner.parked.take();
        if parked.len() > 1 {
            owner
                .resume_order
                .borrow_mut()
                .get_or_insert_with(|| Box::new(Stream::new(self.seed, Purpose::ResumeOrder(owner.draws_as))))
                .shuffle(&mut parked);
        }
        self.tasks.unpark(parked, self.cause());
    }

    /// Moves the wall clock of `node` by `by`.
    pub(crate) fn step(&self, node: NodeId, by: Span) {
        self.change_clocks(node, |segment| segment.step(by));
    }

    /// Bends the clocks of `node` by `ppb` parts per billion more than now.
    pub(crate) fn slew(&self, node: NodeId, ppb: i32) {
        self.node(node).add_slew(ppb);
        self.bend_clocks(node);
    }

    /// Has the oscillator of `node` run faster by `ppb` parts per billion than now.
    pub(crate) fn drift(&self, node: NodeId, ppb: i32) {
        self.node(node).add_drift(ppb);
        self.bend_clocks(node);
    }

    /// Has the clocks of `node` run as everything together bends them.
    pub(super) fn bend_clocks(&self, node: NodeId) {
        let (drift, slew) = self.node(node).rates();
        self.change_clocks(node, |segment| {
            segment.drift = drift;
            segment.slew = slew;
        });
    }
}
