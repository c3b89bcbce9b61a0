//! For rules that say "exactly once for each operation of the batch".

use super::finding::Findings;
use super::{Verdict, Witness};
use crate::history::History;
use crate::id::{EventId, OpId};

/// What was seen of one operation.
#[derive(Clone, Copy)]
enum Seen {
    Never,
    Once(EventId),
    More,
}

/// How often something happened to each operation of the batch.
pub(super) struct Tally {
    ops: Vec<Seen>,
}

impl Tally {
    pub(super) fn new(history: &History) -> Tally {
        Tally { ops: vec![Seen::Never; history.batch.len()] }
    }

    /// Notes that it happened to `op`, and gives the first time if this is the second.
    pub(super) fn note(&mut self, op: OpId, event: EventId) -> Option<EventId> {
        let seen = self.ops.get_mut(op.index())?;
        match *seen {
            Seen::Never => {
                *seen = Seen::Once(event);
                None
            }
            Seen::Once(first) => {
                *seen = Seen::More;
                Some(first)
            }
            Seen::More => None,
        }
    }

    /// The verdict at the end of a run in which the settlement was first published by `export`, after `findings`.
    ///
    /// Once the settlement is published, an operation that was left out is a finding of its own, made by `never`. Before
    /// that its turn may only not have come yet, and nothing can be told; `left_out` then says what became of it.
    pub(super) fn verdict(
        &self,
        mut findings: Findings,
        export: Option<EventId>,
        never: impl Fn(OpId, EventId) -> Witness,
        left_out: &str,
    ) -> Verdict {
        let all = self.ops.len();
        let missing = self.ops.iter().enumerate().filter(|(_, seen)| matches!(seen, Seen::Never));
        match export {
            Some(export) => {
                missing.for_each(|(op, _)| findings.add(never(OpId(op as u32), export)));
                findings.or_holds(all)
            }
            None => match missing.count() {
                0 => findings.or_holds(all),
                n => findings.or_else(|| {
                    let operations = if all == 1 { "operation" } else { "operations" };
                    let reason = format!("the settlement was not published: {n} of {all} {operations} {left_out}");
                    Verdict::Unknown { reason }
                }),
            },
        }
    }
}
