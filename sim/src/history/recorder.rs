//! Writes the history of one run, and what of it goes to a log.

use std::cell::Cell;

use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::{Event, Row, What};
use crate::id::{EventId, NodeId};
use crate::time::{TimeOfDay, TrueTime, WallTime};

/// The most events that room is made for before anything has happened.
const MOST_ROOM: usize = 4_096;

thread_local! {
    /// For how many events the next run on this thread makes room: a few more than the last one had. It only saves
    /// moving them as their list grows; no history depends on it.
    static ROOM: Cell<usize> = const { Cell::new(0) };
}

/// The growing history of one run.
#[derive(Debug)]
pub(crate) struct Recorder {
    events: Vec<Event>,
    pub(crate) exports: Vec<Vec<Row>>,
}

impl Recorder {
    pub(crate) fn new() -> Recorder {
        Recorder { events: Vec::with_capacity(ROOM.get()), exports: Vec::new() }
    }

    // Inlined so that an event is written where it stays, field by field: events are most of what a run writes.
    #[inline(always)]
    pub(crate) fn record(&mut self, at: TrueTime, node: NodeId, cause: Option<EventId>, what: What) -> EventId {
        let id = EventId(self.events.len() as u32);
        self.events.push(Event { at, node, cause, what });
        id
    }

    /// The event `id`, which was recorded.
    pub(crate) fn event(&self, id: EventId) -> Event {
        self.events[id.index()]
    }

    /// The event that was recorded last.
    pub(crate) fn newest(&self) -> Option<&Event> {
        self.events.last()
    }

    /// The first event that reads clocks which are changed now: the next one, or the fault's beginning or end that was just
    /// recorded, and changes them.
    pub(crate) fn next_reading(&self) -> EventId {
        let tells = self.newest().is_some_and(|newest| newest.what.changes_clocks());
        EventId((self.events.len() - usize::from(tells)) as u32)
    }

    /// Takes out all that was recorded.
    pub(crate) fn take(&mut self) -> (Vec<Event>, Vec<Vec<Row>>) {
        let count = self.events.len();
        ROOM.set((count + count / 16).min(MOST_ROOM));
        (std::mem::take(&mut self.events), std::mem::take(&mut self.exports))
    }
}

/// The `tracing` target of events.
pub const LOG_TARGET: &str = "holdover";

/// Whether a log may want events. Costs next to nothing; [`log`] looks closer.
pub(crate) fn may_log() -> bool {
    LevelFilter::current() >= Level::DEBUG
}

/// Logs an event: milestones at *debug*, messages and points at *trace*. Nothing is formatted unless a subscriber
/// listens, and no log can change a run.
#[cold]
pub(crate) fn log(start: WallTime, node: &str, id: EventId, event: &Event) {
    let utc = TimeOfDay(start + (event.at - TrueTime::START));
    let what = &event.what;
    match what {
        What::MessageSent { .. } | What::MessageDelivered { .. } | What::PointPassed(_) => {
            tracing::trace!(target: LOG_TARGET, %utc, node, %id, "{what:?}");
        }
        _ => tracing::debug!(target: LOG_TARGET, %utc, node, %id, "{what:?}"),
    }
}
