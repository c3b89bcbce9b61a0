//! Repairs: what operators make of an incident, whatever befalls them meanwhile.

mod points;
mod support;
