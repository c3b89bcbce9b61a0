//! A simulated host for [holdover](https://docs.rs/holdover): what a protocol's code reads of the system comes from the seed.
//!
//! A protocol that says so has each of its runs on it:
//!
//! ```
//! use holdover_sim::host::SimulatedHost;
//!
//! // In a protocol it has `&self`.
//! fn host() -> Option<&'static dyn SimulatedHost> {
//!     Some(&holdover_host::SIMULATED)
//! }
//! # assert!(host().is_some());
//! ```
//!
//! - Random bytes are drawn from the run's seed, and what is kept per thread begins anew: the order of a `HashMap`,
//!   `thread_local!`, and the generators of `rand`, `uuid` and `fastrand`; but for those of `rand` 0.8 and `getrandom` 0.2, which
//!   ask the kernel past libc.
//! - `SystemTime::now()` is true time, from the scenario's start on, and `Instant` goes on as that does. They are the
//!   simulator's clocks and not the worker's: no step, drift, freeze or any other fault reaches them. A worker's own are
//!   `Worker::wall`, `Worker::mono`, `Worker::raw` and `Worker::boottime`; to test how code bears with clocks, have it read
//!   those. In a scenario that begins before 2023, `SystemTime` reads a date of 2022.
//!
//! What a process keeps isn't begun anew: a `static` that counts or caches (so do `tokio::select!` without `biased;` and
//! `futures::select!`, which draw the order of their branches from one), what a protocol itself holds in an `Arc`, addresses in
//! memory, numbers of threads and of the process. Code that depends on such a thing isn't determined by the seed, and is caught
//! where a run is repeated.
//!
//! Each run has a thread of its own, because much of what a user's code can reach is kept per thread and was left behind by
//! whatever ran there before: the keys of the standard library's `HashMap` are drawn once a thread and then counted up, and
//! generators of random numbers go on from where they were. The run happens inside the first poll of a madsim runtime's main
//! task, so the runtime never schedules anything of its own.
//!
//! # Building
//!
//! madsim's simulator exists only under `--cfg madsim`, and Cargo takes that from the workspace that is built. So a crate that
//! uses this one needs a `.cargo/config.toml`:
//!
//! ```toml
//! [build]
//! rustflags = ["--cfg", "madsim"]
//! rustdocflags = ["--cfg", "madsim"]
//! ```
//!
//! holdover itself needs nothing of the kind.

// Without the cfg this is the only error: nothing else is compiled then.
#[cfg(not(madsim))]
compile_error!(
    "holdover-host runs code inside madsim's simulator, which exists only under `--cfg madsim`. Put \
     `rustflags = [\"--cfg\", \"madsim\"]` and `rustdocflags = [\"--cfg\", \"madsim\"]` below `[build]` in the file \
     .cargo/config.toml of the workspace that you build. If they are there, they are hidden: by the variable RUSTFLAGS (unset \
     it, or add `--cfg madsim` to it), by `rustflags` below a `[target.…]` of a configuration file (add them there), or because \
     cargo runs outside of the workspace with --manifest-path (change directory first)."
);

#[cfg(madsim)]
mod simulated;

#[cfg(madsim)]
pub use simulated::{SIMULATED, Simulated};
