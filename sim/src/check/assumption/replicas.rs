//! What protocols rely on of a lease service that is several. A table keeps all of it.

use super::Assumption;
use crate::clock::{Clock, ClockLine};
use crate::history::{Event, History, Role, What};
use crate::lease::LeaseService;
use crate::time::{Span, TrueTime};

/// How far a wall clock may be off that leases end by.
const WALL_ERROR: Span = Span::millis(100);
/// How far a clock's rate may be off, in parts per billion.
const RATE_ERROR_PPB: u32 = 500_000;

/// See its sentence.
pub const REPLICAS_AGREE: Assumption = Assumption {
    name: "replicas-agree",
    sentence: "the lease service's replicas agree before they answer, and whoever leads makes sure that it still does",
    is_kept: |history| match history.lease_service {
        LeaseService::Table => true,
        LeaseService::AsyncReplica(_) => false,
        LeaseService::Consensus(spec) => spec.confirms_renewals && spec.confirms_revocations,
    },
};

/// See its sentence.
pub const REPLICAS_KEEP_THEIR_DISKS: Assumption = Assumption {
    name: "replicas-keep-their-disks",
    sentence: "no replica of the lease service comes back without what it had written to disk",
    is_kept: |history| {
        let lost = |event: &Event| {
            matches!(event.what, What::WritesLost { .. }) && history.is(event.node, Role::LeaseStore)
        };
        history.lease_service == LeaseService::Table || !history.events.iter().any(lost)
    },
};

/// See its sentence.
pub const REPLICAS_CLOCKS_KEEP_TIME: Assumption = Assumption {
    name: "replicas-clocks-keep-time",
    sentence: "the clock that a replica judges leases by is at most 500 ppm too fast or too slow while its machine runs, and if \
               it is a wall clock it is within 100 ms of true time",
    is_kept: |history| {
        let Some(clock) = history.lease_service.clock() else { return true };
        history.nodes_with(Role::LeaseStore).all(|node| {
            let clocks = &history.node(node).clocks;
            let rate = |ppb: i32| ppb.unsigned_abs() <= RATE_ERROR_PPB;
            let runs =
                clocks.segments().iter().all(|segment| rate(segment.drift.as_ppb() + segment.slew.as_ppb()));
            runs && (clock != Clock::Wall || is_right(history, clocks))
        })
    },
};

/// Whether a wall clock was right all the time.
fn is_right(history: &History, clocks: &ClockLine) -> bool {
    clocks.wall_error_within(history.start, TrueTime::START, history.ended_at) <= WALL_ERROR
}
