//! Named places in a worker's path, where a fault can be anchored.
//!
//! Between "I checked" and "I act" there is always one, so a pause can land exactly there. The names say what has just
//! happened; a point is passed even when the step before it failed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::names;

/// A named place in a worker's path. A protocol of one's own may add points by any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Point(pub &'static str);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Point, D::Error> {
        names::kept_of(deserializer).map(Point)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! points {
    ($(#[$about:meta])* $all:ident; $($(#[doc = $doc:literal])* $name:ident = $text:literal;)*) => {
        impl Point {
            $($(#[doc = $doc])* pub const $name: Point = Point($text);)*
        }

        $(#[$about])*
        pub const $all: &[(Point, &str)] = &[$((Point::$name, concat!($($doc),*))),*];
    };
}

points! {
    /// Every point of the built-in worker with what it means, in the order of a worker's path.
    POINTS;
    /// about to ask for the lease
    LEASE_WANTED = "lease.wanted";
    /// the lease was granted, and the worker knows it
    LEASE_GRANTED = "lease.granted";
    /// about to take the settlement over: to fence the ledger, or to read its checkpoint
    TAKEOVER_BEGUN = "takeover.begun";
    /// the checkpoint is known (and, with a fence, all lower tokens are shut out)
    TAKEOVER_DONE = "takeover.done";
    /// an operation is next, the lease not yet checked for it
    WRITE_BEGUN = "write.begun";
    /// the lease was checked, the ledger entry not yet sent
    WRITE_CHECKED = "write.checked";
    /// the ledger answered, the provider not yet called
    WRITE_DONE = "write.done";
    /// the provider answered, the checkpoint not yet moved
    PAYOUT_DONE = "payout.done";
    /// the checkpoint was moved
    CHECKPOINT_MOVED = "checkpoint.moved";
    /// all operations are done, the lease not yet checked for the export
    EXPORT_BEGUN = "export.begun";
    /// the lease was checked, the export not yet sent
    EXPORT_CHECKED = "export.checked";
    /// the export was answered
    EXPORT_DONE = "export.done";
    /// the lease was given back, or its loss was noted
    LEASE_ENDED = "lease.ended";
    /// the renewal task woke up, the renewal not yet sent
    RENEW_DUE = "renew.due";
    /// the renewal was answered
    RENEW_DONE = "renew.done";
}

points! {
    /// Every point of an operator's repair with what it means, in the order of its path.
    REPAIR_POINTS;
    /// about to stop dispatch
    REPAIR_BEGUN = "repair.begun";
    /// dispatch is stopped, and the operator has a token
    REPAIR_DISPATCH_STOPPED = "repair.dispatch-stopped";
    /// the ledger is fenced with it, and the operator knows what the ledger has
    REPAIR_LEDGER_FENCED = "repair.ledger-fenced";
    /// the gateway was asked to shut out all lower tokens
    REPAIR_GATEWAY_FENCED = "repair.gateway-fenced";
    /// it is known who goes on with the settlement
    REPAIR_ELECTED = "repair.elected";
    /// the payouts were listed, page by page
    REPAIR_LISTED = "repair.listed";
    /// it is noted which operations are to be reconciled
    REPAIR_MARKED = "repair.marked";
    /// of an operation's entries one is canonical, and the others are marked
    REPAIR_ENTRY_CHOSEN = "repair.entry-chosen";
    /// the provider answered what it has for an operation
    REPAIR_ASKED = "repair.asked";
    /// it is noted what was decided for an operation, and nothing is done yet
    REPAIR_DECIDED = "repair.decided";
    /// what was decided is done
    REPAIR_DONE = "repair.done";
    /// all operations are reconciled, and the payouts are about to be listed once more
    REPAIR_RECONCILED = "repair.reconciled";
    /// the checkpoint is where the canonical settlement goes on
    REPAIR_CHECKPOINT_SET = "repair.checkpoint-set";
    /// the exports that conflict are marked, and the canonical one isn't published yet
    REPAIR_EXPORTS_MARKED = "repair.exports-marked";
    /// the canonical export is published, if the settlement is complete
    REPAIR_EXPORTED = "repair.exported";
    /// dispatch goes on
    REPAIR_RESUMED = "repair.resumed";
    /// the end of the repair is noted
    REPAIR_ENDED = "repair.ended";
}
