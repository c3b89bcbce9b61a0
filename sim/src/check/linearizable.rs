//! The lease service's answers fit one order: each request took effect at one instant between being made and being
//! answered, and no lease ended before its time.
//!
//! Only what its clients asked and were told counts, as Herlihy and Wing have it; what the replicas did is their own business.
//! What was asked after an answer was given is behind it in the order, also at the same instant: there events say what was
//! first. A request that nobody was told the outcome of took effect at any instant after it was made, or never. The search for
//! an order is exact and bounded; a service that is a table row isn't judged.
//!
//! - *Its time* is the TTL from when the grant or the renewal took effect, less what clocks that are as good as right take off
//!   it: a thousandth of the TTL, and 200 ms more where leases end by wall clocks. A lease may last longer.
//! - A worker that was put back to a snapshot may ask once more what it asked before. Under the same session and number that is
//!   the same request, made when it was made first; but each different answer to it has to be explained by itself, from when
//!   it was asked again.
//! - A copy of a worker is another client, although the service can't tell it from the one that it was copied from. What the
//!   service does for one in the name of the other therefore breaks the rule.

#[cfg(test)]
mod brute_force;
mod order;

use std::collections::BTreeMap;

use super::{Checker, Evidence, Verdict, Witness};
use crate::clock::Clock;
use crate::history::{History, What};
use crate::lease::{Ending, LeaseAsk, LeaseService, LeaseTold};
use crate::time::Span;
use order::{Op, Outcome, Rules};

pub(super) const CHECKER: Checker = Checker {
    name: "linearizable",
    holds_when: "the answers of a replicated lease service fit one order in which no lease ends before its time",
    judge,
};

/// How many steps a search for an order may take.
const MOST_STEPS: usize = 200_000;

/// What clocks that are as good as right may take off a lease beside a thousandth of it, where wall clocks have to agree.
const WALL_ERROR: Span = Span::millis(200);

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let history: &History = evidence;
    if history.lease_service == LeaseService::Table {
        return Verdict::Holds { judged: 0 };
    }
    let ops = ops(evidence);
    let judged = ops.iter().filter(|op| op.told.is_some()).count();
    match order::search(&ops, rules(history), MOST_STEPS) {
        Outcome::Found => Verdict::Holds { judged },
        Outcome::GaveUp => {
            let reason =
                format!("no order of {judged} answers was found in {MOST_STEPS} steps, nor that there is none");
            Verdict::Unknown { reason }
        }
        Outcome::None { stuck } => {
            let op = &ops[stuck];
            let told = op.told.map_or(op.asked, |(told, _, _)| told);
            Verdict::Violated { times: 1, witness: Witness::NoOrder { asked: op.asked, told } }
        }
    }
}

fn rules(history: &History) -> Rules {
    let spec = history.lease_service.replicas();
    let error = match history.lease_service.clock() {
        Some(Clock::Wall) => WALL_ERROR,
        _ => Span::ZERO,
    };
    Rules { is_delayed: matches!(spec.map(|spec| spec.ending), Some(Ending::LockDelay(_))), error }
}

/// What clients asked, in the order of asking, and what they were told.
fn ops(evidence: &Evidence<'_>) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::new();
    let mut requests = BTreeMap::new();
    // Numbers begin anew with each process, so the newest request with one is meant.
    let mut newest = BTreeMap::new();
    for (id, event) in evidence.deeds() {
        match event.what {
            What::LeaseAsked { session, number, ask } => {
                let op = Op { client: event.node, ask, asked: id, from: event.at, told: None };
                // A worker that was put back asks once more what it asked before, and it is the same request.
                let index = *requests.entry((event.node, session, number, ask)).or_insert_with(|| {
                    ops.push(op);
                    ops.len() - 1
                });
                newest.insert((event.node, number), (index, op));
            }
            // Whoever is told that the service doesn't know it learns nothing of what it asked.
            What::LeaseTold { number, told } if told != LeaseTold::Unknown => {
                let Some((index, again)) = newest.remove(&(event.node, number)) else { continue };
                let told = Some((id, event.at, told));
                match ops[index].told {
                    None => ops[index].told = told,
                    Some((_, _, before)) if told.is_some_and(|(_, _, told)| told == before) => {}
                    // Another answer to the same request is one that has to be explained as well.
                    Some(_) => ops.push(Op { told, ..again }),
                }
            }
            _ => {}
        }
    }
    // Reading without an answer means nothing.
    ops.retain(|op| op.told.is_some() || op.ask != LeaseAsk::Read);
    ops.sort_by_key(|op| op.asked);
    ops
}

#[cfg(test)]
mod tests;
