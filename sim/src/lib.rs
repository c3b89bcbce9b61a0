//! The deterministic part of holdover: everything that must answer the same for the same seed.
//!
//! One thread, no I/O, no host time. The modules in reading order:
//!
//! - [`time`], [`id`], [`seed`]: the small types
//! - [`clock`]: a node's clocks

// Without the cfg this is the only error: nothing else is compiled then.
#[cfg(not(madsim))]
compile_error!(
    "holdover runs inside madsim's simulator, which exists only under `--cfg madsim`. In this workspace \
     .cargo/config.toml sets it; that file is ignored when the variable RUSTFLAGS is set (unset it, or add \
     `--cfg madsim` to it) and when cargo runs outside the workspace with --manifest-path (change directory first). \
     A crate that uses holdover as a library needs a .cargo/config.toml with `rustflags = [\"--cfg\", \"madsim\"]` \
     and the same for `rustdocflags`."
);

#[cfg(madsim)]
pub mod clock;
#[cfg(madsim)]
pub mod id;
#[cfg(madsim)]
pub mod seed;
#[cfg(madsim)]
pub mod time;
