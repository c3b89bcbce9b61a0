//! The rows on what operators do.

use holdover_sim::history::{Claim, Decision, Event, Reason, What};
use holdover_sim::id::{EventId, ExportId, NodeId, OpId};
use holdover_sim::time::TrueTime;

use super::super::course::{Course, Does};
use super::super::repair::phrases;
use super::super::words;
use super::{Mark, Teller};

impl Teller<'_> {
    /// Tells what an operator does, or what is done for one. That it asks, and that it asks again, isn't told.
    pub(super) fn tell_repair(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::DispatchStopped { claim } => {
                let token = claim.token.map_or(String::new(), |token| format!(": {token}"));
                self.newest_granted = Some(claim.epoch);
                self.act(id, event, claim.worker, &format!("stops dispatch{token}"));
            }
            What::WorkerElected { claim, elected } => {
                let whom =
                    elected.map_or("nobody, as none asked".to_owned(), |worker| self.name(worker).to_owned());
                self.act(id, event, claim.worker, &format!("has the store elect {whom}"));
            }
            What::DispatchResumed { claim, elected } => {
                let first = elected.map_or(String::new(), |worker| format!(": {} comes first", self.name(worker)));
                self.act(id, event, claim.worker, &format!("lets dispatch go on{first}"));
            }
            What::GatewayFenced { claim, fenced: true } => {
                let token = claim.token.map_or(String::new(), |token| format!(" with {token}"));
                self.act(id, event, claim.worker, &format!("fences the gateway{token}"));
            }
            What::GatewayFenced { claim, fenced: false } => {
                let text = format!("{} can't fence the gateway: it checks no tokens", self.name(claim.worker));
                self.say(id, event, claim.worker, Mark::Fault, text);
            }
            What::OperatorRejected { claim, why } => {
                let (operator, why) = (self.name(claim.worker), words::refusal(why, claim.token));
                let text = format!("REJECTED: {operator}'s question at the gateway: {why}");
                self.say(id, event, claim.worker, Mark::Rejected, text);
            }
            What::RepairEnded { claim, unresolved } => {
                let left = match unresolved {
                    0 => "nothing is left to a person".to_owned(),
                    left => format!(
                        "{} left to a person",
                        words::many(left as usize, "operation is", "operations are")
                    ),
                };
                self.act(id, event, claim.worker, &format!("ends the repair: {left}"));
            }
            What::RepairLeft { claim } => {
                self.act(id, event, claim.worker, "gives way: another operator has taken over");
            }
            What::PayoutRepeated { claim, op, .. } => {
                self.round(id, event, claim, Mark::Plain, (op, Does::AsksByKey));
            }
            What::PayoutVoided { .. } | What::RefundBegun { .. } | What::CompensationRefused { .. } => {
                self.tell_compensation(id, event);
            }
            What::OperationDecided { claim, op, decision, why } => {
                self.tell_decision(id, event, claim, (op, decision, why));
            }
            _ => self.tell_records(id, event),
        }
    }

    /// What an operator has the ledger do with what was entered and published.
    fn tell_records(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::GenerationMarked { claim, until } => {
                let text = match until {
                    OpId(0) => "finds no operation affected".to_owned(),
                    OpId(1) => format!("marks {} for reconciliation", OpId(0)),
                    until => format!("marks operations 1–{} for reconciliation", until.index()),
                };
                self.act(id, event, claim.worker, &text);
            }
            What::EntrySuperseded { claim, op, entry, by } => {
                self.act(id, event, claim.worker, &format!("supersedes {entry} of {op}: {by} stands"));
            }
            What::EntryDeleted { claim, op, .. } => {
                self.round(id, event, claim, Mark::Stale, (op, Does::Deletes));
            }
            What::CheckpointRebuilt { claim, next } => {
                let all = self.history.batch.len();
                self.act(
                    id,
                    event,
                    claim.worker,
                    &format!("rebuilds the checkpoint: {} of {all} done", next.index()),
                );
            }
            What::ExportSuperseded { claim, export } => {
                let whose = self.exporter(export).map_or(export.to_string(), |(worker, when)| {
                    format!("{}'s export of {}", self.name(worker), words::utc(self.history, when))
                });
                self.act(id, event, claim.worker, &format!("supersedes {whose}"));
            }
            _ => {}
        }
    }

    /// Decisions that change something. Which payout stays needs no words where there is only one.
    fn tell_decision(
        &mut self,
        id: EventId,
        event: &Event,
        claim: Claim,
        (op, decision, why): (OpId, Decision, Reason),
    ) {
        let why_so = phrases::reason(why);
        let text = match decision {
            Decision::Keep(payout) => {
                format!("keeps {payout} for {op}: {why_so}")
            }
            Decision::Void(payout) => format!("will void {payout} of {op}: {why_so}"),
            Decision::Refund(payout) => format!("will refund {payout} of {op}: {why_so}"),
            Decision::Submit(_) if why != Reason::AskedByKey => format!("will pay {op}: {why_so}"),
            Decision::GiveUp => return self.round(id, event, claim, Mark::Plain, (op, Does::GivesUp(why))),
            Decision::Close(_) => {
                return self.round(id, event, claim, Mark::Plain, (op, Does::Closes));
            }
            Decision::Submit(_) | Decision::AskAgain => return,
        };
        self.act(id, event, claim.worker, &text);
    }

    fn tell_compensation(&mut self, id: EventId, event: &Event) {
        match event.what {
            What::PayoutVoided { claim, op, payout } => {
                self.act(id, event, claim.worker, &format!("has {payout} of {op} voided"));
            }
            What::RefundBegun { claim, op, payout, takes, fails } => {
                let until = words::utc(self.history, event.at + takes);
                if fails {
                    let text = format!("asks for a refund of {payout} of {op}, which fails at {until}");
                    return self.act(id, event, claim.worker, &text);
                }
                let text = format!("has {payout} of {op} refunded by {until}");
                self.act(id, event, claim.worker, &text);
            }
            What::CompensationRefused { claim, op, payout, state } => {
                let operator = self.name(claim.worker);
                let text =
                    format!("{operator} can't have {payout} of {op} taken back: it {}", phrases::state(state));
                self.say(id, event, claim.worker, Mark::Fault, text);
            }
            _ => {}
        }
    }

    /// Tells what an operator does for one operation after the other.
    fn round(&mut self, id: EventId, event: &Event, claim: Claim, mark: Mark, (op, does): (OpId, Does)) {
        let course = Course::Rounds { claim, does, ops: vec![op], until: event.at };
        self.go_on(id, event, claim.worker, mark, course);
    }

    /// Whose an export is, and of when.
    fn exporter(&self, wanted: ExportId) -> Option<(NodeId, TrueTime)> {
        self.history.events.iter().find_map(|event| match event.what {
            What::ExportPublished { claim, export } if export == wanted => Some((claim.worker, event.at)),
            _ => None,
        })
    }
}
