//! Repairs: what operators make of an incident, whatever befalls them meanwhile.

mod hunted;
mod laws;
mod planted;
mod points;
mod provider;
mod support;
