//! Waiting for a deadline on a node's clock, and passing a point.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::World;
use super::memory::{Input, Memory, strayed};
use crate::clock::Deadline;
use crate::history::What;
use crate::id::NodeId;
use crate::point::Point;

/// Waits until a clock of a node reaches a deadline. Ready at once if it already has.
#[must_use = "a sleep does nothing unless it is awaited"]
pub struct Sleep {
    world: Rc<World>,
    node: NodeId,
    deadline: Deadline,
    timer: Option<u32>,
    /// Its number among the leaves of a process whose memory is noted.
    leaf: Option<u32>,
}

impl Sleep {
    #[inline(always)]
    pub(crate) fn new(world: Rc<World>, node: NodeId, deadline: Deadline) -> Sleep {
        Sleep { world, node, deadline, timer: None, leaf: None }
    }

    /// As in any process, but for the noting of what the process is told, or the telling of it once more.
    #[cold]
    fn poll_noted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let world = self.world.clone();
        let Some(memory) = world.memory(self.node) else { return self.poll_living(context) };
        let leaf = *self.leaf.get_or_insert_with(|| memory.number_leaf());
        match memory.recall() {
            Some(Input::Slept { leaf: told, over: true }) if told == leaf => {
                memory.is_over(leaf);
                Poll::Ready(())
            }
            Some(Input::Slept { leaf: told, over: false }) if told == leaf => {
                memory.waits(leaf, context.waker());
                Poll::Pending
            }
            Some(_) => strayed(),
            None if world.holds_back(memory, self.node) => {
                memory.note(Input::Slept { leaf, over: false });
                memory.waits(leaf, context.waker());
                Poll::Pending
            }
            None => {
                let poll = self.poll_living(context);
                memory.note(Input::Slept { leaf, over: poll.is_ready() });
                poll
            }
        }
    }

    #[inline]
    fn poll_living(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker();
        let waits = match self.timer {
            Some(slot) => {
                let waits = self.world.timers.borrow_mut().poll(slot, &self.world.tasks, waker);
                if !waits {
                    self.timer = None;
                }
                waits
            }
            None => {
                self.timer = self.world.set_timer_ahead(self.node, self.deadline, waker);
                self.timer.is_some()
            }
        };
        if !waits && self.world.spend_step() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.world.remembers {
            return self.poll_noted(context);
        }
        self.poll_living(context)
    }
}

impl Drop for Sleep {
    // Inlined so that one that is over costs nothing more.
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(slot) = self.timer {
            self.world.release_timer(slot);
        }
    }
}

/// Passes a point: the place is recorded, faults anchored to it strike, and if one of them pauses the node, this is
/// where the task stays until it is resumed.
pub(crate) struct Passing<'a> {
    world: &'a World,
    node: NodeId,
    point: Point,
    passed: bool,
}

impl<'a> Passing<'a> {
    pub(crate) fn new(world: &'a World, node: NodeId, point: Point) -> Passing<'a> {
        Passing { world, node, point, passed: false }
    }

    fn memory(&self) -> Option<&'a Memory> {
        self.world.memory(self.node)
    }

    /// As in any process, but for the noting of what the process is told, or the telling of it once more. It may be told
    /// that it passed and nothing else, if that is where the snapshot was taken; then it lives on from there.
    #[cold]
    fn poll_noted(&mut self, memory: &Memory, context: &mut Context<'_>) -> Poll<()> {
        loop {
            match memory.recall() {
                Some(Input::Passed) => self.passed = true,
                // The fault that struck at this point told it to stop.
                Some(Input::Stop) => self.world.stop_again(self.node),
                Some(Input::WentOn(true)) => return Poll::Ready(()),
                Some(Input::WentOn(false)) => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(_) => strayed(),
                None if self.world.holds_back(memory, self.node) => {
                    memory.note(Input::WentOn(false));
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                None => {
                    let poll = self.poll_living(context);
                    // The faults that struck may have ended the process.
                    if let Some(memory) = self.memory() {
                        memory.note(Input::WentOn(poll.is_ready()));
                    }
                    return poll;
                }
            }
        }
    }

    #[inline]
    fn poll_living(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.passed {
            return Poll::Ready(());
        }
        // What was set off since the last step may stop this one from being taken.
        if self.world.is_halted(self.node) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !self.world.spend_step() {
            return Poll::Pending;
        }
        self.passed = true;
        self.world.record(self.node, What::PointPassed(self.point));
        if let Some(memory) = self.memory() {
            memory.note(Input::Passed);
        }
        self.world.strike_at_point(self.node, self.point);
        let node = self.world.node(self.node);
        // A process that was killed here goes no further, even if its machine is up again; it is dropped when this returns.
        if node.halts_task(self.world.tasks.running_kind()) || node.is_down() || self.world.is_ended() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

impl Future for Passing<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.memory() {
            Some(memory) => self.poll_noted(memory, context),
            None => self.poll_living(context),
        }
    }
}
