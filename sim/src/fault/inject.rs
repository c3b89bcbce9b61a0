//! The injector: the only code that changes the world against its will.

use std::rc::Rc;

use super::{Anchor, Fault, PlannedFault};
use crate::engine::{Due, Queue};
use crate::id::{FaultId, NodeId};
use crate::point::Point;
use crate::time::{Span, TrueTime};

/// A fault that waits for a point to be passed.
struct Waiting {
    fault: FaultId,
    /// How many passings are still to come, the one at which it strikes among them.
    passings: u32,
}

/// A fault that is in force.
struct Active {
    fault: FaultId,
    /// How often something has happened in the middle of it.
    beats: u32,
}

/// Keeps account of which faults wait, which are in force, and which are queued.
pub(crate) struct Injector {
    plan: Rc<[PlannedFault]>,
    waiting: Vec<Waiting>,
    active: Vec<Active>,
    /// Strikes and healings that are in the queue.
    scheduled: usize,
}

impl Injector {
    /// Queues the faults that strike at a time; the others wait.
    pub(crate) fn new(plan: Rc<[PlannedFault]>, queue: &mut Queue) -> Injector {
        let mut injector = Injector { plan: plan.clone(), waiting: Vec::new(), active: Vec::new(), scheduled: 0 };
        for (index, planned) in plan.iter().enumerate() {
            let fault = FaultId(index as u16);
            match planned.when {
                Anchor::At(at) => {
                    queue.push(at, Due::Strike(fault));
                    injector.scheduled += 1;
                }
                Anchor::Point { nth, .. } => injector.waiting.push(Waiting { fault, passings: nth }),
            }
        }
        injector
    }

    /// Whether a fault is yet to strike at a time, or to heal.
    pub(crate) fn has_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    /// How far back faults may take what the service on `node` keeps on disk; `None` if none does.
    pub(crate) fn reach_into_the_past(&self, node: NodeId) -> Option<Span> {
        let of_node = self.plan.iter().filter(|planned| planned.inject.node() == node);
        of_node.filter_map(|planned| planned.inject.needs().past).max()
    }

    /// The faults that are in force.
    pub(crate) fn active(&self) -> Vec<FaultId> {
        self.active.iter().map(|active| active.fault).collect()
    }

    /// Whether a fault waits for a point to be passed.
    pub(crate) fn awaits_points(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// `node` passes `point` now: the faults that strike because of it, in the order of the plan.
    pub(crate) fn point_passed(&mut self, now: TrueTime, node: NodeId, point: Point) -> Vec<FaultId> {
        let mut struck = Vec::new();
        let plan = &self.plan;
        self.waiting.retain_mut(|waiting| {
            let Anchor::Point { point: name, node: only, after, .. } = &plan[waiting.fault.index()].when else {
                unreachable!("only faults that are anchored to a point wait");
            };
            if now >= *after && only.is_none_or(|only| only == node) && name == point.0 {
                waiting.passings = waiting.passings.saturating_sub(1);
            }
            if waiting.passings == 0 {
                struck.push(waiting.fault);
            }
            waiting.passings > 0
        });
        struck
    }

    /// What `fault` does.
    pub(crate) fn inject(&self, fault: FaultId) -> Fault {
        self.plan[fault.index()].inject.clone()
    }

    /// A fault strikes.
    pub(crate) fn begin(&mut self, fault: FaultId) {
        let planned = &self.plan[fault.index()];
        if matches!(planned.when, Anchor::At(_)) {
            self.scheduled -= 1;
        }
        self.active.push(Active { fault, beats: 0 });
        if planned.inject.lasting().is_some() {
            self.scheduled += 1;
        }
    }

    /// How often something has happened in the middle of `fault`; `None` if it isn't in force.
    pub(crate) fn beats(&mut self, fault: FaultId) -> Option<&mut u32> {
        self.active.iter_mut().find(|active| active.fault == fault).map(|active| &mut active.beats)
    }

    /// A fault has healed.
    pub(crate) fn end(&mut self, fault: FaultId) {
        let planned = &self.plan[fault.index()];
        self.active.retain(|active| active.fault != fault);
        if planned.inject.lasting().is_some() {
            self.scheduled -= 1;
        }
    }
}
