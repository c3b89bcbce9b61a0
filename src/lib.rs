//! holdover: a deterministic fault-injection simulator for lease, lock and leader-election protocols.

pub mod scenario;

pub use holdover_sim as sim;
