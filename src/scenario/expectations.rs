//! Which protocols are run, and what is expected of each.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover_sim::protocol::{self, AnyProtocol};
use holdover_sim::world::{LeaseSpec, WorldSpec};
use toml::Spanned;

use super::error::{Mistake, Mistakes, Wrong};
use super::file::ExpectFile;
use super::names::{VERDICTS, closest, did_you_mean, known_checkers, known_sightings, listed, quoted};
use super::write::{Keys, Page, Setting, key};
use super::{Expectation, Expected, Scenario};
use crate::suite::Suite;

/// The protocols in the order of reports, and the expectations by protocol.
pub(super) fn lower(
    mistakes: &mut Mistakes,
    protocols: Option<&Spanned<Vec<Spanned<String>>>>,
    expect: BTreeMap<Spanned<String>, ExpectFile>,
    world: &WorldSpec,
    suite: &Suite,
) -> (Vec<String>, BTreeMap<String, Expectation>) {
    let known = names_of(suite);
    let expected: BTreeMap<String, Range<usize>> =
        expect.keys().map(|name| (name.get_ref().clone(), name.span())).collect();
    let chosen = match protocols {
        Some(protocols) => chosen(mistakes, protocols, &expected, &known),
        None => unlisted(&expected, &world.lease, suite),
    };
    for name in protocols.map_or(&[][..], |protocols| protocols.get_ref()) {
        check_can_run(mistakes, name, world, suite);
    }
    // Those that a list names are wrong there.
    for name in expect.keys().filter(|_| protocols.is_none()) {
        check_can_run(mistakes, name, world, suite);
    }
    let mut expectations = BTreeMap::new();
    for (protocol, file) in expect {
        check_known(mistakes, &protocol, "protocol", &known);
        expectations.insert(protocol.into_inner(), expectation(mistakes, file));
    }
    (chosen, expectations)
}

/// Refuses a protocol that brings replicas along where an operator is to repair.
fn check_can_run(mistakes: &mut Mistakes, name: &Spanned<String>, world: &WorldSpec, suite: &Suite) {
    let found = suite.find(name.get_ref()).filter(|_| world.lease.service.is_none());
    if found.is_some_and(|protocol| !protocol::can_run(protocol, world)) {
        let wrong = Wrong::new(format!("{} keeps the lease on replicas", quoted(name.get_ref())))
            .help("operators can only repair what a lease in a table led to: take the protocol away, or the [[operator]]");
        mistakes.add(Mistake::at(name.span(), "can't be run here", wrong));
    }
}

/// The protocols that are run if no list names any. An expectation of a protocol chooses it; without one all are of
/// interest that are no traps and don't bring a lease service along which the scenario doesn't speak of.
fn unlisted<T>(expected: &BTreeMap<String, T>, lease: &LeaseSpec, suite: &Suite) -> Vec<String> {
    let names: Vec<&str> = match expected.is_empty() {
        true => suite.of_interest(lease).map(AnyProtocol::name).collect(),
        false => names_of(suite).into_iter().filter(|name| expected.contains_key(*name)).collect(),
    };
    names.into_iter().map(str::to_owned).collect()
}

/// The protocols that a scenario can be run under, in the order of reports; traps come last.
fn names_of(suite: &Suite) -> Vec<&'static str> {
    suite.named().map(AnyProtocol::name).collect()
}

fn chosen(
    mistakes: &mut Mistakes,
    protocols: &Spanned<Vec<Spanned<String>>>,
    expected: &BTreeMap<String, Range<usize>>,
    known: &[&str],
) -> Vec<String> {
    let names = protocols.get_ref();
    if names.is_empty() {
        let wrong = Wrong::new("the list of protocols is empty")
            .help(format!("name some of {}, or leave the list out", listed(known)));
        mistakes.add(Mistake::here(protocols.span(), wrong));
    }
    for name in names {
        check_known(mistakes, name, "protocol", known);
    }
    check_no_repeats(mistakes, names);
    for (protocol, place) in expected {
        let is_run = names.iter().any(|name| name.get_ref() == protocol);
        if !is_run && known.contains(&protocol.as_str()) {
            let wrong = Wrong::new(format!("`{protocol}` is not run, so nothing can be expected of it"))
                .help("add it to `protocols`, or take the expectation away");
            let mistake = Mistake::at(place.clone(), "expected here", wrong);
            mistakes.add(mistake.and(protocols.span(), "these are run"));
        }
    }
    names.iter().map(|name| name.get_ref().clone()).collect()
}

fn expectation(mistakes: &mut Mistakes, file: ExpectFile) -> Expectation {
    let mut verdicts = BTreeMap::new();
    for (checker, verdict) in file.verdicts {
        if !check_checker(mistakes, &checker) {
            continue;
        }
        let name = verdict.get_ref().0.as_str();
        match Expected::ALL.into_iter().find(|expected| expected.name() == name) {
            Some(expected) => {
                verdicts.insert(checker.into_inner(), expected);
            }
            None => {
                let help = did_you_mean(name, "verdicts", VERDICTS.iter().copied());
                let wrong = Wrong::new(format!("unknown verdict {}", quoted(name))).help(help);
                mistakes.add(Mistake::at(verdict.span(), "no such verdict", wrong));
            }
        }
    }
    for name in &file.seen {
        check_known(mistakes, name, "sighting", &known_sightings());
    }
    check_no_repeats(mistakes, &file.seen);
    Expectation { verdicts, seen: file.seen.into_iter().map(Spanned::into_inner).collect() }
}

/// Refuses a key that is no checker's name. It may also be a slip in the one other key that the table has.
fn check_checker(mistakes: &mut Mistakes, name: &Spanned<String>) -> bool {
    let known = known_checkers();
    if closest(name.get_ref(), &["seen"]).is_some() && closest(name.get_ref(), &known).is_none() {
        let wrong = Wrong::new(format!("unknown key {}", quoted(name.get_ref())));
        mistakes.add(Mistake::at(name.span(), "unknown key", wrong.help("did you mean `seen`?")));
        return false;
    }
    check_known(mistakes, name, "checker", &known)
}

/// Refuses a name that isn't known; says whether it is.
fn check_known(mistakes: &mut Mistakes, name: &Spanned<String>, what: &str, known: &[&str]) -> bool {
    let is_known = known.contains(&name.get_ref().as_str());
    if !is_known {
        let help = did_you_mean(name.get_ref(), &format!("{what}s"), known.iter().copied());
        let wrong = Wrong::new(format!("unknown {what} {}", quoted(name.get_ref()))).help(help);
        mistakes.add(Mistake::at(name.span(), format!("no such {what}"), wrong));
    }
    is_known
}

fn check_no_repeats(mistakes: &mut Mistakes, names: &[Spanned<String>]) {
    let mut places: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for name in names {
        match places.get(name.get_ref().as_str()) {
            None => {
                places.insert(name.get_ref(), name.span());
            }
            Some(first) => {
                let wrong = Wrong::new(format!("{} is named twice", quoted(name.get_ref())));
                let mistake = Mistake::at(name.span(), "the second time", wrong.help("once is enough"));
                mistakes.add(mistake.and(first.clone(), "the first time"));
            }
        }
    }
}

/// The protocols that the file has to list.
pub(super) fn listed_protocols(scenario: &Scenario) -> Option<&[String]> {
    (unlisted(&scenario.expect, &scenario.world.lease, &scenario.suite) != scenario.protocols)
        .then_some(scenario.protocols.as_slice())
}

/// The `[expect.NAME]` tables, in the order in which the protocols are run.
pub(super) fn write(scenario: &Scenario, setting: &Setting<'_>, page: &mut Page) {
    let place = |name: &String| scenario.protocols.iter().position(|protocol| protocol == name);
    let mut expect: Vec<_> = scenario.expect.iter().collect();
    expect.sort_by_key(|(protocol, _)| place(protocol).unwrap_or(usize::MAX));
    for (protocol, expectation) in expect {
        let header = format!("[expect.{}]", key(protocol));
        page.table(&header, &header, keys_of(expectation, setting));
    }
}

/// The verdicts in the order of reports, then what must have been seen.
fn keys_of<'s>(expectation: &Expectation, setting: &'s Setting<'_>) -> Keys<'s> {
    let place = |name: &String| known_checkers().iter().position(|checker| checker == name);
    let mut verdicts: Vec<_> = expectation.verdicts.iter().collect();
    verdicts.sort_by_key(|(checker, _)| place(checker).unwrap_or(usize::MAX));
    let mut keys = Keys::new(setting);
    for (checker, verdict) in verdicts {
        keys.text(checker, verdict.name());
    }
    keys.texts("seen", (!expectation.seen.is_empty()).then_some(expectation.seen.as_slice()));
    keys
}
