//! One message takes much longer than it should.

use serde::{Deserialize, Serialize};

use super::{FaultInfo, FieldInfo, Keep, Kind, Stops, field};
use crate::check::Strike;
use crate::engine::{Wanted, World};
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// One message takes longer than its link would. The fault lasts until the message is sent, or else to the end of the
/// run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayMessage {
    /// What the message is about, such as `lease.renew`: one of [`MESSAGES`](crate::service::MESSAGES)
    /// or [`REPAIR_MESSAGES`](crate::service::REPAIR_MESSAGES).
    pub message: String,
    /// Which of the two.
    pub part: Part,
    /// The worker or the operator that asks.
    pub node: NodeId,
    /// By how much; above zero.
    pub by: Span,
    /// Which of those that are sent after the strike, from 1.
    pub nth: u32,
}

/// One of the two messages that a call consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Part {
    /// To the service.
    Request,
    /// Back from the service.
    Answer,
}

impl Part {
    /// Both.
    pub const ALL: [Part; 2] = [Part::Request, Part::Answer];

    /// The name that scenarios use.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Request => "request",
            Part::Answer => "answer",
        }
    }
}

pub(super) const MESSAGE: FieldInfo =
    field("message", "what it is about, such as \"lease.renew\" (`holdover list messages` has all)");
pub(super) const PART: FieldInfo = field("part", "\"request\" or \"answer\"");
pub(super) const NODE: FieldInfo = field("node", "the worker or the operator that asks");
pub(super) const NTH: FieldInfo = field("nth", "which of those that are sent from then on; default 1");

/// A message as the end of a phrase: `worker-a's next lease.renew request`.
pub(super) fn phrase_of_one(node: String, message: &str, part: Part, nth: u32) -> String {
    let answer = if part == Part::Answer { "the answer to " } else { "" };
    match nth {
        1 => format!("{answer}{node}'s next {message} request"),
        _ => format!("{answer}{node}'s {message} request number {nth} from then on"),
    }
}

impl Kind for DelayMessage {
    const INFO: FaultInfo = FaultInfo {
        name: "delay-message",
        summary: "one message takes much longer than its link would",
        fields: &[MESSAGE, PART, NODE, field("by", "how much longer, such as \"5s\""), NTH],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let DelayMessage { message: _, part: _, node, by: _, nth: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    fn ends_itself(&self) -> bool {
        true
    }

    fn begin(&self, world: &World, fault: FaultId) {
        let DelayMessage { message, part, node, by, nth } = self;
        let (about, answer) = (message.clone(), *part == Part::Answer);
        world.want_message(fault, Wanted { about, answer, node: *node, nth: *nth, delay: Some(*by) });
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("delay of {} by {}", phrase_of_one(name(self.node), &self.message, self.part, self.nth), self.by)
    }

    /// The message tells that it was its turn.
    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}
