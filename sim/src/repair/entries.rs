//! Which of several accepted entries of an operation is canonical.

use std::cmp::Reverse;

use crate::service::lease_store::PastGrant;
use crate::service::ledger::EntryRecord;

/// The canonical one of an operation's `entries`, of those that aren't superseded: of the highest token; without tokens, of
/// the lease that was granted last, which no entry of an operator has to fear because its own comes later still; and of
/// several under one lease the first.
pub(super) fn canonical<'a>(entries: &'a [EntryRecord], grants: &[PastGrant]) -> Option<&'a EntryRecord> {
    let generation = |record: &EntryRecord| {
        let granted = grants.iter().position(|grant| grant.lease == record.lease);
        (record.token, granted.unwrap_or(grants.len()), Reverse(record.entry))
    };
    entries.iter().filter(|record| !record.is_superseded).max_by_key(|record| generation(record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Amount, EntryId, LeaseId, NodeId, OpId, Token};

    /// Of entries with these tokens, leases and marks, numbered from 1, and leases 1, 2, 3 granted in this order.
    #[track_caller]
    fn check(entries: &[(Option<u64>, u64, bool)], expected: Option<u32>) {
        let record = |(index, &(token, lease, is_superseded)): (usize, &(Option<u64>, u64, bool))| EntryRecord {
            entry: EntryId(index as u32 + 1),
            op: OpId(0),
            amount: Amount(100),
            worker: NodeId(3),
            lease: LeaseId(lease),
            token: token.map(Token),
            is_superseded,
        };
        let entries: Vec<EntryRecord> = entries.iter().enumerate().map(record).collect();
        let grants = [1, 2, 3].map(|lease| PastGrant { lease: LeaseId(lease), worker: NodeId(3) });
        assert_eq!(canonical(&entries, &grants).map(|record| record.entry.0), expected);
    }

    #[test]
    fn the_highest_authority_counts_and_then_the_first() {
        check(&[], None);
        check(&[(None, 1, false)], Some(1));
        check(&[(None, 2, false), (None, 1, false)], Some(1));
        check(&[(None, 1, false), (None, 2, false)], Some(2));
        check(&[(None, 2, false), (None, 2, false)], Some(1));
        check(&[(Some(2), 1, false), (Some(1), 2, false)], Some(1));
        check(&[(None, 2, false), (Some(1), 1, false)], Some(2));
        // The lease of an operator is among no workers' grants.
        check(&[(None, 9, false), (None, 3, false)], Some(1));
        check(&[(None, 1, false), (None, 2, true)], Some(1));
        check(&[(None, 1, true), (None, 2, true)], None);
    }
}
