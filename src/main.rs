//! The `holdover` command; all of it is in [`holdover::cli`].

use std::process::ExitCode;

use holdover::suite::Suite;

fn main() -> ExitCode {
    holdover::cli::main(Suite::builtin())
}
