//! The deterministic part of holdover: everything that must answer the same for the same seed.
//!
//! One thread, no I/O, no host time. The modules in reading order:
//!
//! - [`world`]: what a run starts from, as data; [`fault`]: what is injected and when
//! - [`run`]: the one entry: world, protocol, fault plan and seed in, [`history`] out
//! - [`protocol`]: the trait that a lease protocol implements, and those that come along
//! - [`worker`]: what a worker can do and see; [`settlement`]: the job that it runs; [`point`]: the places on its way
//! - [`repair`]: what an operator does after an incident
//! - [`service`]: lease store, ledger, provider
//! - [`engine`]: event loop, tasks, timers, calls; [`clock`]: a node's clocks
//! - [`history`]: what happened; [`check`]: what is judged
//! - [`time`], [`id`], [`names`], [`seed`], [`limits`], [`lease`]: the small types

// Without the cfg this is the only error: nothing else is compiled then.
#[cfg(not(madsim))]
compile_error!(
    "holdover runs inside madsim's simulator, which exists only under `--cfg madsim`. In this workspace \
     .cargo/config.toml sets it; that file is ignored when the variable RUSTFLAGS is set (unset it, or add \
     `--cfg madsim` to it) and when cargo runs outside the workspace with --manifest-path (change directory first). \
     A crate that uses holdover as a library needs a .cargo/config.toml with `rustflags = [\"--cfg\", \"madsim\"]` \
     and the same for `rustdocflags`."
);

#[cfg(madsim)]
pub mod check;
#[cfg(madsim)]
pub mod clock;
#[cfg(madsim)]
pub mod engine;
#[cfg(madsim)]
pub mod fault;
#[cfg(madsim)]
pub mod history;
#[cfg(madsim)]
pub mod id;
#[cfg(madsim)]
pub mod lease;
#[cfg(madsim)]
pub mod limits;
#[cfg(madsim)]
pub mod names;
#[cfg(madsim)]
pub mod panics;
#[cfg(madsim)]
pub mod point;
#[cfg(madsim)]
pub mod protocol;
#[cfg(madsim)]
pub mod repair;
#[cfg(madsim)]
pub mod run;
#[cfg(madsim)]
pub mod seed;
#[cfg(madsim)]
pub mod service;
#[cfg(madsim)]
pub mod settlement;
#[cfg(madsim)]
pub mod time;
#[cfg(madsim)]
pub mod worker;
#[cfg(madsim)]
pub mod world;
