//! Times turned into what happens then: an anchor at a worker's path, at an event or at another fault stays where it is
//! when all else becomes smaller, and a time doesn't.

use std::collections::BTreeSet;

use holdover_sim::fault::{Anchor, PlannedFault};
use holdover_sim::history::{Event, History, Role, What};
use holdover_sim::id::{EventId, FaultId, NodeId};
use holdover_sim::time::{Span, TrueTime};

use super::search::{Found, Search};
use super::weight::is_timed;
use crate::scenario::Scenario;

/// So many of the latest points, events and faults before a time are tried, each.
const MOST: usize = 6;

/// Ties each fault that strikes at a time to something that happens then. Of all that goes that is taken under which the
/// same breaks with the most other seeds.
pub(super) fn anchor(search: &mut Search<'_>) -> Option<()> {
    for fault in 0..search.best().plan.len() {
        if !is_timed(&search.best().plan[fault].when) {
            continue;
        }
        let history = search.history()?;
        let mut best: Option<Found> = None;
        for proposal in proposals(search.best(), &history, fault) {
            let found = search.judge(proposal)?;
            let is_better = |found: &Found| best.as_ref().is_none_or(|best| found.rank() < best.rank());
            if found.as_ref().is_some_and(is_better) {
                best = found;
            }
        }
        best.into_iter().for_each(|best| search.take(best));
    }
    Some(())
}

/// The scenario with the fault tied to other things, as it would strike in the run with this history or near that.
fn proposals(scenario: &Scenario, history: &History, fault: usize) -> Vec<Scenario> {
    let planned = &scenario.plan[fault];
    let mut all: Vec<Scenario> = Vec::new();
    let mut with = |when: Anchor| {
        let mut proposal = scenario.clone();
        proposal.plan[fault].when = when;
        all.push(proposal);
    };
    match &planned.when {
        Anchor::At(at) => {
            points_before(history, *at, planned).into_iter().for_each(&mut with);
            events_before(history, *at, planned).into_iter().for_each(&mut with);
            all.extend(behind_faults(scenario, history, fault, *at));
        }
        Anchor::Point { point, node, after, nth, delay } => {
            let counts = |event: &&Event| {
                let is_it = matches!(event.what, What::PointPassed(passed) if passed.0 == point);
                is_it && event.at < *after && node.is_none_or(|node| node == event.node)
            };
            let nth = nth.saturating_add(history.events.iter().filter(counts).count() as u32);
            let (point, node, delay) = (point.clone(), *node, *delay);
            with(Anchor::Point { point, node, after: TrueTime::START, nth, delay });
        }
        Anchor::Event { event: kind, node, after, nth, delay } => {
            let counts = |event: &&Event| {
                let is_it = event.what.kind() == kind && node.is_none_or(|node| event.concerns(node));
                is_it && event.at < *after
            };
            let nth = nth.saturating_add(history.events.iter().filter(counts).count() as u32);
            let (event, node, delay) = (kind.clone(), *node, *delay);
            with(Anchor::Event { event, node, after: TrueTime::START, nth, delay });
        }
        Anchor::Fault { .. } => {}
    }
    all
}

/// What happened up to an instant, the latest first.
fn before(history: &History, at: TrueTime) -> impl Iterator<Item = (EventId, &Event)> {
    let until = history.events.partition_point(|event| event.at <= at);
    (0..until).rev().map(|index| (EventId(index as u32), &history.events[index]))
}

/// How long after an event it is, and at once.
fn delays(at: TrueTime, event: &Event) -> BTreeSet<Span> {
    [Span::ZERO, at - event.at].into_iter().collect()
}

/// The latest points that were passed, those of whom the fault happens to first.
fn points_before(history: &History, at: TrueTime, planned: &PlannedFault) -> Vec<Anchor> {
    let nodes = planned.inject.nodes();
    let mut found: Vec<(bool, NodeId, &'static str, &Event)> = Vec::new();
    for (_, event) in before(history, at) {
        let What::PointPassed(point) = event.what else { continue };
        let is_known = found.iter().any(|(_, node, known, _)| *node == event.node && *known == point.0);
        if !is_known && is_worker(history, event.node) {
            found.push((!nodes.contains(&event.node), event.node, point.0, event));
        }
    }
    found.sort_by_key(|(other, ..)| *other);
    let anchors = found.into_iter().take(MOST).flat_map(|(_, node, point, event)| {
        let passed = |other: &&Event| {
            other.node == node && matches!(other.what, What::PointPassed(passed) if passed.0 == point)
        };
        let until = history.events.partition_point(|other| other.at <= event.at);
        let nth = history.events[..until].iter().filter(passed).count() as u32;
        delays(at, event).into_iter().map(move |delay| Anchor::Point {
            point: point.to_owned(),
            node: Some(node),
            after: TrueTime::START,
            nth,
            delay,
        })
    });
    anchors.collect()
}

/// The latest events that concern whom the fault happens to, or a worker.
fn events_before(history: &History, at: TrueTime, planned: &PlannedFault) -> Vec<Anchor> {
    let nodes = planned.inject.nodes();
    let mut found: Vec<(NodeId, &'static str, EventId)> = Vec::new();
    for (id, event) in before(history, at) {
        let kind = event.what.kind();
        let worker = event.what.worker().filter(|worker| is_worker(history, *worker));
        let node = worker.unwrap_or(event.node);
        let tells = !matches!(
            event.what,
            What::PointPassed(_)
                | What::MessageSent { .. }
                | What::MessageDelivered { .. }
                | What::FaultBegan { .. }
                | What::FaultEnded { .. }
                | What::LeaseRefused { .. }
                | What::LeaseChecked { .. }
        );
        let concerns = is_worker(history, node) || nodes.contains(&node);
        if tells && concerns && !found.iter().any(|(of, known, _)| *of == node && *known == kind) {
            found.push((node, kind, id));
        }
        if found.len() == MOST {
            break;
        }
    }
    let anchors = found.into_iter().flat_map(|(node, kind, id)| {
        let event = history.event(id);
        let alike = |other: &&Event| other.what.kind() == kind && other.concerns(node);
        let nth = history.events[..=id.index()].iter().filter(alike).count() as u32;
        delays(at, event).into_iter().map(move |delay| Anchor::Event {
            event: kind.to_owned(),
            node: Some(node),
            after: TrueTime::START,
            nth,
            delay,
        })
    });
    anchors.collect()
}

/// A copy of a worker has a node that no file knows.
fn is_worker(history: &History, node: NodeId) -> bool {
    history.nodes.get(node.index()).is_some_and(|record| record.role == Role::Worker)
}

/// The scenario with the fault behind the beginning or the end of another one that began or ended before it strikes.
fn behind_faults(scenario: &Scenario, history: &History, fault: usize, at: TrueTime) -> Vec<Scenario> {
    let changes = before(history, at).filter_map(|(_, event)| match event.what {
        What::FaultBegan { fault } => Some((fault, false, event.at)),
        What::FaultEnded { fault } => Some((fault, true, event.at)),
        _ => None,
    });
    let own = FaultId(fault as u16);
    let mut all = Vec::new();
    for (leader, end, changed) in changes.filter(|(leader, ..)| *leader != own).take(MOST) {
        let mut proposal = scenario.clone();
        let name = name_of(&mut proposal.plan, leader.index());
        proposal.plan[fault].when = Anchor::Fault { name, end, delay: at - changed };
        all.push(proposal);
    }
    all
}

/// The name of a fault, which gets one if it has none: its kind, with a number behind it if another is called that.
fn name_of(plan: &mut [PlannedFault], fault: usize) -> String {
    if let Some(name) = &plan[fault].name {
        return name.clone();
    }
    let kind = plan[fault].inject.name();
    let names = std::iter::once(kind.to_owned()).chain((2..).map(|n: u32| format!("{kind}-{n}")));
    let is_free = |name: &String| !plan.iter().any(|other| other.name.as_ref() == Some(name));
    let name = names.into_iter().find(is_free).unwrap_or_default();
    plan[fault].name = Some(name.clone());
    name
}
