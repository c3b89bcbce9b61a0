//! The JSON Schema of a line of a history, for those who read [`jsonl`](super::jsonl): what each field is.

use holdover_sim::check::{ASSUMPTIONS, CHECKERS, SIGHTINGS};
use holdover_sim::clock::Motion;
use holdover_sim::history::{EVENTS, PayoutState, Reason, Role};
use serde_json::{Map, Value, json};

use super::settings::settings_schema;
use crate::stored::FORMAT;

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
    ("clock-slewed", "ppb:rate"),
    ("writes-lost", "since:instant"),
    ("worker-restored", "of:node snapshot:event"),
    ("throttled", "fault:fault"),
    ("unthrottled", "fault:fault"),
    ("deposed-served", "worker:node fault:fault"),
    ("write-hung", "fault:fault"),
    ("write-returned", "fault:fault written:yes-or-no"),
    ("dispatch-stopped", "claim:claim"),
    ("worker-elected", "claim:claim elected:node-or-none"),
    ("dispatch-resumed", "claim:claim elected:node-or-none"),
    ("generation-marked", "claim:claim until:operation"),
    ("entry-superseded", "claim:claim op:operation entry:number by:number"),
    ("entry-deleted", "claim:claim op:operation entry:number"),
    ("operation-decided", "claim:claim op:operation decision:decision why:reason"),
    ("checkpoint-rebuilt", "claim:claim next:operation"),
    ("export-superseded", "claim:claim export:number"),
    ("repair-ended", "claim:claim unresolved:count"),
    ("repair-left", "claim:claim"),
    ("gateway-fenced", "claim:claim fenced:yes-or-no"),
    ("payout-taken-in", "payout:number known_in:nanos decided_in:nanos fails:yes-or-no"),
    ("payouts-told", "claim:claim op:operation payouts:count known:yes-or-no"),
    ("payout-voided", "claim:claim op:operation payout:number"),
    ("refund-begun", "claim:claim op:operation payout:number takes:nanos fails:yes-or-no"),
    ("compensation-refused", "claim:claim op:operation payout:number state:payout-state"),
    ("operator-rejected", "claim:claim why:refusal"),
    ("lease-revoked", "worker:node epoch:epoch"),
    ("lease-asked", "session:number number:count ask:asked"),
    ("lease-told", "number:count told:told"),
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
pub(super) fn object(about: &str, fields: &[(&str, Value)]) -> Value {
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

/// One of some things: its name alone, or an object with its name as the only key.
fn one_of(about: &str, things: &[(&str, Option<Value>)]) -> Value {
    let thing = |(name, of): &(&str, Option<Value>)| match of {
        None => json!({ "const": name }),
        Some(of) => object("", &[(name, of.clone())]),
    };
    json!({ "description": about, "anyOf": things.iter().map(thing).collect::<Vec<_>>() })
}

pub(super) fn is(what: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{what}") })
}

fn run_line() -> Value {
    let discipline = object(
        "What sets its clocks right, and how often it polls.",
        &[("daemon", is("text")), ("poll", is("nanos"))],
    );
    let node = object(
        "A node.",
        &[
            ("name", json!({ "type": "string" })),
            ("role", json!({ "enum": Role::DRAWN })),
            (
                "starts",
                json!({
                    "anyOf": [is("instant"), { "type": "null" }],
                    "description": "When its process begins, if it is a worker or an operator.",
                }),
            ),
            (
                "copy_of",
                json!({
                    "anyOf": [is("node"), { "type": "null" }],
                    "description": "The node whose copy goes on there once a fault makes one.",
                }),
            ),
            ("discipline", json!({ "anyOf": [discipline, { "type": "null" }] })),
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
    let expect = object(
        "What its scenario expects of it; not there if that expects every rule to hold, and nothing to be seen.",
        &[
            (
                "verdicts",
                json!({
                    "type": "object",
                    "additionalProperties": { "enum": ["holds", "violated", "unknown"] },
                    "description": "What rules should come to. One that isn't here should hold.",
                }),
            ),
            ("seen", json!({ "type": "array", "items": is("text"), "description": "What must have been seen." })),
        ],
    );
    let line = object(
        "What a run starts from, before its events.",
        &[
            ("line", json!({ "const": "run" })),
            ("format", json!({ "const": FORMAT, "description": "The number of this format." })),
            ("run", is("protocol")),
            ("summary", json!({ "type": "string", "description": "What the protocol says of itself." })),
            (
                "relies_on",
                json!({
                    "type": "array",
                    "items": is("text"),
                    "description": "The assumptions of the protocol, by their names.",
                }),
            ),
            ("holdover", json!({ "type": "string", "description": "The version." })),
            ("title", json!({ "type": "string", "description": "What the scenario shows." })),
            ("seed", json!({ "type": "integer", "minimum": 0 })),
            ("start", json!({ "type": "integer", "description": "The start, in nanoseconds since 1970." })),
            ("fingerprint", is("fingerprint")),
            ("world", settings_schema()),
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
    );
    let line = with(line, "story", json!({ "type": "string", "description": "The scenario's, if it has one." }));
    with(line, "expect", expect)
}

fn event_line() -> Value {
    let line = object(
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
    let rows =
        json!({ "type": "array", "items": is("row"), "description": "What was exported, if something was." });
    with(line, "rows", rows)
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
    let (_, fields) =
        FIELDS.iter().find(|(known, _)| *known == kind).expect("every kind of event has its fields here");
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

/// `schema` with one more property that need not be there.
pub(super) fn with(mut schema: Value, name: &str, of: Value) -> Value {
    schema["properties"][name] = of;
    schema
}

fn export_row() -> Value {
    object(
        "An operation in an export.",
        &[("op", is("operation")), ("amount", is("amount")), ("entry", is("number")), ("payout", is("number"))],
    )
}

fn end_line() -> Value {
    let panicked = object("A panic.", &[("node", is("node")), ("message", is("text"))]);
    let panicked = object("The protocol's code panicked.", &[("panicked", panicked)]);
    let bug = object(
        "What panicked.",
        &[("message", is("text")), ("place", json!({ "anyOf": [is("text"), { "type": "null" }] }))],
    );
    let bug = object("The simulator itself panicked: a bug in holdover.", &[("bug", bug)]);
    let line = object(
        "How a run ended, after its events.",
        &[
            ("line", json!({ "const": "end" })),
            ("run", is("protocol")),
            (
                "ending",
                json!({ "anyOf": [{ "enum": ["finished", "time-up", "stuck", "steps-used-up"] }, panicked, bug] }),
            ),
            ("ended_at", is("instant")),
            ("fingerprint", is("fingerprint")),
            ("verdicts", verdicts()),
            (
                "broken_assumptions",
                json!({
                    "type": "array",
                    "items": { "enum": ASSUMPTIONS.iter().map(|assumption| assumption.name).collect::<Vec<_>>() },
                    "description": "What the protocol relies on, and wasn't so.",
                }),
            ),
            ("belief_overlap", is("nanos")),
            ("seen", seen()),
            (
                "faults",
                json!({
                    "type": "array",
                    "items": { "enum": ["bit", "missed", "never-struck"] },
                    "description": "What became of each fault of the plan.",
                }),
            ),
        ],
    );
    let untold = json!({
        "type": "object",
        "additionalProperties": { "type": "array", "items": is("row") },
        "description": "Exports that no event tells of, by their numbers: whoever published them was gone before the write \
                        was done.",
    });
    with(line, "untold_exports", untold)
}

/// What each rule comes to.
fn verdicts() -> Value {
    let verdict = json!({
        "type": "object",
        "properties": {
            "verdict": { "enum": ["holds", "violated", "unknown"] },
            "judged": is("number"),
            "times": is("number"),
            "witness": { "type": "object", "required": ["kind"], "description": "The first events that show it." },
            "reason": is("text"),
        },
        "required": ["verdict"],
        "additionalProperties": false,
    });
    let verdicts: Vec<(&str, Value)> = CHECKERS.iter().map(|rule| (rule.name, verdict.clone())).collect();
    object("What each rule comes to.", &verdicts)
}

/// How often each sighting was seen.
fn seen() -> Value {
    let seen: Vec<(&str, Value)> = SIGHTINGS.iter().map(|sighting| (sighting.name, is("number"))).collect();
    object("How often each sighting was seen.", &seen)
}

fn definitions() -> Value {
    let number = |about: &str| json!({ "type": "integer", "minimum": 0, "description": about });
    let holder = json!({
        "anyOf": [{ "type": "array", "items": [is("node"), is("number")], "minItems": 2, "maxItems": 2 }, { "type": "null" }],
        "description": "Who has it, and its token.",
    });
    json!({
        "row": export_row(),
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
        "count": number("How many there are, or which one it is of them."),
        "node-or-none": { "anyOf": [is("node"), { "type": "null" }] },
        "nanos": { "type": "integer", "description": "Nanoseconds: a length, or a reading since 1970." },
        "rate": { "type": "integer", "description": "By how much a clock runs fast, in parts per billion." },
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
        "stretch": object(
            "From `from` on, what each clock reads then and how it goes on.",
            &[
                ("from", is("instant")),
                ("since", json!({ "allOf": [is("event")], "description": "The first event at `from` that reads this one." })),
                ("wall", is("nanos")),
                ("mono", is("nanos")),
                ("raw", is("nanos")),
                ("boot", is("nanos")),
                ("drift", is("rate")),
                ("slew", is("rate")),
                ("motion", json!({ "enum": [Motion::Running, Motion::Suspended, Motion::Frozen] })),
            ],
        ),
        "decision": one_of(
            "What an operator decided.",
            &[
                ("keep", Some(is("number"))),
                ("submit", Some(is("count"))),
                ("void", Some(is("number"))),
                ("refund", Some(is("number"))),
                ("ask-again", None),
                ("close", Some(is("number"))),
                ("give-up", None),
            ],
        ),
        "reason": { "description": "Why it decided so.", "enum": Reason::ALL },
        "payout-state": { "description": "What became of a payout.", "enum": PayoutState::ALL },
        "asked": one_of(
            "What a worker wants of a replicated lease service.",
            &[
                ("come", None),
                ("acquire", Some(object("The lease.", &[("ttl", is("nanos"))]))),
                ("renew", Some(object("To keep the lease.", &[("token", is("number")), ("ttl", is("nanos"))]))),
                ("release", Some(object("To give the lease back.", &[("token", is("number"))]))),
                ("read", None),
            ],
        ),
        "told": one_of(
            "What came of it.",
            &[
                ("granted", Some(object("The lease.", &[("token", is("number"))]))),
                ("done", None),
                ("refused", None),
                ("held", Some(object("Who has the lease.", &[("by", holder)]))),
                ("unknown", None),
            ],
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_event_is_told_once() {
        for (kind, _) in EVENTS {
            let fields = FIELDS.iter().filter(|(known, _)| known == kind).count();
            let without = WITHOUT.iter().filter(|known| *known == kind).count();
            assert_eq!(fields + without + usize::from(*kind == "point-passed"), 1, "{kind}");
        }
        let is_kind = |name: &&str| EVENTS.iter().any(|(kind, _)| kind == name);
        assert!(FIELDS.iter().map(|(kind, _)| kind).chain(WITHOUT).all(is_kind));
        let definitions = definitions();
        for field in FIELDS.iter().flat_map(|(_, fields)| fields.split(' ')) {
            let (_, of) = field.split_once(':').expect("a name and what it is");
            assert!(definitions.get(of).is_some(), "{of}");
        }
    }
}
