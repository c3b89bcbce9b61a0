//! What a lease store has on record of who has the lease.

use crate::history::{Halves, History, Role, What};
use crate::id::{Epoch, EventId, NodeId};
use crate::lease::LeaseService;
use crate::time::TrueTime;

/// Who has the lease under which grant.
type Holder = Option<(NodeId, Epoch)>;

/// From which place in a history on who has the lease.
pub(super) type Holders = Vec<(usize, Option<NodeId>)>;

/// The records of a lease store, or of the two halves of one that is split; told event by event.
pub(super) struct Rows {
    /// For each half when whoever has the lease since came to have it, so that what is lost can be taken back.
    halves: Halves<Vec<(TrueTime, Holder)>>,
}

impl Rows {
    pub(super) fn new() -> Rows {
        Rows { halves: Halves::new(Role::LeaseStore, Vec::new()) }
    }

    /// Notes what the event at `place` does, and from there on who has the lease: by the records that are left in the end, and
    /// by those of an old half.
    pub(super) fn note(
        &mut self,
        history: &History,
        place: usize,
        holders: &mut Holders,
        of_deposed: &mut Holders,
    ) {
        let event = &history.events[place];
        let holder: Holder = match event.what {
            What::LeaseGranted { worker, epoch, .. } => Some((worker, epoch)),
            What::LeaseReleased { worker, epoch } | What::LeaseRevoked { worker, epoch } => {
                // What was the newest grant's before is no longer on record.
                let held = self.halves.of(history, event).last().and_then(|(_, holder)| *holder);
                if held != Some((worker, epoch)) {
                    return;
                }
                None
            }
            What::DispatchStopped { .. } => None,
            // One of several replicas that loses its disk takes nothing back that the others know.
            What::WritesLost { since } if history.is(event.node, Role::LeaseStore) => {
                if history.lease_service == LeaseService::Table {
                    let row = self.halves.half(None);
                    row.truncate(row.partition_point(|(at, _)| *at <= since));
                    holders.push((place, row.last().and_then(|(_, holder)| holder.map(|(worker, _)| worker))));
                }
                return;
            }
            What::FaultBegan { .. } | What::FaultEnded { .. } | What::DeposedServed { .. } => {
                self.note_split(history, place, of_deposed);
                return;
            }
            _ => return,
        };
        let is_deposed = self.halves.half_of(history, event).is_some();
        self.halves.of(history, event).push((event.at, holder));
        let holders = if is_deposed { of_deposed } else { holders };
        holders.push((place, holder.map(|(worker, _)| worker)));
    }

    fn note_split(&mut self, history: &History, place: usize, of_deposed: &mut Holders) {
        let before = self.halves.answering();
        self.halves.note(history, EventId(place as u32), &history.events[place]);
        let now = self.halves.answering();
        if now != before {
            let holder = now.and_then(|half| self.halves.half(Some(half)).last().and_then(|(_, holder)| *holder));
            of_deposed.push((place, holder.map(|(worker, _)| worker)));
        }
    }
}
