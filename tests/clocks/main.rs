//! What pauses, clock faults and time daemons do to a node's clocks, its tasks and its messages, in whole runs.

mod daemons;
mod faults;
mod pauses;
mod support;
mod throttle;
