//! The JSON Schema of what holds in the world of a run; see [`Settings`](crate::stored::Settings).

use serde_json::{Value, json};

use super::history_schema::{is, object, with};

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
            ("expiry_as_meant", yes("Whether that is the clock that the protocol means.")),
            (
                "store_clock",
                json!({
                    "enum": ["wall", "monotonic", "raw", "boottime", null],
                    "description": "The clock of whatever keeps the lease that it ends by; null if it is the asker's.",
                }),
            ),
            ("tokens", yes("Whether grants have fencing tokens before a repair.")),
        ],
    );
    let lease = with(lease, "replicas", number("How many replicas keep it; not there for a table."));
    let lease = with(lease, "lock_delay", nanos("Until the next grant; not there for another expiry."));
    let lease =
        with(lease, "confirms_renewals", yes("Whether a leader makes sure that it leads before it renews."));
    let lease = with(lease, "confirms_revocations", yes("The same before it takes a lease away."));
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
