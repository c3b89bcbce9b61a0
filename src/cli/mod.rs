//! The command line: a file a command. Only here is anything printed, and only here does the program end.

mod annotations;
mod args;
mod bugs;
mod check;
mod command;
#[cfg(test)]
mod documented;
mod excerpt;
mod exit;
mod explain;
mod hunt;
mod interrupt;
mod judge;
mod junit;
mod list;
mod logs;
mod merge;
mod output;
mod picture;
mod promote;
mod replay;
mod schema;
mod show;
mod shrink;

use std::env;
use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

use args::{Arguments, Command};
use exit::{Failure, Status};
use output::Output;

use crate::sim::panics;
use crate::suite::Suite;

/// Runs a program that knows all that `suite` has, with the arguments of the process. The whole of such a program is a
/// `main` that returns this; see [`suite`](crate::suite).
///
/// The commands that its reports show begin as it was called itself, unless it is holdover's own.
pub fn main(suite: Suite) -> ExitCode {
    bugs::watch();
    let suite = match (suite.program(), command::called(&mut env::args_os())) {
        (None, Some(called)) => suite.of_program(&called),
        _ => suite,
    };
    let arguments = args::of_process();
    let mut output = Output::new(arguments.color);
    let work = |output: &mut Output| logs::start().and_then(|()| run(&arguments.command, &suite, output));
    let status = finish(work, &mut output);
    bugs::tell(&suite, &mut output, status).into()
}

/// Does `work`, sees that what it shows is written, and says with which status to leave.
fn finish(work: impl FnOnce(&mut Output) -> Result<Status, Failure>, output: &mut Output) -> Status {
    let ended = panics::catch(|| work(output));
    // What was shown before it went wrong comes first.
    let shown = output.flush();
    match (ended, shown) {
        (Err(_), _) => Status::Bug,
        (Ok(Ok(status)), Ok(())) => status,
        (Ok(Ok(_)), Err(failure)) | (Ok(Err(failure)), _) => {
            output.complain(&failure);
            Status::Misused
        }
    }
}

fn run(command: &Command, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    match command {
        Command::Replay(arguments) => replay::run(arguments, suite, output),
        Command::Judge(arguments) => judge::run(arguments, suite, output),
        Command::Check(arguments) => check::run(arguments, suite, output),
        Command::Explain(arguments) => explain::run(arguments, suite, output),
        Command::Hunt(arguments) => hunt::run(arguments, suite, output),
        Command::Merge(arguments) => merge::run(arguments, suite, output),
        Command::Shrink(arguments) => shrink::run(arguments, suite, output),
        Command::Promote(arguments) => promote::run(arguments, suite, output),
        Command::List(arguments) => list::run(arguments, suite, output),
        Command::Schema(arguments) => schema::run(arguments, suite, output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            let program = command::name(suite, &mut env::args_os());
            clap_complete::generate(*shell, &mut Arguments::command(), program, &mut script);
            output.show(|out| out.write_all(&script))?;
            Ok(Status::AsExpected)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_ours_ends_with_a_status_of_its_own() {
        let mut output = Output::new(args::ColorWhen::Never);
        assert_eq!(finish(|_| panic!("it breaks"), &mut output), Status::Bug);
        assert_eq!(finish(|_| Ok(Status::Inconclusive), &mut output), Status::Inconclusive);
        assert_eq!(finish(|_| Err(Failure::NoFindings), &mut output), Status::Misused);
    }
}
