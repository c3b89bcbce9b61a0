//! The services of the world: deterministic state machines, called when a message is delivered.

pub mod door;
pub mod lease_store;
pub mod ledger;
pub mod provider;

pub use crate::engine::{Address, Answer, Broken, Service, ServiceContext};
