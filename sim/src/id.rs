//! The names of things: small numbers, each a type of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty) $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The number as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

ids! {
    /// A node of the world: an index into [`History::nodes`](crate::history::History::nodes).
    NodeId(u16) "node ";
    /// An event: an index into [`History::events`](crate::history::History::events).
    EventId(u32) "#";
    /// A fault: an index into the run's fault plan.
    FaultId(u16) "fault ";
    /// A task of a node, numbered in the order of starting.
    TaskId(u32) "task ";
    /// A grant of the lease, numbered 1, 2, 3 … in the order in which the simulator saw them. Protocols never see it;
    /// checkers judge by it.
    Epoch(u32) "epoch ";
    /// What a holder presents as its lease: a number that the lease store makes up anew for each grant.
    LeaseId(u64) "lease ";
    /// A fencing token: handed out with a grant, strictly increasing for a resource.
    Token(u64) "token ";
    /// A row of the ledger, numbered from 1 in the order of acceptance.
    EntryId(u32) "entry ";
    /// A payout that the provider made, numbered from 1.
    PayoutId(u32) "payout ";
    /// A published export: an index into [`History::exports`](crate::history::History::exports).
    ExportId(u32) "export ";
    /// A message between two nodes, numbered in the order of sending.
    MessageId(u32) "message ";
}

/// An operation of the settlement: its stable ID, the same for every worker. The number inside is an index into the
/// batch; wherever people or other programs see it, operations are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// The index into the batch.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number that people see, from 1.
    pub const fn number(self) -> u32 {
        self.0 + 1
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {}", self.number())
    }
}

impl Serialize for OpId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.number())
    }
}

impl<'de> Deserialize<'de> for OpId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<OpId, D::Error> {
        let number = std::num::NonZeroU32::deserialize(deserializer)?;
        Ok(OpId(number.get() - 1))
    }
}

/// An amount of money in the currency's minor unit (cents).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub i64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let minor = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", minor / 100, minor % 100)
    }
}
