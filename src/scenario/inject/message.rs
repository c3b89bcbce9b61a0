//! Faults on single messages: `delay-message` and `lose-message`.

use holdover_sim::fault::{DelayMessage, Fault, LoseMessage, Part};
use holdover_sim::id::NodeId;
use holdover_sim::service::{MESSAGES, REPAIR_MESSAGES, REPLICA_LETTERS};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, Overlap};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::{did_you_mean, listed, quoted};
use crate::scenario::nodes::{NodeKind, Nodes};
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
        let (message, node) = message(lower, nodes, &self.message, &self.node);
        DelayMessage {
            message,
            part: part(lower, &self.part),
            node,
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

    fn overlap(_: &DelayMessage) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
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
        let (message, node) = message(lower, nodes, &self.message, &self.node);
        LoseMessage { message, part: part(lower, &self.part), node, nth: lower.nth(self.nth.as_ref(), "message") }
            .into()
    }

    fn write(kind: &LoseMessage, keys: &mut Keys<'_>) {
        keys.text("message", kind.message.as_str());
        keys.text("part", kind.part.name());
        keys.node("node", kind.node);
        keys.number("nth", other_than(1, u64::from(kind.nth)));
    }

    fn overlap(_: &LoseMessage) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// What operators ask as workers do.
const ASKED_BY_BOTH: &str = "provider.pay";

/// What a message is about, and who asks it: every message is a worker's or an operator's request, or the answer to one.
fn message(
    lower: &mut Lower,
    nodes: &Nodes,
    message: &Spanned<String>,
    node: &Spanned<String>,
) -> (String, NodeId) {
    let asker = super::asker(lower, nodes, node, |service| {
        let help = format!("name whoever asks, also for an answer: {}", listed(&nodes.askers()));
        Wrong::new(format!("{service} asks nobody")).help(help)
    });
    let name = message.get_ref();
    let is_in = |messages: &[(&str, &str)]| messages.iter().any(|(known, _)| known == name);
    let right = match nodes.kind(asker) {
        _ if !is_in(MESSAGES) && !is_in(REPAIR_MESSAGES) => {
            let known = MESSAGES.iter().chain(REPAIR_MESSAGES).map(|(known, _)| *known);
            let known = known.filter(|known| !REPLICA_LETTERS.contains(known));
            let help = did_you_mean(name, "messages", known);
            let wrong = Wrong::new(format!("unknown message {}", quoted(name))).help(help);
            lower.mistakes.add(Mistake::at(message.span(), "no such message", wrong));
            None
        }
        _ if REPLICA_LETTERS.contains(&name.as_str()) => {
            let help = "what replicas write each other is lost or late where their links are: name them in `loss`, \
                        `reorder`, `latency` or `partition`";
            let wrong = Wrong::new(format!("{} is nothing that anybody asks", quoted(name))).help(help);
            lower.mistakes.add(Mistake::at(message.span(), "a letter between replicas", wrong));
            None
        }
        Some(NodeKind::Worker) if is_in(REPAIR_MESSAGES) => Some(NodeKind::Operator),
        Some(NodeKind::Operator) if is_in(MESSAGES) && name != ASKED_BY_BOTH => Some(NodeKind::Worker),
        _ => None,
    };
    if let Some(right) = right {
        let wrong = Wrong::new(format!("{} never asks {}", quoted(node.get_ref()), quoted(name)));
        let mistake = Mistake::at(node.span(), format!("not {}", right.one()), wrong.help(nodes.only(right)));
        lower.mistakes.add(mistake.and(message.span(), format!("what only {}s ask", right.word())));
    }
    (name.clone(), asker)
}

fn part(lower: &mut Lower, name: &Spanned<String>) -> Part {
    let found = Part::ALL.into_iter().find(|part| part.name() == name.get_ref());
    found.unwrap_or_else(|| {
        let help = did_you_mean(name.get_ref(), "a call consists of", Part::ALL.map(Part::name));
        lower.mistake(name, Wrong::new(format!("a message can't be {}", quoted(name.get_ref()))).help(help));
        Part::Request
    })
}
