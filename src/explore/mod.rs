//! Exploring: many runs of one scenario, to learn what a single one can't tell.
//!
//! - [`Signature`] is what failures have in common; [`Trial`] is one run with what is asked of it, of a [`Subject`]
//! - [`Budget`] bounds a search, and [`Meter`] and [`Trials`] keep to it
//! - [`knobs`] sees a fault's numbers, [`Parts`] a plan's faults, whatever they are; [`edge`] finds where a number begins
//!   to matter
//! - [`shrink`] makes a scenario small in which something breaks
//! - [`explain`] puts these together: what was necessary, what made it worse, how it came about ([`chain`])
//! - [`generate`] draws plans of faults from seeds; [`hunt`] looks with many of them for what breaks; [`Reducer`] makes one
//!   smaller as long as whoever asks says that it still fails
//! - `strategy`, with the feature `proptest`, has strategies for plans and scenarios, which draw and shrink by these

mod budget;
pub mod chain;
pub mod edge;
pub mod explain;
pub mod generate;
pub mod hunt;
pub mod knobs;
mod reduce;
mod refused;
pub mod shrink;
mod signature;
#[cfg(feature = "proptest")]
pub mod strategy;
mod subset;
mod trial;

pub use budget::{Budget, Meter, Spent, Trials};
pub use reduce::Reducer;
pub use refused::{Refused, refused};
pub use signature::Signature;
pub use subset::{MOST_SETS, Parts, Sufficient};
pub use trial::{Measures, Subject, Trial, failures};
