//! Requests that are parked: whoever was asked is one of several, and answers when the others have been heard.

use super::halves::Half;
use super::{Address, CallId, House, Service, ServiceContext, Ticket};
use crate::engine::World;
use crate::engine::queue::Due;
use crate::id::NodeId;

impl<S: Service> House<S> {
    /// The service has the request in its hands, and says later what comes of it.
    pub(super) fn park(&self, world: &World, id: CallId, half: Half) {
        let mut calls = self.calls.borrow_mut();
        let call = calls.get(id.slot);
        call.incarnation = self.life_of(world, half);
        if let Some(newest) = world.cause() {
            call.newest = newest;
        }
        drop(calls);
        world.at_peers(|peers| peers.parked(world, self.node, Ticket(id.slot)));
    }
}

impl<S: Service> Address<S> {
    /// The service's node.
    pub(crate) fn node(&self) -> NodeId {
        self.0.node
    }

    /// Has the service do something that no request asked for.
    pub(in crate::engine) fn act<T>(&self, context: &ServiceContext<'_>, act: impl FnOnce(&mut S) -> T) -> T {
        self.0.on(Half::Primary, context, act)
    }

    /// Answers a request that was parked.
    pub(in crate::engine) fn answer_parked(&self, world: &World, Ticket(slot): Ticket, response: S::Response) {
        self.0.reply(world, self.id(slot), Half::Primary, response);
    }

    /// The service that had a parked request in its hands is gone: its connection breaks.
    pub(in crate::engine) fn break_parked(&self, world: &World, Ticket(slot): Ticket) {
        world.push(world.now(), Due::Finish(self.id(slot)));
    }

    fn id(&self, slot: u32) -> CallId {
        CallId { house: self.0.number, slot }
    }
}
