//! The worlds of these tests.

use holdover::scenario::Scenario;

/// A scenario of the folder `scenarios/consensus`.
pub(crate) fn load(file: &str) -> Scenario {
    Scenario::load(format!("scenarios/consensus/{file}.toml")).expect("our own files are scenarios")
}

/// The incident on a lease service that agrees.
pub(crate) fn incident() -> Scenario {
    load("incident")
}
