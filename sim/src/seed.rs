//! One seed, many streams.
//!
//! Every purpose draws from a ChaCha stream of its own, keyed by (seed, purpose, entity). Taking one fault away leaves all
//! other draws as they were; counterfactuals depend on it. So does taking away the last node. A node that goes from the
//! middle gives its number to the next one, whose streams are others from then on, and operators and replicas are
//! numbered behind the workers. Ranges are drawn here and not with `rand`'s distributions, whose algorithms may change
//! between versions and would change what a seed does.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::id::NodeId;
use crate::time::Span;

/// What a whole run is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

/// What a stream is for. The numbers are part of what a seed means: changing one changes every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The latency of the n-th message on the link from one node to another.
    Latency(NodeId, NodeId),
    /// The amounts of the batch.
    Workload,
    /// The order in which a node's tasks go on after a pause.
    ResumeOrder(NodeId),
    /// What a lease store makes its lease IDs from.
    LeaseIds(NodeId),
    /// When a node's time daemon first polls, and how far off each of its samples is.
    TimeSamples(NodeId),
    /// What a fault does to the n-th message on the link from one node to another. The first number tells faults apart;
    /// it is made from what a fault is and not from its place in the plan, which changes when another is taken away.
    Fault(u128, NodeId, NodeId),
    /// What a drawn plan of faults is like as a whole. A run draws from none of these three, so what it draws doesn't
    /// depend on whether its plan was drawn too.
    Swarm,
    /// The n-th fault of a drawn plan.
    PlannedFault(u16),
    /// How wrong a node's clocks are in a drawn world.
    Clocks(NodeId),
    /// What becomes of the n-th payout.
    Payout(u32),
    /// What becomes of the m-th refund of the n-th payout.
    Refund(u32, u32),
}

impl Purpose {
    fn stream(self) -> u64 {
        let (kind, from, to) = match self {
            Purpose::Latency(from, to) => (1, from.0, to.0),
            Purpose::Workload => (2, 0, 0),
            Purpose::ResumeOrder(node) => (3, node.0, 0),
            Purpose::LeaseIds(node) => (4, node.0, 0),
            // 5 to 9 are left for the other parts of a run.
            Purpose::TimeSamples(node) => (10, node.0, 0),
            Purpose::Fault(_, from, to) => (5, from.0, to.0),
            Purpose::Swarm => (11, 0, 0),
            Purpose::PlannedFault(n) => (12, n, 0),
            Purpose::Clocks(node) => (13, node.0, 0),
            Purpose::Payout(_) => (14, 0, 0),
            Purpose::Refund(..) => (15, 0, 0),
        };
        (kind << 32) | (u64::from(from) << 16) | u64::from(to)
    }
}

/// A stream of draws for one purpose.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream that `seed` has for `purpose`, at its beginning.
    pub fn new(seed: Seed, purpose: Purpose) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.0.to_le_bytes());
        key[8..16].copy_from_slice(b"holdover");
        let which = match purpose {
            Purpose::Fault(fault, ..) => fault,
            Purpose::Payout(payout) => u128::from(payout),
            Purpose::Refund(payout, nth) => u128::from(payout) << 32 | u128::from(nth),
            Purpose::Latency(..)
            | Purpose::Workload
            | Purpose::ResumeOrder(_)
            | Purpose::LeaseIds(_)
            | Purpose::TimeSamples(_)
            | Purpose::Swarm
            | Purpose::PlannedFault(_)
            | Purpose::Clocks(_) => 0,
        };
        key[16..].copy_from_slice(&which.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(purpose.stream());
        Stream(rng)
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "a stream has no end, and nothing iterates over it")]
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, or 0 if `bound` is 0. One draw: the bias, below 2⁻³² for bounds below 2³², is the price of
    /// drawing the same count whatever comes out.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A span from `low` to `high`, both included. One draw. If `high` is below `low`, `low`.
    pub fn between(&mut self, low: Span, high: Span) -> Span {
        low + Span::nanos(self.below(choices(low, high)) as i64)
    }

    /// Puts `items` in a drawn order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// How many spans there are from `low` to `high`, both included; 1 if `high` is below `low`.
pub(crate) fn choices(low: Span, high: Span) -> u64 {
    let width = (high - low).as_nanos().max(0) as u64;
    width.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, purpose: Purpose) -> u64 {
        Stream::new(Seed(seed), purpose).next()
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_direction() {
        let there = Purpose::Latency(NodeId(1), NodeId(2));
        let back = Purpose::Latency(NodeId(2), NodeId(1));
        let draws = [
            first(7, there),
            first(7, back),
            first(8, there),
            first(7, Purpose::Workload),
            first(7, Purpose::ResumeOrder(NodeId(1))),
            first(7, Purpose::LeaseIds(NodeId(1))),
            first(7, Purpose::TimeSamples(NodeId(1))),
            first(7, Purpose::Fault(1, NodeId(1), NodeId(2))),
            first(7, Purpose::Fault(2, NodeId(1), NodeId(2))),
            first(7, Purpose::Fault(1, NodeId(2), NodeId(1))),
            first(7, Purpose::Swarm),
            first(7, Purpose::PlannedFault(0)),
            first(7, Purpose::PlannedFault(1)),
            first(7, Purpose::Clocks(NodeId(1))),
            first(7, Purpose::Payout(1)),
            first(7, Purpose::Payout(2)),
            first(7, Purpose::Refund(1, 0)),
            first(7, Purpose::Refund(1, 1)),
            first(7, Purpose::Refund(2, 0)),
        ];
        for (i, draw) in draws.iter().enumerate() {
            assert!(!draws[..i].contains(draw));
        }
        assert_eq!(first(7, there), first(7, there));
    }

    #[test]
    fn a_range_is_inclusive_and_never_left() {
        let mut stream = Stream::new(Seed(1), Purpose::Workload);
        let (low, high) = (Span::nanos(3), Span::nanos(5));
        let mut seen = [0; 6];
        for _ in 0..1_000 {
            seen[stream.between(low, high).as_nanos() as usize] += 1;
        }
        assert_eq!(seen[..3], [0, 0, 0]);
        assert!(seen[3..].iter().all(|&n| n > 250));
        assert_eq!(stream.between(high, low), high);
    }
}
