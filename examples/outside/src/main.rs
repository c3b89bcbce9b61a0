//! The whole of a program that has all of holdover's commands for protocols of its own.

use std::process::ExitCode;

use holdover::suite::Suite;

fn main() -> ExitCode {
    holdover::cli::main(Suite::builtin().with(&outside::BROKEN).with(&outside::RIGHT))
}
