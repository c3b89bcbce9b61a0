//! What befalls services: they go down and come back, with or without what they had written.

use holdover_sim::fault::{DiskStall, Failover, Fault, Loses, Restart, SplitBrain};
use holdover_sim::time::Span;

use crate::explore::generate::sketch::Sketch;

/// Down for as long as a process takes to begin, or a machine to boot; how long is a guess.
fn down(sketch: &mut Sketch<'_>) -> Span {
    let (low, high) = sketch.of((Span::millis(200), Span::secs(30)), (Span::millis(10), Span::secs(120)));
    sketch.length(low, high)
}

pub(super) fn restart(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.service();
    let lasting = down(sketch);
    // What isn't on disk yet is mostly a few milliseconds old, and after a bad sync seconds.
    let lag = sketch.length(Span::millis(10), Span::secs(60));
    let loses =
        sketch.dice.weighted(&[(1, Loses::Nothing), (2, Loses::Memory), (sketch.of(0, 2), Loses::Unsynced(lag))]);
    Restart { node, lasting, loses }.into()
}

/// A replica is behind by what the network takes, or by more if it couldn't keep up.
pub(super) fn failover(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.promotable();
    let lasting = down(sketch);
    let usual = sketch.dice.log_uniform(Span::millis(1), Span::secs(1));
    let far = sketch.length(Span::millis(10), Span::secs(60));
    Failover { node, lag: sketch.of(usual, far), lasting }.into()
}

/// Who couldn't be told of a new primary goes on with the old one until a cache or a connection runs out; how long that
/// takes is a guess. Mostly only one does.
pub(super) fn split(sketch: &mut Sketch<'_>) -> Fault {
    let (node, first) = (sketch.promotable(), sketch.actor());
    let lasting = sketch.length(Span::millis(200), sketch.of(Span::secs(30), Span::secs(300)));
    let far = sketch.length(Span::millis(10), Span::secs(60));
    let lag = sketch.dice.weighted(&[(2, Span::ZERO), (sketch.of(0, 2), far)]);
    let mut old = vec![first];
    if sketch.dice.chance(20) {
        old.extend(sketch.stage.askers().filter(|other| *other != first));
    }
    SplitBrain { node, old, lag, lasting }.into()
}

/// A disk answers late while its controller resets, which takes up to half a minute, or a volume is moved; how long that may
/// take is a guess.
pub(super) fn stall(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.service();
    let (low, high) = sketch.of((Span::millis(100), Span::secs(30)), (Span::millis(10), Span::secs(120)));
    DiskStall { node, lasting: sketch.length(low, high) }.into()
}
