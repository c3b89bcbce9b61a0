//! What a lease service that is several does.

use holdover_sim::history::{Event, What};
use holdover_sim::id::EventId;
use holdover_sim::service::REPLICA_LETTERS;

use super::{Mark, Teller, lease};
use crate::report::words;

impl Teller<'_> {
    pub(super) fn tell_replicas(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::LeaderElected => self.act(id, event, event.node, "leads the lease service from now on"),
            What::LeaseRevoked { worker, epoch } => {
                self.act(id, event, worker, &format!("loses {}: it has run out", lease(epoch)));
            }
            What::ReplicaStopped => {
                let text = format!("{} {}", self.name(event.node), words::replicas::STOPPED);
                self.say(id, event, event.node, Mark::Fault, text);
            }
            _ => {}
        }
    }
}

/// Whether what befalls such a message is left out: replicas write each other all the time, and a fault on their links is
/// told itself.
pub(super) fn is_letter(about: &str) -> bool {
    REPLICA_LETTERS.contains(&about)
}
