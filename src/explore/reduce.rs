//! Makes a fault plan smaller step by step, as long as whoever asks says that it still fails.
//!
//! First faults are taken away, many at once and then one by one; those that wait for one that is taken away go with it.
//! Then each fault is made plainer, and each number smaller, and rounder where that costs little. Then all of it again, until
//! nothing changes.
//! Whatever is proposed is a plan that a scenario file can say, if the plan was one to begin with.

use holdover_sim::fault::{Anchor, Fault, Loses, Original, Pause, PauseClocks, PlannedFault, Restart, Restore};
use holdover_sim::time::TrueTime;

use super::Parts;
use super::knobs::{Knob, Unit, knobs, turned};
use super::subset::{left_without, takes_snapshot};
use crate::scenario::contradict;

/// How often all of it is done at the most.
const MOST_ROUNDS: u32 = 4;

const SECOND: i64 = 1_000_000_000;
/// What spans and times are rounded to, the coarsest first.
const ROUND_SPANS: &[i64] =
    &[3_600 * SECOND, 600 * SECOND, 60 * SECOND, 10 * SECOND, SECOND, SECOND / 10, SECOND / 100, SECOND / 1_000];
/// What rates are rounded to.
const ROUND_RATES: &[i64] = &[100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000];
/// What percentages are rounded to.
const ROUND_PERCENTS: &[i64] = &[50, 25, 10, 5];

/// Makes a plan smaller. It proposes plans one after the other; each must be told to [still fail](Reducer::accept) or
/// [not](Reducer::reject).
///
/// ```
/// use holdover::explore::Reducer;
/// use holdover::scenario::{SMALLEST, Scenario};
/// use holdover::sim::time::TrueTime;
///
/// let two_steps = r#"
/// [[fault]]
/// when = { at = "01:59:37.421" }
/// inject = { clock-step = { node = "worker-a", by = "-4213ms" } }
///
/// [[fault]]
/// when = { at = "01:59:40" }
/// inject = { crash = { node = "worker-b" } }
/// "#;
/// let scenario = Scenario::parse("two", &format!("{SMALLEST}{two_steps}")).expect("it is a scenario");
/// let mut reducer = Reducer::new(scenario.plan, scenario.world.limits.end);
/// while let Some(plan) = reducer.proposal() {
///     let still_fails = plan.iter().any(|fault| fault.inject.name() == "clock-step");
///     if still_fails { reducer.accept() } else { reducer.reject() }
/// }
/// let phrase = reducer.smallest()[0].inject.phrase(&|_| "worker-a".to_owned());
/// assert_eq!((reducer.smallest().len(), phrase.as_str()), (1, "step of worker-a's wall clock by -1ms"));
/// ```
#[derive(Clone, Debug)]
pub struct Reducer {
    end: TrueTime,
    smallest: Vec<PlannedFault>,
    proposed: Option<Vec<PlannedFault>>,
    step: Step,
    rounds: u32,
    /// Whether anything was taken away or turned since the round began.
    changed: bool,
}

/// Where it stands.
#[derive(Clone, Debug)]
enum Step {
    /// Taking away `size` faults at once, of those before `until`; the last first.
    Faults { size: usize, until: usize, taken: bool },
    /// Making the fault at `fault` plainer; the ways before `way` are done.
    Plainer { fault: usize, way: usize },
    /// Turning the numbers of the fault at `fault`, of which those before `knob` are done.
    Numbers { fault: usize, knob: usize, search: Option<Search> },
    /// Nothing is left to try.
    Done,
}

/// Looking for the smallest and roundest value of one number.
#[derive(Clone, Debug)]
struct Search {
    knob: Knob,
    /// Values at or below it don't fail. `None`: the least there can be wasn't tried yet.
    passes: Option<i64>,
    /// The size of the value that fails.
    fails: i64,
    /// Which of the roundings is next; `None` while smaller values are looked for.
    rounding: Option<usize>,
    /// The size of the value that is proposed.
    asked: i64,
}

impl Reducer {
    /// Makes `plan` smaller, which is one for runs that end at `end` at the latest.
    pub fn new(plan: Vec<PlannedFault>, end: TrueTime) -> Reducer {
        let size = plan.len();
        let step = Step::Faults { size, until: size, taken: false };
        let mut reducer = Reducer { end, smallest: plan, proposed: None, step, rounds: 0, changed: false };
        reducer.propose();
        reducer
    }

    /// The plan that is to be tried next; `None` if nothing is left to try.
    pub fn proposal(&self) -> Option<&[PlannedFault]> {
        self.proposed.as_deref()
    }

    /// The smallest plan that is known to fail.
    pub fn smallest(&self) -> &[PlannedFault] {
        &self.smallest
    }

    /// Notes that the proposed plan still fails, and proposes the next one.
    pub fn accept(&mut self) {
        let Some(plan) = self.proposed.take() else { return };
        self.smallest = plan;
        self.changed = true;
        let left = self.smallest.len();
        if let Step::Faults { until, taken, .. } = &mut self.step {
            (*until, *taken) = ((*until).min(left), true);
        }
        self.note(true);
        self.propose();
    }

    /// Notes that the proposed plan doesn't fail, and proposes the next one.
    pub fn reject(&mut self) {
        self.proposed = None;
        self.note(false);
        self.propose();
    }

    /// Goes on until there is a plan to propose, or nothing is left.
    fn propose(&mut self) {
        while self.proposed.is_none() {
            match &mut self.step {
                Step::Faults { size: 0, .. } => self.step = Step::Plainer { fault: 0, way: 0 },
                Step::Faults { size, until: 0, taken } => {
                    // One fault that is gone may make others dispensable.
                    *size = if *size == 1 && !*taken { 0 } else { (*size / 2).max(1) };
                    self.step = Step::Faults {
                        size: (*size).min(self.smallest.len()),
                        until: self.smallest.len(),
                        taken: false,
                    };
                }
                Step::Faults { size, until, .. } => {
                    let from = until.saturating_sub(*size);
                    let chunk: Vec<usize> = (from..*until).collect();
                    *until = from;
                    let fewer = without(&self.smallest, chunk);
                    self.proposed = Some(fewer).filter(|fewer| fewer.len() < self.smallest.len());
                }
                Step::Plainer { fault, way } => {
                    let Some(planned) = self.smallest.get(*fault) else {
                        self.step = Step::Numbers { fault: 0, knob: 0, search: None };
                        continue;
                    };
                    let Some(plainer) = plainer(&planned.inject).into_iter().nth(*way) else {
                        (*fault, *way) = (*fault + 1, 0);
                        continue;
                    };
                    let fault = *fault;
                    *way += 1;
                    let mut plan = self.smallest.clone();
                    plan[fault].inject = plainer;
                    self.proposed = Some(plan).filter(|plan| *plan != self.smallest && is_sound(plan, fault));
                }
                Step::Numbers { fault, knob, search } => {
                    let Some(planned) = self.smallest.get(*fault) else {
                        self.next_round();
                        continue;
                    };
                    if search.is_none() {
                        let Some(found) = knobs(planned, self.end).into_iter().nth(*knob) else {
                            (*fault, *knob) = (*fault + 1, 0);
                            continue;
                        };
                        *search = Some(Search::of(found));
                    }
                    let Some(value) = search.as_mut().and_then(Search::next) else {
                        (*knob, *search) = (*knob + 1, None);
                        continue;
                    };
                    let name = search.as_ref().map(|search| search.knob.name);
                    let fault = *fault;
                    let turned = name.and_then(|name| turned(planned, self.end, name, value));
                    let plan = turned.map(|turned| {
                        let mut plan = self.smallest.clone();
                        plan[fault] = turned;
                        plan
                    });
                    match plan.filter(|plan| *plan != self.smallest && is_sound(plan, fault)) {
                        Some(plan) => self.proposed = Some(plan),
                        None => self.note(false),
                    }
                }
                Step::Done => return,
            }
        }
    }

    /// Notes in a search whether the value that was asked about fails.
    fn note(&mut self, fails: bool) {
        if let Step::Numbers { search: Some(search), .. } = &mut self.step {
            search.note(fails);
        }
    }

    fn next_round(&mut self) {
        self.rounds += 1;
        let size = self.smallest.len();
        self.step = match self.changed && self.rounds < MOST_ROUNDS {
            true => Step::Faults { size, until: size, taken: false },
            false => Step::Done,
        };
        self.changed = false;
    }
}

impl Search {
    fn of(knob: Knob) -> Search {
        let fails = knob.value.abs();
        // When a fault strikes isn't made earlier, only rounder: nothing is smaller about two o'clock than about three.
        let rounding = (knob.unit == Unit::Time && knob.name.key == "at").then_some(0);
        Search { knob, passes: None, fails, rounding, asked: fails }
    }

    /// The least size that the value can have.
    fn least(&self) -> i64 {
        let Knob { low, not_zero, grain, .. } = self.knob;
        let least = low.max(i64::from(not_zero));
        // To the grain, but not beyond what there can be.
        ((least + grain - 1) / grain * grain).min(self.knob.high)
    }

    /// The next value to try.
    fn next(&mut self) -> Option<i64> {
        let size = self.next_size()?;
        self.asked = size;
        Some(if self.knob.value < 0 { -size } else { size })
    }

    fn next_size(&mut self) -> Option<i64> {
        let (least, grain) = (self.least(), self.knob.grain);
        let roundings = match self.knob.unit {
            Unit::Span | Unit::Time => ROUND_SPANS,
            Unit::Rate => ROUND_RATES,
            Unit::Percent => ROUND_PERCENTS,
            Unit::Count => &[],
        };
        let Some(mut rounding) = self.rounding else {
            if self.fails <= least {
                return None;
            }
            let Some(passes) = self.passes else { return Some(least) };
            let middle = (passes + (self.fails - passes) / 2) / grain * grain;
            if middle > passes && middle < self.fails {
                return Some(middle);
            }
            self.rounding = Some(0);
            return self.next_size();
        };
        while let Some(unit) = roundings.get(rounding) {
            rounding += 1;
            self.rounding = Some(rounding);
            // A time is cut, so that it stays in the run; a size that is known to be the smallest can only grow.
            let cut = self.fails / unit * unit;
            let size = match self.knob.unit {
                Unit::Time => cut,
                _ if cut == self.fails => cut,
                _ => cut + unit,
            };
            if size == self.fails {
                // It is as round as that already.
                self.rounding = Some(roundings.len());
                return None;
            }
            let is_near = size - self.fails <= self.fails / 10;
            if size >= least && size % grain == 0 && size != self.asked && is_near {
                return Some(size);
            }
        }
        None
    }

    fn note(&mut self, fails: bool) {
        match (fails, self.rounding) {
            (true, None) => self.fails = self.asked,
            (false, None) => self.passes = Some(self.asked),
            // The coarsest comes first.
            (true, Some(_)) => (self.fails, self.rounding) = (self.asked, Some(usize::MAX)),
            (false, Some(_)) => {}
        }
    }
}

/// Faults that do the same in a plainer way, of which each may be as plain already.
fn plainer(fault: &Fault) -> Vec<Fault> {
    match fault {
        Fault::Pause(pause) => vec![
            Pause { beside: Vec::new(), ..pause.clone() }.into(),
            Pause { clocks: PauseClocks::Running, ..pause.clone() }.into(),
            Pause { clocks: frozen_at_most(pause.clocks), ..pause.clone() }.into(),
        ],
        Fault::Restart(restart) => vec![Restart { loses: Loses::Memory, ..*restart }.into()],
        Fault::Restore(restore) => vec![Restore { original: Original::Gone, ..*restore }.into()],
        // Nothing of these is more than a number, or who and whom.
        Fault::ClockStep(_)
        | Fault::ClockSlew(_)
        | Fault::ClockDrift(_)
        | Fault::ClockStrobe(_)
        | Fault::ZoneError(_)
        | Fault::LeapSecond(_)
        | Fault::TimeSource(_)
        | Fault::Failover(_)
        | Fault::Crash(_)
        | Fault::Shutdown(_)
        | Fault::Partition(_)
        | Fault::Latency(_)
        | Fault::Loss(_)
        | Fault::Duplicate(_)
        | Fault::Reorder(_)
        | Fault::Hold(_)
        | Fault::DelayMessage(_)
        | Fault::LoseMessage(_)
        | Fault::Snapshot(_)
        | Fault::Throttle(_)
        | Fault::SplitBrain(_)
        | Fault::DiskStall(_) => Vec::new(),
    }
}

/// A freeze without what comes after it; anything else as it is.
fn frozen_at_most(clocks: PauseClocks) -> PauseClocks {
    match clocks {
        PauseClocks::Corrected { .. } | PauseClocks::Migrated { .. } => PauseClocks::Frozen,
        other => other,
    }
}

/// The plan without the faults at `taken`, those that wait for them, and those that go back to a snapshot that is gone;
/// names that nobody needs any more are gone too.
fn without(plan: &[PlannedFault], taken: Vec<usize>) -> Vec<PlannedFault> {
    let left = left_without(plan, taken);
    let mut fewer = Parts::of(plan).only(&left);
    for index in 0..fewer.len() {
        let waits = |other: &PlannedFault| matches!(&other.when, Anchor::Fault { name, .. } if fewer[index].name.as_ref() == Some(name));
        if !fewer.iter().any(waits) {
            fewer[index].name = None;
        }
    }
    fewer
}

/// Whether the fault at `index`, which is another than before, still goes with the others.
fn is_sound(plan: &[PlannedFault], index: usize) -> bool {
    let changed = &plan[index];
    let others = plan.iter().enumerate().filter(|(other, _)| *other != index);
    !others.into_iter().any(|(_, other)| contradict(other, changed))
        && plan.iter().all(|fault| goes_back(plan, fault))
}

/// Whether `fault`, if it goes back to a snapshot, has one to go back to, as far as times tell.
fn goes_back(plan: &[PlannedFault], fault: &PlannedFault) -> bool {
    let Fault::Restore(restore) = &fault.inject else { return true };
    plan.iter().filter(|other| takes_snapshot(other, restore.node)).any(|snapshot| {
        match (&snapshot.when, &fault.when) {
            (Anchor::At(taken), Anchor::At(at)) => taken < at,
            _ => true,
        }
    })
}
