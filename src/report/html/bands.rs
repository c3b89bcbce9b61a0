//! What lasts in a run: beliefs and their overlaps, grants, faults, and when nodes stand still or are away.

use holdover_sim::clock::{Clock, Deadline};
use holdover_sim::fault::Fault;
use holdover_sim::history::{History, What, beliefs, overlaps};
use holdover_sim::id::{Epoch, FaultId, NodeId};
use holdover_sim::time::{TrueTime, WallTime};
use serde::Serialize;

use crate::report::lanes::{State, lines};

/// A node, and from when until when.
type Stretch = (u16, TrueTime, TrueTime);

#[derive(Serialize)]
pub(super) struct Bands {
    /// Who thinks that it holds the lease: worker, grant, from, until.
    beliefs: Vec<(u16, u32, TrueTime, TrueTime)>,
    /// When two do: from, until, and the two.
    overlaps: Vec<(TrueTime, TrueTime, u16, u16)>,
    grants: Vec<Grant>,
    faults: Vec<Strike>,
    /// Who is paused.
    paused: Vec<Stretch>,
    /// Who has one task paused, and goes on with the other.
    halved: Vec<Stretch>,
    /// Who hasn't started, is done, or is down.
    away: Vec<Stretch>,
}

/// A grant of the lease, as the store has it.
#[derive(Serialize)]
struct Grant {
    /// The store.
    node: u16,
    worker: u16,
    epoch: u32,
    token: Option<u64>,
    from: TrueTime,
    /// When its expiry is reached, or the lease is given back or granted anew.
    until: TrueTime,
    renewed: Vec<TrueTime>,
}

/// A fault that struck.
#[derive(Serialize)]
struct Strike {
    /// Its place in the plan.
    fault: u16,
    /// The event of its beginning.
    event: u32,
    from: TrueTime,
    /// When it healed; the same as `from` if it was over as soon as it had struck.
    until: TrueTime,
    nodes: Vec<u16>,
}

pub(super) fn bands(history: &History) -> Bands {
    let beliefs = beliefs(history).into_iter().map(|one| (one.worker.0, one.epoch.0, one.from, one.until));
    let overlaps = overlaps(history).into_iter().map(|one| (one.from, one.until, one.first.0, one.second.0));
    let [mut paused, mut halved, mut away] = [const { Vec::new() }; 3];
    for (node, line) in lines(history).into_iter().enumerate() {
        let ends = line.0.iter().skip(1).map(|(at, _)| *at).chain([history.ended_at]);
        for ((from, state), until) in line.0.iter().zip(ends) {
            let stretch = (node as u16, *from, until);
            match state {
                State::Paused => paused.push(stretch),
                State::Halved => halved.push(stretch),
                State::Absent => away.push(stretch),
                State::Present | State::Believing => {}
            }
        }
    }
    Bands {
        beliefs: beliefs.collect(),
        overlaps: overlaps.collect(),
        grants: grants(history),
        faults: strikes(history),
        paused,
        halved,
        away,
    }
}

/// The grants, in the order in which they were made.
fn grants(history: &History) -> Vec<Grant> {
    let mut grants: Vec<Grant> = Vec::new();
    for event in &history.events {
        let end = |worker, until| expiry(history, event.node, worker, event.at, until);
        let of = |grants: &mut Vec<Grant>, epoch: Epoch| grants.iter().rposition(|one| one.epoch == epoch.0);
        match event.what {
            What::LeaseGranted { worker, epoch, token, until, .. } => {
                // What the store had before is no more, unless it is another half of the store that had it.
                if let Some(before) = grants.last_mut().filter(|_| !history.by_deposed(event)) {
                    before.until = before.until.min(event.at).max(before.from);
                }
                grants.push(Grant {
                    node: event.node.0,
                    worker: worker.0,
                    epoch: epoch.0,
                    token: token.map(|token| token.0),
                    from: event.at,
                    until: end(worker, until),
                    renewed: Vec::new(),
                });
            }
            What::LeaseRenewed { worker, epoch, until } => {
                if let Some(place) = of(&mut grants, epoch) {
                    grants[place].until = end(worker, until);
                    grants[place].renewed.push(event.at);
                }
            }
            What::LeaseReleased { epoch, .. } => {
                if let Some(place) = of(&mut grants, epoch) {
                    grants[place].until = grants[place].until.min(event.at);
                }
            }
            _ => {}
        }
    }
    grants
}

/// When the clock that the store goes by first reads `until`, at the run's end at the latest.
fn expiry(history: &History, store: NodeId, worker: NodeId, now: TrueTime, until: WallTime) -> TrueTime {
    let whose = if history.store_clock.is_some() { store } else { worker };
    let deadline = Deadline { clock: Clock::Wall, reading: until.as_nanos() };
    let mut first = None;
    history.node(whose).clocks.before(deadline, now, history.ended_at, |from, until| {
        // A change of the clock parts what belongs together.
        match &mut first {
            None => first = Some(until),
            Some(end) if *end == from => *end = until,
            Some(_) => {}
        }
    });
    first.unwrap_or(now)
}

/// The faults that struck, in the plan's order.
fn strikes(history: &History) -> Vec<Strike> {
    let of = |index: usize, planned: &Fault| {
        let fault = FaultId(index as u16);
        let (id, event) = history.numbered().find(|(_, event)| event.what == What::FaultBegan { fault })?;
        let ended = history.events[id.index()..].iter().find(|event| event.what == What::FaultEnded { fault });
        Some(Strike {
            fault: fault.0,
            event: id.0,
            from: event.at,
            until: ended.map_or(history.ended_at, |ended| ended.at),
            nodes: planned.nodes().into_iter().map(|node| node.0).collect(),
        })
    };
    let plan = history.plan.iter().enumerate();
    plan.filter_map(|(index, planned)| of(index, &planned.inject)).collect()
}
