//! What befalls workers' processes and machines: they die, are told to stop, or go back to a snapshot.

use holdover_sim::fault::{Crash, Fault, Original, Restore, Shutdown, Snapshot};
use holdover_sim::time::Span;

use crate::explore::generate::sketch::Sketch;

/// A process begins anew within seconds; a machine takes longer, and at times nobody starts it again.
/// Somebody always does if it is an operator's: who else should repair anything?
pub(super) fn crash(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.actor();
    let lasting = sketch.length(Span::millis(100), sketch.of(Span::secs(30), Span::secs(300)));
    let is_for_good = sketch.dice.chance(sketch.of(5, 15));
    let is_for_good = is_for_good && !sketch.is_operator(node);
    Crash { node, lasting: (!is_for_good).then_some(lasting) }.into()
}

/// Orchestrators leave half a minute between telling a process to stop and killing it.
pub(super) fn shutdown(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.worker();
    let lasting = sketch.length(Span::millis(50), sketch.of(Span::secs(30), Span::secs(120)));
    Shutdown { node, lasting }.into()
}

/// The plan adds a fault that goes back to it.
pub(super) fn snapshot(sketch: &mut Sketch<'_>) -> Fault {
    Snapshot { node: sketch.worker() }.into()
}

/// The plan adds the snapshot that it goes back to.
pub(super) fn restore(sketch: &mut Sketch<'_>) -> Fault {
    let node = sketch.worker();
    let original = sketch.dice.pick(&Original::ALL);
    Restore { node, original }.into()
}
