//! What a replay is written as for other tools, on a small record made by hand and on real runs: it is what those tools
//! read, whatever the texts in it are.

#[path = "../oracle/draw.rs"]
mod draw;
mod foreign;
mod history;
mod hostile;
mod kept;
mod mutated;
mod read_back;
mod record;
#[path = "../redact/mod.rs"]
mod redact;
mod refused;
mod wellformed;
