//! A call as its caller awaits it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Address, Broken, Call, CallId, House, Service, Stage};
use crate::engine::World;
use crate::engine::queue::Due;
use crate::id::NodeId;

/// Asks `address` for `request` on behalf of `from`, and waits for the answer.
pub(crate) fn call<'a, S: Service>(
    world: &'a World,
    from: NodeId,
    address: &'a Address<S>,
    request: S::Request,
) -> Calling<'a, S> {
    let house = &*address.0;
    let about = S::about(&request);
    let caller = world.node(from).incarnation.get();
    let slot = house.calls.borrow_mut().add(Call::new(from, caller, about, Stage::Asked(request)));
    Calling { world, house, slot, sent: false, over: false }
}

/// A call as its caller awaits it. The request is sent at the first poll.
pub(crate) struct Calling<'a, S: Service> {
    world: &'a World,
    house: &'a House<S>,
    slot: u32,
    sent: bool,
    over: bool,
}

impl<S: Service> Future for Calling<'_, S> {
    type Output = Result<S::Response, Broken>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Calling { world, house, slot, .. } = *self;
        assert!(!self.over, "a call is polled until its answer has come");
        if !self.sent && world.has_strikes() {
            let from = house.calls.borrow_mut().get(slot).from;
            if world.is_halted(from) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let mut calls = house.calls.borrow_mut();
        let mut call = calls.get(slot);
        if !self.sent {
            let id = CallId { house: house.number, slot };
            let copied_by = call.send(world, call.from, house.node, false, Due::Request(id));
            world.wait_for(call.from, id, call.newest);
            self.sent = true;
            if let Some(fault) = copied_by {
                house.send_copy(world, &mut calls, slot, fault);
                call = calls.get(slot);
            }
        }
        if let Some(event) = call.timed_out {
            self.over = true;
            world.cause_at_least(event);
            let over = calls.abandon(slot);
            drop(calls);
            drop(over);
            return Poll::Ready(Err(Broken));
        }
        if !matches!(call.stage, Stage::Arrived(_)) {
            let earlier = call.wakeup.replace(world.tasks.wakeup(context.waker()));
            drop(calls);
            drop(earlier);
            return Poll::Pending;
        }
        self.over = true;
        world.cause_at_least(call.newest);
        match calls.remove(slot) {
            Some(Call { stage: Stage::Arrived(answer), .. }) => Poll::Ready(answer),
            _ => unreachable!("the answer was just seen"),
        }
    }
}

impl<S: Service> Drop for Calling<'_, S> {
    /// What is under way goes on without the caller.
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let mut calls = self.house.calls.borrow_mut();
        if self.sent {
            let id = CallId { house: self.house.number, slot: self.slot };
            self.world.wait_no_more(calls.get(self.slot).from, id);
        }
        let over = calls.abandon(self.slot);
        drop(calls);
        drop(over);
    }
}
