//! What was published, and what became of it.

use super::{Event, History, Role, What};
use crate::id::{EventId, ExportId};

/// An export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Which.
    pub export: ExportId,
    /// The event that published it.
    pub event: EventId,
    /// The event that marked it as superseded, if one did and the mark is still there in the end.
    pub superseded: Option<EventId>,
}

/// The exports among `events`, which are of `history` and in order.
///
/// Whoever reads exports may have read one that the ledger lost, or that a deposed one published. But a mark is only there
/// if the ledger has it in the end: one that it lost, or that a deposed one made, is none.
pub(crate) fn exports<'a>(
    history: &History,
    events: impl Iterator<Item = (EventId, &'a Event)>,
) -> Vec<Published> {
    let mut exports: Vec<Published> = Vec::new();
    for (id, event) in events {
        match event.what {
            What::ExportPublished { export, .. } => {
                exports.push(Published { export, event: id, superseded: None });
            }
            What::ExportSuperseded { export: which, .. } if !history.by_deposed(event) => {
                let known = exports.iter_mut().find(|published| published.export == which);
                if let Some(known) = known {
                    known.superseded = Some(id);
                }
            }
            What::WritesLost { since } if history.is(event.node, Role::Ledger) => {
                for published in &mut exports {
                    published.superseded = published.superseded.filter(|mark| history.event(*mark).at <= since);
                }
            }
            _ => {}
        }
    }
    exports
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::fixture::{A, B, LEDGER, OPERATORS, PROVIDER, Story, ms};

    /// Which exports are marked in the end.
    #[track_caller]
    fn check(story: Story, expected: &[bool]) {
        let history = story.history();
        let marked = exports(&history, history.numbered()).into_iter().map(|export| export.superseded.is_some());
        assert_eq!(marked.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_mark_that_is_lost_is_none() {
        let published = || Story::new().with_operators().exported(A, 1, &[]).exported(B, 2, &[]).at(20);
        let marked = || published().export_superseded(OPERATORS[0], 3, 0);
        check(published(), &[false, false]);
        check(marked(), &[true, false]);
        let lost = |node, since| marked().at(30).on(node, What::WritesLost { since: ms(since) });
        check(lost(LEDGER, 19), &[false, false]);
        check(lost(LEDGER, 20), &[true, false]);
        check(lost(PROVIDER, 19), &[true, false]);
        check(lost(LEDGER, 19).export_superseded(OPERATORS[0], 3, 0), &[true, false]);
        check(published().deposed(LEDGER, OPERATORS[0]).export_superseded(OPERATORS[0], 3, 0), &[false, false]);
    }
}
