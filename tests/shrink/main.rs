//! Shrinking: the smallest scenario in which the same breaks, and what is written of it.

mod cases;
#[path = "../files/mod.rs"]
mod files;
mod hunted;
mod laws;
#[path = "../plans/night.rs"]
#[expect(dead_code, reason = "other tests draw other nights")]
mod night;
mod nodes;
mod panics;
#[path = "../planted/plan.rs"]
mod plan;
mod planted;
#[path = "../planted/protocol.rs"]
mod protocol;
mod repairs;
mod stories;
mod support;
