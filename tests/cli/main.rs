//! The `holdover` command from outside: what it prints, and how it ends.

mod annotations;
mod check;
mod excerpt;
mod explain;
mod help;
mod hostile;
mod hunt;
mod judge;
mod junit;
mod list;
mod names;
mod picture;
#[path = "../redact/mod.rs"]
mod redact;
mod repeat;
mod replay;
mod schema;
mod shrink;
#[cfg(unix)]
mod signals;
mod status;
mod streams;
mod support;
