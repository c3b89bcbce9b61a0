//! What holds in the world of a run, for those who read it as lines: what its scenario says, and what its protocol means
//! where that says nothing. Lengths are nanoseconds.

use holdover_sim::clock::Clock;
use holdover_sim::history::History;
use holdover_sim::lease::{Ending, LeaseService, ReplicaSpec};
use holdover_sim::limits::Limits;
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::service::lease_store::{Expiry, Tokens};
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::world::{Keys, Latency, PayoutSpec, WorldSpec};
use serde::{Deserialize, Serialize};

/// What holds in a world under a protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    end: TrueTime,
    steps: u64,
    lease: Lease,
    ledger: Ledger,
    provider: Provider,
    network: Network,
    job: Job,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<Repair>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lease {
    ttl: Span,
    renew_every: Span,
    poll_every: Span,
    service: Service,
    expiry: EndsBy,
    expiry_as_meant: bool,
    store_clock: Option<Clock>,
    tokens: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_delay: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirms_renewals: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirms_revocations: Option<bool>,
}

/// What keeps the lease.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Service {
    Table,
    AsyncReplica,
    Consensus,
}

/// What a lease ends by: whose clock, for a table, and else how replicas go about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum EndsBy {
    Asker,
    Store,
    TransactionStart,
    LeaderTimers,
    ReplicatedDeadlines,
    LockDelay,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ledger {
    checks_tokens: bool,
    forgets_tokens: bool,
    one_entry: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    checks_tokens: bool,
    keys: KeysSaid,
    #[serde(skip_serializing_if = "Option::is_none")]
    payouts: Option<Payouts>,
}

/// Which keys are remembered, by name or for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum KeysSaid {
    Name(KeysNamed),
    For(Span),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KeysNamed {
    None,
    Kept,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payouts {
    known_in: Latency,
    settles_in: Latency,
    fails_percent: u8,
    refunds_in: Latency,
    refunds_fail_percent: u8,
    answers: bool,
    page: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Network {
    internal: Latency,
    provider: Latency,
    timeout: Span,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    due: WallTime,
    pace: Span,
    finish_within: Span,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repair {
    procedure: String,
    ask_every: Span,
    ask_for: Span,
    quiet_for: Span,
}

impl Settings {
    /// When the run ends at the latest.
    pub(crate) fn end(&self) -> TrueTime {
        self.end
    }

    /// The bound on steps.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// How long a grant or a renewal lasts.
    pub(crate) fn ttl(&self) -> Span {
        self.lease.ttl
    }

    /// Whether a lease ended by the clock that the protocol means.
    pub(crate) fn expiry_as_meant(&self) -> bool {
        self.lease.expiry_as_meant
    }

    /// The clock of the lease store that a lease ended by.
    pub(crate) fn store_clock(&self) -> Option<Clock> {
        self.lease.store_clock
    }

    /// When the job is due in a run that begins at `start`, and how long it may take from there.
    pub(crate) fn due(&self, start: WallTime) -> (TrueTime, Span) {
        (TrueTime::START + (self.job.due - start), self.job.finish_within)
    }

    /// What keeps the lease. (What was wrong with it on purpose isn't told: nobody who judges goes by that.)
    ///
    /// # Errors
    /// What doesn't go together, as a sentence without its full stop.
    pub(crate) fn lease_service(&self) -> Result<LeaseService, &'static str> {
        let Lease { service, expiry, replicas, lock_delay, confirms_renewals, confirms_revocations, .. } =
            self.lease;
        let of_replicas = replicas.zip(confirms_renewals).zip(confirms_revocations);
        if service == Service::Table {
            let of_none =
                (replicas, lock_delay, confirms_renewals, confirms_revocations) == (None, None, None, None);
            let by_clock = matches!(expiry, EndsBy::Asker | EndsBy::Store | EndsBy::TransactionStart);
            return match of_none && by_clock {
                true => Ok(LeaseService::Table),
                false => Err("`world.lease` has keys of replicas, and its `service` is a table"),
            };
        }
        let Some(((count, confirms_renewals), confirms_revocations)) = of_replicas else {
            return Err("`world.lease` lacks `replicas`, `confirms_renewals` or `confirms_revocations`");
        };
        let ending = match (expiry, lock_delay) {
            (EndsBy::LeaderTimers, None) => Ending::LeaderTimers,
            (EndsBy::ReplicatedDeadlines, None) => Ending::ReplicatedDeadlines,
            (EndsBy::LockDelay, Some(delay)) => Ending::LockDelay(delay),
            _ => return Err("`expiry` and `lock_delay` of `world.lease` don't go together"),
        };
        let spec = ReplicaSpec { count, ending, confirms_renewals, confirms_revocations, flaw: None };
        Ok(match service {
            Service::AsyncReplica => LeaseService::AsyncReplica(spec),
            Service::Table | Service::Consensus => LeaseService::Consensus(spec),
        })
    }

    /// What held in `world` under `protocol`, in the run of `history`.
    pub(crate) fn of(world: &WorldSpec, protocol: &dyn AnyProtocol, history: &History) -> Settings {
        let Limits { end, steps } = world.limits;
        let (repair, network) = (world.repair, world.network);
        Settings {
            end,
            steps,
            lease: lease(world, protocol, history),
            ledger: Ledger {
                checks_tokens: protocol.ledger().door.admit(None).is_err(),
                forgets_tokens: world.ledger.forgets_tokens,
                one_entry: protocol.ledger().one_entry_per_operation,
            },
            provider: provider(world, protocol),
            network: Network { internal: network.internal, provider: network.provider, timeout: network.timeout },
            job: Job { due: world.job.due, pace: world.job.pace, finish_within: world.progress_within },
            repair: (!world.operators.is_empty()).then(|| Repair {
                procedure: repair.procedure.0.name().to_owned(),
                ask_every: repair.ask_every,
                ask_for: repair.ask_for,
                quiet_for: repair.quiet_for,
            }),
        }
    }
}

fn lease(world: &WorldSpec, protocol: &dyn AnyProtocol, history: &History) -> Lease {
    let (spec, rules, replicas) = (world.lease, protocol.lease_store(), history.lease_service.replicas());
    let expiry = match (replicas.map(|replicas| replicas.ending), spec.expiry.unwrap_or(rules.expiry)) {
        (Some(Ending::LeaderTimers), _) => EndsBy::LeaderTimers,
        (Some(Ending::ReplicatedDeadlines), _) => EndsBy::ReplicatedDeadlines,
        (Some(Ending::LockDelay(_)), _) => EndsBy::LockDelay,
        (None, Expiry::ByAsker) => EndsBy::Asker,
        (None, Expiry::ByStore) => EndsBy::Store,
        (None, Expiry::ByStoreAtTransactionStart { .. }) => EndsBy::TransactionStart,
    };
    Lease {
        ttl: spec.ttl,
        renew_every: spec.renew_every,
        poll_every: spec.poll_every,
        service: match history.lease_service {
            LeaseService::Table => Service::Table,
            LeaseService::AsyncReplica(_) => Service::AsyncReplica,
            LeaseService::Consensus(_) => Service::Consensus,
        },
        expiry,
        expiry_as_meant: history.expiry_as_meant,
        store_clock: history.store_clock,
        tokens: replicas.is_some() || rules.tokens != Tokens::None,
        replicas: replicas.map(|replicas| replicas.count),
        lock_delay: replicas.and_then(|replicas| match replicas.ending {
            Ending::LockDelay(delay) => Some(delay),
            Ending::LeaderTimers | Ending::ReplicatedDeadlines => None,
        }),
        confirms_renewals: replicas.map(|replicas| replicas.confirms_renewals),
        confirms_revocations: replicas.map(|replicas| replicas.confirms_revocations),
    }
}

fn provider(world: &WorldSpec, protocol: &dyn AnyProtocol) -> Provider {
    let mut meant = protocol.gateway();
    let keys = match world.provider.keys {
        Some(Keys::None) => KeysSaid::Name(KeysNamed::None),
        Some(Keys::Kept) => KeysSaid::Name(KeysNamed::Kept),
        Some(Keys::For(time)) => KeysSaid::For(time),
        None if meant.idempotency_keys => KeysSaid::Name(KeysNamed::Kept),
        None => KeysSaid::Name(KeysNamed::None),
    };
    let payouts = |spec: PayoutSpec| Payouts {
        known_in: spec.known_in,
        settles_in: spec.settles_in,
        fails_percent: spec.fails_percent,
        refunds_in: spec.refunds_in,
        refunds_fail_percent: spec.refunds_fail_percent,
        answers: spec.answers,
        page: spec.page,
    };
    Provider {
        checks_tokens: world.provider.checks_tokens.unwrap_or_else(|| meant.door.admit(None).is_err()),
        keys,
        payouts: world.payouts().map(payouts),
    }
}
