//! What each half of a service knows, where a replica took its place and its old primary goes on answering some.
//!
//! Both halves go by the service's name and number what they make by themselves, so that a number means one thing at the
//! one half and another at the other. They have the same up to the split, and each its own afterwards.

use super::{Event, History, Role, What};
use crate::fault::Fault;
use crate::id::{EventId, FaultId, NodeId};

/// What the halves of the one service with a role know; told event by event.
pub(crate) struct Halves<T> {
    role: Role,
    primary: T,
    deposed: Vec<Deposed<T>>,
}

/// A primary that was deposed.
struct Deposed<T> {
    fault: FaultId,
    /// Whether it still answers those that don't know of it.
    answers: bool,
    /// The event by which it was deposed.
    since: EventId,
    knows: T,
}

impl<T: Clone> Halves<T> {
    /// A service that is whole and knows this.
    pub(crate) fn new(role: Role, knows: T) -> Halves<T> {
        Halves { role, primary: knows, deposed: Vec::new() }
    }

    /// Notes `event` if it splits the service, or the old half is gone by it. It comes before what else is told of the event.
    pub(crate) fn note(&mut self, history: &History, id: EventId, event: &Event) {
        let (fault, begins) = match event.what {
            What::FaultBegan { fault } => (fault, true),
            What::FaultEnded { fault } => (fault, false),
            What::DeposedServed { fault, .. } if history.is(event.node, self.role) => {
                if !self.deposed.iter().any(|deposed| deposed.fault == fault) {
                    self.depose(fault, id);
                }
                return;
            }
            _ => return,
        };
        let Some(planned) = history.plan.get(fault.index()) else { return };
        if !history.is(planned.inject.node(), self.role) {
            return;
        }
        match planned.inject {
            Fault::SplitBrain(_) if begins => self.depose(fault, id),
            Fault::SplitBrain(_) => self.bury(|deposed| deposed.fault == fault),
            // Who goes down and comes back learns that it was deposed.
            Fault::Restart(_) | Fault::Failover(_) if begins => self.bury(|_| true),
            _ => {}
        }
    }

    fn depose(&mut self, fault: FaultId, since: EventId) {
        self.bury(|_| true);
        self.deposed.push(Deposed { fault, answers: true, since, knows: self.primary.clone() });
    }

    fn bury(&mut self, is_it: impl Fn(&Deposed<T>) -> bool) {
        self.deposed.iter_mut().filter(|deposed| is_it(deposed)).for_each(|deposed| deposed.answers = false);
    }

    /// The fault by which the half was deposed that did `event`; `None` for the one that is left in the end.
    pub(crate) fn half_of(&self, history: &History, event: &Event) -> Option<FaultId> {
        if self.deposed.is_empty() { None } else { history.deposed_by(event) }
    }

    /// What the half knows that did `event`.
    pub(crate) fn of(&mut self, history: &History, event: &Event) -> &mut T {
        self.half(self.half_of(history, event))
    }

    /// The half that answers `client` by now; see [`Halves::half_of`].
    pub(crate) fn half_for(&self, history: &History, client: NodeId) -> Option<FaultId> {
        let is_old = |deposed: &&Deposed<T>| match history.plan.get(deposed.fault.index()) {
            Some(planned) => matches!(&planned.inject, Fault::SplitBrain(split) if split.old.contains(&client)),
            None => false,
        };
        self.deposed.iter().filter(|deposed| deposed.answers).find(is_old).map(|deposed| deposed.fault)
    }

    /// The half that was deposed and still answers some, if one does.
    pub(crate) fn answering(&self) -> Option<FaultId> {
        self.deposed.iter().find(|deposed| deposed.answers).map(|deposed| deposed.fault)
    }

    /// Since when a half is one.
    pub(crate) fn since(&self, half: Option<FaultId>) -> Option<EventId> {
        self.deposed.iter().find(|deposed| Some(deposed.fault) == half).map(|deposed| deposed.since)
    }

    /// What a half knows.
    pub(crate) fn half(&mut self, half: Option<FaultId>) -> &mut T {
        match self.deposed.iter_mut().find(|deposed| Some(deposed.fault) == half) {
            Some(deposed) => &mut deposed.knows,
            None => &mut self.primary,
        }
    }

    /// What each half knows.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = &mut T> {
        std::iter::once(&mut self.primary).chain(self.deposed.iter_mut().map(|deposed| &mut deposed.knows))
    }
}
