//! The reports, on small runs: what they say, and that they keep to their width.

mod checked;
mod edges;
mod pictures;
mod protocols;
#[path = "../redact/mod.rs"]
mod redact;
mod repair;
mod runs;
mod support;
mod widths;
