//! What faults do to services: they go down and come back, forget what they knew, and are split in two.

use super::World;
use crate::history::What;
use crate::id::{FaultId, NodeId};
use crate::time::{Span, TrueTime};

impl World {
    /// Takes the service on `node` down, so that what it does, and what it is sent, is lost.
    pub(crate) fn take_down(&self, node: NodeId) {
        let owner = self.node(node);
        // A primary that was deposed learns of it now, and answers no more.
        self.bury(node, None);
        owner.crash();
        self.give_write_up(node);
        self.at_peers(|peers| peers.go_down(self, node));
        // What waited for the end of a pause is lost like what comes while the service is down.
        self.release_held(owner);
    }

    /// What the service on `node` has in memory is gone.
    pub(crate) fn lose_memory(&self, node: NodeId) {
        self.each_house_on(node, |house| house.crash());
    }

    /// What the service on `node` wrote to disk in the last `lag` is gone.
    pub(crate) fn lose_writes(&self, node: NodeId, lag: Span) {
        let since = (self.now() - lag).max(TrueTime::START);
        self.each_house_on(node, |house| house.go_back_to(since));
        self.record(node, What::WritesLost { since });
    }

    /// Has a replica of the service on `node` take its place that is `lag` behind, while the primary goes on answering the
    /// `old` nodes.
    pub(crate) fn split(&self, node: NodeId, fault: FaultId, old: &[NodeId], lag: Span) {
        let since = (lag > Span::ZERO).then(|| (self.now() - lag).max(TrueTime::START));
        // Who is deposed in the middle of a write that hangs gives it up.
        let hung = self.node(node).disk.hangs();
        self.give_write_up(node);
        self.each_house_on(node, |house| house.split(self, fault, old, since));
        // One of several is another process from now on, which knows what is on its disk.
        self.at_peers(|peers| {
            peers.go_down(self, node);
            peers.come_up(self, node);
        });
        if hung {
            self.release_held(self.node(node));
        }
        if let Some(since) = since {
            self.record(node, What::WritesLost { since });
        }
    }

    /// The deposed primary of the service on `node` answers no more: all that it had in its hands, and was sent, is lost.
    pub(crate) fn bury(&self, node: NodeId, fault: Option<FaultId>) {
        self.each_house_on(node, |house| house.bury(self, fault));
        // What waited for it to go on is lost at once, like what had waited for a service that goes down.
        self.release_held(self.node(node));
    }

    /// Lets a killed service answer again.
    pub(crate) fn come_back(&self, node: NodeId) {
        self.node(node).come_back();
        self.at_peers(|peers| peers.come_up(self, node));
    }
}
