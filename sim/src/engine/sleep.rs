//! Waiting for a deadline on a node's clock, and passing a point.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::World;
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
}

impl Sleep {
    pub(crate) fn new(world: Rc<World>, node: NodeId, deadline: Deadline) -> Sleep {
        Sleep { world, node, deadline, timer: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let reached = match self.timer {
            Some(slot) => self.world.timers.borrow_mut().poll(slot, &self.world.tasks, context.waker()),
            None => self.world.read_clock(self.node, self.deadline.clock) >= self.deadline.reading,
        };
        if reached {
            return if self.world.spend_step() { Poll::Ready(()) } else { Poll::Pending };
        }
        if self.timer.is_none() {
            let wakeup = self.world.tasks.wakeup(context.waker());
            self.timer = Some(self.world.set_timer(self.node, self.deadline, wakeup));
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(slot) = self.timer {
            self.world.timers.borrow_mut().release(slot);
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
}

impl Future for Passing<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
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
        self.world.strike_at_point(self.node, self.point);
        let node = self.world.node(self.node);
        // A process that was killed here goes no further; it is dropped when this returns.
        if node.halts_task(self.world.tasks.running_kind()) || node.is_down() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}
