//! The only place that touches madsim.
//!
//! A run happens inside the first poll of a madsim runtime's main task, so the runtime never schedules anything of its
//! own. What it gives: everything that reads time or entropy through the standard library or libc during the run, such
//! as a crate that a user's protocol uses, gets virtual time and seeded bytes. Where nothing reads any, there is no
//! runtime: it takes a tenth of a small run's time.

use std::cell::Cell;
use std::time::Duration;

use madsim::runtime::Runtime;
use madsim::time::TimeHandle;

use crate::seed::Seed;
use crate::time::{Span, TrueTime};

/// The simulated host that a run happens on.
pub(crate) struct Host {
    /// Its clocks, if it has any that somebody may read.
    time: Option<TimeHandle>,
    /// What they read.
    now: Cell<TrueTime>,
}

impl Host {
    /// Moves the host's clocks forward to `now`.
    #[inline]
    pub(crate) fn advance_to(&self, now: TrueTime) {
        let Some(time) = &self.time else { return };
        let by = now - self.now.replace(now);
        if by > Span::ZERO {
            time.advance(Duration::from_nanos(by.as_nanos() as u64));
        }
    }
}

/// Calls `body` on a simulated host of its own, or on none where nobody asks a host for anything.
pub(crate) fn hosted<T>(seed: Seed, is_asked: bool, body: impl FnOnce(Host) -> T) -> T {
    let now = Cell::new(TrueTime::START);
    if !is_asked {
        return body(Host { time: None, now });
    }
    let runtime = Runtime::with_seed_and_config(seed.0, madsim::Config::default());
    runtime.block_on(async { body(Host { time: Some(TimeHandle::current()), now }) })
}
