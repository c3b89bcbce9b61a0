//! What an operator does after an incident: stop the damage, find out what happened, take back what happened twice, make up
//! for what didn't, and let the work go on.
//!
//! Fencing stops the damage; it doesn't repair it. The order of the steps is in `procedure`, what is decided for one
//! operation in `decide`, which of several entries stays in `entries`, and what an operator can do and see in
//! `operator`. Each step is a point, and each may be the last: an operator that begins anew, or another one, takes charge
//! with a higher token and goes by what the ledger noted. So every decision is noted before it is carried out, and
//! everything that is carried out can be asked for again.

mod decide;
mod entries;
mod operator;
mod procedure;
mod rules;

pub use decide::{Facts, next};
pub(crate) use operator::Operator;
pub(crate) use procedure::work;
pub use rules::{Chosen, DeleteOneWorkersRecords, PROCEDURES, Procedure, Reconcile, find};
