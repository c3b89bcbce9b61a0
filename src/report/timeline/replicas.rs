//! What a lease service that is several does.

use holdover_sim::history::{Event, What};
use holdover_sim::id::EventId;
use holdover_sim::service::REPLICA_LETTERS;

use super::{Teller, lease};

impl Teller<'_> {
    pub(super) fn tell_replicas(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::LeaderElected => self.act(id, event, event.node, "leads the lease service from now on"),
            What::LeaseRevoked { worker, epoch } => {
                self.act(id, event, worker, &format!("loses {}: it has run out", lease(epoch)));
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
