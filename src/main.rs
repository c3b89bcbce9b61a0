//! The `holdover` command; all of it is in [`holdover::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    holdover::cli::main()
}
