//! Sending while faults are on the network: messages that are lost, delayed, or brought twice.

use super::leaving::Leaving;
use super::{Call, CallId, Calls, House, Service, Slot};
use crate::engine::World;
use crate::engine::network::{Sending, Touch, Touched};
use crate::engine::queue::Due;
use crate::history::What;
use crate::id::FaultId;

impl Call {
    /// Sends a message while faults are on the network.
    #[cold]
    pub(super) fn send_by_rules(&mut self, world: &World, sending: Sending, id: CallId) -> Option<FaultId> {
        let Sending { from, to, about, answer } = sending;
        let (message, latency, touches) = world.draw_by_rules(&sending);
        self.newest = world.record(from, What::MessageSent { message, to, about, answer, latency });
        self.message = message;
        self.leaving = Leaving::OnTime;
        let (mut is_lost, mut copied_by) = (false, None);
        self.latency = latency;
        for Touch { fault, what, is_last } in touches {
            world.set_cause(Some(self.newest));
            match what {
                // What is lost can't be lost again, delayed or repeated.
                _ if is_lost => {}
                Touched::Lost => {
                    is_lost = true;
                    world.record(from, What::MessageDropped { message, to, fault });
                }
                Touched::Delayed(by) => {
                    self.latency = self.latency + by;
                    world.record(from, What::MessageDelayed { message, by, fault });
                }
                Touched::Repeated => copied_by = Some(fault),
            }
            if is_last {
                world.heal(fault);
            }
        }
        world.set_cause(Some(self.newest));
        self.under_way = !is_lost;
        if is_lost {
            return None;
        }
        world.push(world.now() + self.latency, if answer { Due::Answer(id) } else { Due::Request(id) });
        copied_by
    }
}

impl<S: Service> House<S> {
    /// Sends the request of the call in `slot`, which was just sent, a second time. The copy comes behind it.
    #[cold]
    pub(super) fn send_copy(&self, world: &World, calls: &mut Calls<S>, slot: u32, fault: FaultId) {
        let Slot { call: original, request: Some(request), .. } = calls.at(slot) else {
            unreachable!("a request that was just sent hasn't arrived");
        };
        let request = request.clone();
        let (from, caller, about, behind) = (original.from, original.caller, original.about, original.latency);
        let (message, sent, incarnation) = (original.message, original.newest, original.incarnation);
        let id = CallId { house: self.number, slot: calls.add(from, caller, about, request) };
        let number = world.next_message();
        world.record(from, What::MessageRepeated { message, to: self.node, copy: number, fault });
        let latency = world.draw_latency(from, self.node);
        let copy = calls.get(id.slot);
        copy.abandoned = true;
        copy.incarnation = incarnation;
        copy.newest = world
            .record(from, What::MessageSent { message: number, to: self.node, about, answer: false, latency });
        world.record(from, What::MessageDelayed { message: number, by: behind, fault });
        copy.message = number;
        copy.latency = latency + behind;
        copy.under_way = true;
        world.push(world.now() + copy.latency, Due::Request(id));
        world.set_cause(Some(sent));
    }
}
