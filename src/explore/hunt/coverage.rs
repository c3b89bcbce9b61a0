//! What hunted runs went through: how often each kind of fault struck and bit, and what was seen.

use std::collections::BTreeMap;

use holdover_sim::check::{Bite, Evidence, SIGHTINGS, bites, sightings_with};
use holdover_sim::fault::{FAULTS, PlannedFault};
use holdover_sim::limits::Ending;
use holdover_sim::time::TrueTime;
use serde::{Deserialize, Serialize};

/// How often faults of one kind were drawn, struck and bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strikes {
    /// For so many runs.
    pub drawn: u64,
    /// That struck, of all in all runs.
    pub struck: u64,
    /// That bit, of those.
    pub bit: u64,
}

/// What the runs of one protocol went through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Runs.
    pub runs: u64,
    /// Events of all of them together.
    pub events: u64,
    /// For how long they ran in true time, in whole milliseconds of each.
    pub virtual_millis: u64,
    /// Runs that used up their steps.
    pub bounds_hit: u64,
    /// Runs with a verdict that couldn't be told.
    pub untold: u64,
    /// Stale writes that the ledger was asked for, in all runs together.
    pub stale_writes_tried: u64,
    /// Those of them that it turned away.
    pub stale_writes_rejected: u64,
    /// By kind of fault; every kind is there.
    pub faults: BTreeMap<String, Strikes>,
    /// In how many runs each thing was seen; every sighting is there.
    pub seen: BTreeMap<String, u64>,
}

/// [`Coverage`] while it is counted: by the places in the registries.
#[derive(Clone, Default)]
pub(super) struct Tally {
    counted: Coverage,
    faults: [Strikes; FAULTS.len()],
    seen: [u64; SIGHTINGS.len()],
}

impl Tally {
    /// Counts what is known before a run: the kinds of fault in its plan.
    pub(super) fn note_plan(&mut self, plan: &[PlannedFault]) {
        let mut kinds = [false; FAULTS.len()];
        plan.iter().for_each(|planned| kinds[place(planned)] = true);
        for (strikes, drawn) in self.faults.iter_mut().zip(kinds) {
            strikes.drawn += u64::from(drawn);
        }
    }

    /// Counts a run.
    pub(super) fn note_run(&mut self, history: &Evidence<'_>, is_untold: bool) {
        let counted = &mut self.counted;
        counted.runs += 1;
        counted.events += history.events.len() as u64;
        counted.virtual_millis += ((history.ended_at - TrueTime::START).as_nanos() / 1_000_000).unsigned_abs();
        counted.bounds_hit += u64::from(history.ending == Ending::StepsUsedUp);
        counted.untold += u64::from(is_untold);
        let bites = bites(history);
        for (planned, bite) in history.plan.iter().zip(&bites) {
            let strikes = &mut self.faults[place(planned)];
            strikes.struck += u64::from(*bite != Bite::NeverStruck);
            strikes.bit += u64::from(*bite == Bite::Bit);
        }
        for (seen, (sighting, times)) in self.seen.iter_mut().zip(sightings_with(history, &bites)) {
            *seen += u64::from(times > 0);
            match sighting.name {
                "stale-write-tried" => counted.stale_writes_tried += times as u64,
                "stale-write-rejected" => counted.stale_writes_rejected += times as u64,
                _ => {}
            }
        }
    }

    pub(super) fn coverage(self) -> Coverage {
        let faults = FAULTS.iter().map(|kind| kind.name.to_owned()).zip(self.faults).collect();
        let seen = SIGHTINGS.iter().map(|sighting| sighting.name.to_owned()).zip(self.seen).collect();
        Coverage { faults, seen, ..self.counted }
    }
}

fn place(planned: &PlannedFault) -> usize {
    let name = planned.inject.name();
    FAULTS.iter().position(|kind| kind.name == name).expect("every kind is in the registry")
}

impl Coverage {
    /// Adds what other runs went through.
    pub fn add(&mut self, other: &Coverage) {
        self.runs += other.runs;
        self.events += other.events;
        self.virtual_millis += other.virtual_millis;
        self.bounds_hit += other.bounds_hit;
        self.untold += other.untold;
        self.stale_writes_tried += other.stale_writes_tried;
        self.stale_writes_rejected += other.stale_writes_rejected;
        for (kind, strikes) in &other.faults {
            let sum = self.faults.entry(kind.clone()).or_default();
            sum.drawn += strikes.drawn;
            sum.struck += strikes.struck;
            sum.bit += strikes.bit;
        }
        for (sighting, runs) in &other.seen {
            *self.seen.entry(sighting.clone()).or_default() += runs;
        }
    }
}
