//! Drawn plans: what they are, that files can say them, and that they put protocols to the test.

#[path = "../draws/mod.rs"]
mod draws;
#[path = "../files/mod.rs"]
mod files;

mod census;
mod clocks;
mod laws;
mod quality;
mod shown;
mod worlds;
