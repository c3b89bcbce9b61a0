//! Faults on single messages: `delay-message` and `lose-message`.

use holdover_sim::fault::{DelayMessage, Fault, LoseMessage, Part};
use holdover_sim::id::NodeId;
use holdover_sim::service::MESSAGES;
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, NO_NODE};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::{Lower, Nodes};
use crate::scenario::names::{did_you_mean, listed, quoted};
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::{Keys, other_than};

/// `delay-message = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct DelayFile {
    #[schemars(with = "terms::Message")]
    message: Spanned<String>,
    #[schemars(with = "terms::Part")]
    part: Spanned<String>,
    #[schemars(with = "terms::Worker")]
    node: Spanned<String>,
    #[schemars(with = "terms::PositiveDuration")]
    by: Spanned<Written>,
    #[schemars(with = "Option<terms::Nth>", extend("default" = 1))]
    nth: Option<Spanned<u64>>,
}

impl Inject for DelayFile {
    type Kind = DelayMessage;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        DelayMessage {
            message: message(lower, &self.message),
            part: part(lower, &self.part),
            node: asker(lower, nodes, &self.node),
            by: lower.value(Some(&self.by), Span::ZERO, value::positive_duration),
            nth: lower.nth(self.nth.as_ref(), "message"),
        }
        .into()
    }

    fn write(kind: &DelayMessage, keys: &mut Keys<'_>) {
        keys.text("message", kind.message.as_str());
        keys.text("part", kind.part.name());
        keys.node("node", kind.node);
        keys.duration("by", kind.by);
        keys.number("nth", other_than(1, u64::from(kind.nth)));
    }
}

/// `lose-message = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct LoseFile {
    #[schemars(with = "terms::Message")]
    message: Spanned<String>,
    #[schemars(with = "terms::Part")]
    part: Spanned<String>,
    #[schemars(with = "terms::Worker")]
    node: Spanned<String>,
    #[schemars(with = "Option<terms::Nth>", extend("default" = 1))]
    nth: Option<Spanned<u64>>,
}

impl Inject for LoseFile {
    type Kind = LoseMessage;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        LoseMessage {
            message: message(lower, &self.message),
            part: part(lower, &self.part),
            node: asker(lower, nodes, &self.node),
            nth: lower.nth(self.nth.as_ref(), "message"),
        }
        .into()
    }

    fn write(kind: &LoseMessage, keys: &mut Keys<'_>) {
        keys.text("message", kind.message.as_str());
        keys.text("part", kind.part.name());
        keys.node("node", kind.node);
        keys.number("nth", other_than(1, u64::from(kind.nth)));
    }
}

fn message(lower: &mut Lower, name: &Spanned<String>) -> String {
    if !MESSAGES.iter().any(|(known, _)| known == name.get_ref()) {
        let help = did_you_mean(name.get_ref(), "messages", MESSAGES.iter().map(|(known, _)| *known));
        let wrong = Wrong::new(format!("unknown message {}", quoted(name.get_ref()))).help(help);
        lower.mistakes.add(Mistake::at(name.span(), "no such message", wrong));
    }
    name.get_ref().clone()
}

fn part(lower: &mut Lower, name: &Spanned<String>) -> Part {
    let found = Part::ALL.into_iter().find(|part| part.name() == name.get_ref());
    found.unwrap_or_else(|| {
        let help = did_you_mean(name.get_ref(), "a call consists of", Part::ALL.map(Part::name));
        lower.mistake(name, Wrong::new(format!("a message can't be {}", quoted(name.get_ref()))).help(help));
        Part::Request
    })
}

/// Who asks: every message is a worker's request or the answer to one, but for what a lease service's replicas write each
/// other.
fn asker(lower: &mut Lower, nodes: &Nodes, name: &Spanned<String>) -> NodeId {
    let node = super::node(lower, nodes, name);
    if node != NO_NODE && nodes.is_service(node) && !nodes.is_replica(node) {
        let wrong = Wrong::new(format!("the service {} asks nobody", quoted(name.get_ref())))
            .help(format!("name the worker that asks, also for an answer: {}", listed(&nodes.workers())));
        lower.mistakes.add(Mistake::at(name.span(), "a service", wrong));
    }
    node
}
