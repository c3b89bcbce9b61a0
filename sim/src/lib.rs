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
//! - [`host`]: what a run happens on
//! - [`time`], [`id`], [`names`], [`seed`], [`limits`], [`lease`]: the small types

pub mod check;
pub mod clock;
pub mod engine;
pub mod fault;
pub mod history;
pub mod host;
pub mod id;
pub mod lease;
pub mod limits;
pub mod names;
pub mod panics;
pub mod point;
pub mod protocol;
pub mod repair;
pub mod run;
pub mod seed;
pub mod service;
pub mod settlement;
pub mod time;
pub mod worker;
pub mod world;
