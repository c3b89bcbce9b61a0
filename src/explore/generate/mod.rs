//! Draws plans of faults from seeds: the same plan for the same world, profile, selection and seed, on any machine.
//!
//! - A [`Profile`] says how bad the nights are, and a [`Selection`] which kinds of fault there are
//! - A [`Swarm`] is what one plan is like as a whole; it differs much from seed to seed
//! - [`Generator`] draws plans for a world, and [`with_drawn_clocks`] the clocks of one
//! - `kinds` has a function for each kind of fault, and `anchors` one for when it strikes; they draw with a `sketch`, from
//!   the distributions of `dice`, and aim at what the `stage` says of the world
//!
//! Half of all lengths are near those of the lease, and half of all faults strike at points, events and other faults and
//! not at times, because that is where protocols break: a pause that is a millisecond longer than the lease, between a
//! check and what follows from it. Every fault draws from a stream of its own, so what one is doesn't depend on another,
//! and nothing of a run does on what its plan was drawn from.
//!
//! In a world with operators a part of the faults, which the swarm says, is to disturb the repair: they happen mostly to
//! operators and to the provider, at the points that operators pass. Whether a world has operators changes no other draw.
//!
//! Every plan can be written as a scenario file. Where two faults would contradict each other the later one is dropped.

mod anchors;
mod clocks;
mod dice;
mod kinds;
mod profile;
mod selection;
mod sketch;
mod stage;
mod swarm;

pub use clocks::with_drawn_clocks;
pub use profile::{Profile, UnknownProfile};
pub use selection::{Selection, UnknownFaults};
pub use swarm::Swarm;

use std::fmt;

use holdover_sim::fault::{Anchor, Fault, Original, PlannedFault, Restore, Snapshot};
use holdover_sim::seed::{Purpose, Seed};
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::WorldSpec;

use self::dice::Dice;
use self::kinds::KINDS;
use self::sketch::Sketch;
use self::stage::Stage;
use crate::scenario::contradict;

/// Draws plans of faults for a world.
///
/// ```
/// use holdover::explore::generate::{Generator, Profile};
/// use holdover::scenario::{SMALLEST, Scenario};
/// use holdover::sim::seed::Seed;
///
/// let mut scenario = Scenario::parse("smallest.toml", SMALLEST).expect("it is a scenario");
/// let generator = Generator::new(&scenario.world, Profile::Hostile);
/// scenario.plan = generator.plan(Seed(7));
/// assert_eq!(scenario.plan, generator.plan(Seed(7)));
/// assert!(scenario.to_toml().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    stage: Stage,
    profile: Profile,
    selection: Selection,
    base: Vec<PlannedFault>,
}

/// A plan that was drawn, and what it was drawn by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// What it was drawn from.
    pub seed: Seed,
    /// What it is like as a whole.
    pub swarm: Swarm,
    /// The plan: first the faults that were there before, then those that were drawn.
    pub plan: Vec<PlannedFault>,
    /// How many faults there were before.
    pub before: usize,
    /// How many faults were drawn and dropped, because they contradict others.
    pub dropped: usize,
}

impl Generator {
    /// Draws plans for `world`, of all kinds of fault that `profile` has.
    pub fn new(world: &WorldSpec, profile: Profile) -> Generator {
        Generator { stage: Stage::of(world), profile, selection: Selection::ALL, base: Vec::new() }
    }

    /// Draws only kinds of fault that are in `selection`. The others stay as they are: each fault of a kind that isn't
    /// is drawn anew, as one that is. A fault that goes back to a snapshot has one taken all the same.
    pub fn only(self, selection: Selection) -> Generator {
        Generator { selection, ..self }
    }

    /// Draws faults on top of those of `plan`, which stay first and as they are.
    pub fn on_top_of(self, plan: &[PlannedFault]) -> Generator {
        Generator { base: plan.to_vec(), ..self }
    }

    /// The plan of `seed`.
    pub fn plan(&self, seed: Seed) -> Vec<PlannedFault> {
        self.draw(seed).plan
    }

    /// The plan of `seed`, with what it was drawn by.
    pub fn draw(&self, seed: Seed) -> Drawn {
        let swarm = Swarm::draw(seed, self.profile, &self.selection, &self.stage);
        let mut growing = Growing { plan: self.base.clone(), slots: Vec::new(), dropped: 0 };
        for n in 0..swarm.faults {
            let dice = Dice::new(seed, Purpose::PlannedFault(n as u16));
            let mut sketch = Sketch::new(dice, &swarm, &self.stage);
            let slot = self.fault(&mut sketch, &mut growing);
            growing.slots.push(slot);
        }
        let Growing { plan, dropped, .. } = growing;
        Drawn { seed, swarm, plan, before: self.base.len(), dropped }
    }

    /// Adds one fault, and says where in the plan it is.
    fn fault(&self, sketch: &mut Sketch<'_>, growing: &mut Growing) -> Option<usize> {
        let kind = sketch.swarm.pick(&mut sketch.dice)?;
        let inject = (KINDS[kind].make)(sketch);
        let slot = sketch.dice.below(growing.slots.len());
        let leader = growing.slots.get(slot).copied().flatten();
        let lasting = leader.map(|leader| growing.plan[leader].inject.lasting());
        let mut when = anchors::when(sketch, &inject, lasting);
        if let (Anchor::Fault { name, .. }, Some(leader)) = (&mut when, leader) {
            *name = growing.name(leader);
        }
        match inject {
            Fault::Restore(restore) => growing.go_back(sketch, when, restore),
            Fault::Snapshot(Snapshot { node }) if self.selection.has("restore") => {
                growing.go_back(sketch, when, Restore { node, original: Original::Gone })
            }
            inject => growing.add(when, inject),
        }
    }
}

/// A plan while it grows.
struct Growing {
    plan: Vec<PlannedFault>,
    /// Where in the plan each fault is that was drawn; `None` for one that was dropped.
    slots: Vec<Option<usize>>,
    dropped: usize,
}

impl Growing {
    /// Adds a fault, unless it contradicts another. Says where in the plan it is.
    fn add(&mut self, when: Anchor, inject: Fault) -> Option<usize> {
        let fault = PlannedFault { when, inject, note: None, name: None };
        if self.plan.iter().any(|other| contradict(other, &fault)) {
            self.dropped += 1;
            return None;
        }
        self.plan.push(fault);
        Some(self.plan.len() - 1)
    }

    /// Adds a snapshot that is taken at `when`, and `restore`, which goes back to it some time later.
    fn go_back(&mut self, sketch: &mut Sketch<'_>, when: Anchor, restore: Restore) -> Option<usize> {
        let inject = Fault::from(restore);
        // Images that are gone back to are mostly older than a second; after an hour nobody would.
        let age = sketch.length(Span::secs(1), Span::secs(3_600));
        let other = anchors::when(sketch, &inject, None);
        let follows = sketch.dice.chance(60);
        let is_later = match (&when, &other) {
            (Anchor::At(taken), Anchor::At(at)) => taken < at,
            _ => true,
        };
        let snapshot = self.add(when, Snapshot { node: restore.node }.into())?;
        let back = match other {
            other if is_later && !follows => other,
            _ => Anchor::Fault { name: self.name(snapshot), end: false, delay: age },
        };
        let added = self.add(back, inject);
        if added.is_none() {
            self.plan.pop();
        }
        added
    }

    /// The name of the fault at `index`, which gets one if it has none: its kind's, with a number if there are several.
    fn name(&mut self, index: usize) -> String {
        if let Some(name) = &self.plan[index].name {
            return name.clone();
        }
        let kind = self.plan[index].inject.name();
        let is_taken = |name: &str| self.plan.iter().any(|fault| fault.name.as_deref() == Some(name));
        let mut name = kind.to_owned();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{kind}-{number}");
            number += 1;
        }
        self.plan[index].name = Some(name.clone());
        name
    }
}

/// What the plan is like, in a few lines: the swarm, and what came of it.
impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, {}", self.seed.0, self.swarm)?;
        let drawn = &self.plan[self.before..];
        let drawn: Vec<_> =
            drawn.iter().map(|fault| format!("{} {}", fault.inject.name(), shown(&fault.when))).collect();
        write!(f, "drawn: {}", if drawn.is_empty() { "nothing".to_owned() } else { drawn.join(", ") })?;
        match self.dropped {
            0 => Ok(()),
            dropped => write!(f, "; {dropped} dropped that contradicted others"),
        }
    }
}

fn shown(when: &Anchor) -> String {
    match when {
        Anchor::At(at) => format!("at {:+}", *at - TrueTime::START),
        Anchor::Point { point: what, nth, .. } | Anchor::Event { event: what, nth, .. } => {
            if *nth == 1 {
                format!("at {what}")
            } else {
                format!("at {what} {nth}")
            }
        }
        Anchor::Fault { name, end: true, .. } => format!("after {name}"),
        Anchor::Fault { name, .. } => format!("with {name}"),
    }
}
