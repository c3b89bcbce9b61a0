//! What holds in the world of a run, for those who read [`jsonl`](super::jsonl): what its scenario says, and what its
//! protocol means where that says nothing. Lengths are nanoseconds.

use holdover_sim::lease::{Ending, LeaseService};
use holdover_sim::limits::Limits;
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::service::lease_store::{Expiry, Tokens};
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::world::{Keys, Latency, PayoutSpec, WorldSpec};
use serde::Serialize;
use serde_json::{Value, json};

use super::history_schema::{is, object};

/// What holds in a world under a protocol.
#[derive(Serialize)]
pub(super) struct Settings {
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

#[derive(Serialize)]
struct Lease {
    ttl: Span,
    renew_every: Span,
    poll_every: Span,
    service: &'static str,
    expiry: &'static str,
    tokens: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_delay: Option<Span>,
}

#[derive(Serialize)]
struct Ledger {
    checks_tokens: bool,
    forgets_tokens: bool,
    one_entry: bool,
}

#[derive(Serialize)]
struct Provider {
    checks_tokens: bool,
    keys: KeysSaid,
    #[serde(skip_serializing_if = "Option::is_none")]
    payouts: Option<Payouts>,
}

/// Which keys are remembered, by name or for how long.
#[derive(Serialize)]
#[serde(untagged)]
enum KeysSaid {
    Name(&'static str),
    For(Span),
}

#[derive(Serialize)]
struct Payouts {
    known_in: Latency,
    settles_in: Latency,
    fails_percent: u8,
    refunds_in: Latency,
    refunds_fail_percent: u8,
    answers: bool,
    page: usize,
}

#[derive(Serialize)]
struct Network {
    internal: Latency,
    provider: Latency,
    timeout: Span,
}

#[derive(Serialize)]
struct Job {
    due: WallTime,
    pace: Span,
    finish_within: Span,
}

#[derive(Serialize)]
struct Repair {
    procedure: &'static str,
    ask_every: Span,
    ask_for: Span,
    quiet_for: Span,
}

impl Settings {
    /// What holds in `world` under `protocol`, whose lease is kept by `service`.
    pub(super) fn of(world: &WorldSpec, protocol: &dyn AnyProtocol, service: LeaseService) -> Settings {
        let Limits { end, steps } = world.limits;
        let (repair, network) = (world.repair, world.network);
        Settings {
            end,
            steps,
            lease: lease(world, protocol, service),
            ledger: Ledger {
                checks_tokens: protocol.ledger().door.admit(None).is_err(),
                forgets_tokens: world.ledger.forgets_tokens,
                one_entry: protocol.ledger().one_entry_per_operation,
            },
            provider: provider(world, protocol),
            network: Network { internal: network.internal, provider: network.provider, timeout: network.timeout },
            job: Job { due: world.job.due, pace: world.job.pace, finish_within: world.progress_within },
            repair: (!world.operators.is_empty()).then(|| Repair {
                procedure: repair.procedure.0.name(),
                ask_every: repair.ask_every,
                ask_for: repair.ask_for,
                quiet_for: repair.quiet_for,
            }),
        }
    }
}

fn lease(world: &WorldSpec, protocol: &dyn AnyProtocol, service: LeaseService) -> Lease {
    let (spec, rules, replicas) = (world.lease, protocol.lease_store(), service.replicas());
    let expiry = match (replicas, spec.expiry.unwrap_or(rules.expiry)) {
        (Some(replicas), _) => replicas.ending.name(),
        (None, Expiry::ByAsker) => "asker",
        (None, Expiry::ByStore) => "store",
        (None, Expiry::ByStoreAtTransactionStart { .. }) => "transaction-start",
    };
    Lease {
        ttl: spec.ttl,
        renew_every: spec.renew_every,
        poll_every: spec.poll_every,
        service: service.name(),
        expiry,
        tokens: replicas.is_some() || rules.tokens != Tokens::None,
        replicas: replicas.map(|replicas| replicas.count),
        lock_delay: replicas.and_then(|replicas| match replicas.ending {
            Ending::LockDelay(delay) => Some(delay),
            Ending::LeaderTimers | Ending::ReplicatedDeadlines => None,
        }),
    }
}

fn provider(world: &WorldSpec, protocol: &dyn AnyProtocol) -> Provider {
    let mut meant = protocol.gateway();
    let keys = match world.provider.keys {
        Some(Keys::None) => KeysSaid::Name("none"),
        Some(Keys::Kept) => KeysSaid::Name("kept"),
        Some(Keys::For(time)) => KeysSaid::For(time),
        None if meant.idempotency_keys => KeysSaid::Name("kept"),
        None => KeysSaid::Name("none"),
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

/// The JSON Schema of that.
pub(super) fn settings_schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let said = |about: &str, of: &str| json!({ "allOf": [is(of)], "description": about });
    let nanos = |about: &str| said(about, "nanos");
    let yes = |about: &str| said(about, "yes-or-no");
    let number = |about: &str| said(about, "number");
    let range = |about: &str| {
        let mut range = object(about, &[("min", is("nanos")), ("max", is("nanos"))]);
        range["description"] = json!(about);
        range
    };
    let lease = object(
        "The lease, and what keeps it.",
        &[
            ("ttl", nanos("How long a grant or a renewal lasts.")),
            ("renew_every", nanos("How often the holder renews.")),
            ("poll_every", nanos("How often the others ask.")),
            ("service", json!({ "enum": ["table", "consensus", "async-replica"] })),
            (
                "expiry",
                json!({ "enum": [
                    "asker", "store", "transaction-start", "leader-timers", "replicated-deadlines", "lock-delay",
                ] }),
            ),
            ("tokens", yes("Whether grants have fencing tokens before a repair.")),
        ],
    );
    let lease = with(lease, "replicas", number("How many replicas keep it; not there for a table."));
    let lease = with(lease, "lock_delay", nanos("Until the next grant; not there for another expiry."));
    let ledger = object(
        "The ledger.",
        &[
            ("checks_tokens", yes("Whether it turns low tokens away before a repair.")),
            ("forgets_tokens", yes("Whether it keeps the highest token in memory only.")),
            ("one_entry", yes("Whether it keeps one entry for each operation, and finds that when asked again.")),
        ],
    );
    let payouts = object(
        "How payouts take their time; not there where they are settled when they are made.",
        &[
            ("known_in", range("Until the provider knows what it was asked for.")),
            ("settles_in", range("From there until the money has moved.")),
            ("fails_percent", number("Of a hundred payouts, how many fail.")),
            ("refunds_in", range("How long it takes to give back what was paid.")),
            ("refunds_fail_percent", number("Of a hundred refunds, how many fail.")),
            ("answers", yes("Whether the provider answers questions on payouts.")),
            ("page", number("How many payouts it lists on a page.")),
        ],
    );
    let keys = json!({
        "anyOf": [{ "enum": ["none", "kept"] }, is("nanos")],
        "description": "Which idempotency keys it remembers, or for how long.",
    });
    let provider = object(
        "The provider.",
        &[("checks_tokens", yes("Whether its gateway turns low tokens away.")), ("keys", keys)],
    );
    let provider = with(provider, "payouts", payouts);
    let network = object(
        "Latencies, and how long a caller waits.",
        &[
            ("internal", range("Between workers, lease store and ledger.")),
            ("provider", range("To and from the provider.")),
            ("timeout", nanos("By the caller's monotonic clock.")),
        ],
    );
    let job = object(
        "The settlement.",
        &[
            ("due", nanos("When it begins, by the wall clock of whoever has the lease.")),
            ("pace", nanos("How often an operation begins.")),
            ("finish_within", nanos("How long it may take after it is due and the last fault has healed.")),
        ],
    );
    let repair = object(
        "How operators repair; not there where there is none.",
        &[
            ("procedure", text("`holdover list procedures` has all.")),
            ("ask_every", nanos("How long they wait before they ask again.")),
            ("ask_for", nanos("How long they ask for an operation before they leave it to a person.")),
            ("quiet_for", nanos("How long they wait before they look at all payouts once more.")),
        ],
    );
    let settings = object(
        "What holds in this world: what its scenario says, and what its protocol means where that says nothing.",
        &[
            ("end", is("instant")),
            ("steps", number("The bound on steps.")),
            ("lease", lease),
            ("ledger", ledger),
            ("provider", provider),
            ("network", network),
            ("job", job),
        ],
    );
    with(settings, "repair", repair)
}

/// `schema` with one more property that need not be there.
fn with(mut schema: Value, name: &str, of: Value) -> Value {
    schema["properties"][name] = of;
    schema
}
