//! holdover: a deterministic fault-injection simulator for lease, lock and leader-election protocols.
//!
//! One straight way: [`scenario`] → fault plan → run → history → verdicts ([`replay`]) → [`report`]. The simulator
//! itself is [`sim`]; here is what needs a file, a thread, a terminal or real time.

pub mod case;
pub mod cli;
pub mod explore;
pub mod replay;
pub mod report;
pub mod scenario;
mod shown;
pub mod stored;
pub mod suite;

pub use holdover_sim as sim;

/// The examples in the README, compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
