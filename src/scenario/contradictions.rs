//! Faults that contradict each other: two that say different things about the same node at the same time.
//!
//! Only faults at a time are compared; when a point is passed is known only in the run.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover_sim::clock::Motion;
use holdover_sim::fault::{Anchor, Fault, Pause, PlannedFault};
use holdover_sim::id::NodeId;
use holdover_sim::time::{Span, TrueTime};

use super::error::{Mistake, Mistakes, Wrong};

/// A fault with a known time.
struct Timed {
    place: Range<usize>,
    begin: TrueTime,
    lasting: Span,
    clocks: Option<Motion>,
}

impl Timed {
    fn end(&self) -> TrueTime {
        self.begin + self.lasting
    }
}

/// Notes each fault that contradicts an earlier one, with both places.
pub(super) fn find(mistakes: &mut Mistakes, faults: &[(Range<usize>, PlannedFault)]) {
    let mut groups: BTreeMap<(NodeId, &str), Vec<Timed>> = BTreeMap::new();
    for (place, fault) in faults {
        let Anchor::At(begin) = fault.when else { continue };
        let clocks = match fault.inject {
            Fault::Pause(Pause { clocks, .. }) => Some(clocks),
            Fault::ClockStep(_) | Fault::ClockSlew(_) | Fault::Restart(_) => None,
        };
        let lasting = fault.inject.lasting().unwrap_or(Span::ZERO);
        let group = groups.entry((fault.inject.node(), fault.inject.name())).or_default();
        group.push(Timed { place: place.clone(), begin, lasting, clocks });
    }
    for ((_, kind), mut group) in groups {
        group.sort_by_key(|fault| fault.begin);
        // The faults that are not over yet. Of those that say the same about the clocks the one that ends last is enough,
        // so there are never more than a few.
        let mut open: Vec<Timed> = Vec::new();
        for fault in group {
            open.retain(|earlier| overlap(earlier, &fault));
            // Two pauses may overlap if they agree; two of any other kind can't be told apart.
            let mut others = open.iter().filter(|earlier| kind != "pause" || earlier.clocks != fault.clocks);
            if let Some(earlier) = others.next() {
                mistakes.add(contradiction(kind, earlier, &fault));
            }
            match open.iter_mut().find(|earlier| earlier.clocks == fault.clocks) {
                Some(earlier) if earlier.end() < fault.end() => *earlier = fault,
                Some(_) => {}
                None => open.push(fault),
            }
        }
    }
}

/// Whether `later`, which begins no earlier, begins while `earlier` lasts. What is over at once lasts for its instant.
fn overlap(earlier: &Timed, later: &Timed) -> bool {
    later.begin < earlier.end() || later.begin == earlier.begin
}

fn contradiction(kind: &str, earlier: &Timed, later: &Timed) -> Mistake {
    let wrong = match kind {
        "pause" => Wrong::new("two pauses of the same node disagree on what its clocks do")
            .help("where they overlap they must say the same about `clocks`"),
        "clock-step" => Wrong::new("two steps of the same clock at the same instant")
            .help("write one step by the sum of both, or put them at different times"),
        "clock-slew" => Wrong::new("two slews of the same node's clocks overlap")
            .help("a clock has one slew at a time; let the first end before the second begins"),
        _ => Wrong::new("two restarts of the same service overlap")
            .help("let it come back before it is restarted again"),
    };
    // The place that comes later in the file is the one that was added, so it is named first.
    let (first, second) =
        if earlier.place.start <= later.place.start { (earlier, later) } else { (later, earlier) };
    Mistake::at(second.place.clone(), "contradicts the other", wrong).and(first.place.clone(), "the other")
}
