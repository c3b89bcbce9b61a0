//! A service whose replica took its place while its primary goes on answering some: which half of it has which call.
//!
//! The lives of a service are numbered, by crashes and by being deposed. A call has the number of the life that it was sent
//! to, or that has it in its hands, and with that its half.

use std::ops::Range;

use super::{House, Service, ServiceContext};
use crate::engine::World;
use crate::history::What;
use crate::id::{FaultId, NodeId};

/// One half of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The one that goes by the service's name; the only one, as long as none was deposed.
    Primary,
    /// The one that was deposed and goes on answering.
    Deposed,
    /// One that was deposed and answers no more.
    Gone,
}

/// A primary that was deposed and goes on answering.
pub(super) struct Deposed<S> {
    service: S,
    /// Whom it answers, whatever they ask from now on.
    old: Vec<NodeId>,
    /// By which fault of the plan.
    fault: FaultId,
    /// Its lives.
    lives: Range<u32>,
}

impl<S> Deposed<S> {
    pub(super) fn state(&mut self) -> &mut S {
        &mut self.service
    }
}

impl<S: Service> House<S> {
    /// The half that a call belongs to which was sent to this life of the service.
    #[inline]
    pub(super) fn half_that_had(&self, life: u32) -> Half {
        if life >= self.first_life.get() { Half::Primary } else { self.half_before(life) }
    }

    #[cold]
    fn half_before(&self, life: u32) -> Half {
        match &*self.deposed.borrow() {
            Some(deposed) if deposed.lives.contains(&life) => Half::Deposed,
            _ => Half::Gone,
        }
    }

    /// The half that still has a call which this life of the service has in its hands; `None` if that life is over.
    #[inline]
    pub(super) fn half_that_has(&self, world: &World, life: u32) -> Option<Half> {
        let half = self.half_that_had(life);
        (half != Half::Gone && life == self.life_of(world, half)).then_some(half)
    }

    /// The present life of a half.
    #[inline]
    pub(super) fn life_of(&self, world: &World, half: Half) -> u32 {
        if half == Half::Deposed
            && let Some(deposed) = &*self.deposed.borrow()
        {
            return deposed.lives.end - 1;
        }
        world.node(self.node).incarnation.get()
    }

    /// The life to which a request goes that `from` sends now.
    #[inline]
    pub(super) fn life_for(&self, world: &World, from: NodeId) -> u32 {
        // Before the first was deposed there is nothing to look at.
        let is_old = self.first_life.get() > 0
            && self.deposed.borrow().as_ref().is_some_and(|deposed| deposed.old.contains(&from));
        self.life_of(world, if is_old { Half::Deposed } else { Half::Primary })
    }

    /// Has a half do something, and notes what it changed on disk, if it may have to be taken back; nothing that a deposed
    /// primary does ever is.
    #[inline(always)]
    pub(super) fn on<T>(&self, half: Half, context: &ServiceContext<'_>, act: impl FnOnce(&mut S) -> T) -> T {
        if context.is_withheld() {
            return self.on_stalled(half, context, act);
        }
        if half == Half::Deposed {
            return self.on_deposed(context, act);
        }
        let mut service = self.service.borrow_mut();
        let done = act(&mut service);
        self.note_done(&mut service, context);
        done
    }

    /// Notes what the service has changed on disk, if it may have to be taken back.
    #[inline(always)]
    pub(super) fn note_done(&self, service: &mut S, context: &ServiceContext<'_>) {
        if let Some(past) = &self.past {
            past.borrow_mut().note(context.now(), service.journal().drain());
        }
    }

    /// Has a half do something, and notes nothing.
    pub(super) fn with<T>(&self, half: Half, context: &ServiceContext<'_>, act: impl FnOnce(&mut S) -> T) -> T {
        match half {
            Half::Deposed => self.on_deposed(context, act),
            _ => act(&mut self.service.borrow_mut()),
        }
    }

    #[cold]
    fn on_deposed<T>(&self, context: &ServiceContext<'_>, act: impl FnOnce(&mut S) -> T) -> T {
        let mut deposed = self.deposed.borrow_mut();
        let deposed =
            deposed.as_mut().expect("a call is in the hands of a deposed primary only while there is one");
        context.record(|| What::DeposedServed { worker: context.from, fault: deposed.fault });
        act(&mut deposed.service)
    }

    /// What is the service now goes on for the `old` nodes, and its like is the service from now on. If it is down nobody
    /// goes on, and if another was deposed already, that one is gone.
    pub(super) fn depose(&self, world: &World, fault: FaultId, old: &[NodeId]) {
        let node = world.node(self.node);
        if node.is_down() {
            return;
        }
        let lives = self.first_life.get()..node.begin_life();
        self.first_life.set(lives.end);
        let mut service = self.service.borrow().fork();
        if node.disk.is_stalled() {
            service.journal().open();
        }
        *self.deposed.borrow_mut() = Some(Deposed { service, old: old.to_vec(), fault, lives });
    }

    /// The primary that `fault` deposed, or any fault, answers no more.
    pub(super) fn bury_deposed(&self, world: &World, fault: Option<FaultId>) {
        let is_it = |deposed: &Deposed<S>| fault.is_none_or(|fault| deposed.fault == fault);
        if self.deposed.borrow().as_ref().is_some_and(is_it) {
            if self.has_deposed_hang() {
                world.give_write_up(self.node);
            }
            *self.deposed.borrow_mut() = None;
        }
    }
}
