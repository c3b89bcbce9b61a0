//! What a run happens on: this machine as it is, or a simulated host that stands in for it.
//!
//! The code of a protocol, or of a crate that it uses, may read a clock of the standard library or draw random bytes from the
//! system; a `HashMap` of the standard library's does so for its order. On this machine that isn't determined by the seed.
//! A simulated host answers such code from the scenario and the seed. This crate has none: `holdover-host` is one, and brings
//! along what it needs for that. A protocol says with [`Protocol::host`](crate::protocol::Protocol::host) that it wants one.

use std::cell::Cell;
use std::rc::Rc;

use crate::seed::Seed;
use crate::time::{Span, TrueTime, WallTime};

/// Calls code in a place where clocks and entropy of the system are simulated.
pub trait SimulatedHost: Sync {
    /// Calls `body` once, where everything that reads time or entropy of the system gets them from `seed` and from a clock
    /// that starts at `start`. It gives `body` that clock. What `body` reads may depend on nothing else: not on the thread that
    /// this is called on, and not on what was run before.
    ///
    /// # Panics
    /// As `body` does.
    fn run(&self, seed: Seed, start: WallTime, body: &mut (dyn FnMut(Rc<dyn HostClock>) + Send));
}

/// The clock of a simulated host.
pub trait HostClock {
    /// Moves it forward; `by` is above zero.
    fn advance(&self, by: Span);
}

/// The clock of the host that a run happens on, if that is a simulated one.
#[derive(Default)]
pub(crate) struct Clocks {
    clock: Option<Rc<dyn HostClock>>,
    /// What it reads.
    now: Cell<TrueTime>,
}

impl Clocks {
    /// Moves the host's clock forward to `now`.
    #[inline]
    pub(crate) fn advance_to(&self, now: TrueTime) {
        let Some(clock) = &self.clock else { return };
        let by = now - self.now.replace(now);
        if by > Span::ZERO {
            clock.advance(by);
        }
    }
}

/// Calls `body` on `host`, or on this machine if there is none.
///
/// # Panics
/// As `body` and `host` do.
pub(crate) fn on<T: Send>(
    host: Option<&dyn SimulatedHost>,
    seed: Seed,
    start: WallTime,
    body: impl FnOnce(Clocks) -> T + Send,
) -> T {
    let Some(host) = host else { return body(Clocks::default()) };
    let (mut body, mut done) = (Some(body), None);
    host.run(seed, start, &mut |clock| {
        let body = body.take().expect("a host calls what it is given once");
        done = Some(body(Clocks { clock: Some(clock), now: Cell::new(TrueTime::START) }));
    });
    done.expect("a host calls what it is given")
}
