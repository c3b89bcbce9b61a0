//! What the books have at an instant: the entries that stand, the payouts that count, the exports.

use holdover_sim::id::{EntryId, ExportId, OpId, PayoutId};
use holdover_sim::time::TrueTime;

/// A payout, and when it fails if it does.
struct Paid {
    payout: PayoutId,
    fails_at: Option<TrueTime>,
}

/// The books of ledger and provider.
pub(super) struct Books {
    /// By operation, with when they were entered.
    entries: Vec<Vec<(EntryId, TrueTime)>>,
    /// By operation; none that was taken back.
    payouts: Vec<Vec<Paid>>,
    /// Those that aren't superseded, in order.
    exports: Vec<ExportId>,
}

impl Books {
    pub(super) fn new(operations: usize) -> Books {
        let entries = (0..operations).map(|_| Vec::new()).collect();
        let payouts = (0..operations).map(|_| Vec::new()).collect();
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

    /// Pays an operation; says whether another payout for it counts.
    pub(super) fn pay(&mut self, op: OpId, payout: PayoutId, at: TrueTime) -> bool {
        let again = self.counting(op, at) > 0;
        self.payouts[op.index()].push(Paid { payout, fails_at: None });
        again
    }

    /// How many payouts for an operation count.
    pub(super) fn counting(&self, op: OpId, at: TrueTime) -> usize {
        let counts = |paid: &&Paid| paid.fails_at.is_none_or(|fails| fails > at);
        self.payouts[op.index()].iter().filter(counts).count()
    }

    /// The payout of this number that was made last will fail.
    pub(super) fn fail(&mut self, payout: PayoutId, at: TrueTime) {
        let all = self.payouts.iter_mut().flatten();
        if let Some(paid) = all.filter(|paid| paid.payout == payout).last() {
            paid.fails_at = Some(at);
        }
    }

    /// A payout is taken back.
    pub(super) fn take_back(&mut self, op: OpId, payout: PayoutId) {
        self.payouts[op.index()].retain(|paid| paid.payout != payout);
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
    use holdover_sim::time::Span;

    const OP: OpId = OpId(0);

    fn at(seconds: i64) -> TrueTime {
        TrueTime::START + Span::secs(seconds)
    }

    #[test]
    fn what_is_struck_out_or_lost_does_not_stand() {
        let mut books = Books::new(1);
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
        let mut books = Books::new(1);
        assert!(!books.pay(OP, PayoutId(1), at(1)));
        books.fail(PayoutId(1), at(5));
        assert!(books.pay(OP, PayoutId(2), at(4)), "nobody knows yet that the first fails");
        assert_eq!((books.counting(OP, at(4)), books.counting(OP, at(5))), (2, 1));
        books.take_back(OP, PayoutId(2));
        assert!(!books.pay(OP, PayoutId(3), at(6)));
    }

    #[test]
    fn exports_are_compared_with_the_first_that_stands() {
        let mut books = Books::new(0);
        assert_eq!(books.publish(ExportId(0)), None);
        assert_eq!(books.publish(ExportId(1)), Some(ExportId(0)));
        books.supersede(ExportId(0));
        assert_eq!(books.publish(ExportId(2)), Some(ExportId(1)));
    }
}
