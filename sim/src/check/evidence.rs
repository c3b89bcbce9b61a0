//! A history as rules look at it.

use std::ops::Deref;

use super::accepted;
use crate::history::{Claim, Event, History, Published, What, exports};
use crate::id::EventId;

/// A history, with what was done in it picked out once for all rules: most of a history is messages and the steps of
/// workers between them, and no rule speaks of those.
pub struct Evidence<'a> {
    history: &'a History,
    deeds: Vec<EventId>,
    accepted: Vec<Accepted>,
    /// Whether any export was marked as superseded.
    pub(super) has_marked_exports: bool,
    /// Whether anything was deleted from the ledger.
    pub(super) has_deleted: bool,
    /// How many entries the ledger took in.
    pub(super) writes: usize,
    /// The first export that was published.
    pub(super) published: Option<EventId>,
}

/// A mutation or a fence that the ledger accepted.
#[derive(Clone, Copy)]
pub(super) struct Accepted {
    pub(super) event: EventId,
    pub(super) claim: Claim,
    pub(super) is_mutation: bool,
}

impl<'a> Evidence<'a> {
    /// That of `history`.
    pub fn of(history: &'a History) -> Evidence<'a> {
        let mut evidence = Evidence::none(history);
        for (id, event) in history.numbered().filter(|(_, event)| is_deed(&event.what)) {
            evidence.add(id, &event.what);
        }
        evidence
    }

    /// With nothing picked out, and room for what there is to be.
    fn none(history: &'a History) -> Evidence<'a> {
        let events = history.events.len();
        let (deeds, accepted) = (Vec::with_capacity(events / 4), Vec::with_capacity(events / 8));
        let (has_marked_exports, has_deleted, writes, published) = (false, false, 0, None);
        Evidence { history, deeds, accepted, has_marked_exports, has_deleted, writes, published }
    }

    fn add(&mut self, id: EventId, what: &What) {
        self.deeds.push(id);
        if let Some(claim) = accepted(what) {
            let is_mutation = !matches!(what, What::GenerationOpened { .. });
            self.accepted.push(Accepted { event: id, claim, is_mutation });
        }
        match what {
            What::WriteAccepted { .. } => self.writes += 1,
            What::ExportPublished { .. } => {
                self.published.get_or_insert(id);
            }
            What::EntryDeleted { .. } => self.has_deleted = true,
            What::ExportSuperseded { .. } => self.has_marked_exports = true,
            _ => {}
        }
    }

    /// What was done, in order.
    pub(super) fn deeds(&self) -> impl DoubleEndedIterator<Item = (EventId, &'a Event)> {
        self.among(&self.deeds)
    }

    fn among(&self, deeds: &[EventId]) -> impl DoubleEndedIterator<Item = (EventId, &'a Event)> {
        deeds.iter().map(|id| (*id, self.history.event(*id)))
    }

    /// The mutations and fences that the ledger accepted, in order.
    pub(super) fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    /// What was published, in order.
    pub(super) fn published_exports(&self) -> Vec<Published> {
        let Some(first) = self.published else { return Vec::new() };
        // Before that there was nothing that could be marked, and no mark that could be lost.
        let first = self.deeds.partition_point(|id| *id < first);
        exports(self.history, self.among(&self.deeds[first..]))
    }

    /// The first export that isn't marked as superseded.
    pub(super) fn standing_export(&self) -> Option<EventId> {
        if !self.has_marked_exports {
            return self.published;
        }
        let exports = self.published_exports();
        exports.iter().find(|published| published.superseded.is_none()).map(|published| published.event)
    }
}

impl Deref for Evidence<'_> {
    type Target = History;

    fn deref(&self) -> &History {
        self.history
    }
}

fn is_deed(what: &What) -> bool {
    !matches!(
        what,
        What::PointPassed(_)
            | What::LeaseChecked { .. }
            | What::LeaseHeld { .. }
            | What::LeaseRefused { .. }
            | What::MessageSent { .. }
            | What::MessageDelivered { .. }
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check::{CHECKERS, verdict};
    use crate::history::fixture::{A, B, LEDGER, Story, ledger_stories};

    #[test]
    fn messages_are_no_deeds() {
        let story = Story::new().sent(A, LEDGER, 0, 1).wrote(A, 1, 0).delivered(A, LEDGER, 0).exported(B, 2, &[]);
        let history = story.history();
        let deeds: Vec<u32> = Evidence::of(&history).deeds().map(|(id, _)| id.0).collect();
        assert_eq!(deeds, [1, 3]);
    }

    proptest! {
        #[test]
        fn what_is_left_out_changes_no_verdict(story in ledger_stories()) {
            let mut story = story.sent(A, LEDGER, 0, 1).delivered(A, LEDGER, 0).wrote(B, 3, 1);
            story = story.sent(A, LEDGER, 1, 1).granted(A, 4, None).wrote(A, 2, 1);
            let history = story.history();
            let mut all = Evidence::none(&history);
            history.numbered().for_each(|(id, event)| all.add(id, &event.what));
            for checker in CHECKERS {
                prop_assert_eq!(verdict(checker, &Evidence::of(&history)), verdict(checker, &all));
            }
        }
    }
}
