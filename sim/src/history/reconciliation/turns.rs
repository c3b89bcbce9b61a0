//! The turns of operators: from when one stopped dispatch to its end, or to that of the process.

use crate::history::{Claim, History, What};
use crate::id::{EventId, NodeId, OpId, Token};

/// What an operator did under one authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who.
    pub operator: NodeId,
    /// Under which token.
    pub token: Option<Token>,
    /// The event that stopped dispatch.
    pub stopped: EventId,
    /// The event that fenced the ledger.
    pub fenced: Option<EventId>,
    /// The event that fenced the gateway, or showed that it can't be.
    pub gateway: Option<(EventId, bool)>,
    /// The event that elected who goes on, and whom.
    pub elected: Option<(EventId, Option<NodeId>)>,
    /// The event that marked the affected operations, and the first that isn't affected.
    pub marked: Option<(EventId, OpId)>,
    /// The event that let dispatch go on.
    pub resumed: Option<EventId>,
    /// How it ended.
    pub end: TurnEnd,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// With this event the operator came to its end.
    Ended {
        /// It.
        event: EventId,
        /// How many operations it left to a person.
        unresolved: u32,
    },
    /// With this event the operator gave way to another one.
    GaveWay(EventId),
    /// With this event the operator's process ended.
    Died(EventId),
    /// With this event the same operator stopped dispatch anew.
    BegunAnew(EventId),
    /// The run was over first.
    UnderWay,
}

/// The turns in `history`, in order.
pub(super) fn turns(history: &History) -> Vec<Turn> {
    let mut turns: Vec<(Claim, Turn)> = Vec::new();
    for (id, event) in history.numbered() {
        match event.what {
            What::DispatchStopped { claim } => {
                end_of(&mut turns, claim.worker, TurnEnd::BegunAnew(id));
                turns.push((claim, begun(claim, id)));
            }
            What::WorkerDied => end_of(&mut turns, event.node, TurnEnd::Died(id)),
            what => {
                let of_claim = turns.iter_mut().find(|(claim, _)| what.claim() == Some(*claim));
                if let Some((_, turn)) = of_claim {
                    turn.note(id, &what);
                }
            }
        }
    }
    turns.into_iter().map(|(_, turn)| turn).collect()
}

fn begun(claim: Claim, stopped: EventId) -> Turn {
    Turn {
        operator: claim.worker,
        token: claim.token,
        stopped,
        fenced: None,
        gateway: None,
        elected: None,
        marked: None,
        resumed: None,
        end: TurnEnd::UnderWay,
    }
}

/// Ends the turn of `operator` that is under way, if one is.
fn end_of(turns: &mut [(Claim, Turn)], operator: NodeId, end: TurnEnd) {
    let of_operator = turns.iter_mut().map(|(_, turn)| turn).filter(|turn| turn.operator == operator);
    for turn in of_operator.filter(|turn| turn.end == TurnEnd::UnderWay) {
        turn.end = end;
    }
}

impl Turn {
    fn note(&mut self, id: EventId, what: &What) {
        match *what {
            What::GenerationOpened { .. } => self.fenced = self.fenced.or(Some(id)),
            What::GatewayFenced { fenced, .. } => self.gateway = self.gateway.or(Some((id, fenced))),
            What::WorkerElected { elected, .. } => self.elected = Some((id, elected)),
            // It looks again when something came late, and then there may be more.
            What::GenerationMarked { until, .. } => self.marked = Some((id, until)),
            What::DispatchResumed { .. } => self.resumed = self.resumed.or(Some(id)),
            What::RepairEnded { unresolved, .. } => self.end = TurnEnd::Ended { event: id, unresolved },
            What::RepairLeft { .. } => self.end = TurnEnd::GaveWay(id),
            _ => {}
        }
    }
}
