//! The arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A deterministic fault-injection simulator for lease, lock and leader-election protocols.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit status: 0 as expected · 1 not as expected · 2 wrong usage or a bad file · 3 inconclusive (a bound \
                  was hit, a verdict is unknown, or something that had to be seen wasn't) · 70 a run didn't repeat \
                  itself.\n\
                  RUST_LOG=holdover=debug logs every event to stderr."
)]
pub(super) struct Arguments {
    /// When to use colours; `auto` is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorWhen,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a scenario under its protocols and show what happened, side by side
    Replay(ReplayArguments),
    /// Run scenario files and compare the verdicts with what the files expect
    Check(CheckArguments),
    /// Say why what broke in a scenario broke: which faults and values were necessary, and how it came about
    Explain(ExplainArguments),
    /// List what there is: protocols, assumptions, faults, checkers, points, events, messages, sightings, scenarios
    List(ListArguments),
    /// Print the JSON Schema of scenario files, for editors that complete and check them
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(super) struct ReplayArguments {
    /// The scenario file
    pub(super) file: PathBuf,
    /// Run it under this protocol instead of those that the file names; may be given more than once
    /// (`holdover list protocols` has the names)
    #[arg(long, value_name = "NAME")]
    pub(super) protocol: Vec<String>,
    /// Draw from this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: ReplayFormat,
    /// Show every event in the timeline, messages and points among them, each with its cause
    #[arg(long, short)]
    pub(super) verbose: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Scenario files, or folders with some; in a folder named `invalid` each file must be refused
    #[arg(required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Show only the files that aren't as expected, and how many there were
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 explained · 1 a run panicked · 2 wrong usage or a bad file · 3 nothing is violated, so \
                  there is nothing to explain, or a bound was hit · 70 a run didn't repeat itself."
)]
pub(super) struct ExplainArguments {
    /// The scenario file
    pub(super) file: PathBuf,
    /// Explain it under this protocol instead of those that the file names; may be given more than once
    /// (`holdover list protocols` has the names)
    #[arg(long, value_name = "NAME")]
    pub(super) protocol: Vec<String>,
    /// Draw from this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// What to list
    pub(super) what: Listed,
    /// The folder whose scenarios to list, if that is what to list [default: scenarios]
    pub(super) folder: Option<PathBuf>,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReplayFormat {
    /// For people: timelines and verdicts
    Text,
    /// One JSON document: verdicts, measures, timelines
    Json,
    /// The histories, a JSON line for each event
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Listed {
    /// What a scenario can be run under
    Protocols,
    /// What protocols rely on
    Assumptions,
    /// What can be injected, with the fields of each
    Faults,
    /// The rules that every run is judged by
    Checkers,
    /// The places in a worker's path where a fault can be anchored
    Points,
    /// The kinds of event to which a fault can be anchored
    Events,
    /// What workers and services send each other messages about
    Messages,
    /// What a scenario can ask a run to have seen
    Sightings,
    /// The scenario files in a folder
    Scenarios,
}
