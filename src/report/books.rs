//! What the books have at an instant: the entries that stand, the payouts that count, the exports.

use holdover_sim::history::{History, Payout, PayoutEnd, payouts};
use holdover_sim::id::{EntryId, EventId, ExportId, OpId};
use holdover_sim::time::TrueTime;

/// The books of ledger and provider.
pub(super) struct Books {
    /// By operation, with when they were entered.
    entries: Vec<Vec<(EntryId, TrueTime)>>,
    /// By operation, in the order in which they were made.
    payouts: Vec<Vec<Payout>>,
    /// Those that aren't superseded, in order.
    exports: Vec<ExportId>,
}

impl Books {
    /// Of a settlement that has yet to begin, of which it is known what will become of its payouts.
    pub(super) fn of(history: &History) -> Books {
        Books::new(history.batch.len(), payouts(history))
    }

    fn new(operations: usize, all: Vec<Payout>) -> Books {
        let entries = (0..operations).map(|_| Vec::new()).collect();
        let mut payouts: Vec<Vec<Payout>> = (0..operations).map(|_| Vec::new()).collect();
        for payout in all {
            if let Some(of_op) = payouts.get_mut(payout.op.index()) {
                of_op.push(payout);
            }
        }
        Books { entries, payouts, exports: Vec::new() }
    }

    /// Enters an operation; says whether another entry of it stands.
    pub(super) fn enter(&mut self, op: OpId, entry: EntryId, at: TrueTime) -> bool {
        let entries = &mut self.entries[op.index()];
        entries.push((entry, at));
        entries.len() > 1
    }

    /// An entry is superseded or deleted.
    pub(super) fn strike_out(&mut self, op: OpId, entry: EntryId) {
        self.entries[op.index()].retain(|(known, _)| *known != entry);
    }

    /// The ledger loses what was entered later than `since`.
    pub(super) fn lose(&mut self, since: TrueTime) {
        for entries in &mut self.entries {
            entries.retain(|(_, at)| *at <= since);
        }
    }

    /// Whether another payout for an operation counts when the event `made` pays it.
    pub(super) fn is_paid(&self, op: OpId, made: EventId, at: TrueTime) -> bool {
        let counts = |payout: &Payout| match payout.end {
            PayoutEnd::Settled => true,
            // Nobody knows before that it fails.
            PayoutEnd::Failed => payout.decided > at,
            PayoutEnd::Voided(back) | PayoutEnd::Refunded(back) => back > made,
        };
        self.payouts[op.index()].iter().any(|payout| payout.made < made && counts(payout))
    }

    /// Publishes an export, and gives the first one that stands beside it.
    pub(super) fn publish(&mut self, export: ExportId) -> Option<ExportId> {
        let first = self.exports.first().copied();
        self.exports.push(export);
        first
    }

    /// An export is superseded.
    pub(super) fn supersede(&mut self, export: ExportId) {
        self.exports.retain(|known| *known != export);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdover_sim::id::{Amount, PayoutId};
    use holdover_sim::time::Span;

    const OP: OpId = OpId(0);

    fn at(seconds: i64) -> TrueTime {
        TrueTime::START + Span::secs(seconds)
    }

    #[test]
    fn what_is_struck_out_or_lost_does_not_stand() {
        let mut books = Books::new(1, Vec::new());
        assert!(!books.enter(OP, EntryId(1), at(1)));
        assert!(books.enter(OP, EntryId(2), at(2)));
        books.strike_out(OP, EntryId(1));
        books.lose(at(1));
        assert!(!books.enter(OP, EntryId(2), at(3)), "the one is superseded, the other is lost");
        books.lose(at(3));
        assert!(books.enter(OP, EntryId(3), at(4)));
    }

    #[test]
    fn what_failed_or_was_taken_back_does_not_count() {
        let paid = |made, end| Payout {
            id: PayoutId(made),
            op: OP,
            amount: Amount(1),
            made: EventId(made),
            decided: at(5),
            end,
            compensations: 0,
            refunds_failed: 0,
        };
        let is_paid =
            |end, event, seconds| Books::new(1, vec![paid(1, end)]).is_paid(OP, EventId(event), at(seconds));
        assert!(!is_paid(PayoutEnd::Settled, 1, 1), "it is the first itself");
        assert!(is_paid(PayoutEnd::Settled, 2, 1));
        assert!(is_paid(PayoutEnd::Failed, 2, 4), "nobody knows yet that the first fails");
        assert!(!is_paid(PayoutEnd::Failed, 2, 5));
        assert!(is_paid(PayoutEnd::Voided(EventId(3)), 2, 1));
        assert!(!is_paid(PayoutEnd::Refunded(EventId(2)), 3, 1));
    }

    #[test]
    fn exports_are_compared_with_the_first_that_stands() {
        let mut books = Books::new(0, Vec::new());
        assert_eq!(books.publish(ExportId(0)), None);
        assert_eq!(books.publish(ExportId(1)), Some(ExportId(0)));
        books.supersede(ExportId(0));
        assert_eq!(books.publish(ExportId(2)), Some(ExportId(1)));
    }
}
