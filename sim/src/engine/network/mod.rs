//! How long messages take: a stream of its own for each direction of each link. What faults do to them is in `rules`.

mod rules;

use rules::Rule;
pub(crate) use rules::{Effect, Sending, Touch, Touched, Wanted};

use crate::id::{FaultId, NodeId};
use crate::seed::{Purpose, Seed, Stream, choices};
use crate::time::Span;
use crate::world::{Latency, NetworkSpec};

/// One direction of a link.
#[derive(Clone)]
struct Link {
    /// The shortest latency.
    least: Span,
    /// How many latencies there are from there on.
    choices: u64,
    stream: Stream,
}

/// The links between nodes. The latency of message *n* on a link depends on seed, link and *n*, and on nothing else.
pub(crate) struct Network {
    seed: Seed,
    spec: NetworkSpec,
    provider: NodeId,
    /// Whose name each node's draws go by.
    draws_as: Vec<NodeId>,
    /// By sender, then by receiver; made when first used.
    links: Vec<Vec<Option<Box<Link>>>>,
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
    #[inline]
    pub(crate) fn latency(&mut self, from: NodeId, to: NodeId) -> Span {
        let link = match self.links[from.index()].get_mut(to.index()) {
            Some(Some(link)) => link,
            _ => self.open(from, to),
        };
        link.least + Span::nanos(link.stream.below(link.choices) as i64)
    }

    /// What the latency of the next message from `from` to `to` will be drawn from.
    fn next_draw(&mut self, from: NodeId, to: NodeId) -> Stream {
        match self.links[from.index()].get(to.index()) {
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
        let links = &mut self.links[from.index()];
        if links.len() <= to.index() {
            links.resize(to.index() + 1, None);
        }
        links[to.index()].insert(Box::new(Link { least: min, choices: choices(min, max), stream }))
    }

    /// A number for the next message.
    #[inline]
    pub(crate) fn next_message(&mut self) -> u32 {
        self.messages += 1;
        self.messages - 1
    }
}
