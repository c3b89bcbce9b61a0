//! Logs: every event with true time and node, to stderr, if RUST_LOG asks for it. They only read; no log can change a
//! run.

use std::env;
use std::io;

use tracing_subscriber::filter::{FilterFn, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::exit::Failure;
use crate::shown;

/// Starts logging as RUST_LOG says; without it there are no logs.
pub(super) fn start() -> Result<(), Failure> {
    let Some(value) = env::var_os("RUST_LOG").filter(|value| !value.is_empty()) else { return Ok(()) };
    let value = value.to_string_lossy().into_owned();
    let Ok(targets) = value.parse::<Targets>() else {
        return Err(Failure::LogFilter { value: shown::name(&value) });
    };
    // The runtime underneath logs about itself, in a time that isn't ours.
    let ours = FilterFn::new(|metadata| metadata.target().starts_with("holdover"));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        // If stderr is gone, there is nobody left to tell, and the subscriber would panic in trying to.
        .log_internal_errors(false)
        .with_target(false)
        .without_time();
    tracing_subscriber::registry().with(lines.with_filter(targets).with_filter(ours)).init();
    Ok(())
}
