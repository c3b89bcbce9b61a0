//! What is learned from many runs of one scenario: knobs, parts of plans, explanations.

#[path = "../draws/mod.rs"]
mod draws;
mod explanations;
mod laws;
#[path = "../plans/night.rs"]
#[expect(dead_code, reason = "other tests draw other nights")]
mod night;
mod support;
mod told;
