//! A call as its caller awaits it.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::{Address, Broken, CallId, House, Service};
use crate::engine::World;
use crate::engine::memory::{Input, strayed};
use crate::id::NodeId;
use crate::panics::misused;

/// Asks `address` for `request` on behalf of `from`, and waits for the answer.
#[inline(always)]
pub(crate) fn call<'a, S: Service>(
    world: &'a World,
    from: NodeId,
    address: &'a Address<S>,
    request: S::Request,
) -> Calling<'a, S> {
    let house = &*address.0;
    let about = S::about(&request);
    let caller = world.node(from).incarnation.get();
    let slot = house.calls.borrow_mut().add(from, caller, about, request);
    Calling { world, house, slot, from, sent: false, over: false, lost: false, leaf: None }
}

/// A call as its caller awaits it. The request is sent at the first poll.
pub(crate) struct Calling<'a, S: Service> {
    world: &'a World,
    house: &'a House<S>,
    slot: u32,
    from: NodeId,
    sent: bool,
    over: bool,
    /// Whether its connection is one that the caller remembers from before it was put back. Nobody else knows of it.
    lost: bool,
    /// Its number among the leaves of a process whose memory is noted.
    leaf: Option<u32>,
}

impl<S: Service> Calling<'_, S> {
    /// As in any process, but for the noting of what the process is told, or the telling of it once more.
    #[cold]
    fn poll_noted(&mut self, context: &mut Context<'_>) -> Poll<Result<S::Response, Broken>> {
        let Some(memory) = self.world.memory(self.from) else { return self.poll_living(context) };
        let leaf = *self.leaf.get_or_insert_with(|| memory.number_leaf());
        let mut told = memory.recall();
        while matches!(told, Some(Input::Stop)) {
            // A fault that struck before the request was sent told it to stop.
            self.world.stop_again(self.from);
            told = memory.recall();
        }
        match told {
            Some(Input::Answered { leaf: told, answer }) if told == leaf => {
                memory.is_over(leaf);
                self.end();
                let answer = answer.downcast_ref::<Result<S::Response, Broken>>().unwrap_or_else(|| strayed());
                Poll::Ready(answer.clone())
            }
            Some(Input::Asked { leaf: told, sent }) if told == leaf => {
                self.lost = sent;
                memory.waits(leaf, context.waker());
                Poll::Pending
            }
            Some(_) => strayed(),
            None if self.world.holds_back(memory, self.from) => {
                memory.note(Input::Asked { leaf, sent: self.lost });
                memory.waits(leaf, context.waker());
                Poll::Pending
            }
            None => {
                let poll = self.poll_living(context);
                // The faults that struck first may have ended the process.
                if let Some(memory) = self.world.memory(self.from) {
                    memory.note(match &poll {
                        Poll::Ready(answer) => Input::Answered { leaf, answer: Rc::new(answer.clone()) },
                        Poll::Pending => Input::Asked { leaf, sent: self.sent },
                    });
                }
                poll
            }
        }
    }

    /// Nothing was sent for it, or its answer is known from elsewhere.
    fn end(&mut self) {
        self.over = true;
        let over = self.house.calls.borrow_mut().abandon(self.slot);
        drop(over);
    }

    // What most often comes of it is inlined, so that an answer isn't made in one place and moved to another.
    #[inline(always)]
    fn poll_living(&mut self, context: &mut Context<'_>) -> Poll<Result<S::Response, Broken>> {
        if self.sent && !self.over {
            let mut calls = self.house.calls.borrow_mut();
            let call = calls.get(self.slot);
            if call.timed_out.is_none() && call.arrived {
                let newest = call.newest;
                let answer = calls.take_answer(self.slot);
                drop(calls);
                self.over = true;
                self.world.cause_at_least(newest);
                return Poll::Ready(answer);
            }
        }
        self.wait(context).map(Err)
    }

    /// Sends the request, or goes on waiting for its answer, which hasn't come.
    #[inline(never)]
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<Broken> {
        let Calling { world, house, slot, .. } = *self;
        if self.over {
            misused("a call is polled until its answer has come");
        }
        if self.lost {
            self.end();
            return Poll::Ready(Broken);
        }
        if !self.sent && world.has_strikes() && world.is_halted(self.from) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut calls = house.calls.borrow_mut();
        let call = calls.get(slot);
        if !self.sent {
            let id = CallId { house: house.number, slot };
            call.incarnation = house.life_for(world, call.from);
            let copied_by = call.send(world, call.from, house.node, id);
            world.wait_for(call.from, id, call.newest);
            call.wakeup = Some(world.tasks.wakeup(context.waker()));
            self.sent = true;
            if let Some(fault) = copied_by {
                house.send_copy(world, &mut calls, slot, fault);
            }
            return Poll::Pending;
        }
        if let Some(event) = call.timed_out {
            self.over = true;
            world.cause_at_least(event);
            let over = calls.abandon(slot);
            drop(calls);
            drop(over);
            return Poll::Ready(Broken);
        }
        let earlier = call.wakeup.replace(world.tasks.wakeup(context.waker()));
        drop(calls);
        drop(earlier);
        Poll::Pending
    }
}

impl<S: Service> Future for Calling<'_, S> {
    type Output = Result<S::Response, Broken>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.world.remembers {
            return self.poll_noted(context);
        }
        self.poll_living(context)
    }
}

impl<S: Service> Drop for Calling<'_, S> {
    // Inlined so that one that is over costs nothing more.
    #[inline(always)]
    fn drop(&mut self) {
        if !self.over {
            self.give_up();
        }
    }
}

impl<S: Service> Calling<'_, S> {
    /// The caller waits no longer. What is under way goes on without it.
    #[cold]
    fn give_up(&mut self) {
        let mut calls = self.house.calls.borrow_mut();
        if self.sent {
            let id = CallId { house: self.house.number, slot: self.slot };
            self.world.wait_no_more(self.world.node(calls.get(self.slot).from), id);
        }
        let over = calls.abandon(self.slot);
        drop(calls);
        drop(over);
    }
}
