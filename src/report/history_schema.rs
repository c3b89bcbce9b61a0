//! The JSON Schema of a line of a history, for those who read [`jsonl`](super::jsonl): what each field is.

use holdover_sim::history::EVENTS;
use serde_json::{Map, Value, json};

/// The fields of each kind of event, but for those without any: each a name and, behind a colon, what it is.
const FIELDS: &[(&str, &str)] = &[
    ("lease-checked", "epoch:epoch valid:yes-or-no"),
    ("lease-held", "epoch:epoch until:deadline"),
    ("lease-dropped", "epoch:epoch"),
    ("message-sent", "message:number to:node about:text answer:yes-or-no latency:nanos"),
    ("message-delivered", "message:number from:node"),
    ("message-lost", "message:number from:node"),
    ("message-dropped", "message:number to:node fault:fault"),
    ("message-delayed", "message:number by:nanos fault:fault"),
    ("message-repeated", "message:number to:node copy:number fault:fault"),
    ("call-timed-out", "message:number to:node about:text"),
    ("lease-granted", "worker:node epoch:epoch lease:number token:token until:nanos"),
    ("lease-refused", "worker:node holder:node"),
    ("lease-renewed", "worker:node epoch:epoch until:nanos"),
    ("renewal-refused", "worker:node epoch:epoch"),
    ("lease-released", "worker:node epoch:epoch"),
    ("checkpoint-read", "claim:claim next:operation"),
    ("generation-opened", "claim:claim next:operation"),
    ("fence-rejected", "claim:claim why:refusal"),
    ("write-accepted", "claim:claim op:operation entry:number amount:amount"),
    ("write-repeated", "claim:claim op:operation entry:number"),
    ("write-rejected", "claim:claim op:operation why:refusal"),
    ("checkpoint-moved", "claim:claim next:operation"),
    ("checkpoint-rejected", "claim:claim why:refusal"),
    ("export-published", "claim:claim export:number"),
    ("export-rejected", "claim:claim why:refusal"),
    ("payout-made", "claim:claim op:operation payout:number amount:amount"),
    ("payout-repeated", "claim:claim op:operation payout:number"),
    ("payout-rejected", "claim:claim op:operation why:refusal"),
    ("fault-began", "fault:fault"),
    ("fault-ended", "fault:fault"),
    ("clock-corrected", "by:nanos"),
    ("clock-slewed", "ppb:nanos"),
    ("writes-lost", "since:instant"),
    ("worker-restored", "of:node snapshot:event"),
    ("throttled", "fault:fault"),
    ("unthrottled", "fault:fault"),
    ("deposed-served", "worker:node fault:fault"),
    ("write-hung", "fault:fault"),
    ("write-returned", "fault:fault written:yes-or-no"),
];

/// Events that have no fields: they are written as a name alone.
const WITHOUT: &[&str] = &[
    "worker-started",
    "worker-finished",
    "worker-died",
    "time-daemon-exited",
    "leader-elected",
    "replica-stopped",
];

/// The JSON Schema, in draft 7, of one line that [`jsonl::write`](super::jsonl::write) writes.
pub fn history_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A line of a history",
        "description": "What `holdover replay --format jsonl` prints: for each run a line on its world, one for each event, \
                        and one on its end. Times are nanoseconds.",
        "anyOf": [run_line(), event_line(), end_line()],
        "definitions": definitions(),
    })
}

/// An object with just these fields, all of them required.
fn object(about: &str, fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect();
    json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn is(what: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{what}") })
}

fn run_line() -> Value {
    let node = object(
        "A node.",
        &[
            ("name", json!({ "type": "string" })),
            ("role", json!({ "type": "string" })),
            (
                "clocks",
                json!({
                    "type": "array",
                    "minItems": 1,
                    "items": is("stretch"),
                    "description": "The stretches in which its clocks are straight lines, in order.",
                }),
            ),
        ],
    );
    object(
        "What a run starts from, before its events.",
        &[
            ("line", json!({ "const": "run" })),
            ("run", is("protocol")),
            ("holdover", json!({ "type": "string", "description": "The version." })),
            ("seed", json!({ "type": "integer", "minimum": 0 })),
            ("start", json!({ "type": "integer", "description": "The start, in nanoseconds since 1970." })),
            ("fingerprint", is("fingerprint")),
            (
                "nodes",
                json!({ "type": "array", "items": node, "description": "Numbers of nodes count into it from 0." }),
            ),
            (
                "batch",
                json!({ "type": "array", "items": is("amount"), "description": "What each operation pays." }),
            ),
            (
                "plan",
                json!({
                    "type": "array",
                    "items": { "type": "object", "required": ["when", "inject"] },
                    "description": "The faults. Numbers of faults count into it from 0.",
                }),
            ),
        ],
    )
}

fn event_line() -> Value {
    let row = object(
        "An operation in an export.",
        &[("op", is("operation")), ("amount", is("amount")), ("entry", is("number")), ("payout", is("number"))],
    );
    let mut line = object(
        "An event.",
        &[
            ("line", json!({ "const": "event" })),
            ("run", is("protocol")),
            ("id", is("event")),
            ("at", is("instant")),
            ("utc", json!({ "type": "string", "description": "The same as a time of day." })),
            ("node", is("node")),
            (
                "wall",
                json!({ "type": "integer", "description": "What the node's wall clock reads then, since 1970." }),
            ),
            ("mono", json!({ "type": "integer", "description": "What its monotonic clock reads then." })),
            (
                "cause",
                json!({
                    "anyOf": [is("event"), { "type": "null" }],
                    "description": "The earlier event that led to it, if one did.",
                }),
            ),
            (
                "what",
                json!({ "anyOf": EVENTS.iter().map(|(kind, meaning)| what(kind, meaning)).collect::<Vec<_>>() }),
            ),
        ],
    );
    line["properties"]["rows"] =
        json!({ "type": "array", "items": row, "description": "What was exported, if something was." });
    line
}

/// One kind of event: its name alone, or an object with its name as the only key.
fn what(kind: &str, meaning: &str) -> Value {
    let meaning = format!("{}{}.", meaning[..1].to_uppercase(), &meaning[1..]);
    if WITHOUT.contains(&kind) {
        return json!({ "const": kind, "description": meaning });
    }
    if kind == "point-passed" {
        return object(&meaning, &[(kind, json!({ "type": "string", "description": "The point." }))]);
    }
    let Some((_, fields)) = FIELDS.iter().find(|(known, _)| *known == kind) else {
        return object(&meaning, &[(kind, json!({}))]);
    };
    let fields: Vec<(&str, Value)> =
        fields.split(' ').filter_map(|field| field.split_once(':')).map(|(name, of)| (name, is(of))).collect();
    json!({
        "type": "object",
        "description": meaning,
        "properties": { kind: object("Its fields.", &fields) },
        "required": [kind],
        "additionalProperties": false,
    })
}

fn end_line() -> Value {
    let panicked = object("A panic.", &[("node", is("node")), ("message", is("text"))]);
    let panicked = object("A worker's code or a service panicked.", &[("panicked", panicked)]);
    object(
        "How a run ended, after its events.",
        &[
            ("line", json!({ "const": "end" })),
            ("run", is("protocol")),
            (
                "ending",
                json!({ "anyOf": [{ "enum": ["finished", "time-up", "stuck", "steps-used-up"] }, panicked] }),
            ),
            ("ended_at", is("instant")),
            ("fingerprint", is("fingerprint")),
        ],
    )
}

fn definitions() -> Value {
    let number = |about: &str| json!({ "type": "integer", "minimum": 0, "description": about });
    json!({
        "protocol": { "type": "string", "description": "The protocol of the run." },
        "fingerprint": { "type": "string", "pattern": "^[0-9a-f]{32}$", "description": "The hash of the history." },
        "instant": number("True time: nanoseconds since the start."),
        "node": number("The number of a node."),
        "event": number("The number of an event, in its run from 0."),
        "fault": number("The number of a fault of the plan."),
        "number": number("A number of its own kind: of a message, an entry, a payout, an export or a lease."),
        "operation": { "type": "integer", "minimum": 1, "description": "The number of an operation." },
        "epoch": { "type": "integer", "minimum": 1, "description": "The simulator's number for a grant of the lease." },
        "token": { "type": ["integer", "null"], "minimum": 0, "description": "A fencing token, if the protocol has one." },
        "amount": { "type": "integer", "description": "An amount, in the smallest unit of money." },
        "nanos": { "type": "integer", "description": "Nanoseconds: a length, or a reading since 1970. A rate is in ppb." },
        "text": { "type": "string" },
        "yes-or-no": { "type": "boolean" },
        "claim": object("Who asks, under which grant.", &[("worker", is("node")), ("epoch", is("epoch")), ("token", is("token"))]),
        "deadline": object(
            "A reading of one of the worker's own clocks.",
            &[
                ("clock", json!({ "enum": ["wall", "monotonic", "raw", "boottime"] })),
                ("reading", json!({ "type": "integer" })),
            ],
        ),
        "refusal": {
            "description": "Why something was turned away.",
            "anyOf": [
                { "const": "no-token" },
                object("A higher token was there.", &[("token-too-low", object("", &[("highest", is("token"))]))]),
            ],
        },
        "stretch": {
            "type": "object",
            "description": "From `from` on, what each clock reads then and how it goes on.",
            "required": ["from", "wall", "mono", "raw", "boot", "drift", "slew", "motion"],
        },
    })
}
