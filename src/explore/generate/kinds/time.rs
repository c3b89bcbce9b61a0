//! What is wrong with the time of several nodes at once.

use holdover_sim::fault::{Fault, LeapSecond, TimeSource};
use holdover_sim::time::Span;

use crate::explore::generate::profile::Profile;
use crate::explore::generate::sketch::{Sketch, not_negative};

/// Some nodes repeat a second and others smear it: nobody has all machines set up alike.
pub(super) fn leap(sketch: &mut Sketch<'_>) -> Fault {
    let first = sketch.actor();
    let (mut stepped, mut smeared) = (Vec::new(), Vec::new());
    for node in std::iter::once(first).chain(sketch.stage.askers().filter(|node| *node != first)) {
        match sketch.dice.below(4) {
            0 => smeared.push(node),
            1 if node != first => {}
            _ => stepped.push(node),
        }
    }
    LeapSecond { stepped, smeared }.into()
}

/// A source that a few nodes share is off by a little; one bad peer was off by a second, and took all who asked it along.
pub(super) fn source(sketch: &mut Sketch<'_>) -> Fault {
    let mut nodes = sketch.stage.disciplined.clone();
    while nodes.len() > 1 && sketch.dice.chance(30) {
        nodes.remove(sketch.dice.below(nodes.len()));
    }
    let error = match sketch.profile() {
        Profile::Realistic => {
            let size = not_negative(Span::micros(sketch.dice.normal(5_000).abs()));
            let size = size.max(Span::micros(100));
            sketch.dice.either_sign(size)
        }
        Profile::Hostile => {
            let second = not_negative(sketch.dice.uniform(Span::millis(1), Span::secs(1)));
            let size = sketch.length_or(second);
            sketch.dice.either_sign(size)
        }
    };
    // It must last until somebody asks it to be felt at all.
    let polls = sketch.stage.source_poll;
    let while_asked = polls.times(sketch.dice.count(1, 3).into());
    let any = sketch.length(Span::secs(1), Span::secs(3_600));
    let lasting = if sketch.dice.chance(70) { while_asked } else { any };
    TimeSource { nodes, error, lasting }.into()
}
