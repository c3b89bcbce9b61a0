//! What protocols rely on of those who repair. Where nobody repairs anything, all of it is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::Assumption;
use crate::history::{Role, What};
use crate::id::{Epoch, OpId};

/// See its sentence.
pub const REPAIRS_OUTWAIT_REQUESTS: Assumption = Assumption {
    name: "repairs-outwait-requests",
    sentence: "no request to pay from before a repair is carried out after the repair has decided for the last time about \
               its operation",
    is_kept: |history| {
        let mut decided: BTreeMap<OpId, Epoch> = BTreeMap::new();
        // What was paid after a decision, and not looked at since.
        let mut unseen: BTreeSet<OpId> = BTreeSet::new();
        for event in &history.events {
            match event.what {
                What::OperationDecided { claim, op, .. } => {
                    decided.insert(op, claim.epoch);
                    unseen.remove(&op);
                }
                What::PayoutMade { claim, op, .. }
                    if history.is(claim.worker, Role::Worker)
                        && decided.get(&op).is_some_and(|repair| claim.epoch < *repair) =>
                {
                    unseen.insert(op);
                }
                _ => {}
            }
        }
        unseen.is_empty()
    },
};

/// See its sentence.
pub const REPAIRS_DELETE_NOTHING: Assumption = Assumption {
    name: "repairs-delete-nothing",
    sentence: "whoever repairs deletes nothing from the ledger",
    is_kept: |history| !history.events.iter().any(|event| matches!(event.what, What::EntryDeleted { .. })),
};
