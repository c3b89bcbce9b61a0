//! How long messages take: a stream of its own for each direction of each link. What faults do to them is in `rules`.

mod rules;

use rules::Rule;
pub(crate) use rules::{Effect, Sending, Touch, Touched, Wanted};

use crate::id::{FaultId, NodeId};
use crate::seed::{Purpose, Seed, Stream, choices};
use crate::time::Span;
use crate::world::{Latency, NetworkSpec, SERVICE_NAMES};

/// One direction of a link.
#[derive(Clone)]
struct Link {
    /// The shortest latency.
    least: Span,
    /// How many latencies there are from there on.
    choices: u64,
    stream: Stream,
}

/// How many directions of links there are between a worker and the services.
const OF_A_WORKER: usize = 2 * SERVICE_NAMES.len();

/// Where a direction of a link is kept: in which row, and where in it. Services have the smallest numbers, and most links
/// are with one of them, so rows are short.
#[inline(always)]
fn place(from: NodeId, to: NodeId) -> (usize, usize) {
    let (from, to) = (from.index(), to.index());
    if from > to { (from, 2 * to) } else { (to, 2 * from + 1) }
}

/// The links between nodes. The latency of message *n* on a link depends on seed, link and *n*, and on nothing else.
pub(crate) struct Network {
    seed: Seed,
    spec: NetworkSpec,
    provider: NodeId,
    /// Whose name each node's draws go by.
    draws_as: Vec<NodeId>,
    /// By the one of its nodes that has the greater number, then as [`place`] says; made when first used.
    links: Vec<Vec<Option<Link>>>,
    messages: u32,
    /// Of the faults that are on it, in the order in which they began.
    rules: Vec<(FaultId, Rule)>,
}

impl Network {
    pub(crate) fn new(seed: Seed, spec: NetworkSpec, provider: NodeId, draws_as: Vec<NodeId>) -> Network {
        let links = vec![Vec::new(); draws_as.len()];
        Network { seed, spec, provider, draws_as, links, messages: 0, rules: Vec::new() }
    }

    /// Draws the latency of the next message from `from` to `to`.
    #[inline(always)]
    pub(crate) fn latency(&mut self, from: NodeId, to: NodeId) -> Span {
        let (row, place) = place(from, to);
        let link = match self.links[row].get_mut(place) {
            Some(Some(link)) => link,
            _ => self.open(from, to),
        };
        link.least + Span::nanos(link.stream.below(link.choices) as i64)
    }

    /// What the latency of the next message from `from` to `to` will be drawn from.
    fn next_draw(&mut self, from: NodeId, to: NodeId) -> Stream {
        let (row, place) = place(from, to);
        match self.links[row].get(place) {
            Some(Some(link)) => link.stream.clone(),
            _ => self.open(from, to).stream.clone(),
        }
    }

    #[cold]
    fn open(&mut self, from: NodeId, to: NodeId) -> &mut Link {
        let abroad = from == self.provider || to == self.provider;
        let Latency { min, max } = if abroad { self.spec.provider } else { self.spec.internal };
        let purpose = Purpose::Latency(self.draws_as[from.index()], self.draws_as[to.index()]);
        let stream = Stream::new(self.seed, purpose);
        let (row, place) = place(from, to);
        let links = &mut self.links[row];
        if links.len() <= place {
            links.resize_with((place + 1).max(OF_A_WORKER), || None);
        }
        links[place].insert(Link { least: min, choices: choices(min, max), stream })
    }

    /// A number for the next message.
    #[inline]
    pub(crate) fn next_message(&mut self) -> u32 {
        self.messages += 1;
        self.messages - 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_direction_of_a_link_has_a_place_of_its_own() {
        let nodes = || (0..9).map(NodeId);
        let directions =
            || nodes().flat_map(|from| nodes().map(move |to| (from, to))).filter(|(from, to)| from != to);
        let places: BTreeSet<_> = directions().map(|(from, to)| place(from, to)).collect();
        assert_eq!(places.len(), directions().count());
        // A worker is the fourth node, and its row has no more than it needs.
        let of_a_worker = places.iter().filter(|(row, _)| *row == 3).map(|(_, place)| *place);
        assert!(of_a_worker.eq(0..OF_A_WORKER));
    }
}
