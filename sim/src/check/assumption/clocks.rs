//! What protocols rely on of clocks.

use super::Assumption;
use crate::clock::{ClockLine, Motion, Segment};
use crate::history::{Event, History, NodeRecord, Role, What};
use crate::id::NodeId;
use crate::point::Point;
use crate::time::{Span, TrueTime};

/// How far a wall clock may be off.
const WALL_ERROR: Span = Span::millis(100);
/// How late a wall clock may be by which a job is due, or a lease ends.
const LATE: Span = Span::secs(1);
/// How far a clock's rate may be off, in parts per billion: 500 ppm, as NTP bends clocks at the most.
const RATE_ERROR_PPB: i32 = 500_000;

/// See its sentence.
pub const CLOCKS_AGREE: Assumption = Assumption {
    name: "clocks-agree",
    sentence: "the workers' wall clocks are within 100 ms of true time",
    is_kept: |history| {
        history.nodes_with(Role::Worker).all(|node| {
            let Some(since) = lives_since(history, node) else { return true };
            let clocks = &history.node(node).clocks;
            clocks.wall_error_within(history.start, since, history.ended_at) <= WALL_ERROR
        })
    },
};

/// See its sentence.
pub const NO_LATE_WALL_CLOCK: Assumption = Assumption {
    name: "no-late-wall-clock",
    sentence: "no worker that has the lease waits for the job because its wall clock is a second late",
    is_kept: |history| {
        // Since when a worker has the lease and hasn't begun.
        let mut waits: Vec<Option<TrueTime>> = vec![None; history.nodes.len()];
        let in_time = |(node, since): (usize, Option<TrueTime>), until| {
            since.is_none_or(|since| waits_in_time(history, &history.nodes[node].clocks, since, until))
        };
        let kept = history.events.iter().all(|event| {
            let node = event.node.index();
            match event.what {
                // Whoever goes on from a snapshot may have waited then.
                What::LeaseHeld { .. } | What::WorkerRestored { .. } => {
                    waits[node].get_or_insert(event.at);
                    true
                }
                What::PointPassed(Point::TAKEOVER_BEGUN)
                | What::LeaseDropped { .. }
                | What::WorkerFinished
                | What::WorkerDied => in_time((node, waits[node].take()), event.at),
                _ => true,
            }
        });
        kept && waits.iter().copied().enumerate().all(|waits| in_time(waits, history.ended_at))
    },
};

/// Whether whoever waits for the job from `since` until then waits for no clock that is late. Such a clock is furthest behind
/// when the job is due, or when it is changed later.
fn waits_in_time(history: &History, clocks: &ClockLine, since: TrueTime, until: TrueTime) -> bool {
    let from = since.max(history.due);
    let changes = clocks.segments().iter().map(|segment| segment.from).filter(|at| (from..until).contains(at));
    let is_in_time = |at| clocks.wall(at) + LATE >= history.utc(history.due);
    from > until || std::iter::once(from).chain(changes).all(is_in_time)
}

/// See its sentence.
pub const NO_LATE_EXPIRY: Assumption = Assumption {
    name: "no-late-expiry",
    sentence: "no lease lasts a second longer for the wall clock that set its end, or that another worker goes by",
    is_kept: |history| {
        history.numbered().all(|(id, event)| match event.what {
            What::LeaseGranted { until, .. } | What::LeaseRenewed { until, .. } => {
                until <= history.utc(event.at) + history.ttl + LATE
            }
            What::LeaseRefused { worker, .. } if history.store_clock.is_none() => {
                history.wall(id, worker) + LATE >= history.utc(event.at)
            }
            _ => true,
        })
    },
};

/// See its sentence.
pub const CLOCK_RATE: Assumption = Assumption {
    name: "clock-rate",
    sentence: "clocks that aren't stopped run at most 500 ppm too fast or too slow",
    is_kept: |history| {
        no_segment(history, |segment| {
            (segment.drift.as_ppb() + segment.slew.as_ppb()).unsigned_abs() > RATE_ERROR_PPB.unsigned_abs()
        })
    },
};

/// See its sentence.
pub const FROZEN_CLOCKS_NEVER: Assumption = Assumption {
    name: "frozen-clocks-never",
    sentence: "no machine stands still together with all its clocks",
    is_kept: |history| no_segment(history, |segment| segment.motion == Motion::Frozen),
};

/// See its sentence.
pub const NO_SUSPEND: Assumption = Assumption {
    name: "no-suspend",
    sentence: "no machine is suspended, with its monotonic clock standing still",
    is_kept: |history| no_segment(history, |segment| segment.motion == Motion::Suspended),
};

fn no_segment(history: &History, is_bad: impl Fn(&Segment) -> bool) -> bool {
    let is_good = |(node, record): (NodeId, &NodeRecord)| {
        let Some(since) = lives_since(history, node) else { return true };
        let newest = record.clocks.at(since).from;
        !record.clocks.segments().iter().filter(|segment| segment.from >= newest).any(&is_bad)
    };
    history.nodes.iter().zip(0..).map(|(record, index)| (NodeId(index), record)).all(is_good)
}

/// From when on the clocks of `node` matter: a copy of a worker has none before it goes on. `None` if they never do.
fn lives_since(history: &History, node: NodeId) -> Option<TrueTime> {
    if !history.is(node, Role::Worker) {
        return Some(TrueTime::START);
    }
    let begins = |event: &&Event| {
        event.node == node && matches!(event.what, What::WorkerStarted | What::WorkerRestored { .. })
    };
    let first = history.events.iter().find(begins)?;
    match first.what {
        What::WorkerRestored { of, .. } if of != node => Some(first.at),
        _ => Some(TrueTime::START),
    }
}
