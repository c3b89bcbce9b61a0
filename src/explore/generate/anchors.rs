//! When a fault strikes: at a point, an event or another fault, or at a time when there is something to hit.

use holdover_sim::fault::{Anchor, Fault, HALF_SMEAR};
use holdover_sim::id::NodeId;
use holdover_sim::point::POINTS;
use holdover_sim::time::{Span, TrueTime};

use super::sketch::{LONGEST, Sketch};

/// How often a point is passed, or something happens, while all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Often {
    /// Once in each worker's turn.
    Turn,
    /// With every operation.
    Operation,
    /// With every renewal of the lease.
    Renewal,
    /// Whenever a worker without the lease asks for it.
    Poll,
    /// Only if something goes wrong, or too often to be aimed at.
    Seldom,
}

/// Points by how often they are passed; those that aren't here are passed once in a turn. With how often each is drawn in
/// hostile plans: more where a worker has looked and not yet acted.
const AT_POINTS: &[(&str, Often, u32)] = &[
    ("lease.wanted", Often::Poll, 1),
    ("lease.granted", Often::Turn, 2),
    ("takeover.begun", Often::Turn, 1),
    ("takeover.done", Often::Turn, 3),
    ("write.begun", Often::Operation, 2),
    ("write.checked", Often::Operation, 6),
    ("write.done", Often::Operation, 4),
    ("payout.done", Often::Operation, 4),
    ("checkpoint.moved", Often::Operation, 2),
    ("export.checked", Often::Turn, 4),
    ("renew.due", Often::Renewal, 3),
    ("renew.done", Often::Renewal, 2),
];

/// Events worth waiting for, by how often they happen. One in ten anchors at an event is at any of the others.
const AT_EVENTS: &[(&str, Often)] = &[
    ("lease-granted", Often::Turn),
    ("lease-held", Often::Renewal),
    ("lease-renewed", Often::Renewal),
    ("lease-refused", Often::Poll),
    ("lease-checked", Often::Operation),
    ("lease-released", Often::Turn),
    ("checkpoint-read", Often::Turn),
    ("generation-opened", Often::Turn),
    ("write-accepted", Often::Operation),
    ("payout-made", Often::Operation),
    ("checkpoint-moved", Often::Operation),
    ("export-published", Often::Turn),
    ("message-sent", Often::Operation),
    ("message-delivered", Often::Operation),
    ("call-timed-out", Often::Turn),
    ("write-repeated", Often::Turn),
    ("worker-died", Often::Turn),
];

/// When `fault` strikes. If there is another that it may wait for, `leader` is how long that lasts; if it does, the other's
/// name is still to be written into the anchor.
pub(super) fn when(sketch: &mut Sketch<'_>, fault: &Fault, leader: Option<Option<Span>>) -> Anchor {
    if let Fault::LeapSecond(_) = fault {
        return Anchor::At(leap(sketch));
    }
    if !sketch.dice.chance(sketch.swarm.anchored) {
        return Anchor::At(time(sketch));
    }
    match (sketch.dice.below(10), leader) {
        (0..3, Some(lasting)) => follow(sketch, lasting),
        (3..5, _) => event(sketch, fault),
        _ => point(sketch, fault),
    }
}

/// When another fault strikes, or at its end or somewhat later: when a pause is over and its worker goes on.
fn follow(sketch: &mut Sketch<'_>, lasting: Option<Span>) -> Anchor {
    let end = sketch.dice.chance(65) && lasting.is_some();
    let (soon, later) = (sketch.dice.log_uniform(Span::millis(1), Span::secs(1)), sketch.relative());
    let delay = sketch.dice.weighted(&[(3, Span::ZERO), (5, soon), (2, later)]);
    Anchor::Fault { name: String::new(), end, delay }
}

fn point(sketch: &mut Sketch<'_>, fault: &Fault) -> Anchor {
    let about = |point: &str| AT_POINTS.iter().find(|(known, ..)| *known == point);
    let (points, profile) = (sketch.swarm.points, sketch.profile());
    let may_be = POINTS.iter().enumerate().map(|(index, (point, _))| {
        let weight = about(point.0).map_or(1, |(_, _, weight)| *weight);
        let weight = profile.of(1, weight);
        if points >> index & 1 == 1 { weight } else { 0 }
    });
    let point = POINTS[sketch.dice.index_by(may_be)].0.0;
    let nth = nth(sketch, about(point).map_or(Often::Turn, |(_, often, _)| *often));
    let is_worker = |node: &NodeId| sketch.stage.workers.contains(node);
    let own = Some(fault.node()).filter(is_worker);
    let other = sketch.worker();
    let node = sketch.dice.weighted(&[(8, own.or(Some(other))), (1, Some(other)), (1, None)]);
    Anchor::Point { point: point.to_owned(), node, after: after(sketch), nth, delay: delay(sketch) }
}

fn event(sketch: &mut Sketch<'_>, fault: &Fault) -> Anchor {
    let (any, usual) = (sketch.dice.pick(&sketch.stage.events), sketch.dice.pick(AT_EVENTS));
    let (event, often) = if sketch.dice.chance(10) { (any, Often::Seldom) } else { usual };
    let nth = nth(sketch, often);
    let first = sketch.stage.workers.first().copied();
    let node = sketch.dice.weighted(&[(5, Some(fault.node())), (2, first), (4, None)]);
    Anchor::Event { event: event.to_owned(), node, after: after(sketch), nth, delay: delay(sketch) }
}

/// Which of those that come.
fn nth(sketch: &mut Sketch<'_>, often: Often) -> u32 {
    let most = match often {
        Often::Turn => 2,
        Often::Operation => sketch.stage.operations.max(1),
        Often::Renewal => 4,
        Often::Poll => 20,
        Often::Seldom => 3,
    };
    let any = sketch.dice.count(1, most);
    if often == Often::Turn && sketch.dice.chance(60) { 1 } else { any }
}

/// From when on what it waits for counts; mostly from the start.
fn after(sketch: &mut Sketch<'_>) -> TrueTime {
    let time = time(sketch);
    if sketch.dice.chance(15) { time } else { TrueTime::START }
}

/// How long after what it waited for; mostly at once, else in the same step or about when a lease runs out.
fn delay(sketch: &mut Sketch<'_>) -> Span {
    let (soon, later) = (sketch.dice.log_uniform(Span::millis(1), Span::secs(1)), sketch.relative());
    sketch.dice.weighted(&[(6, Span::ZERO), (2, soon), (2, later)]).min(LONGEST)
}

/// A time when there is something to hit: while the work is done, when it would go on with another worker, about when the
/// lease is renewed or runs out; at times any other.
fn time(sketch: &mut Sketch<'_>) -> TrueTime {
    let stage = sketch.stage;
    let takes = stage.takes + stage.lease.poll_every;
    let (busy, later) = (sketch.dice.uniform(Span::ZERO, stage.takes), sketch.dice.uniform(Span::ZERO, takes));
    let near = sketch.dice.log_uniform(Span::millis(1), Span::secs(2));
    let near = sketch.dice.either_sign(near);
    let renewal = stage.lease.renew_every.times(sketch.dice.count(0, 4).into());
    let any = sketch.dice.uniform(Span::ZERO, stage.run());
    let at = sketch.dice.weighted(&[
        (12, stage.work + busy),
        (2, stage.runs_out + later),
        (1, stage.runs_out + near),
        (2, stage.asks + renewal + near),
        (1, TrueTime::START + any),
    ]);
    whole_millis(stage.within(at))
}

/// A leap second must be near enough for its smear to have begun.
fn leap(sketch: &mut Sketch<'_>) -> TrueTime {
    let latest = TrueTime::START + HALF_SMEAR;
    time(sketch).min(latest)
}

/// As clocks show times.
fn whole_millis(time: TrueTime) -> TrueTime {
    TrueTime::from_nanos(time.as_nanos() / 1_000_000 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use holdover_sim::history::EVENTS;

    use super::*;

    #[test]
    fn what_anchors_are_aimed_at_is_in_the_registries() {
        for (point, ..) in AT_POINTS {
            assert!(POINTS.iter().any(|(known, _)| known.0 == *point), "there is no point {point}");
        }
        for (event, _) in AT_EVENTS {
            assert!(EVENTS.iter().any(|(known, _)| known == event), "there is no event {event}");
        }
    }
}
