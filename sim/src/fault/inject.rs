//! The injector: the only code that changes the world against its will.

use std::rc::Rc;

use serde::Serialize;

use super::{Anchor, Fault, Links, PlannedFault};
use crate::engine::{Due, Queue};
use crate::history::Event;
use crate::id::{EventId, FaultId, NodeId};
use crate::point::Point;
use crate::time::{Span, TrueTime};

/// A fault that waits for a point to be passed, or for an event.
struct Waiting {
    fault: FaultId,
    /// How many times it is still to come, the one at which the fault strikes among them.
    times: u32,
}

impl Waiting {
    /// What it waits for has come once more: whether it goes on waiting.
    fn goes_on(&mut self) -> bool {
        self.times = self.times.saturating_sub(1);
        self.times > 0
    }
}

/// A fault that waits for another one.
struct Follower {
    fault: FaultId,
    leader: FaultId,
    /// For its end, and not for its beginning.
    end: bool,
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
    at_points: Vec<Waiting>,
    at_events: Vec<Waiting>,
    followers: Vec<Follower>,
    active: Vec<Active>,
    /// Strikes and healings that are in the queue.
    scheduled: usize,
    /// What set off the strikes in the queue that aren't there for their time.
    set_off: Vec<(FaultId, EventId)>,
}

impl Injector {
    /// Queues the faults that strike at a time; the others wait.
    pub(crate) fn new(plan: Rc<[PlannedFault]>, queue: &mut Queue) -> Injector {
        let mut injector = Injector {
            plan: plan.clone(),
            at_points: Vec::new(),
            at_events: Vec::new(),
            followers: Vec::new(),
            active: Vec::new(),
            scheduled: 0,
            set_off: Vec::new(),
        };
        for (index, planned) in plan.iter().enumerate() {
            let fault = FaultId(index as u16);
            match &planned.when {
                Anchor::At(at) => {
                    queue.push(*at, Due::Strike(fault));
                    injector.scheduled += 1;
                }
                Anchor::Point { nth, .. } => injector.at_points.push(Waiting { fault, times: *nth }),
                Anchor::Event { nth, .. } => injector.at_events.push(Waiting { fault, times: *nth }),
                Anchor::Fault { name, end, .. } => {
                    let leader = plan.iter().position(|other| other.name.as_ref() == Some(name));
                    // If there is no such fault, it never strikes.
                    let leader = leader.map(|index| FaultId(index as u16));
                    injector.followers.extend(leader.map(|leader| Follower { fault, leader, end: *end }));
                }
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
        !self.at_points.is_empty()
    }

    /// Whether a fault waits for an event.
    pub(crate) fn awaits_events(&self) -> bool {
        !self.at_events.is_empty()
    }

    /// Whether a fault waits for another one.
    pub(crate) fn awaits_faults(&self) -> bool {
        !self.followers.is_empty()
    }

    /// `node` passes `point` now: the faults that are set off by it, in the order of the plan.
    pub(crate) fn point_passed(&mut self, now: TrueTime, node: NodeId, point: Point) -> Vec<FaultId> {
        let plan = &self.plan;
        no_longer(&mut self.at_points, |waiting| {
            let Anchor::Point { point: name, node: only, after, .. } = &plan[waiting.fault.index()].when else {
                unreachable!("only faults that are anchored to a point wait here");
            };
            let counts = now >= *after && only.is_none_or(|only| only == node) && name == point.0;
            !counts || waiting.goes_on()
        })
    }

    /// `event` was recorded: the faults that are set off by it, in the order of the plan.
    pub(crate) fn event_happened(&mut self, event: &Event) -> Vec<FaultId> {
        let plan = &self.plan;
        no_longer(&mut self.at_events, |waiting| {
            let Anchor::Event { event: kind, node, after, .. } = &plan[waiting.fault.index()].when else {
                unreachable!("only faults that are anchored to an event wait here");
            };
            let counts =
                kind == event.what.kind() && event.at >= *after && node.is_none_or(|node| event.concerns(node));
            !counts || waiting.goes_on()
        })
    }

    /// A fault struck, or `ended`: the faults that are set off by that, in the order of the plan.
    pub(crate) fn fault_changed(&mut self, fault: FaultId, ended: bool) -> Vec<FaultId> {
        let mut set_off = Vec::new();
        self.followers.retain(|follower| {
            let follows = follower.leader == fault && follower.end == ended;
            set_off.extend(follows.then_some(follower.fault));
            !follows
        });
        set_off
    }

    /// A fault is set off `by` an event: after how long it is to be queued for; zero if it strikes at once.
    pub(crate) fn set_off(&mut self, fault: FaultId, by: EventId) -> Span {
        let delay = self.plan[fault.index()].when.delay();
        if delay > Span::ZERO {
            self.scheduled += 1;
            self.set_off.push((fault, by));
        }
        delay
    }

    /// The strike of a fault that was queued is due: what had set it off, if it wasn't its time.
    pub(crate) fn take_scheduled(&mut self, fault: FaultId) -> Option<EventId> {
        self.scheduled -= 1;
        let index = self.set_off.iter().position(|(of, _)| *of == fault)?;
        Some(self.set_off.swap_remove(index).1)
    }

    /// What the draws of a fault on `links` are keyed by, in a world of so many `nodes`: what it is and when, but not how much
    /// of it there is, so that less of it strikes some of the same messages; and not what anything is called, or how links
    /// are spelt.
    pub(crate) fn key(&self, fault: FaultId, links: &Links, nodes: usize) -> u128 {
        let planned = &self.plan[fault.index()];
        hash(&(planned.inject.name(), self.when(planned, nodes, self.plan.len()), links.in_one_spelling(nodes)))
    }

    /// When a fault strikes, with what another one is in place of what that is called. It waits for at most so many others.
    fn when(&self, planned: &PlannedFault, nodes: usize, others: usize) -> Anchor {
        let Anchor::Fault { name, end, delay } = &planned.when else { return planned.when.clone() };
        let leader = self.plan.iter().find(|other| other.name.as_ref() == Some(name)).filter(|_| others > 0);
        let name = leader.map_or_else(String::new, |leader| {
            let mut inject = leader.inject.clone();
            let links = inject.links_mut().map(|links| links.in_one_spelling(nodes));
            let mut whose = if links.is_some() { Vec::new() } else { inject.nodes() };
            whose.sort_unstable();
            let key = hash(&(inject.name(), self.when(leader, nodes, others - 1), whose, links));
            format!("{key:032x}")
        });
        Anchor::Fault { name, end: *end, delay: *delay }
    }

    /// What `fault` does.
    pub(crate) fn inject(&self, fault: FaultId) -> Fault {
        self.plan[fault.index()].inject.clone()
    }

    /// A fault strikes.
    pub(crate) fn begin(&mut self, fault: FaultId) {
        let planned = &self.plan[fault.index()];
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

fn hash(what: &impl Serialize) -> u128 {
    let bytes = postcard::to_allocvec(what);
    twox_hash::XxHash3_128::oneshot(&bytes.expect("a plan has no maps of unknown length"))
}

/// Takes out those that don't go on waiting.
fn no_longer(waiting: &mut Vec<Waiting>, mut goes_on: impl FnMut(&mut Waiting) -> bool) -> Vec<FaultId> {
    waiting.extract_if(.., |one| !goes_on(one)).map(|one| one.fault).collect()
}
