//! Panics of ours: each is noted wherever it happens, whoever catches it, and told at the end with the command that repeats
//! it. The protocols of the command line are ours as well, so every panic here is a bug in holdover.

use std::env;
use std::panic;
use std::sync::{Mutex, PoisonError};

use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use crate::sim::panics::{place, text};
use crate::suite::Suite;

/// The most bugs that are told; what else there is mostly follows from those.
const MOST_TOLD: usize = 5;

/// What panicked so far, each place once, with how often it did.
static NOTED: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());

/// Has panics noted from now on, in place of being told at once.
pub(super) fn watch() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let at = panic.location().map_or(String::new(), |location| format!("at {}: ", place(location)));
        note(at + text(panic.payload()));
        // Whoever asks for it wants to see where it was.
        if env::var_os("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0") {
            usual(panic);
        }
    }));
}

fn note(bug: String) {
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    match noted.iter_mut().find(|(known, _)| *known == bug) {
        Some((_, times)) => *times += 1,
        None => noted.push((bug, 1)),
    }
}

/// Tells what panicked, and with which status to leave: `status` if nothing did.
pub(super) fn tell(suite: &Suite, output: &mut Output, status: Status) -> Status {
    let noted = std::mem::take(&mut *NOTED.lock().unwrap_or_else(PoisonError::into_inner));
    if noted.is_empty() {
        return status;
    }
    output.complain(&Failure::Bugs { bugs: listed(&noted), command: command::given(suite, env::args_os()) });
    Status::Bug
}

fn listed(noted: &[(String, u64)]) -> String {
    let line = |(bug, times): &(String, u64)| {
        // What it says is on one line, and nothing in it reaches a terminal as a command.
        let bug: String = bug.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if *times == 1 { bug } else { format!("{bug} ({times} times)") }
    };
    let mut lines: Vec<String> = noted.iter().take(MOST_TOLD).map(line).collect();
    if noted.len() > MOST_TOLD {
        lines.push(format!("and {} more", noted.len() - MOST_TOLD));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bug_is_told_once_and_not_too_many() {
        let noted = |count: u64| (0..count).map(|n| (format!("at x.rs:{n}: a\nb"), n + 1)).collect::<Vec<_>>();
        assert_eq!(listed(&noted(2)), "at x.rs:0: a b\nat x.rs:1: a b (2 times)");
        assert!(listed(&noted(7)).ends_with("(5 times)\nand 2 more"), "{}", listed(&noted(7)));
    }
}
