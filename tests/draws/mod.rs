//! What a run drew from its seed, as its history shows it.

use std::collections::BTreeMap;

use holdover::sim::history::{History, What};
use holdover::sim::id::NodeId;
use holdover::sim::lease::LeaseService;

/// What was drawn, by the stream that it comes from, in the order of drawing.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stream {
    /// The latencies of a link, in one direction.
    Latency(NodeId, NodeId),
    /// The amounts of the batch.
    Workload,
    /// The lease IDs.
    LeaseIds,
}

/// All that `history` shows of its draws.
pub(crate) fn draws(history: &History) -> BTreeMap<Stream, Vec<i128>> {
    let mut draws: BTreeMap<Stream, Vec<i128>> = BTreeMap::new();
    draws.insert(Stream::Workload, history.batch.iter().map(|amount| amount.0.into()).collect());
    for event in &history.events {
        let (stream, drawn) = match event.what {
            What::MessageSent { to, latency, .. } => (Stream::Latency(event.node, to), latency.as_nanos().into()),
            // Replicas draw none: a lease of theirs is called by its token.
            What::LeaseGranted { lease, .. } if history.lease_service == LeaseService::Table => {
                (Stream::LeaseIds, lease.0.into())
            }
            _ => continue,
        };
        draws.entry(stream).or_default().push(drawn);
    }
    draws
}

/// Checks that two runs of one seed drew the same from each stream, one draw after the other, as far as both drew; and
/// says how many draws that were.
#[track_caller]
pub(crate) fn agree(one: &History, other: &History) -> usize {
    let (one, other) = (draws(one), draws(other));
    let mut compared = 0;
    for (stream, drawn) in &one {
        let Some(others) = other.get(stream) else { continue };
        for (n, (one, other)) in drawn.iter().zip(others).enumerate() {
            assert_eq!(one, other, "draw {n} of {stream:?}");
            compared += 1;
        }
    }
    compared
}
