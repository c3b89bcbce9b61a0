//! What shows that a rule was broken: the events, not a sentence about them.

use serde::Serialize;

use crate::id::{Amount, EventId, OpId};

/// The events that show a violation. The variant is the *kind* of witness: what two failures have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Witness {
    /// Two workers mutated one generation.
    TwoWriters {
        /// The first mutation of the generation's writer.
        first: EventId,
        /// The mutation by the other worker.
        second: EventId,
    },
    /// A mutation of an older grant was accepted after one of a newer.
    StaleWrite {
        /// The mutation or fence of the newer grant.
        newer: EventId,
        /// The stale one.
        stale: EventId,
    },
    /// A grant handed out a token that is not above an earlier grant's.
    TokenNotHigher {
        /// The earlier grant.
        earlier: EventId,
        /// The later grant.
        later: EventId,
    },
    /// No order of the lease service's requests explains an answer.
    NoOrder {
        /// When it was asked.
        asked: EventId,
        /// When its client was told.
        told: EventId,
    },
    /// Two exports differ.
    ExportsDiffer {
        /// The first export.
        first: EventId,
        /// The other.
        second: EventId,
        /// The first operation whose rows differ.
        op: OpId,
        /// In how many operations they differ.
        rows: usize,
    },
    /// The provider paid an operation more than once.
    PaidTwice {
        /// The operation.
        op: OpId,
        /// The first payout.
        first: EventId,
        /// The second.
        second: EventId,
    },
    /// The settlement was published, and an operation was never paid.
    NeverPaid {
        /// The operation.
        op: OpId,
        /// The export.
        export: EventId,
    },
    /// The ledger has more than one entry for an operation.
    EnteredTwice {
        /// The operation.
        op: OpId,
        /// The first entry.
        first: EventId,
        /// The second.
        second: EventId,
    },
    /// The settlement was published, and an operation has no entry.
    NeverEntered {
        /// The operation.
        op: OpId,
        /// The export.
        export: EventId,
    },
    /// An entry has the wrong amount.
    WrongAmount {
        /// The entry.
        entry: EventId,
        /// The right amount.
        right: Amount,
    },
    /// The settlement was not published in time.
    NotFinished,
    /// All that an operation was paid was taken back, or came to nothing.
    NothingLeft {
        /// The operation.
        op: OpId,
        /// The payout that was lost last.
        payout: EventId,
        /// What took it back; the payout itself if it failed.
        back: EventId,
    },
    /// An entry was deleted.
    RecordDeleted {
        /// The deletion.
        deleted: EventId,
    },
    /// One payout was taken back twice.
    CompensatedTwice {
        /// For which operation it was.
        op: OpId,
        /// The first time.
        first: EventId,
        /// The second.
        second: EventId,
    },
    /// Operators paid an operation again that they had had paid.
    SubmittedTwice {
        /// The operation.
        op: OpId,
        /// Their first payout.
        first: EventId,
        /// The second.
        second: EventId,
    },
    /// A later run of a repair came to something else, although nothing had happened meanwhile.
    DecidedAnew {
        /// For which operation.
        op: OpId,
        /// How it was closed.
        first: EventId,
        /// What was decided later.
        second: EventId,
    },
}

/// Every kind of witness, by the name that [`Witness::kind`] gives it, with what it shows as a phrase.
pub const WITNESSES: &[(&str, &str)] = &[
    ("two-writers", "two workers in one generation"),
    ("stale-write", "a write of an older grant after one of a newer"),
    ("token-not-higher", "a token that is not above an earlier one"),
    ("no-order", "an answer of the lease service that no order explains"),
    ("exports-differ", "two exports that differ"),
    ("paid-twice", "an operation paid twice"),
    ("never-paid", "an operation never paid"),
    ("entered-twice", "an operation entered twice"),
    ("never-entered", "an operation never entered"),
    ("wrong-amount", "an entry with the wrong amount"),
    ("not-finished", "not finished in time"),
    ("nothing-left", "an operation of whose payouts nothing is left"),
    ("record-deleted", "an accepted record deleted"),
    ("compensated-twice", "a payout taken back twice"),
    ("submitted-twice", "an operation that operators paid twice"),
    ("decided-anew", "an operation decided anew without a reason"),
];

impl Witness {
    /// The kind, as JSON spells it.
    pub fn kind(&self) -> &'static str {
        match self {
            Witness::TwoWriters { .. } => "two-writers",
            Witness::StaleWrite { .. } => "stale-write",
            Witness::TokenNotHigher { .. } => "token-not-higher",
            Witness::NoOrder { .. } => "no-order",
            Witness::ExportsDiffer { .. } => "exports-differ",
            Witness::PaidTwice { .. } => "paid-twice",
            Witness::NeverPaid { .. } => "never-paid",
            Witness::EnteredTwice { .. } => "entered-twice",
            Witness::NeverEntered { .. } => "never-entered",
            Witness::WrongAmount { .. } => "wrong-amount",
            Witness::NotFinished => "not-finished",
            Witness::NothingLeft { .. } => "nothing-left",
            Witness::RecordDeleted { .. } => "record-deleted",
            Witness::CompensatedTwice { .. } => "compensated-twice",
            Witness::SubmittedTwice { .. } => "submitted-twice",
            Witness::DecidedAnew { .. } => "decided-anew",
        }
    }

    /// The events that it names, the offending one last.
    pub fn events(&self) -> Vec<EventId> {
        match *self {
            Witness::TwoWriters { first, second }
            | Witness::ExportsDiffer { first, second, .. }
            | Witness::PaidTwice { first, second, .. }
            | Witness::EnteredTwice { first, second, .. }
            | Witness::CompensatedTwice { first, second, .. }
            | Witness::SubmittedTwice { first, second, .. }
            | Witness::DecidedAnew { first, second, .. } => vec![first, second],
            Witness::NothingLeft { payout, back, .. } if payout == back => vec![payout],
            Witness::NothingLeft { payout, back, .. } => vec![payout, back],
            Witness::RecordDeleted { deleted } => vec![deleted],
            Witness::StaleWrite { newer, stale } => vec![newer, stale],
            Witness::TokenNotHigher { earlier, later } => vec![earlier, later],
            Witness::NoOrder { asked, told } => vec![asked, told],
            Witness::NeverPaid { export, .. } | Witness::NeverEntered { export, .. } => vec![export],
            Witness::WrongAmount { entry, .. } => vec![entry],
            Witness::NotFinished => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_phrase() {
        let (op, id, right) = (OpId(0), EventId(0), Amount(0));
        let witnesses = [
            Witness::TwoWriters { first: id, second: id },
            Witness::StaleWrite { newer: id, stale: id },
            Witness::TokenNotHigher { earlier: id, later: id },
            Witness::NoOrder { asked: id, told: id },
            Witness::ExportsDiffer { first: id, second: id, op, rows: 1 },
            Witness::PaidTwice { op, first: id, second: id },
            Witness::NeverPaid { op, export: id },
            Witness::EnteredTwice { op, first: id, second: id },
            Witness::NeverEntered { op, export: id },
            Witness::WrongAmount { entry: id, right },
            Witness::NotFinished,
            Witness::NothingLeft { op, payout: id, back: id },
            Witness::RecordDeleted { deleted: id },
            Witness::CompensatedTwice { op, first: id, second: id },
            Witness::SubmittedTwice { op, first: id, second: id },
            Witness::DecidedAnew { op, first: id, second: id },
        ];
        let kinds = witnesses.map(|witness| witness.kind());
        assert_eq!(WITNESSES.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), kinds);
    }
}
