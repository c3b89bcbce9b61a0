//! Which part of a run is to be shown.

use super::args::{ReplayArguments, ReplayFormat};
use super::exit::Failure;
use crate::replay::Replay;
use crate::report::Excerpt;
use crate::scenario::did_you_mean;
use crate::shown;
use crate::sim::history::NodeRecord;
use crate::sim::id::NodeId;
use crate::sim::time::TrueTime;

/// The part of `replay` that the arguments ask for.
pub(super) fn of(arguments: &ReplayArguments, replay: &Replay<'_>) -> Result<Excerpt, Failure> {
    let ReplayArguments { from, to, lane, format, .. } = arguments;
    let asked = from.is_some() || to.is_some() || !lane.is_empty();
    if asked && matches!(format, ReplayFormat::Json | ReplayFormat::Jsonl | ReplayFormat::Perfetto) {
        return Err(Failure::Whole { format: format.name() });
    }
    let time = |option: &'static str, text: &Option<String>| -> Result<Option<TrueTime>, Failure> {
        let named = text.as_ref().map(|text| replay.scenario.time(text)).transpose();
        named.map_err(|no_time| Failure::NoTime { option, no_time })
    };
    let (from, to) = (time("from", from)?, time("to", to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Failure::FromAfterTo);
    }
    // The nodes are the same whatever the protocol.
    let nodes = replay.runs.first().map_or(&[][..], |run| &run.history.nodes);
    let nodes = lane.iter().map(|name| node(name, nodes)).collect::<Result<Vec<NodeId>, Failure>>()?;
    Ok(Excerpt { from, to, nodes })
}

fn node(name: &str, nodes: &[NodeRecord]) -> Result<NodeId, Failure> {
    let place = nodes.iter().position(|node| node.name == name);
    place.map(|place| NodeId(place as u16)).ok_or_else(|| Failure::UnknownLane {
        name: shown::name(name),
        help: did_you_mean(name, "the nodes are", nodes.iter().map(|node| node.name.as_str())),
    })
}
