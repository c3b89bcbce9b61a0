//! Fault plans in few words, for the world of the incident. Times are milliseconds after 02:00 on that night.

use holdover::sim::fault::{Anchor, Fault, Loses, Pause, PauseClocks, PlannedFault, Restart};
use holdover::sim::id::NodeId;
use holdover::sim::point::Point;
use holdover::sim::time::{Span, TrueTime};

pub(crate) const A: NodeId = NodeId(3);
pub(crate) const B: NodeId = NodeId(4);

/// Faults that strike when `node` passes `point` from `after` on.
pub(crate) fn on(node: NodeId, point: Point, after: i64, faults: &[Fault]) -> Vec<PlannedFault> {
    let after = TrueTime::START + Span::millis(30_000 + after);
    let when = Anchor::Point { point: point.0.to_owned(), node: Some(node), after, nth: 1, delay: Span::ZERO };
    let planned =
        |inject: &Fault| PlannedFault { when: when.clone(), inject: inject.clone(), note: None, name: None };
    faults.iter().map(planned).collect()
}

pub(crate) fn pause(node: NodeId, millis: i64, clocks: PauseClocks) -> Fault {
    Pause::of(node, Span::millis(millis), clocks).into()
}

pub(crate) fn restart(node: NodeId, millis: i64) -> Fault {
    Fault::Restart(Restart { node, lasting: Span::millis(millis), loses: Loses::Memory })
}
