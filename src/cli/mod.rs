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
use std::process::ExitCode;

use clap::CommandFactory;

use args::{Arguments, Command};
use exit::{Failure, Status};
use output::Output;

use crate::sim::panics;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    bugs::watch();
    let arguments = args::of_process();
    let mut output = Output::new(arguments.color);
    let status = finish(|output| logs::start().and_then(|()| run(&arguments.command, output)), &mut output);
    bugs::tell(&mut output, status).into()
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
