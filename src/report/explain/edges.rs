//! Where a number's edges are, in words.

use holdover_sim::clock::Rate;
use holdover_sim::history::History;
use holdover_sim::time::{Span, TimeOfDay, TrueTime};

use super::super::words;
use crate::explore::Signature;
use crate::explore::edge::Stretch;
use crate::explore::explain::Turned;
use crate::explore::knobs::{Knob, Unit};

/// More stretches than these are only counted.
const STRETCHES_SHOWN: usize = 4;

/// Where the same signatures have their edges.
pub(in crate::report) struct Edges {
    /// The signatures.
    pub(in crate::report) signatures: Vec<Signature>,
    /// Where they break, as the predicate of a sentence.
    pub(in crate::report) told: String,
    /// Whether they break at some values and hold at others.
    pub(in crate::report) has_edge: bool,
}

/// A stretch of values at which something breaks, with those next to it at which it doesn't.
struct Breaking {
    from: i64,
    to: i64,
    /// How many values were looked at in it, its ends among them.
    looked: usize,
    below: Option<i64>,
    above: Option<i64>,
}

/// A number's value as reports write it.
pub(in crate::report) fn value(history: &History, knob: &Knob, value: i64) -> String {
    match knob.unit {
        Unit::Span if knob.not_zero => format!("{:+}", Span::nanos(value)),
        Unit::Span => Span::nanos(value).to_string(),
        Unit::Time => {
            let utc = history.utc(TrueTime::from_nanos(value));
            let time = TimeOfDay(utc).to_string();
            let same_day = words::day(utc) == words::day(history.start);
            if same_day { time } else { format!("{} {time}", words::date(utc)) }
        }
        Unit::Rate => {
            let rate = i32::try_from(value).ok().and_then(Rate::from_ppb);
            rate.map_or_else(|| format!("{value} ppb"), |rate| rate.to_string())
        }
        Unit::Percent => format!("{value} %"),
        Unit::Count => value.to_string(),
    }
}

/// The edges of a number, those with the same edges together, in the order of `signatures`.
pub(in crate::report) fn edges(history: &History, turned: &Turned, signatures: &[Signature]) -> Vec<Edges> {
    let mut groups: Vec<Edges> = Vec::new();
    for signature in signatures {
        let breaking = breaking(turned, |found| found.contains(signature));
        let has_edge = breaking.iter().any(|one| one.below.is_some() || one.above.is_some());
        let told = told(history, turned, &breaking);
        match groups.iter_mut().find(|group| group.told == told) {
            Some(group) => group.signatures.push(*signature),
            None => groups.push(Edges { signatures: vec![*signature], told, has_edge }),
        }
    }
    groups
}

fn breaking(turned: &Turned, breaks: impl Fn(&[Signature]) -> bool) -> Vec<Breaking> {
    let mut joined: Vec<Stretch<bool>> = Vec::new();
    for stretch in &turned.found.stretches {
        let found = breaks(&stretch.found);
        match joined.last_mut() {
            Some(last) if last.found == found => {
                (last.to, last.looked) = (stretch.to, last.looked + stretch.looked);
            }
            _ => joined.push(Stretch { from: stretch.from, to: stretch.to, looked: stretch.looked, found }),
        }
    }
    let at = |index: Option<usize>| index.and_then(|index| joined.get(index));
    joined
        .iter()
        .enumerate()
        .filter(|(_, stretch)| stretch.found)
        .map(|(index, stretch)| Breaking {
            from: stretch.from,
            to: stretch.to,
            looked: stretch.looked,
            below: at(index.checked_sub(1)).map(|below| below.to),
            above: at(Some(index + 1)).map(|above| above.from),
        })
        .collect()
}

fn told(history: &History, turned: &Turned, breaking: &[Breaking]) -> String {
    let write = |number: i64| value(history, &turned.knob, number);
    let (low, high) = (turned.search.low, turned.search.high);
    let mut told = match breaking {
        [] => return format!("never, {} from {} to {}", at_all(looked(turned)), write(low), write(high)),
        [Breaking { below: None, above: None, looked, .. }] => {
            format!("{} from {} to {}", at_all(*looked), write(low), write(high))
        }
        [Breaking { from, below: Some(below), above: None, looked, .. }] => {
            format!("from {} on{}; not at {}", write(*from), of(*looked), write(*below))
        }
        [Breaking { to, below: None, above: Some(above), looked, .. }] => {
            format!("up to {}{}; not at {}", write(*to), of(*looked), write(*above))
        }
        [Breaking { from, to, below: Some(below), above: Some(above), looked }] => {
            let only = if from == to { "only " } else { "" };
            let stretch = stretch(&write, *from, *to, *looked);
            format!("{only}{stretch}; not at {} or {}", write(*below), write(*above))
        }
        several => {
            let mut stretches: Vec<String> = several
                .iter()
                .take(STRETCHES_SHOWN)
                .map(|one| match (one.below, one.above) {
                    (Some(_), None) => format!("from {} on{}", write(one.from), of(one.looked)),
                    (None, Some(_)) if one.from < one.to => format!("up to {}{}", write(one.to), of(one.looked)),
                    _ => stretch(&write, one.from, one.to, one.looked),
                })
                .collect();
            if several.len() > STRETCHES_SHOWN {
                stretches.push(format!("in {} stretches more", several.len() - STRETCHES_SHOWN));
            }
            format!("{}; not at what was looked at in between", super::listed(&stretches))
        }
    };
    if let Some(margin) = margin(turned, breaking) {
        told += &format!(" (it is {margin} from the edge)");
    }
    if turned.found.flickers {
        told += "; it changes too often to find every edge";
    }
    told
}

fn stretch(write: &impl Fn(i64) -> String, from: i64, to: i64, looked: usize) -> String {
    if from == to {
        format!("at {}", write(from))
    } else {
        format!("from {} to {}{}", write(from), write(to), of(looked))
    }
}

/// How many values of a stretch were looked at, behind it.
fn of(looked: usize) -> String {
    format!(" ({})", words::many(looked, "value", "values"))
}

/// That all values that were looked at came to the same.
fn at_all(looked: usize) -> String {
    match looked {
        1 => "at the one value that was looked at,".to_owned(),
        looked => format!("at all {looked} values that were looked at,"),
    }
}

/// How many values of a number were looked at.
pub(in crate::report) fn looked(turned: &Turned) -> usize {
    turned.found.stretches.iter().map(|stretch| stretch.looked).sum()
}

/// How far the planned value is from the nearest that comes to something else, for what is measured in time.
fn margin(turned: &Turned, breaking: &[Breaking]) -> Option<Span> {
    let value = turned.knob.value;
    if !matches!(turned.knob.unit, Unit::Span | Unit::Time) {
        return None;
    }
    let inside = breaking.iter().find(|one| (one.from..=one.to).contains(&value));
    let borders: Vec<i64> = match inside {
        Some(one) => one.below.into_iter().chain(one.above).collect(),
        None => breaking.iter().flat_map(|one| [one.from, one.to]).collect(),
    };
    borders.into_iter().map(|border| Span::nanos(value.saturating_sub(border).saturating_abs())).min()
}
