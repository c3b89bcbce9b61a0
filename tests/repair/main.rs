//! Repairs: what operators make of an incident, whatever befalls them meanwhile.

mod hunted;
mod points;
mod support;
