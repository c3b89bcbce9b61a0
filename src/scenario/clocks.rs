//! `clock = { … }`: how wrong a node's clocks are, and what sets them right.

use std::collections::BTreeMap;

use holdover_sim::clock::Rate;
use holdover_sim::id::NodeId;
use holdover_sim::time::Span;
use holdover_sim::world::{ClockSpec, Discipline, TimeDaemon};
use toml::Spanned;

use super::error::{Mistake, Wrong};
use super::file::{ClockFile, ServiceFile, Table};
use super::lower::Lower;
use super::names::{did_you_mean, quoted};
use super::nodes::{NodeKind, Nodes};
use super::schema::service_names;
use super::value;
use super::write::{Keys, other_than};

/// The discipline of a clock that nothing sets.
pub(super) const NO_DISCIPLINE: &str = "none";

/// How far off a clock can be, either way.
const LARGEST_OFFSET: Span = Span::secs(30 * 86_400);

/// The clocks of the services that the file speaks of.
pub(super) fn of_services(
    lower: &mut Lower,
    services: &BTreeMap<Spanned<String>, Table<ServiceFile>>,
    nodes: &Nodes,
) -> BTreeMap<NodeId, ClockSpec> {
    let mut clocks = BTreeMap::new();
    for (name, Table(service)) in services {
        let clock = clock(lower, &service.clock.0);
        match nodes.find(name) {
            Ok(node) if nodes.kind(node) == Some(NodeKind::Service) => {
                clocks.insert(node, clock);
            }
            _ => {
                let help = did_you_mean(name.get_ref(), "services", nodes.services());
                let is_replica = service_names().contains(name.get_ref());
                let what = if is_replica { "this world has no" } else { "unknown service" };
                let wrong = Wrong::new(format!("{what} {}", quoted(name.get_ref()))).help(help);
                lower.mistakes.add(Mistake::at(name.span(), "no such service", wrong));
            }
        }
    }
    clocks
}

/// The clocks that `file` means.
pub(super) fn clock(lower: &mut Lower, file: &ClockFile) -> ClockSpec {
    ClockSpec {
        offset: lower.value(file.offset.as_ref(), Span::ZERO, offset),
        drift: file.drift_ppm.as_ref().map_or(Rate::EXACT, |ppm| lower.rate(ppm)),
        discipline: discipline(lower, file),
    }
}

fn discipline(lower: &mut Lower, file: &ClockFile) -> Option<Discipline> {
    let daemon = file.discipline.as_ref().and_then(|name| daemon(lower, name));
    let poll = lower.value(file.poll.as_ref(), None, |text| value::positive_duration(text).map(Some));
    if let Some(poll) = &file.poll
        && file.discipline.as_ref().is_none_or(|name| name.get_ref() == NO_DISCIPLINE)
    {
        let wrong = Wrong::new("nothing polls here")
            .help("`poll` is how often a `discipline` asks for the time, such as discipline = \"chrony\"");
        lower.mistakes.add(Mistake::at(poll.span(), "of no use here", wrong));
    }
    daemon.map(|daemon| Discipline { daemon, poll: poll.unwrap_or(daemon.default_poll()) })
}

fn daemon(lower: &mut Lower, name: &Spanned<String>) -> Option<TimeDaemon> {
    let known = TimeDaemon::ALL.into_iter().find(|daemon| daemon.name() == name.get_ref());
    if known.is_none() && name.get_ref() != NO_DISCIPLINE {
        let names = std::iter::once(NO_DISCIPLINE).chain(TimeDaemon::ALL.map(TimeDaemon::name));
        let help = did_you_mean(name.get_ref(), "disciplines", names);
        let wrong = Wrong::new(format!("unknown discipline {}", quoted(name.get_ref()))).help(help);
        lower.mistakes.add(Mistake::at(name.span(), "no such discipline", wrong));
    }
    known
}

fn offset(text: &str) -> Result<Span, Wrong> {
    let offset = value::signed_duration(text)?;
    if offset > LARGEST_OFFSET || offset < -LARGEST_OFFSET {
        return Err(Wrong::new(format!("{} is too much for a clock to be off", quoted(text)))
            .help("at most 30 days either way"));
    }
    Ok(offset)
}

/// The keys of `clock = { … }`.
pub(super) fn write(clock: &ClockSpec, keys: &mut Keys<'_>) {
    keys.duration("offset", other_than(Span::ZERO, clock.offset));
    keys.rate("drift_ppm", other_than(Rate::EXACT, clock.drift));
    if let Some(Discipline { daemon, poll }) = clock.discipline {
        keys.text("discipline", daemon.name());
        keys.duration("poll", other_than(daemon.default_poll(), poll));
    }
}
