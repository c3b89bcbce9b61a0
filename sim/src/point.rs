//! Named places in a worker's path, where a fault can be anchored.
//!
//! Between "I checked" and "I act" there is always one, so a pause can land exactly there. The names say what has just
//! happened; a point is passed even when the step before it failed.

use std::fmt;

use serde::Serialize;

/// A named place in a worker's path. A protocol of one's own may add points by any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Point(pub &'static str);

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! points {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal;)*) => {
        impl Point {
            $($(#[doc = $doc])* pub const $name: Point = Point($text);)*
        }

        /// Every point of the built-in worker with what it means, in the order of a worker's path.
        pub const POINTS: &[(Point, &str)] = &[$((Point::$name, concat!($($doc),*))),*];
    };
}

points! {
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
