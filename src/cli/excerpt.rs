//! Which part of a run is to be shown.

use super::args::{ReplayFormat, ShowArguments};
use super::exit::Failure;
use crate::replay::Replay;
use crate::report::Excerpt;
use crate::scenario::did_you_mean;
use crate::shown;
use crate::sim::id::NodeId;
use crate::sim::time::TrueTime;

/// The part of `replay` that the arguments ask for.
pub(super) fn of(arguments: &ShowArguments, replay: &Replay<'_>) -> Result<Excerpt, Failure> {
    let ShowArguments { from, to, lane, format, .. } = arguments;
    let asked = from.is_some() || to.is_some() || !lane.is_empty();
    if asked && matches!(format, ReplayFormat::Json | ReplayFormat::Jsonl | ReplayFormat::Perfetto) {
        return Err(Failure::Whole { format: format.name() });
    }
    let time = |option: &'static str, text: &Option<String>| -> Result<Option<TrueTime>, Failure> {
        let named = text.as_ref().map(|text| replay.premise.time(text)).transpose();
        named.map_err(|no_time| Failure::NoTime { option, no_time })
    };
    let (from, to) = (time("from", from)?, time("to", to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Failure::FromAfterTo);
    }
    let nodes = lane.iter().map(|name| node(name, replay)).collect::<Result<Vec<NodeId>, Failure>>()?;
    Ok(Excerpt { from, to, nodes })
}

/// The node of this name. A protocol may keep its lease on replicas where another one has a store in the place of the first.
fn node(name: &str, replay: &Replay<'_>) -> Result<NodeId, Failure> {
    let nodes = || replay.runs.iter().flat_map(|run| run.history.nodes.iter().enumerate());
    let found = nodes().find(|(_, node)| node.name == name);
    found.map(|(place, _)| NodeId(place as u16)).ok_or_else(|| {
        let mut names: Vec<&str> = Vec::new();
        for (_, node) in nodes().filter(|(_, node)| !node.name.is_empty()) {
            if !names.contains(&node.name.as_str()) {
                names.push(&node.name);
            }
        }
        Failure::UnknownLane { name: shown::name(name), help: did_you_mean(name, "the nodes are", names) }
    })
}
