//! The only place that touches madsim.
//!
//! A run happens inside the first poll of a madsim runtime's main task, so the runtime never schedules anything of its
//! own. What it gives: everything that reads time or entropy through the standard library or libc during the run, such
//! as a crate that a user's protocol uses, gets virtual time and seeded bytes. Where nothing reads any, there is no
//! runtime: it takes a tenth of a small run's time.
//!
//! Such a run has a thread of its own. Much of what a user's code can reach is kept per thread and was left behind by
//! whatever ran there before: the keys of the standard library's `HashMap` are drawn once a thread and then counted up,
//! and generators of random numbers go on from where they were. On a new thread all of it begins anew, from the seed.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use madsim::runtime::Runtime;
use madsim::time::TimeHandle;
use tracing::{Span as LogSpan, dispatcher};

use crate::history::LOG_TARGET;
use crate::panics;
use crate::seed::Seed;
use crate::time::{Span, TrueTime, WallTime};

/// The name of the thread of a run, which panics are told with. The same whoever asks for the run, as protocols can read it.
const THREAD: &str = "holdover-run";

/// As large as the main thread's usually is. Only what is used of it takes memory.
const STACK: usize = 8 << 20;

/// The simulated host that a run happens on.
pub(crate) struct Host {
    /// Its clocks, if it has any that somebody may read.
    time: Option<TimeHandle>,
    /// What they read.
    now: Cell<TrueTime>,
}

impl Host {
    /// The host of a run in which nobody asks one for anything.
    pub(crate) fn none() -> Host {
        Host { time: None, now: Cell::new(TrueTime::START) }
    }

    /// Moves the host's clocks forward to `now`.
    #[inline]
    pub(crate) fn advance_to(&self, now: TrueTime) {
        let Some(time) = &self.time else { return };
        let by = now - self.now.replace(now);
        if by > Span::ZERO {
            time.advance(Duration::from_nanos(by.as_nanos() as u64));
        }
    }

    /// Sets the host's wall clock to `start`. madsim begins on a day of 2022 that it draws, and only goes forward from there.
    fn set_wall_clock(time: &TimeHandle, start: WallTime) {
        let wanted = Duration::from_nanos(start.as_nanos().max(0) as u64);
        match (UNIX_EPOCH + wanted).duration_since(time.now_time()) {
            Ok(by) => time.advance(by),
            Err(_) => tracing::warn!(
                target: LOG_TARGET,
                "the scenario begins before 2023: `SystemTime` reads a date of 2022 that is drawn from the seed"
            ),
        }
    }
}

/// Calls `body` on a simulated host of its own whose wall clock reads `start`, or on none where nobody asks a host for
/// anything. On a host it is called on a thread of its own; who listens to logs there is who listens here.
///
/// # Panics
/// As `body` does; if it `is_asked` and is called on a simulated host, or the machine has no room for a thread.
#[expect(clippy::disallowed_methods, reason = "the run still is one thread: this one only waits for it")]
pub(crate) fn hosted<T: Send>(
    seed: Seed,
    start: WallTime,
    is_asked: bool,
    body: impl FnOnce(Host) -> T + Send,
) -> T {
    if !is_asked {
        return body(Host::none());
    }
    assert!(
        TimeHandle::try_current().is_none(),
        "a run on a simulated host can't be made from inside a madsim runtime"
    );
    let (listener, span) = (dispatcher::get_default(Clone::clone), LogSpan::current());
    let run = move || {
        // Comes first: the thread's first hash map is what gets its keys from the seed.
        let runtime = Runtime::with_seed_and_config(seed.0, madsim::Config::default());
        // This generator would be seeded from the number of the thread, which no two threads share.
        fastrand::seed(seed.0);
        let logged = || {
            runtime.block_on(async {
                let time = TimeHandle::current();
                Host::set_wall_clock(&time, start);
                span.in_scope(|| body(Host { time: Some(time), ..Host::none() }))
            })
        };
        panics::catch(|| dispatcher::with_default(&listener, logged))
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn_scoped(scope, run);
        let thread = thread.unwrap_or_else(|error| panic!("a run needs a thread of its own: {error}"));
        let ended = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        ended.unwrap_or_else(|panic| panics::go_on(panic))
    })
}
