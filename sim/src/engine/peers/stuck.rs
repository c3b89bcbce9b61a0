//! Letters that are stuck in a network card that stands still; see [`Leaving`]. None of them overtakes another on its
//! connection for that.

use super::{Peer, Peers, Posted};
use crate::engine::World;
use crate::engine::call::{Leaving, leaves_after};
use crate::engine::queue::Due;
use crate::id::NodeId;
use crate::time::Span;

impl<S: Peer> Peers<S> {
    /// The network card of `sender` stops.
    pub(super) fn stop_sending(&self, world: &World, sender: NodeId) {
        let mut letters = self.letters.borrow_mut();
        let mut stuck: Option<NodeId> = None;
        for slot in slots_of(&letters, sender) {
            let Some(posted) = &mut letters[slot] else { continue };
            let leaves = world.recorded(posted.sent).at + leaves_after(posted.latency);
            // What was written later to the same one leaves later.
            let behind = stuck == Some(posted.to);
            if posted.leaving == Leaving::OnTime && (behind || leaves > world.now()) {
                posted.leaving = Leaving::Stuck { overdue: false };
                stuck = Some(posted.to);
            }
        }
    }

    /// The network card of `sender` goes on.
    pub(super) fn go_on_sending(&self, world: &World, sender: NodeId) {
        let mut letters = self.letters.borrow_mut();
        for slot in slots_of(&letters, sender) {
            let Some(posted) = &mut letters[slot] else { continue };
            let Leaving::Stuck { overdue } = posted.leaving else { continue };
            let mut connections = self.connections.borrow_mut();
            let connection = connections.entry((sender, posted.to)).or_default();
            let arrives = world.now() + (posted.latency - leaves_after(posted.latency));
            let arrives = connection.newest.max(arrives);
            posted.leaving = Leaving::Late(arrives);
            // At one instant the next could be due before it.
            connection.newest = arrives + Span::nanos(1);
            if overdue {
                world.push(arrives, Due::Letter(slot as u32));
            }
        }
    }
}

/// Where the letters are that are under way from `sender`, those of each connection together and in their order.
fn slots_of<L>(letters: &[Option<Posted<L>>], sender: NodeId) -> Vec<usize> {
    let of_sender = letters.iter().enumerate().filter_map(|(slot, posted)| Some((slot, posted.as_ref()?)));
    let mut slots: Vec<_> = of_sender
        .filter(|(_, posted)| posted.from == sender)
        .map(|(slot, posted)| (posted.to, posted.number, slot))
        .collect();
    slots.sort_unstable();
    slots.into_iter().map(|(_, _, slot)| slot).collect()
}
