//! Nothing but tests: see `tests/own.rs`.
