//! A step of a service that hangs in a write, because its disk takes none for a while.

use super::halves::Half;
use super::{Answer, CallId, House, Service, ServiceContext};
use crate::engine::World;
use crate::engine::queue::Due;
use crate::history::What;
use crate::id::{EventId, FaultId};
use crate::time::Span;

/// The step that hangs.
pub(super) struct Hanging<S: Service> {
    /// Whose it is.
    half: Half,
    /// How to take back what it changed on disk.
    undos: Vec<S::Undo>,
    /// That it hangs: the cause of all that follows when it no longer does.
    hung: Option<EventId>,
    /// Which request it is about, and what the service does with that; `None` if it is about none, or that is parked.
    about: Option<(CallId, Answer<S>)>,
}

impl<S: Service> House<S> {
    /// Has a half do something while the disk takes no writes. If it writes nothing it has done so at once.
    #[cold]
    pub(super) fn on_stalled<T>(
        &self,
        half: Half,
        context: &ServiceContext<'_>,
        act: impl FnOnce(&mut S) -> T,
    ) -> T {
        let world = context.world();
        let done = self.with(half, context, act);
        let undos = self.with_state(half, |service| service.journal().drain().collect::<Vec<_>>());
        let writes = self.with_state(half, |service| undos.iter().any(|undo| service.has_written(undo)));
        if writes {
            world.hang(self.node);
            *self.hanging.borrow_mut() = Some(Hanging { half, undos, hung: world.cause(), about: None });
        } else {
            self.note_past(half, world, undos);
            world.tell_withheld(self.node, Span::ZERO);
        }
        done
    }

    /// The state of a half that is there.
    fn with_state<T>(&self, half: Half, look: impl FnOnce(&mut S) -> T) -> T {
        match (half, &mut *self.deposed.borrow_mut()) {
            (Half::Deposed, Some(deposed)) => look(deposed.state()),
            _ => look(&mut self.service.borrow_mut()),
        }
    }

    /// Notes how to take back what a half has written by now. Nothing that a deposed primary does ever is.
    fn note_past(&self, half: Half, world: &World, undos: Vec<S::Undo>) {
        if let Some(past) = &self.past
            && half != Half::Deposed
        {
            past.borrow_mut().note(world.now(), undos.into_iter());
        }
    }

    /// The step hangs that a request was handled in: what the service does with the request waits with it.
    #[cold]
    pub(super) fn wait_for_write(&self, world: &World, id: CallId, half: Half, answer: Answer<S>) {
        if let Answer::Parked = answer {
            return self.park(world, id, half);
        }
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.incarnation = self.life_of(world, half);
        drop(calls);
        if let Some(hanging) = &mut *self.hanging.borrow_mut() {
            hanging.about = Some((id, answer));
        }
    }

    /// The write is done in which a step hung, if one did: because of `fault`, and for as long as `late` says.
    pub(super) fn go_on(&self, world: &World, fault: FaultId, late: Span) {
        let Some(Hanging { half, undos, hung, about }) = self.hanging.take() else { return };
        self.note_past(half, world, undos);
        world.set_cause(hung);
        world.record(self.node, What::WriteReturned { fault, written: true });
        world.tell_withheld(self.node, late);
        if let Some((id, answer)) = about {
            self.follow(world, id, half, answer);
        }
    }

    /// Whoever hung in a write is gone, and has written nothing.
    pub(super) fn take_hanging_back(&self, world: &World) {
        let Some(Hanging { half, undos, about, .. }) = self.hanging.take() else { return };
        self.with_state(half, |service| undos.into_iter().rev().for_each(|undo| service.undo_unseen(undo)));
        if let Some((id, _)) = about {
            // Nobody has it in hand any more, so its connection breaks.
            world.push(world.now(), Due::Finish(id));
        }
    }

    /// Whether it is the deposed primary that hangs.
    pub(super) fn has_deposed_hang(&self) -> bool {
        self.hanging.borrow().as_ref().is_some_and(|hanging| hanging.half == Half::Deposed)
    }

    /// From now on it is noted what the service writes, or as before.
    pub(super) fn watch(&self, begin: bool) {
        let is_noted = self.past.is_some();
        let set = |service: &mut S, begin: bool| match begin {
            true => service.journal().open(),
            false => service.journal().close(),
        };
        set(&mut self.service.borrow_mut(), begin || is_noted);
        if let Some(deposed) = &mut *self.deposed.borrow_mut() {
            set(deposed.state(), begin);
        }
    }
}
