//! All numbers of a scenario, those of its faults and those of its world, as something to be read and turned.

use holdover_sim::clock::Rate;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{ClockSpec, Keys, WorldSpec};

use super::super::knobs::{KnobName, Unit, knobs, turned};
use super::digits;
use crate::scenario::Scenario;

/// One number of a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dial {
    place: Place,
    pub(super) unit: Unit,
    pub(super) value: i64,
    /// Whether less of it is better. Of much of a world more or less is the same.
    pub(super) shortens: bool,
    grain: i64,
    /// The start of the run as the wall clock's nanoseconds.
    pub(super) clock: i64,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A knob of a fault of the plan.
    Fault(usize, KnobName),
    /// A number of the world, counted in the order of [`walk`].
    World(usize),
}

impl Dial {
    /// What it adds to which passings or events faults wait for.
    pub(super) fn nth(&self) -> u64 {
        if self.unit == Unit::Count { self.value.unsigned_abs() } else { 0 }
    }

    /// How many digits it has too many.
    pub(super) fn digits(&self) -> u64 {
        digits::too_many(self.unit, self.value, self.clock)
    }

    /// What it adds to how long all is.
    pub(super) fn length(&self) -> u128 {
        let counts = self.shortens && matches!(self.unit, Unit::Span | Unit::Rate | Unit::Time);
        if counts { self.value.unsigned_abs().into() } else { 0 }
    }

    /// Whether a value is one that it is looked for among: neither finer than it should be, nor what it is.
    pub(super) fn suits(&self, value: i64) -> bool {
        value != self.value && value % self.grain == 0
    }

    /// The same number of `scenario`, as it stands there.
    pub(super) fn of(self, scenario: &Scenario) -> Option<Dial> {
        all(scenario).into_iter().find(|dial| dial.place == self.place)
    }

    /// `scenario` with this number turned to `value`, if it can have that.
    pub(super) fn turned(&self, scenario: &Scenario, value: i64) -> Option<Scenario> {
        let mut proposal = scenario.clone();
        match self.place {
            Place::Fault(fault, name) => {
                let end = scenario.world.limits.end;
                proposal.plan[fault] = turned(&scenario.plan[fault], end, name, value)?;
            }
            Place::World(place) => {
                let mut at = 0;
                walk(&mut proposal.world, &mut |number| {
                    at += 1;
                    (at - 1 == place && (number.low..=number.high).contains(&value)).then_some(value)
                });
                if proposal.world == scenario.world {
                    return None;
                }
            }
        }
        Some(proposal)
    }
}

/// All numbers of `scenario`: of the faults in their order, then of the world. One that a fault has against the rules isn't
/// among them.
pub(super) fn all(scenario: &Scenario) -> Vec<Dial> {
    let clock = scenario.world.start.as_nanos();
    let mut all = Vec::new();
    for (fault, planned) in scenario.plan.iter().enumerate() {
        for knob in knobs(planned, scenario.world.limits.end).into_iter().filter(|knob| knob.takes(knob.value)) {
            all.push(Dial {
                place: Place::Fault(fault, knob.name),
                unit: knob.unit,
                value: knob.value,
                // When a fault strikes is no length.
                shortens: knob.unit != Unit::Time,
                grain: knob.grain,
                clock,
            });
        }
    }
    let mut place = 0;
    walk(&mut scenario.world.clone(), &mut |number| {
        let Number { unit, value, shortens, .. } = number;
        all.push(Dial { place: Place::World(place), unit, value, shortens, grain: unit.grain(), clock });
        place += 1;
        None
    });
    all
}

/// A number of the world.
struct Number {
    unit: Unit,
    value: i64,
    low: i64,
    high: i64,
    shortens: bool,
}

/// Walks the numbers of a world but for its end; each becomes what `turn` says.
fn walk(world: &mut WorldSpec, turn: &mut dyn FnMut(Number) -> Option<i64>) {
    let (start, end) = (world.start, world.limits.end);
    let mut span = |span: &mut Span, low: i64, shortens: bool| {
        let number = Number { unit: Unit::Span, value: span.as_nanos(), low, high: i64::MAX, shortens };
        if let Some(value) = turn(number) {
            *span = Span::nanos(value);
        }
    };
    span(&mut world.lease.ttl, 1, false);
    span(&mut world.lease.renew_every, 1, false);
    span(&mut world.lease.poll_every, 1, false);
    span(&mut world.job.pace, 0, false);
    span(&mut world.progress_within, 1, false);
    span(&mut world.network.timeout, 1, false);
    for latency in [&mut world.network.internal, &mut world.network.provider] {
        span(&mut latency.min, 0, false);
        span(&mut latency.max, 0, false);
    }
    if let Some(Keys::For(remembered)) = &mut world.provider.keys {
        span(remembered, 1, false);
    }
    if let Some(payouts) = &mut world.provider.payouts {
        for range in [&mut payouts.known_in, &mut payouts.settles_in, &mut payouts.refunds_in] {
            span(&mut range.min, 0, false);
            span(&mut range.max, 0, false);
        }
    }
    if !world.operators.is_empty() {
        span(&mut world.repair.ask_every, 1, false);
        span(&mut world.repair.ask_for, 0, false);
        span(&mut world.repair.quiet_for, 0, false);
    }
    if let Some(payouts) = &mut world.provider.payouts {
        percent(&mut payouts.fails_percent, 100, turn);
        percent(&mut payouts.refunds_fail_percent, 99, turn);
    }
    let mut due = TrueTime::START + (world.job.due - start);
    time(&mut due, end, turn);
    world.job.due = start + (due - TrueTime::START);
    for node in world.workers.iter_mut().chain(&mut world.operators) {
        time(&mut node.starts, end, turn);
        of_clock(&mut node.clock, turn);
    }
    world.service_clocks.values_mut().for_each(|clock| of_clock(clock, turn));
}

fn time(time: &mut TrueTime, end: TrueTime, turn: &mut dyn FnMut(Number) -> Option<i64>) {
    let number = Number { unit: Unit::Time, value: time.as_nanos(), low: 0, high: end.as_nanos(), shortens: true };
    if let Some(value) = turn(number) {
        *time = TrueTime::from_nanos(value);
    }
}

/// Of a hundred, how many fail. None is no number to be rounded.
fn percent(percent: &mut u8, high: i64, turn: &mut dyn FnMut(Number) -> Option<i64>) {
    if *percent == 0 {
        return;
    }
    let value = i64::from(*percent);
    let turned = turn(Number { unit: Unit::Percent, value, low: 1, high, shortens: false });
    *percent = turned.and_then(|value| u8::try_from(value).ok()).unwrap_or(*percent);
}

fn of_clock(clock: &mut ClockSpec, turn: &mut dyn FnMut(Number) -> Option<i64>) {
    let any = |unit, value| Number { unit, value, low: i64::MIN, high: i64::MAX, shortens: true };
    if let Some(value) = turn(any(Unit::Span, clock.offset.as_nanos())) {
        clock.offset = Span::nanos(value);
    }
    let rate = turn(any(Unit::Rate, clock.drift.as_ppb().into()));
    if let Some(rate) = rate.and_then(|rate| Rate::from_ppb(i32::try_from(rate).ok()?)) {
        clock.drift = rate;
    }
    if let Some(discipline) = &mut clock.discipline {
        let poll = discipline.poll.as_nanos();
        let number = Number { unit: Unit::Span, value: poll, low: 1, high: i64::MAX, shortens: false };
        if let Some(value) = turn(number) {
            discipline.poll = Span::nanos(value);
        }
    }
}
