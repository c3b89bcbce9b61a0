//! What a lease service can be, and what one of several replicas is asked and answers.

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::id::{NodeId, Token};
use crate::time::Span;

/// What the lease service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseService {
    /// One table row, on one node.
    Table,
    /// A primary that answers, and copies to the others afterwards; an operator promotes one of those if it is gone.
    AsyncReplica(ReplicaSpec),
    /// Replicas that agree before they answer.
    Consensus(ReplicaSpec),
}

impl LeaseService {
    /// The replicas, if it is several.
    pub const fn replicas(self) -> Option<ReplicaSpec> {
        match self {
            LeaseService::Table => None,
            LeaseService::AsyncReplica(spec) | LeaseService::Consensus(spec) => Some(spec),
        }
    }

    /// The name that scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            LeaseService::Table => "table",
            LeaseService::AsyncReplica(_) => "async-replica",
            LeaseService::Consensus(_) => "consensus",
        }
    }

    /// The clock of the leader that a lease ends by; `None` if it is a table, whose rules say that.
    pub const fn clock(self) -> Option<Clock> {
        match self.replicas() {
            None => None,
            Some(ReplicaSpec { ending: Ending::ReplicatedDeadlines, .. }) => Some(Clock::Wall),
            Some(_) => Some(Clock::Monotonic),
        }
    }
}

/// The replicas of a lease service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaSpec {
    /// How many there are.
    pub count: u16,
    /// How a lease ends that nobody gives back.
    pub ending: Ending,
    /// Whether whoever leads makes sure that it still does before it renews.
    pub confirms_renewals: bool,
    /// Whether it does before it takes away.
    pub confirms_revocations: bool,
    /// What is wrong with them on purpose; only tests have any.
    pub flaw: Option<Flaw>,
}

impl ReplicaSpec {
    /// Three replicas, with the timers of a leader.
    pub const THREE: ReplicaSpec = ReplicaSpec {
        count: 3,
        ending: Ending::LeaderTimers,
        confirms_renewals: true,
        confirms_revocations: true,
        flaw: None,
    };
    /// A primary and a replica, with the timers of whoever is primary.
    pub const PAIR: ReplicaSpec = ReplicaSpec { count: 2, ..ReplicaSpec::THREE };
}

/// How a lease ends that nobody gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By a timer of the leader's, on its monotonic clock and in its memory. A new leader begins all anew, so a lease may
    /// last longer than it should and never shorter; as in etcd and ZooKeeper.
    LeaderTimers,
    /// By a time that is part of the order, compared with the leader's wall clock: a change of leaders prolongs nothing, and
    /// the leaders' wall clocks have to agree.
    ReplicatedDeadlines,
    /// As by a leader's timers, and after a lease was taken away nobody gets it for a while, so that late writes of its
    /// holder can arrive; as in Consul and Chubby. The leader remembers that in memory only, and another one doesn't know.
    LockDelay(Span),
}

impl Ending {
    /// The name that scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::LeaderTimers => "leader-timers",
            Ending::ReplicatedDeadlines => "replicated-deadlines",
            Ending::LockDelay(_) => "lock-delay",
        }
    }
}

/// What may be wrong with replicas on purpose: mistakes that real services made, for checkers to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A leader takes leases away without making sure that it still leads, and that they weren't renewed meanwhile.
    RevokesUnconfirmed,
    /// A leader renews from memory, without making sure that it still leads.
    RenewsUnconfirmed,
    /// Tokens come from a counter in the leader's memory, and not from the order.
    CountsTokensItself,
    /// A request that comes a second time is carried out a second time.
    ForgetsRetries,
    /// A replica comes back without what it had on disk.
    TruncatesAtRestart,
    /// Whoever follows judges leases as well, by its own wall clock, and has them taken away.
    FollowersJudge,
}

/// What a client asks of the lease service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LeaseAsk {
    /// To be known from now on, and free of what it had before.
    Come,
    /// To have the lease if it is free.
    Acquire {
        /// For how long.
        ttl: Span,
    },
    /// To keep the lease.
    Renew {
        /// Which.
        token: Token,
        /// For how long from now.
        ttl: Span,
    },
    /// To give the lease back.
    Release {
        /// Which.
        token: Token,
    },
    /// To know who has the lease.
    Read,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LeaseTold {
    /// The lease is the client's.
    Granted {
        /// Its token.
        token: Token,
    },
    /// It is prolonged, or given back.
    Done,
    /// Somebody else has the lease, or nobody has the one that was asked about.
    Refused,
    /// Who has it.
    Held {
        /// The holder and its token; `None` if nobody has it.
        by: Option<(NodeId, Token)>,
    },
    /// The service knows nothing of this client, or not of this request any more.
    Unknown,
}
