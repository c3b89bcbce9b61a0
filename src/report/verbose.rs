//! Every event as a row of its own, with its number and its cause.

use holdover_sim::clock::Clock;
use holdover_sim::fault::Fault;
use holdover_sim::history::{Event, History, What};
use holdover_sim::id::{Amount, EventId, NodeId};
use holdover_sim::time::{Span, WallTime};
use serde_json::Value;

use super::lanes::Lanes;
use super::layout::NO_BREAK;
use super::timeline::{Mark, Row, wrong_clock};
use super::words;

/// What stands in an event's row.
pub(super) struct EventRow {
    pub(super) cells: Vec<char>,
    pub(super) mark: Mark,
    /// Its number, node, kind, fields and cause: `#3 lease-store lease-granted worker=worker-a epoch=1 ← #2`.
    pub(super) text: String,
}

/// The row of `event`.
pub(super) fn event_row(history: &History, lanes: &Lanes, id: EventId, event: &Event) -> EventRow {
    let mark = mark(event);
    let cells = match event.what {
        What::MessageSent { to, .. } => lanes.with_message(event.at, event.node, to),
        _ => {
            let is_fault = matches!(event.what, What::FaultBegan { .. });
            // What happens to a message isn't the fault itself.
            let mark = if mark == Mark::Fault && !is_fault { Mark::Rejected } else { mark };
            let text = String::new();
            let row =
                Row { at: event.at, event: id, node: event.node, touched: vec![], mark, text, wrong_clock: None };
            lanes.with(&row)
        }
    };
    let mut text = format!("{id} {} {}", words::name(history, event.node), described(history, event));
    if let Some((reading, _)) = wrong_clock(history, event.node, id) {
        text += &format!(" ‹{}›", words::clock(history, reading));
    }
    if let Some(cause) = event.cause {
        text += &format!(" ←{NO_BREAK}{cause}");
    }
    EventRow { cells, mark, text }
}

/// How `event` stands out, looked at by itself.
pub(super) fn mark(event: &Event) -> Mark {
    match event.what {
        What::FaultBegan { .. }
        | What::MessageLost { .. }
        | What::MessageDropped { .. }
        | What::MessageDelayed { .. }
        | What::MessageRepeated { .. }
        | What::CallTimedOut { .. }
        | What::CompensationRefused { .. }
        | What::GatewayFenced { fenced: false, .. } => Mark::Fault,
        What::FaultEnded { .. } => Mark::Healed,
        What::PayoutRejected { .. } | What::OperatorRejected { .. } => Mark::Rejected,
        What::EntryDeleted { .. } => Mark::Stale,
        _ if event.what.rejection().is_some() => Mark::Rejected,
        _ => Mark::Plain,
    }
}

/// An event's kind and fields: the names are those of the JSON history, the values are written for people.
pub(super) fn described(history: &History, event: &Event) -> String {
    match event.what {
        What::MessageSent { message, to, about, answer, latency } => {
            let (kind, to) = (kind_of_message(answer), words::name(history, to));
            format!(
                "message-sent {about} {kind} to={to} message={} latency={}",
                message.0,
                words::rounded(latency)
            )
        }
        What::MessageDelivered { message, from } => {
            let what = event.cause.and_then(|cause| match history.event(cause).what {
                What::MessageSent { about, answer, .. } => Some(format!(" {about} {}", kind_of_message(answer))),
                _ => None,
            });
            let (what, from) = (what.unwrap_or_default(), words::name(history, from));
            format!("message-delivered{what} from={from} message={}", message.0)
        }
        What::LeaseHeld { epoch, until } => {
            let reading = match until.clock {
                Clock::Wall => words::clock(history, WallTime::from_nanos(until.reading)),
                _ => Span::nanos(until.reading).to_string(),
            };
            let clock = words::name_of_clock(until.clock);
            format!("lease-held epoch={} until={reading} clock={clock}", epoch.0)
        }
        What::FaultBegan { fault } | What::FaultEnded { fault } => {
            let kind = if matches!(event.what, What::FaultBegan { .. }) { "fault-began" } else { "fault-ended" };
            let inject: &Fault = &history.plan[fault.index()].inject;
            format!("{kind} fault={} ({})", fault.0, words::fault(history, inject))
        }
        what => generic(history, &what),
    }
}

/// How the value of a field reads that isn't what its name says elsewhere, or needs a name or a unit.
fn read(history: &History, kind: &str, key: &str, value: i64) -> String {
    let span = || words::rounded(Span::nanos(value)).to_string();
    match (kind, key) {
        // These are numbers of an operation and of an entry.
        ("generation-marked", "until") | ("entry-superseded", "by") => value.to_string(),
        (_, "worker" | "from" | "to" | "holder" | "elected") => {
            words::name(history, NodeId(value as u16)).to_owned()
        }
        (_, "until") => words::clock(history, WallTime::from_nanos(value)),
        (_, "by" | "known_in" | "decided_in" | "takes") => span(),
        (_, "amount") => words::amount(Amount(value)),
        _ => value.to_string(),
    }
}

fn kind_of_message(answer: bool) -> &'static str {
    if answer { "answer" } else { "request" }
}

fn generic(history: &History, what: &What) -> String {
    let value = serde_json::to_value(what).expect("an event has no keys that aren't text");
    match value {
        Value::Object(fields) => {
            let (kind, fields) = fields.into_iter().next().expect("an event has a kind");
            let mut text = kind.clone();
            push_fields(history, &kind, &mut text, &fields);
            text
        }
        Value::String(kind) => kind,
        other => other.to_string(),
    }
}

fn push_fields(history: &History, kind: &str, text: &mut String, value: &Value) {
    let Value::Object(fields) = value else {
        *text += &format!(" {}", value.as_str().unwrap_or_default());
        return;
    };
    for (key, value) in fields {
        match (key.as_str(), value, value.as_i64()) {
            (_, Value::Null, _) => {}
            // What a claim consists of stands by itself; why something was refused, and what was decided, is named.
            ("why" | "decision", Value::Object(named), _) => {
                for (name, fields) in named {
                    *text += &format!(" {key}={name}");
                    match fields {
                        Value::Object(_) => push_fields(history, kind, text, fields),
                        number => *text += &format!(" {number}"),
                    }
                }
            }
            (_, Value::Object(_), _) => push_fields(history, kind, text, value),
            (_, _, Some(number)) => *text += &format!(" {key}={}", read(history, kind, key, number)),
            (_, Value::String(value), _) => *text += &format!(" {key}={value}"),
            (_, value, _) => *text += &format!(" {key}={value}"),
        }
    }
}
