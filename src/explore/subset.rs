//! Parts of a fault plan: which faults go together, and the smallest sets of them that still do something.

use holdover_sim::fault::{Anchor, Fault, PlannedFault};
use holdover_sim::id::NodeId;

use super::Signature;

/// So many sets are looked at for the smallest at the most: all that there are of twelve faults, and all of up to three of
/// twenty-eight.
pub const MOST_SETS: u64 = 4_096;

/// A fault plan as something that faults can be taken from.
pub struct Parts<'a> {
    plan: &'a [PlannedFault],
    /// The fault that each one waits for.
    leaders: Vec<Option<usize>>,
}

/// The smallest sets of faults that are enough for something: each is enough, and no smaller one inside of it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sufficient {
    /// The sets, the smallest first, each the places of its faults in the plan. An empty one says that no fault is needed.
    pub sets: Vec<Vec<usize>>,
    /// Sets of more faults than these weren't looked at; `None` if all were.
    pub up_to: Option<usize>,
    /// With nothing found among those that were looked at: a set from which no fault can be taken, but there may be smaller
    /// ones.
    pub reduced: Option<Vec<usize>>,
}

impl<'a> Parts<'a> {
    /// The parts of `plan`.
    pub fn of(plan: &'a [PlannedFault]) -> Parts<'a> {
        let leader = |planned: &PlannedFault| match &planned.when {
            Anchor::Fault { name, .. } => plan.iter().position(|other| other.name.as_ref() == Some(name)),
            _ => None,
        };
        Parts { plan, leaders: plan.iter().map(leader).collect() }
    }

    /// How many faults there are.
    pub fn len(&self) -> usize {
        self.plan.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    /// The plan with these faults alone.
    pub fn only(&self, kept: &[usize]) -> Vec<PlannedFault> {
        kept.iter().map(|index| self.plan[*index].clone()).collect()
    }

    /// The faults that are left when `taken` are taken away, and with them those that wait for them: they would never
    /// strike.
    pub fn without(&self, taken: &[usize]) -> Vec<usize> {
        let all: Vec<usize> = (0..self.len()).collect();
        self.left_of(&all, taken)
    }

    /// The faults that go with `fault` when it is taken away, because they wait for it.
    pub fn followers(&self, fault: usize) -> Vec<usize> {
        let mut gone = vec![true; self.len()];
        self.without(&[fault]).into_iter().for_each(|left| gone[left] = false);
        (0..self.len()).filter(|index| *index != fault && gone[*index]).collect()
    }

    /// `fault` and those that it waits for, in the order of the plan.
    pub fn alone(&self, fault: usize) -> Vec<usize> {
        let mut kept = vec![false; self.len()];
        let mut at = Some(fault);
        while let Some(index) = at.filter(|index| !kept[*index]) {
            kept[index] = true;
            at = self.leaders[index];
        }
        (0..self.len()).filter(|index| kept[*index]).collect()
    }

    /// For each fault whether another one waits for it.
    pub(super) fn waited_for(&self) -> Vec<bool> {
        let mut waited_for = vec![false; self.len()];
        self.leaders.iter().flatten().for_each(|leader| waited_for[*leader] = true);
        waited_for
    }

    /// What is left of `kept` when `taken` are taken away, and with them those that wait for what isn't there.
    fn left_of(&self, kept: &[usize], taken: &[usize]) -> Vec<usize> {
        let mut there = vec![false; self.len()];
        kept.iter().for_each(|index| there[*index] = true);
        taken.iter().for_each(|index| there[*index] = false);
        // Each way along the leaders is walked once; one that comes back to itself lacks nobody.
        let mut walked = vec![false; self.len()];
        for start in kept {
            let mut way = Vec::new();
            let mut at = Some(*start);
            while let Some(index) = at.filter(|index| there[*index] && !walked[*index]) {
                walked[index] = true;
                way.push(index);
                at = self.leaders[index];
            }
            if at.is_some_and(|end| !there[end]) {
                way.into_iter().for_each(|index| there[index] = false);
            }
        }
        kept.iter().copied().filter(|index| there[*index]).collect()
    }

    /// Whether nothing in `kept` waits for a fault that isn't.
    pub(super) fn is_closed(&self, kept: &[usize]) -> bool {
        kept.iter().all(|index| self.leaders[*index].is_none_or(|leader| kept.contains(&leader)))
    }

    /// For each of `signatures` the smallest sets that are enough; `probe` says which of them a set comes to, or nothing if
    /// it may look at no more, which ends the search without a result.
    pub fn sufficient(
        &self,
        signatures: &[Signature],
        mut probe: impl FnMut(&[usize]) -> Option<Vec<Signature>>,
    ) -> Option<Vec<Sufficient>> {
        let mut found = vec![Sufficient::default(); signatures.len()];
        let mut looked_at = 0_u64;
        for size in 0..=self.len() {
            looked_at = looked_at.saturating_add(combinations(self.len(), size));
            if looked_at > MOST_SETS {
                // What needs no fault has no other smallest set.
                let open = found.iter_mut().filter(|found| found.sets.first().is_none_or(|set| !set.is_empty()));
                open.for_each(|found| found.up_to = Some(size - 1));
                break;
            }
            let mut set: Vec<usize> = (0..size).collect();
            loop {
                let is_smallest = |found: &Sufficient| !found.sets.iter().any(|inner| is_inside(inner, &set));
                if self.is_closed(&set) && found.iter().any(is_smallest) {
                    let there = probe(&set)?;
                    for (signature, found) in signatures.iter().zip(&mut found) {
                        if is_smallest(found) && there.contains(signature) {
                            found.sets.push(set.clone());
                        }
                    }
                }
                if !next_combination(&mut set, self.len()) {
                    break;
                }
            }
        }
        for (signature, found) in signatures.iter().zip(&mut found) {
            if found.sets.is_empty() && found.up_to.is_some() {
                found.reduced = Some(self.reduced(|set| probe(set).map(|there| there.contains(signature)))?);
            }
        }
        Some(found)
    }

    /// What is left of the plan when each fault that can be spared is taken away, the last first, until none can be.
    fn reduced(&self, mut enough: impl FnMut(&[usize]) -> Option<bool>) -> Option<Vec<usize>> {
        let mut kept: Vec<usize> = (0..self.len()).collect();
        loop {
            let before = kept.len();
            for fault in (0..self.len()).rev() {
                if kept.binary_search(&fault).is_err() {
                    continue;
                }
                let left = self.left_of(&kept, &[fault]);
                if enough(&left)? {
                    kept = left;
                }
            }
            if kept.len() == before {
                return Some(kept);
            }
        }
    }
}

/// Whether all of `inner` is in `outer`.
fn is_inside(inner: &[usize], outer: &[usize]) -> bool {
    inner.iter().all(|index| outer.contains(index))
}

/// How many sets of `size` there are of `all`.
pub(super) fn combinations(all: usize, size: usize) -> u64 {
    let size = size.min(all - size);
    (0..size as u64).fold(1, |count: u64, n| count.saturating_mul(all as u64 - n) / (n + 1))
}

/// Makes `set` the next one of its size out of `all`; `false` if it was the last.
pub(super) fn next_combination(set: &mut [usize], all: usize) -> bool {
    let size = set.len();
    let Some(place) = (0..size).rev().find(|place| set[*place] < all - (size - place)) else { return false };
    set[place] += 1;
    for later in place + 1..size {
        set[later] = set[later - 1] + 1;
    }
    true
}

/// What is left of `plan` when `taken` are taken away: neither those that wait for them, nor those that go back to a
/// snapshot that is gone.
pub(super) fn left_without(plan: &[PlannedFault], mut taken: Vec<usize>) -> Vec<usize> {
    let parts = Parts::of(plan);
    loop {
        let left = parts.without(&taken);
        let had_snapshot = |node: NodeId| plan.iter().any(|fault| takes_snapshot(fault, node));
        let has_snapshot = |node: NodeId| left.iter().any(|index| takes_snapshot(&plan[*index], node));
        let is_stranded = |index: &&usize| {
            let Fault::Restore(back) = &plan[**index].inject else { return false };
            had_snapshot(back.node) && !has_snapshot(back.node)
        };
        let before = taken.len();
        taken.extend(left.iter().filter(is_stranded).copied());
        if taken.len() == before {
            return left;
        }
    }
}

/// Whether it takes a snapshot of the machine on `of`.
pub(super) fn takes_snapshot(fault: &PlannedFault, of: NodeId) -> bool {
    matches!(&fault.inject, Fault::Snapshot(snapshot) if snapshot.node == of)
}

#[cfg(test)]
mod tests {
    use holdover_sim::fault::ClockStep;
    use holdover_sim::time::{Span, TrueTime};

    use super::*;

    /// A fault for each text: its name, and behind a `<` the name of the one that it waits for.
    fn plan(faults: &[&str]) -> Vec<PlannedFault> {
        let planned = |text: &&str| {
            let (name, leader) = text.split_once('<').unwrap_or((text, ""));
            let when = match leader {
                "" => Anchor::At(TrueTime::START),
                name => Anchor::Fault { name: name.to_owned(), end: false, delay: Span::ZERO },
            };
            let inject = Fault::ClockStep(ClockStep { node: NodeId(3), by: Span::secs(1) });
            PlannedFault { when, inject, note: None, name: Some(name.to_owned()) }
        };
        faults.iter().map(planned).collect()
    }

    fn signature() -> Signature {
        Signature::named("progress", "not-finished").expect("a known signature")
    }

    /// The smallest sets where `enough` says which ones are, and how many sets were looked at.
    fn search(faults: &[&str], enough: impl Fn(&[usize]) -> bool) -> (Sufficient, usize) {
        let plan = plan(faults);
        let mut looked_at = 0;
        let found = Parts::of(&plan).sufficient(&[signature()], |set| {
            looked_at += 1;
            Some(if enough(set) { vec![signature()] } else { vec![] })
        });
        (found.expect("it may look as often as it likes").remove(0), looked_at)
    }

    #[test]
    fn who_waits_goes_with_whom_it_waits_for() {
        let plan = plan(&["a", "b<a", "c<b", "d", "e<x", "f<f", "g<h", "h<g"]);
        let parts = Parts::of(&plan);
        for (fault, followers) in [(0, vec![1, 2]), (1, vec![2]), (2, vec![]), (3, vec![]), (6, vec![7])] {
            assert_eq!(parts.followers(fault), followers, "{fault}");
        }
        assert_eq!(parts.without(&[0, 3]), [4, 5, 6, 7]);
        assert_eq!(parts.without(&[]), [0, 1, 2, 3, 4, 5, 6, 7]);
        for (fault, alone) in [(0, vec![0]), (2, vec![0, 1, 2]), (4, vec![4]), (5, vec![5]), (7, vec![6, 7])] {
            assert_eq!(parts.alone(fault), alone, "{fault}");
        }
        assert_eq!(parts.only(&[3, 1]), [plan[3].clone(), plan[1].clone()]);
    }

    #[test]
    fn the_smallest_sets_are_found() {
        let all = ["a", "b", "c", "d"];
        let sets = |enough: fn(&[usize]) -> bool| search(&all, enough).0.sets;
        assert_eq!(sets(|_| true), [Vec::<usize>::new()]);
        assert!(sets(|_| false).is_empty());
        assert_eq!(sets(|set| set.contains(&2)), [[2]]);
        assert_eq!(sets(|set| set.contains(&1) || is_inside(&[0, 3], set)), [vec![1], vec![0, 3]]);
        // That more isn't always worse is no hindrance.
        assert_eq!(sets(|set| set == [0] || set == [1, 2, 3]), [vec![0], vec![1, 2, 3]]);
    }

    #[test]
    fn nothing_is_looked_at_that_can_tell_nothing() {
        assert_eq!(search(&["a", "b", "c"], |_| true).1, 1);
        assert_eq!(search(&["a", "b", "c"], |set| !set.is_empty()).1, 4);
        assert_eq!(search(&["a", "b<a", "c<b"], |_| false).1, 4);
    }

    #[test]
    fn with_many_faults_it_stops_and_says_so() {
        let many: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let (found, looked_at) = search(&many, |set| set.contains(&7));
        assert_eq!((found.sets, found.up_to, found.reduced), (vec![vec![7]], Some(2), None));
        assert!(looked_at as u64 <= MOST_SETS);
        let (found, _) = search(&many, |set| is_inside(&[3, 9, 20, 29], set));
        assert_eq!((found.sets, found.up_to), (vec![], Some(2)));
        assert_eq!(found.reduced, Some(vec![3, 9, 20, 29]));
        let (found, _) = search(&many, |_| true);
        assert_eq!((found.sets, found.up_to), (vec![vec![]], None));
        // Twelve are looked at in all ways.
        assert_eq!(search(&many[..12], |_| false), (Sufficient::default(), 4_096));
    }

    #[test]
    fn who_may_look_no_more_finds_nothing() {
        let plan = plan(&["a", "b"]);
        assert_eq!(Parts::of(&plan).sufficient(&[signature()], |_| None), None);
    }
}
