//! When a message leaves its node: a while after it was sent, and later if the node's network card stands still by then.
//!
//! So a message that was sent just before a freeze is under way after it: a late write, with whatever authority its sender
//! had then. A stall of the process doesn't do this; what it has sent is the kernel's.

use super::course::Under;
use super::{Call, CallId, Calls, Service, Slot};
use crate::engine::World;
use crate::engine::queue::Due;
use crate::id::NodeId;
use crate::time::{Span, TrueTime};

/// Whether the message that is under way has left its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Leaving {
    /// It leaves when it should.
    OnTime,
    /// It is stuck in a network card that stands still.
    Stuck {
        /// Whether the time has come at which it should have arrived.
        overdue: bool,
    },
    /// It was stuck, and now arrives no earlier than this.
    Late(TrueTime),
}

/// When a message has left its node, as a part of its latency.
const LEAVES_AFTER: i64 = 10;

/// How long after its sending a message leaves its node.
pub(in crate::engine) fn leaves_after(latency: Span) -> Span {
    Span::nanos(latency.as_nanos() / LEAVES_AFTER)
}

impl Leaving {
    /// Whether the message is late, because it got stuck on its way out; then `due` comes again when it has arrived.
    #[inline]
    pub(in crate::engine) fn is_late(&mut self, world: &World, due: Due) -> bool {
        *self != Leaving::OnTime && self.is_still_late(world, due)
    }

    #[cold]
    fn is_still_late(&mut self, world: &World, due: Due) -> bool {
        match *self {
            Leaving::OnTime => false,
            Leaving::Stuck { .. } => {
                *self = Leaving::Stuck { overdue: true };
                true
            }
            Leaving::Late(at) => {
                let is_late = at > world.now();
                if is_late {
                    world.push(at, due);
                }
                is_late
            }
        }
    }
}

impl Call {
    /// Who sent the message that is under way, if there is one: the caller, or the service on `house`.
    fn sender(&self, house: NodeId) -> Option<NodeId> {
        match self.under {
            Under::Request if self.under_way => Some(self.from),
            Under::Answer if !self.arrived => Some(house),
            _ => None,
        }
    }
}

impl<S: Service> Calls<S> {
    /// The network card of `sender` stops; this is about calls to the service on `house`.
    pub(super) fn hold_back(&mut self, world: &World, house: NodeId, sender: NodeId) {
        for Slot { call, .. } in &mut self.slots {
            if call.sender(house) == Some(sender)
                && call.leaving == Leaving::OnTime
                && world.recorded(call.newest).at + leaves_after(call.latency) > world.now()
            {
                call.leaving = Leaving::Stuck { overdue: false };
            }
        }
    }

    /// The network card of `sender` goes on; this is about calls to the service that is this one of the world's, on
    /// this node.
    pub(super) fn let_go(&mut self, world: &World, (number, house): (u16, NodeId), sender: NodeId) {
        for (slot, Slot { call, .. }) in self.slots.iter_mut().enumerate() {
            let Leaving::Stuck { overdue } = call.leaving else { continue };
            if call.sender(house) != Some(sender) {
                continue;
            }
            let arrives = world.now() + (call.latency - leaves_after(call.latency));
            call.leaving = Leaving::Late(arrives);
            if overdue {
                let id = CallId { house: number, slot: slot as u32 };
                let is_request = call.under == Under::Request;
                world.push(arrives, if is_request { Due::Request(id) } else { Due::Answer(id) });
            }
        }
    }
}
