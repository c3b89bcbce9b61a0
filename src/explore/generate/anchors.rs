//! When a fault strikes: at a point, an event or another fault, or at a time when there is something to hit.

use holdover_sim::fault::{Anchor, Fault, HALF_SMEAR};
use holdover_sim::point::{POINTS, Point, REPAIR_POINTS};
use holdover_sim::time::{Span, TrueTime};

use super::sketch::{LONGEST, Scene, Sketch};
use super::stage::Repair;

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

/// Points of a repair that are passed with every operation, with how often each is drawn: more where an operator has
/// decided and not yet acted. The others are passed once, and drawn as often as the weight of 2 says.
const AT_REPAIR_POINTS: &[(&str, Often, u32)] = &[
    ("repair.entry-chosen", Often::Operation, 2),
    ("repair.asked", Often::Operation, 4),
    ("repair.decided", Often::Operation, 6),
    ("repair.done", Often::Operation, 4),
];

/// Events that only repairs have, by how often they happen.
const AT_REPAIR_EVENTS: &[(&str, Often)] = &[
    ("dispatch-stopped", Often::Turn),
    ("worker-elected", Often::Turn),
    ("dispatch-resumed", Often::Turn),
    ("generation-marked", Often::Turn),
    ("entry-superseded", Often::Operation),
    ("entry-deleted", Often::Operation),
    ("operation-decided", Often::Operation),
    ("checkpoint-rebuilt", Often::Turn),
    ("export-superseded", Often::Turn),
    ("repair-ended", Often::Turn),
    ("repair-left", Often::Turn),
    ("gateway-fenced", Often::Turn),
    ("payout-taken-in", Often::Operation),
    ("payouts-told", Often::Operation),
    ("payout-voided", Often::Operation),
    ("refund-begun", Often::Operation),
    ("compensation-refused", Often::Operation),
    ("operator-rejected", Often::Turn),
];

/// How many of a hundred faults in a repair strike at points, events and other faults at the least: when it comes to what
/// can hardly be guessed.
const ANCHORED_IN_REPAIRS: u32 = 60;

/// When `fault` strikes. If there is another that it may wait for, `leader` is how long that lasts; if it does, the other's
/// name is still to be written into the anchor.
pub(super) fn when(sketch: &mut Sketch<'_>, fault: &Fault, leader: Option<Option<Span>>) -> Anchor {
    if let Fault::LeapSecond(_) = fault {
        return Anchor::At(leap(sketch));
    }
    let anchored = match sketch.scene {
        Scene::Work => sketch.swarm.anchored,
        Scene::Repair(_) => sketch.swarm.anchored.max(ANCHORED_IN_REPAIRS),
    };
    if !sketch.dice.chance(anchored) {
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
    let (all, points, about, usual) = match sketch.scene {
        Scene::Work => (POINTS, sketch.swarm.points, AT_POINTS, 1),
        Scene::Repair(_) => (REPAIR_POINTS, sketch.swarm.repair_points, AT_REPAIR_POINTS, 2),
    };
    let about = |point: &Point| about.iter().find(|(known, ..)| *known == point.0);
    let profile = sketch.profile();
    let may_be = all.iter().enumerate().map(|(index, (point, _))| {
        let weight = about(point).map_or(usual, |(_, _, weight)| *weight);
        let weight = profile.of(1, weight);
        if points >> index & 1 == 1 { weight } else { 0 }
    });
    let point = all[sketch.dice.index_by(may_be)].0;
    let nth = nth(sketch, about(&point).map_or(Often::Turn, |(_, often, _)| *often));
    let (passers, other) = match sketch.scene {
        Scene::Work => (&sketch.stage.workers, sketch.worker()),
        Scene::Repair(repair) => (&repair.operators, sketch.dice.pick(&repair.operators)),
    };
    let own = Some(fault.node()).filter(|node| passers.contains(node));
    let node = sketch.dice.weighted(&[(8, own.or(Some(other))), (1, Some(other)), (1, None)]);
    Anchor::Point { point: point.0.to_owned(), node, after: after(sketch), nth, delay: delay(sketch) }
}

fn event(sketch: &mut Sketch<'_>, fault: &Fault) -> Anchor {
    let (event, often) = match sketch.scene {
        Scene::Work => {
            let (any, usual) = (sketch.dice.pick(&sketch.stage.events), sketch.dice.pick(AT_EVENTS));
            if sketch.dice.chance(10) { (any, Often::Seldom) } else { usual }
        }
        Scene::Repair(_) => sketch.dice.pick(AT_REPAIR_EVENTS),
    };
    let nth = nth(sketch, often);
    let first = match sketch.scene {
        Scene::Work => sketch.stage.workers.first().copied(),
        Scene::Repair(repair) => repair.operators.first().copied(),
    };
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
    if let Scene::Repair(repair) = sketch.scene {
        return whole_millis(stage.within(time_of_repair(sketch, repair)));
    }
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

/// A time in a repair, or about when it begins.
fn time_of_repair(sketch: &mut Sketch<'_>, repair: &Repair) -> TrueTime {
    let busy = sketch.dice.uniform(Span::ZERO, repair.takes);
    let near = sketch.dice.log_uniform(Span::millis(1), Span::secs(2));
    let near = sketch.dice.either_sign(near);
    sketch.dice.weighted(&[(4, repair.begins + busy), (1, repair.begins + near)])
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
        for (all, aimed_at) in [(POINTS, AT_POINTS), (REPAIR_POINTS, AT_REPAIR_POINTS)] {
            for (point, ..) in aimed_at {
                assert!(all.iter().any(|(known, _)| known.0 == *point), "there is no point {point}");
            }
        }
        for (event, _) in AT_EVENTS.iter().chain(AT_REPAIR_EVENTS) {
            assert!(EVENTS.iter().any(|(known, _)| known == event), "there is no event {event}");
        }
    }
}
