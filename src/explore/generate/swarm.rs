//! What a plan is like as a whole: which kinds of fault it has and how often, how many faults, and how they are aimed.
//!
//! Most plans are one-sided on purpose: whole kinds are off, and the others are anything but even. A plan of many kinds
//! all alike would hide what a few of them do together, and faults that heal what others broke would always be there.

use std::fmt;

use holdover_sim::point::{POINTS, Point, REPAIR_POINTS};
use holdover_sim::seed::{Purpose, Seed};

use super::dice::Dice;
use super::kinds::{COUNT, KINDS};
use super::profile::Profile;
use super::selection::Selection;
use super::stage::Stage;

/// Which points a plan's anchors may be at, a bit for each.
type Points = u32;

const _: () = assert!(
    POINTS.len() < Points::BITS as usize && REPAIR_POINTS.len() < Points::BITS as usize,
    "there are more points than bits for them"
);

/// What a plan is like as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swarm {
    pub(super) profile: Profile,
    /// How often each kind is drawn; 0 for one that is off.
    weights: [u32; COUNT],
    /// Which kinds may be in the plan, of those that are on.
    fitting: [bool; COUNT],
    /// How many faults are drawn.
    pub(super) faults: usize,
    /// How many of a hundred strike at points, events and other faults, and not at times.
    pub(super) anchored: u32,
    /// How many of a hundred lengths are relative to the lease.
    pub(super) relative: u32,
    /// How many of a hundred faults happen to the worker that probably has the lease.
    pub(super) at_holder: u32,
    pub(super) points: Points,
    /// How many of a hundred faults are to disturb a repair; 0 where nobody repairs anything.
    pub(super) at_repair: u32,
    pub(super) repair_points: Points,
}

impl Swarm {
    /// What the plan of `seed` is like. All kinds are drawn, whichever are selected, so that what is drawn of one doesn't
    /// depend on another.
    pub(super) fn draw(seed: Seed, profile: Profile, selection: &Selection, stage: &Stage) -> Swarm {
        let mut dice = Dice::new(seed, Purpose::Swarm);
        let faults = match dice.below(8) {
            0..4 => dice.count(1, profile.of(1, 3)),
            4..7 => dice.count(profile.of(1, 2), profile.of(2, 5)),
            _ => dice.count(2, profile.of(4, 10)),
        };
        let anchored = dice.pick(&[0, 25, 50, 50, 75, 100]);
        let relative = dice.pick(&[0, 50, 50, 100]);
        let at_holder = dice.pick(&[50, 80, 90, 100]);
        let open = dice.pick(&[10, 25, 50, 90]);
        let points = some_or_all(&mut dice, POINTS);
        let (mut weights, mut fitting) = ([0; COUNT], [false; COUNT]);
        // The kind that is on if no other is: the one that came nearest to it.
        let mut nearest: Option<(usize, usize)> = None;
        for (index, kind) in KINDS.iter().enumerate() {
            let (draw, factor) = (dice.below(100), 1 << dice.below(6));
            let weight = selection.weight(index, profile) * factor;
            // Where nobody works there is nothing to hit.
            let is_possible = !stage.workers.is_empty() && (kind.is_possible)(stage);
            let may_be = selection.includes(index) && is_possible;
            if draw < open {
                (weights[index], fitting[index]) = (weight, may_be);
            }
            if may_be && weight > 0 && nearest.is_none_or(|(least, _)| draw < least) {
                nearest = Some((draw, index));
            }
        }
        // Drawn last, so that worlds without operators have the same plans as if there were none anywhere.
        let (at_repair, repair_points) = match stage.repair {
            Some(_) => (dice.pick(&[25, 50, 50, 75, 100]), some_or_all(&mut dice, REPAIR_POINTS)),
            None => (0, 0),
        };
        let faults = faults as usize;
        let mut swarm = Swarm {
            profile,
            weights,
            fitting,
            faults,
            anchored,
            relative,
            at_holder,
            points,
            at_repair,
            repair_points,
        };
        if let Some((_, index)) = nearest.filter(|_| swarm.kinds().next().is_none()) {
            (swarm.weights[index], swarm.fitting[index]) = (selection.weight(index, profile), true);
        }
        swarm
    }

    /// The kinds that the plan may have by their names, each with how often it is drawn beside the others.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        let kinds = KINDS.iter().zip(self.weights.iter().zip(&self.fitting));
        let on = kinds.filter(|(_, (weight, fitting))| **weight > 0 && **fitting);
        on.map(|(kind, (weight, _))| (kind.name, *weight))
    }

    /// How many faults were drawn. The plan may have one more for each snapshot that a fault goes back to.
    pub fn faults(&self) -> usize {
        self.faults
    }

    /// The index of a kind; `None` if there is none to draw. Always draws as often, and draws kinds that may not be as well,
    /// so that a fault only changes with the selection if it was of a kind that is no longer in it.
    pub(super) fn pick(&self, dice: &mut Dice) -> Option<usize> {
        let picks = [(); 4].map(|()| dice.index_by(self.weights.iter().copied()));
        let allowed = self.weights.iter().zip(&self.fitting);
        let allowed = allowed.map(|(weight, fitting)| if *fitting { *weight } else { 0 });
        let last = dice.index_by(allowed);
        let fits = |index: &usize| self.weights[*index] > 0 && self.fitting[*index];
        picks.into_iter().chain([last]).find(fits)
    }
}

/// Three points by their bits, or all of them.
fn some_or_all(dice: &mut Dice, all: &[(Point, &str)]) -> Points {
    let some = (0..3).fold(0, |some, _| some | 1 << dice.below(all.len()));
    if dice.chance(40) { some } else { (1 << all.len()) - 1 }
}

/// In four lines: how many faults, the kinds that are on with their weights, how faults are aimed, and how lengths are
/// drawn.
impl fmt::Display for Swarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds: Vec<_> = self.kinds().collect();
        kinds.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (faults, on, off) = (counted(self.faults, "fault"), counted(kinds.len(), "kind"), COUNT - kinds.len());
        writeln!(f, "{}, {faults} of {on}, {off} are off", self.profile)?;
        let weights: Vec<_> = kinds.iter().map(|(kind, weight)| format!("{kind} {weight}")).collect();
        writeln!(f, "weights: {}", if weights.is_empty() { "none".to_owned() } else { weights.join(", ") })?;
        let Swarm { anchored, relative, at_holder, at_repair, .. } = self;
        let points = shown(self.points, POINTS);
        write!(f, "aim: {anchored} % at points ({points}), events and faults; {at_holder} % on the first worker")?;
        if *at_repair > 0 {
            write!(f, "; {at_repair} % at the repair (points: {})", shown(self.repair_points, REPAIR_POINTS))?;
        }
        writeln!(f)?;
        write!(f, "lengths: {relative} % near those of the lease")
    }
}

/// The points whose bits are set.
fn shown(points: Points, all: &[(Point, &str)]) -> String {
    let is_in = |index: &usize| points >> index & 1 == 1;
    if (0..all.len()).all(|index| is_in(&index)) {
        return "any".to_owned();
    }
    let some: Vec<_> = (0..all.len()).filter(is_in).map(|index| all[index].0.0).collect();
    some.join(", ")
}
