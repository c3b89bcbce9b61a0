//! Scenarios to shrink.

use holdover::scenario::Scenario;

/// The incident.
pub(crate) const CLOCK_JUMP: &str = include_str!("../../scenarios/incidents/clock-jump.toml");

/// The incident's two faults among ten that have nothing to do with it, and one worker more.
pub(crate) const NOISY: &str = include_str!("noisy.toml");

/// A plan that was drawn from all kinds of faults.
pub(crate) const HOSTILE: &str = include_str!("hostile.toml");

/// A night like it, and nothing but noise.
pub(crate) const NOISE: &str = include_str!("noise.toml");

pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse("scenario.toml", text).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Snapshots `text` under `name`, in the folder of these tests.
macro_rules! snapshot {
    ($name:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots/shrink");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, $text));
    }};
}
pub(crate) use snapshot;
