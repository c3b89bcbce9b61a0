//! Exploring: many runs of one scenario, to learn what a single one can't tell.
//!
//! - [`Signature`] is what failures have in common; [`Trial`] is one run with what is asked of it, of a [`Subject`]
//! - [`Budget`] bounds a search, and [`Trials`] keeps to it

mod budget;
mod signature;
mod trial;

pub use budget::{Budget, Spent, Trials};
pub use signature::Signature;
pub use trial::{Measures, Subject, Trial, failures};
