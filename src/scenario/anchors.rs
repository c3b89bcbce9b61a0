//! When faults strike: `when = { … }`, and the names by which faults wait for each other.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover_sim::fault::Anchor;
use holdover_sim::history::EVENTS;
use holdover_sim::id::NodeId;
use holdover_sim::point::POINTS;
use holdover_sim::time::{Span, TrueTime};
use toml::Spanned;

use super::error::{Mistake, Wrong};
use super::file::{FaultFile, Table, WhenFile};
use super::inject::NO_NODE;
use super::lower::{LONGEST_NAME, Lower, Nodes, is_plain_name};
use super::names::{closest, did_you_mean, listed, quoted};
use super::value;
use super::write::{Keys, other_than};

/// The names of the faults that have one, with their places.
pub(super) type Names<'a> = BTreeMap<&'a str, Range<usize>>;

/// What a fault waits for: the key, what it is to people, and the other keys that go with it.
pub(super) const HEADS: [(&str, &str, &[&str]); 4] = [
    ("at", "the time", &[]),
    ("point", "the point", &["node", "after", "nth", "delay"]),
    ("event", "the event", &["node", "after", "nth", "delay"]),
    ("fault", "the other fault", &["end", "delay"]),
];

/// The names of faults. Two faults can't have the same.
pub(super) fn names<'a>(lower: &mut Lower, faults: &'a [Table<FaultFile>]) -> Names<'a> {
    let mut names = Names::new();
    for name in faults.iter().filter_map(|Table(fault)| fault.name.as_ref()) {
        if !is_plain_name(name.get_ref()) {
            lower.mistake(name, Wrong::new(format!("{} can't be a fault's name", quoted(name.get_ref()))).help(format!(
                "a name has lower-case letters, digits and dashes, a letter first, at most {LONGEST_NAME} characters; \
                 for all else there is `note`"
            )));
        }
        match names.get(name.get_ref().as_str()) {
            Some(first) => {
                let wrong = Wrong::new(format!("two faults are called {}", quoted(name.get_ref())))
                    .help("give each its own name");
                let mistake = Mistake::at(name.span(), "the second one", wrong);
                lower.mistakes.add(mistake.and(first.clone(), "the first one"));
            }
            None => {
                names.insert(name.get_ref(), name.span());
            }
        }
    }
    names
}

/// When a fault strikes.
pub(super) fn lower(
    lower: &mut Lower,
    when: &Spanned<Table<WhenFile>>,
    nodes: &Nodes,
    names: &Names<'_>,
) -> Anchor {
    let file = &when.get_ref().0;
    let heads = [
        file.at.as_ref().map(|at| ("at", at.span())),
        file.point.as_ref().map(|point| ("point", point.span())),
        file.event.as_ref().map(|event| ("event", event.span())),
        file.fault.as_ref().map(|fault| ("fault", fault.span())),
    ];
    let mut heads = heads.into_iter().flatten();
    let Some((head, place)) = heads.next() else {
        let wrong = Wrong::new("the fault doesn't say when it strikes").help(
            "write when = { at = \"+58s\" }, { point = \"write.checked\" }, { event = \"lease-granted\" } or \
             { fault = \"NAME\" } for another fault's name",
        );
        lower.mistake(when, wrong);
        return Anchor::At(TrueTime::START);
    };
    if let Some((other, second)) = heads.next() {
        let help = match (head, other) {
            ("at", "point" | "event") => {
                format!("take one away; for {} from a time on write `after` in place of `at`", one(other))
            }
            _ => "take one away".to_owned(),
        };
        let wrong = Wrong::new(format!("a fault strikes at {} or at {}, not both", one(head), one(other)));
        let mistake = Mistake::at(second, said(other), wrong.help(help));
        lower.mistakes.add(mistake.and(place, said(head)));
    } else {
        refuse_useless(lower, file, head, place);
    }
    let delay = lower.value(file.delay.as_ref(), Span::ZERO, value::duration);
    match (&file.at, &file.point, &file.event, &file.fault) {
        (Some(at), ..) => Anchor::At(lower.time(Some(at))),
        (_, Some(point), ..) => {
            check_known(lower, point, "point", POINTS.iter().map(|(known, _)| known.0));
            let node = passer(lower, file, nodes);
            let after = lower.time(file.after.as_ref());
            let nth = lower.nth(file.nth.as_ref(), "passing");
            Anchor::Point { point: point.get_ref().clone(), node, after, nth, delay }
        }
        (_, _, Some(event), _) => {
            check_known(lower, event, "event", EVENTS.iter().map(|(known, _)| *known));
            let node = file.node.as_ref().map(|name| lower.mistakes.value_or(nodes.find(name), NO_NODE));
            let after = lower.time(file.after.as_ref());
            let nth = lower.nth(file.nth.as_ref(), "event");
            Anchor::Event { event: event.get_ref().clone(), node, after, nth, delay }
        }
        (_, _, _, Some(fault)) => {
            check_fault(lower, fault, names);
            let end = file.end.as_ref().is_some_and(|end| *end.get_ref());
            Anchor::Fault { name: fault.get_ref().clone(), end, delay }
        }
        _ => unreachable!("one of them is there"),
    }
}

/// The keys of `when = { … }`.
pub(super) fn write(when: &Anchor, keys: &mut Keys<'_>) {
    match when {
        Anchor::At(at) => keys.time("at", *at),
        Anchor::Point { point: name, node, after, nth, .. }
        | Anchor::Event { event: name, node, after, nth, .. } => {
            let head = if matches!(when, Anchor::Point { .. }) { "point" } else { "event" };
            keys.text(head, name.as_str());
            keys.node("node", *node);
            keys.time("after", other_than(TrueTime::START, *after));
            keys.number("nth", other_than(1, u64::from(*nth)));
        }
        Anchor::Fault { name, end, .. } => {
            keys.text("fault", name.as_str());
            keys.flag("end", *end);
        }
    }
    keys.duration("delay", other_than(Span::ZERO, when.delay()));
}

/// What a head is in the middle of a sentence.
fn one(head: &str) -> &'static str {
    match head {
        "at" => "a time",
        "point" => "a point",
        "event" => "an event",
        _ => "another fault",
    }
}

fn said(head: &str) -> &'static str {
    HEADS.iter().find(|(key, ..)| *key == head).map_or("", |(_, said, _)| said)
}

/// Refuses keys that don't go with `head`, which is at `place`.
fn refuse_useless(lower: &mut Lower, file: &WhenFile, head: &str, place: Range<usize>) {
    let rest = [
        file.node.as_ref().map(|node| ("node", node.span())),
        file.after.as_ref().map(|after| ("after", after.span())),
        file.nth.as_ref().map(|nth| ("nth", nth.span())),
        file.end.as_ref().map(|end| ("end", end.span())),
        file.delay.as_ref().map(|delay| ("delay", delay.span())),
    ];
    let fitting = HEADS.iter().find(|(key, ..)| *key == head).map_or(&[][..], |(_, _, fitting)| fitting);
    for (key, useless) in rest.into_iter().flatten().filter(|(key, _)| !fitting.contains(key)) {
        let help = match (head, key) {
            ("at", "delay") => "write the later time".to_owned(),
            ("at", "end") => "it goes with `fault`; a fault at a time needs only the time".to_owned(),
            ("at", _) => {
                "it narrows down a `point` or an `event`; a fault at a time needs only the time".to_owned()
            }
            (_, "end") => "it goes with `fault`: whether its end is meant".to_owned(),
            _ => "every fault begins and ends once; only `end` and `delay` go with it".to_owned(),
        };
        let wrong = Wrong::new(format!("`{key}` doesn't go with `{head}`")).help(help);
        lower.mistakes.add(Mistake::at(useless, "of no use here", wrong).and(place.clone(), said(head)));
    }
}

/// Refuses a name that isn't among those that are `known`.
fn check_known(lower: &mut Lower, name: &Spanned<String>, what: &str, known: impl Iterator<Item = &'static str>) {
    let known: Vec<&str> = known.collect();
    if !known.contains(&name.get_ref().as_str()) {
        let help = match closest(name.get_ref(), &known) {
            None if what == "event" => "`holdover list events` has them all".to_owned(),
            _ => did_you_mean(name.get_ref(), &format!("{what}s"), known),
        };
        let wrong = Wrong::new(format!("unknown {what} {}", quoted(name.get_ref())));
        lower.mistakes.add(Mistake::at(name.span(), format!("no such {what}"), wrong.help(help)));
    }
}

/// The worker whose passing of a point counts.
fn passer(lower: &mut Lower, file: &WhenFile, nodes: &Nodes) -> Option<NodeId> {
    let name = file.node.as_ref()?;
    let node = lower.mistakes.value_or(nodes.find(name), NO_NODE);
    if nodes.is_service(node) {
        let wrong = Wrong::new(format!("the service {} passes no points", quoted(name.get_ref())))
            .help(format!("only workers do: {}", listed(&nodes.workers())));
        lower.mistakes.add(Mistake::at(name.span(), "a service", wrong));
    }
    Some(node)
}

fn check_fault(lower: &mut Lower, fault: &Spanned<String>, names: &Names<'_>) {
    if names.contains_key(fault.get_ref().as_str()) {
        return;
    }
    let help = if names.is_empty() {
        "no fault has a name; give that one a `name` beside its `when` and `inject`".to_owned()
    } else {
        did_you_mean(fault.get_ref(), "faults with a name", names.keys().copied())
    };
    let wrong = Wrong::new(format!("unknown fault {}", quoted(fault.get_ref())));
    lower.mistakes.add(Mistake::at(fault.span(), "no fault has this name", wrong.help(help)));
}

/// Refuses faults that wait for each other, or for themselves: none of them would ever strike. Each circle is told once.
pub(super) fn find_circles(lower: &mut Lower, faults: &[Table<FaultFile>]) {
    let waits_for = |index: usize| faults[index].0.when.get_ref().0.fault.as_ref();
    let mut index_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, Table(fault)) in faults.iter().enumerate() {
        if let Some(name) = &fault.name {
            index_of.entry(name.get_ref()).or_insert(index);
        }
    }
    let leader = |index: usize| waits_for(index).and_then(|name| index_of.get(name.get_ref().as_str()).copied());
    // Where the way of each fault was last walked from; a way that comes back to its own steps is a circle.
    let mut walked = vec![None; faults.len()];
    for start in 0..faults.len() {
        let mut at = Some(start);
        while let Some(index) = at.filter(|index| walked[*index].is_none()) {
            walked[index] = Some(start);
            at = leader(index);
        }
        let Some(circle) = at.filter(|index| walked[*index] == Some(start)) else { continue };
        let Some(name) = waits_for(circle) else { continue };
        let (message, label) = match leader(circle) {
            Some(same) if same == circle => ("the fault waits for itself", "this is its own name"),
            _ => ("faults wait for each other in a circle", "and in the end that one waits for this one"),
        };
        let wrong =
            Wrong::new(message).help("none of them would ever strike; anchor one to a time, a point or an event");
        lower.mistakes.add(Mistake::at(name.span(), label, wrong));
    }
}
