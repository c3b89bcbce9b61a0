//! The command line: a file a command. Only here is anything printed, and only here does the program end.

mod annotations;
mod args;
mod check;
mod command;
#[cfg(test)]
mod documented;
mod excerpt;
mod exit;
mod explain;
mod hunt;
mod interrupt;
mod junit;
mod list;
mod logs;
mod merge;
mod output;
mod picture;
mod promote;
mod replay;
mod schema;
mod shrink;

use std::io::Write;
use std::panic;
use std::process::ExitCode;

use clap::CommandFactory;

use args::{Arguments, Command};
use exit::{Failure, Status};
use output::Output;

use crate::explore::is_in_trial;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !is_in_trial() {
            usual(panic);
        }
    }));
    let arguments = args::of_process();
    let mut output = Output::new(arguments.color);
    let ended = logs::start().and_then(|()| run(&arguments.command, &mut output));
    let status = match ended {
        Ok(status) => output.finish(status),
        Err(failure) => {
            // What was shown before it went wrong comes first.
            let _shown = output.flush();
            output.complain(&failure);
            Status::Misused
        }
    };
    status.into()
}

fn run(command: &Command, output: &mut Output) -> Result<Status, Failure> {
    match command {
        Command::Replay(arguments) => replay::run(arguments, output),
        Command::Check(arguments) => check::run(arguments, output),
        Command::Explain(arguments) => explain::run(arguments, output),
        Command::Hunt(arguments) => hunt::run(arguments, output),
        Command::Merge(arguments) => merge::run(arguments, output),
        Command::Shrink(arguments) => shrink::run(arguments, output),
        Command::Promote(arguments) => promote::run(arguments, output),
        Command::List(arguments) => list::run(arguments, output),
        Command::Schema(arguments) => schema::run(arguments, output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "holdover", &mut script);
            output.show(|out| out.write_all(&script))?;
            Ok(Status::AsExpected)
        }
    }
}
