//! The host: a madsim runtime on a thread of its own for each run.

use std::panic::resume_unwind;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use holdover_sim::history::LOG_TARGET;
use holdover_sim::host::{HostClock, SimulatedHost};
use holdover_sim::panics;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, WallTime};
use madsim::runtime::Runtime;
use madsim::time::TimeHandle;
use tracing::{Span as LogSpan, dispatcher};

/// The name of the thread of a run, which panics are told with. The same whoever asks for the run, as protocols can read it.
const THREAD: &str = "holdover-run";

/// As large as the main thread's usually is. Only what is used of it takes memory.
const STACK: usize = 8 << 20;

/// The simulated host.
pub static SIMULATED: Simulated = Simulated;

/// A host on which time and entropy of the system come from the scenario and the seed; there is one, [`SIMULATED`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Simulated;

/// madsim's clock.
struct Clock(TimeHandle);

impl HostClock for Clock {
    fn advance(&self, by: Span) {
        self.0.advance(Duration::from_nanos(by.as_nanos().max(0) as u64));
    }
}

impl SimulatedHost for Simulated {
    /// # Panics
    /// As `body` does; if it is called from inside a madsim runtime, or the machine has no room for a thread.
    fn run(&self, seed: Seed, start: WallTime, body: &mut (dyn FnMut(Rc<dyn HostClock>) + Send)) {
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
                    set_wall_clock(&time, start);
                    span.in_scope(|| body(Rc::new(Clock(time))));
                });
            };
            panics::catch(|| dispatcher::with_default(&listener, logged))
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn_scoped(scope, run);
            let thread = thread.unwrap_or_else(|error| panic!("a run needs a thread of its own: {error}"));
            let ended = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            ended.unwrap_or_else(|panic| panics::go_on(panic));
        });
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
