//! One message is lost.

use serde::{Deserialize, Serialize};

use super::delay_message::{MESSAGE, NODE, NTH, PART, Part, phrase_of_one};
use super::{FaultInfo, Keep, Kind, Stops};
use crate::check::Strike;
use crate::engine::{Wanted, World};
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::Span;

/// One message is lost, and nobody is told. If it is an answer, the request was carried out all the same. The fault
/// lasts until the message is sent, or else to the end of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoseMessage {
    /// What the message is about, such as `ledger.write`: one of [`MESSAGES`](crate::service::MESSAGES)
    /// or [`REPAIR_MESSAGES`](crate::service::REPAIR_MESSAGES).
    pub message: String,
    /// Which of the two.
    pub part: Part,
    /// The worker or the operator that asks.
    pub node: NodeId,
    /// Which of those that are sent after the strike, from 1.
    pub nth: u32,
}

impl Kind for LoseMessage {
    const INFO: FaultInfo = FaultInfo {
        name: "lose-message",
        summary: "one message is lost, and nobody is told; if it is an answer, the request was carried out",
        fields: &[MESSAGE, PART, NODE, NTH],
    };

    const STOPS: Stops = Stops::Nothing;

    fn node(&self) -> NodeId {
        self.node
    }

    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let LoseMessage { message: _, part: _, node, nth: _ } = self;
        keep(node)
    }

    fn lasting(&self) -> Option<Span> {
        None
    }

    fn ends_itself(&self) -> bool {
        true
    }

    fn begin(&self, world: &World, fault: FaultId) {
        let (about, answer) = (self.message.clone(), self.part == Part::Answer);
        world.want_message(fault, Wanted { about, answer, node: self.node, nth: self.nth, delay: None });
    }

    fn end(&self, world: &World, fault: FaultId) {
        world.remove_rule(fault);
    }

    /// It hurts if it changes what becomes of a message.
    fn bit(&self, _: &History, strike: &Strike) -> bool {
        strike.touches_a_message()
    }

    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        format!("loss of {}", phrase_of_one(name(self.node), &self.message, self.part, self.nth))
    }

    /// The message tells that it was its turn.
    fn healed(&self, _: &dyn Fn(NodeId) -> String) -> Option<String> {
        None
    }
}
