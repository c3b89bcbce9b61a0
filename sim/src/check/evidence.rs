//! A history as rules look at it.

use std::ops::Deref;

use crate::history::{Event, History, What};
use crate::id::{EventId, ExportId};

/// A history, with what was done in it picked out once for all rules: most of a history is messages and the steps of
/// workers between them, and no rule speaks of those.
pub struct Evidence<'a> {
    history: &'a History,
    deeds: Vec<EventId>,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(history: &'a History) -> Evidence<'a> {
        let mut deeds = Vec::with_capacity(history.events.len() / 4);
        deeds.extend(history.numbered().filter(|(_, event)| is_deed(&event.what)).map(|(id, _)| id));
        Evidence { history, deeds }
    }

    /// What was done, in order.
    pub(super) fn deeds(&self) -> impl DoubleEndedIterator<Item = (EventId, &'a Event)> {
        self.deeds.iter().map(|id| (*id, self.history.event(*id)))
    }

    /// The first export that no operator marked as superseded.
    pub(super) fn standing_export(&self) -> Option<EventId> {
        let marked = |what: &What| match *what {
            What::ExportSuperseded { export, .. } => Some(export),
            _ => None,
        };
        let superseded: Vec<ExportId> = self.deeds().filter_map(|(_, event)| marked(&event.what)).collect();
        let stands =
            |what: &What| matches!(what, What::ExportPublished { export, .. } if !superseded.contains(export));
        self.deeds().find(|(_, event)| stands(&event.what)).map(|(id, _)| id)
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
            let all = Evidence { history: &history, deeds: history.numbered().map(|(id, _)| id).collect() };
            for checker in CHECKERS {
                prop_assert_eq!(verdict(checker, &Evidence::of(&history)), verdict(checker, &all));
            }
        }
    }
}
