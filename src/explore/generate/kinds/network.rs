//! What the network does to messages. How often and for how long is a guess: what is published is of single outages.

use holdover_sim::fault::{DelayMessage, Duplicate, Fault, Hold, Latency, LoseMessage, Loss, Partition, Reorder};
use holdover_sim::time::Span;
use holdover_sim::world;

use crate::explore::generate::sketch::Sketch;

/// How long something is wrong with a link: a switch that boots, a route that is learned, a link that stays bad.
fn lasting(sketch: &mut Sketch<'_>) -> Span {
    let (low, high) = sketch.of((Span::millis(500), Span::secs(30)), (Span::millis(50), Span::secs(600)));
    sketch.length(low, high)
}

/// How many of a hundred messages suffer.
fn percent(sketch: &mut Sketch<'_>) -> u8 {
    let some = sketch.dice.count(1, sketch.of(20, 99));
    let percent = if sketch.dice.chance(sketch.of(0, 30)) { 100 } else { some };
    percent as u8
}

pub(super) fn partition(sketch: &mut Sketch<'_>) -> Fault {
    Partition { links: sketch.links(), lasting: lasting(sketch) }.into()
}

pub(super) fn latency(sketch: &mut Sketch<'_>) -> Fault {
    let links = sketch.links();
    let high = sketch.of(Span::millis(500), Span::secs(30));
    let max = sketch.dice.log_uniform(Span::millis(5), high);
    let wide = sketch.dice.log_uniform(Span::millis(1), max);
    let min = sketch.dice.pick(&[max, wide, wide]);
    Latency { links, range: world::Latency { min, max }, lasting: lasting(sketch) }.into()
}

pub(super) fn loss(sketch: &mut Sketch<'_>) -> Fault {
    Loss { links: sketch.links(), percent: percent(sketch), lasting: lasting(sketch) }.into()
}

pub(super) fn duplicate(sketch: &mut Sketch<'_>) -> Fault {
    Duplicate { links: sketch.links(), percent: percent(sketch), lasting: lasting(sketch) }.into()
}

pub(super) fn reorder(sketch: &mut Sketch<'_>) -> Fault {
    let (links, percent) = (sketch.links(), percent(sketch));
    let by = sketch.dice.log_uniform(Span::millis(1), sketch.of(Span::millis(100), Span::secs(10)));
    Reorder { links, percent, by, lasting: lasting(sketch) }.into()
}

pub(super) fn hold(sketch: &mut Sketch<'_>) -> Fault {
    Hold { links: sketch.links(), lasting: lasting(sketch) }.into()
}

/// A packet that is sent again after a second or two, or one that a frozen machine sends much later.
pub(super) fn delay(sketch: &mut Sketch<'_>) -> Fault {
    let (message, part, node, nth) = sketch.message();
    let by = sketch.length(Span::millis(10), sketch.of(Span::secs(3), Span::secs(600)));
    DelayMessage { message, part, node, by, nth }.into()
}

pub(super) fn lose(sketch: &mut Sketch<'_>) -> Fault {
    let (message, part, node, nth) = sketch.message();
    LoseMessage { message, part, node, nth }.into()
}
