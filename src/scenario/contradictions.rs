//! Faults that contradict each other: two that say different things about the same node at the same time.
//!
//! Only faults at a time are compared; when a point is passed is known only in the run.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover_sim::fault::{Anchor, ClockDrift, Fault, PauseClocks, PlannedFault};
use holdover_sim::id::NodeId;
use holdover_sim::time::{Span, TrueTime};

use super::error::{Mistake, Mistakes, Wrong};

/// A fault with a known time.
struct Timed {
    place: Range<usize>,
    begin: TrueTime,
    lasting: Span,
    clocks: Option<PauseClocks>,
}

impl Timed {
    /// The fault at `place`; `None` if its time isn't known, or it goes with any other.
    fn new(place: Range<usize>, fault: &PlannedFault) -> Option<Timed> {
        let Anchor::At(begin) = fault.when else { return None };
        let clocks = match &fault.inject {
            // A stalled task goes with whatever happens to its node.
            Fault::Pause(pause) if pause.task.is_some() => return None,
            Fault::Pause(pause) => Some(pause.clocks),
            // Two snapshots of one instant are the same.
            Fault::Snapshot(_) => return None,
            // A network can have several faults at once: a message suffers from all of them.
            Fault::Partition(_)
            | Fault::Latency(_)
            | Fault::Loss(_)
            | Fault::Duplicate(_)
            | Fault::Reorder(_)
            | Fault::Hold(_)
            | Fault::DelayMessage(_)
            | Fault::LoseMessage(_) => return None,
            _ => None,
        };
        let lasting = match &fault.inject {
            Fault::ClockDrift(ClockDrift { lasting: None, .. }) => Span::MAX,
            inject => inject.lasting().unwrap_or(Span::ZERO),
        };
        Some(Timed { place, begin, lasting, clocks })
    }

    fn end(&self) -> TrueTime {
        self.begin + self.lasting
    }

    /// Whether `later`, which is of the same kind and node and begins no earlier, contradicts it. Two pauses may overlap if
    /// they agree; two of any other kind can't be told apart.
    fn is_contradicted_by(&self, later: &Timed) -> bool {
        overlap(self, later) && (self.clocks.is_none() || self.clocks != later.clocks)
    }
}

/// Whether two faults contradict each other.
pub(crate) fn contradict(one: &PlannedFault, other: &PlannedFault) -> bool {
    let kinds = [one.inject.name(), other.inject.name()];
    let is_same = kinds[0] == kinds[1];
    // A split brain of a service that is down.
    let is_outage = |kind: &str| OUTAGES.contains(&kind);
    let splits = [one, other].map(|fault| matches!(fault.inject, Fault::SplitBrain(_)));
    let is_split = (splits[0] && is_outage(kinds[1])) || (splits[1] && is_outage(kinds[0]));
    if !is_same && !is_split {
        return false;
    }
    let (Some(first), Some(second)) = (Timed::new(0..0, one), Timed::new(0..0, other)) else { return false };
    let contradicts = if is_split {
        let (outage, split) = if splits[0] { (second, first) } else { (first, second) };
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
    for ((_, kind), group) in groups {
        // The faults that are not over yet. Of those that say the same about the clocks the one that ends last is enough,
        // so there are never more than a few.
        let mut open: Vec<Timed> = Vec::new();
        for fault in group {
            open.retain(|earlier| overlap(earlier, &fault));
            if let Some(earlier) = open.iter().find(|earlier| earlier.is_contradicted_by(&fault)) {
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

/// What has a service down.
const OUTAGES: [&str; 2] = ["restart", "failover"];

/// Notes each split brain of a service that is down when it begins: a primary that is down can't go on answering.
fn find_splits_of_the_dead(mistakes: &mut Mistakes, groups: &BTreeMap<(NodeId, &str), Vec<Timed>>) {
    for ((node, _), splits) in groups.iter().filter(|((_, kind), _)| *kind == "split-brain") {
        for kind in OUTAGES {
            let Some(outages) = groups.get(&(*node, kind)) else { continue };
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

fn contradiction(kind: &str, earlier: &Timed, later: &Timed) -> Mistake {
    let wrong = match kind {
        "pause" => Wrong::new("two pauses of the same node disagree on what its clocks do")
            .help("where they overlap they must say the same about `clocks`"),
        "clock-step" => Wrong::new("two steps of the same clock at the same instant")
            .help("write one step by the sum of both, or put them at different times"),
        "clock-slew" => Wrong::new("two slews of the same node's clocks overlap")
            .help("a clock has one slew at a time; let the first end before the second begins"),
        "clock-drift" => Wrong::new("two changes of the same oscillator overlap")
            .help("let the first end before the second begins, or write the second by the sum of both"),
        "clock-strobe" => Wrong::new("two strobes of the same wall clock overlap")
            .help("let the first end before the second begins"),
        "zone-error" => Wrong::new("a wall clock is in two wrong zones at once")
            .help("let the first end before the second begins"),
        "leap-second" => Wrong::new("two leap seconds at the same instant").help("there is only one"),
        "time-source" => Wrong::new("the same node's time source has two errors at once")
            .help("let the first end before the second begins, or give each its own `nodes`"),
        "restart" => Wrong::new("two restarts of the same service overlap")
            .help("let it come back before it is restarted again"),
        "failover" => Wrong::new("two failovers of the same service overlap")
            .help("let the replica take its place before that fails"),
        "crash" => Wrong::new("two crashes of the same process overlap")
            .help("let it begin anew before it is killed again"),
        "restore" => Wrong::new("the same worker goes on from a snapshot twice at the same instant")
            .help("take one away, or put them at different times"),
        "split-brain" => Wrong::new("two split brains of the same service overlap")
            .help("there are two halves at the most; let the first end before the second begins"),
        "disk-stall" => {
            Wrong::new("two stalls of the same disk overlap").help("let the first end before the second begins")
        }
        "throttle" => Wrong::new("two throttles of the same node overlap")
            .help("a process has one quota at a time; let the first end before the second begins"),
        _ => Wrong::new("two shutdowns of the same worker").help("who was told to stop doesn't come back"),
    };
    // The place that comes later in the file is the one that was added, so it is named first.
    let (first, second) =
        if earlier.place.start <= later.place.start { (earlier, later) } else { (later, earlier) };
    Mistake::at(second.place.clone(), "contradicts the other", wrong).and(first.place.clone(), "the other")
}
