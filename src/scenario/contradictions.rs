//! Faults that contradict each other: two that say different things about the same node at the same time.
//!
//! Only faults at a time are compared; when a point is passed is known only in the run.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover_sim::fault::{Anchor, PauseClocks, PlannedFault, Stops};
use holdover_sim::id::NodeId;
use holdover_sim::time::TrueTime;

use super::error::{Mistake, Mistakes, Wrong};
use super::inject::{self, Clash, Overlap};

/// A fault with a known time.
struct Timed {
    place: Range<usize>,
    begin: TrueTime,
    clocks: Option<PauseClocks>,
    clash: Clash,
    stops: Stops,
}

impl Timed {
    /// The fault at `place`; `None` if its time isn't known, or it goes with any other.
    fn new(place: Range<usize>, fault: &PlannedFault) -> Option<Timed> {
        let Anchor::At(begin) = fault.when else { return None };
        let (clocks, clash) = match inject::overlap(&fault.inject) {
            Overlap::Free => return None,
            Overlap::Agreeing(clocks, clash) => (Some(clocks), clash),
            Overlap::Refused(clash) => (None, clash),
        };
        Some(Timed { place, begin, clocks, clash, stops: fault.inject.stops() })
    }

    fn end(&self) -> TrueTime {
        self.begin + self.clash.lasting
    }

    /// Whether `later`, which is of the same kind and node and begins no earlier, contradicts it. Two pauses may overlap if
    /// they agree; two of any other kind can't be told apart.
    fn is_contradicted_by(&self, later: &Timed) -> bool {
        overlap(self, later) && (self.clocks.is_none() || self.clocks != later.clocks)
    }
}

/// Whether two faults contradict each other.
pub(crate) fn contradict(one: &PlannedFault, other: &PlannedFault) -> bool {
    let is_same = one.inject.name() == other.inject.name();
    // A split brain of a service that is down.
    let is_split = match [one.inject.stops(), other.inject.stops()] {
        [Stops::Primary, Stops::Service] | [Stops::Service, Stops::Primary] => true,
        // All others can be on at the same time.
        [Stops::Nothing | Stops::Nodes | Stops::AtTimes | Stops::Process | Stops::Service | Stops::Primary, _] => {
            false
        }
    };
    if !is_same && !is_split {
        return false;
    }
    let (Some(first), Some(second)) = (Timed::new(0..0, one), Timed::new(0..0, other)) else { return false };
    let contradicts = if is_split {
        let (outage, split) = if first.stops == Stops::Service { (first, second) } else { (second, first) };
        outage.begin <= split.begin && overlap(&outage, &split)
    } else {
        let (first, second) = if first.begin <= second.begin { (first, second) } else { (second, first) };
        first.is_contradicted_by(&second)
    };
    let nodes = one.inject.nodes();
    contradicts && other.inject.nodes().iter().any(|node| nodes.contains(node))
}

/// Notes each fault that contradicts an earlier one, with both places.
pub(super) fn find(mistakes: &mut Mistakes, faults: &[(Range<usize>, PlannedFault)]) {
    let mut groups: BTreeMap<(NodeId, &str), Vec<Timed>> = BTreeMap::new();
    for (place, fault) in faults {
        for node in fault.inject.nodes() {
            let Some(timed) = Timed::new(place.clone(), fault) else { continue };
            groups.entry((node, fault.inject.name())).or_default().push(timed);
        }
    }
    groups.values_mut().for_each(|group| group.sort_by_key(|fault| fault.begin));
    find_splits_of_the_dead(mistakes, &groups);
    for group in groups.into_values() {
        // The faults that are not over yet. Of those that say the same about the clocks the one that ends last is enough,
        // so there are never more than a few.
        let mut open: Vec<Timed> = Vec::new();
        for fault in group {
            open.retain(|earlier| overlap(earlier, &fault));
            if let Some(earlier) = open.iter().find(|earlier| earlier.is_contradicted_by(&fault)) {
                mistakes.add(contradiction(earlier, &fault));
            }
            match open.iter_mut().find(|earlier| earlier.clocks == fault.clocks) {
                Some(earlier) if earlier.end() < fault.end() => *earlier = fault,
                Some(_) => {}
                None => open.push(fault),
            }
        }
    }
}

/// Notes each split brain of a service that is down when it begins: a primary that is down can't go on answering.
fn find_splits_of_the_dead(mistakes: &mut Mistakes, groups: &BTreeMap<(NodeId, &str), Vec<Timed>>) {
    // Those of one kind are alike in what they stop.
    let of = |group: &&Vec<Timed>, stops: Stops| group.first().is_some_and(|first| first.stops == stops);
    for ((node, _), splits) in groups.iter().filter(|(_, group)| of(group, Stops::Primary)) {
        let on_node = groups.iter().filter(|((other, _), group)| other == node && of(group, Stops::Service));
        for (_, outages) in on_node {
            for split in splits {
                // Those of one kind don't overlap, or that is a mistake of its own; so the newest is the one.
                let newest = outages.partition_point(|outage| outage.begin <= split.begin);
                let Some(outage) = newest.checked_sub(1).map(|newest| &outages[newest]) else { continue };
                if !overlap(outage, split) {
                    continue;
                }
                let wrong = Wrong::new("a service that is down has no primary that goes on answering").help(
                    "let the split brain begin before that or after it; a `failover` promotes a replica alone",
                );
                let mistake = Mistake::at(split.place.clone(), "begins while it is down", wrong);
                mistakes.add(mistake.and(outage.place.clone(), "has it down"));
            }
        }
    }
}

/// Whether `later`, which begins no earlier, begins while `earlier` lasts. What is over at once lasts for its instant.
fn overlap(earlier: &Timed, later: &Timed) -> bool {
    later.begin < earlier.end() || later.begin == earlier.begin
}

fn contradiction(earlier: &Timed, later: &Timed) -> Mistake {
    let wrong = Wrong::new(later.clash.message).help(later.clash.help);
    // The place that comes later in the file is the one that was added, so it is named first.
    let (first, second) =
        if earlier.place.start <= later.place.start { (earlier, later) } else { (later, earlier) };
    Mistake::at(second.place.clone(), "contradicts the other", wrong).and(first.place.clone(), "the other")
}
