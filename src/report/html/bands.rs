//! What lasts in a run: beliefs and their overlaps, grants, faults, and when nodes stand still or are away.

use std::collections::BTreeMap;

use holdover_sim::history::{History, What, beliefs, overlaps};
use holdover_sim::id::{Epoch, FaultId};
use holdover_sim::time::TrueTime;
use serde::Serialize;

use crate::report::grants::grants;
use crate::report::lanes::{State, lines};

/// A node, and from when until when.
type Stretch = (u16, TrueTime, TrueTime);

#[derive(Serialize)]
pub(super) struct Bands {
    /// Who thinks that it holds the lease: worker, grant, from, until.
    beliefs: Vec<(u16, u32, TrueTime, TrueTime)>,
    /// When two do: from, until, and the two.
    overlaps: Vec<(TrueTime, TrueTime, u16, u16)>,
    grants: Vec<Granted>,
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
struct Granted {
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
        grants: granted(history),
        faults: strikes(history),
        paused,
        halved,
        away,
    }
}

/// The grants, in the order in which they were made; each until its end as the store has it, or as it came about.
fn granted(history: &History) -> Vec<Granted> {
    let mut renewed: BTreeMap<Epoch, Vec<TrueTime>> = BTreeMap::new();
    for event in &history.events {
        if let What::LeaseRenewed { epoch, .. } = event.what {
            renewed.entry(epoch).or_default().push(event.at);
        }
    }
    let granted = grants(history).into_iter().map(|grant| Granted {
        node: grant.store.0,
        worker: grant.worker.0,
        epoch: grant.epoch.0,
        token: grant.token.map(|token| token.0),
        from: grant.from,
        until: grant.until.min(grant.expiry).max(grant.from),
        renewed: renewed.remove(&grant.epoch).unwrap_or_default(),
    });
    granted.collect()
}

/// The faults that struck, in the plan's order.
fn strikes(history: &History) -> Vec<Strike> {
    let mut strikes: BTreeMap<FaultId, Strike> = BTreeMap::new();
    for (id, event) in history.numbered() {
        match event.what {
            What::FaultBegan { fault } => {
                let nodes = history.plan[fault.index()].inject.nodes().into_iter().map(|node| node.0);
                let (from, until) = (event.at, history.ended_at);
                let nodes = nodes.collect();
                strikes.insert(fault, Strike { fault: fault.0, event: id.0, from, until, nodes });
            }
            What::FaultEnded { fault } => {
                strikes.entry(fault).and_modify(|strike| strike.until = event.at);
            }
            _ => {}
        }
    }
    strikes.into_values().collect()
}
