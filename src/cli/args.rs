//! The arguments.

use std::env;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::hunt;
use crate::explore::generate::{Profile, Selection};
use crate::explore::hunt::Seeds;
use crate::shown;

/// A deterministic fault-injection simulator for lease, lock and leader-election protocols.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit status: 0 as expected · 1 not as expected · 2 wrong usage or a bad file · 3 inconclusive (a bound \
                  was hit, a verdict is unknown, or something that had to be seen wasn't) · 70 a bug in holdover: \
                  it panicked, or a run didn't repeat itself.\n\
                  RUST_LOG=holdover=debug logs every event to stderr."
)]
pub(super) struct Arguments {
    /// When to use colours; `auto` is on a terminal, unless NO_COLOR is set or CLICOLOR is 0, and everywhere if
    /// CLICOLOR_FORCE is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorWhen,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The arguments of the process. Usage errors, help and version are clap's to print; it leaves with 2 after an error, which
/// is ours as well.
pub(super) fn of_process() -> Arguments {
    let given: Vec<OsString> = env::args_os().collect();
    let command = Arguments::command().color(color_among(&given));
    parsed(command.clone(), &given).unwrap_or_else(|error| {
        // An error quotes arguments, so it is one on arguments of which everything can be seen.
        let seen: Vec<OsString> = given.iter().map(|given| shown::name(&given.to_string_lossy()).into()).collect();
        parsed(command, &seen).err().unwrap_or(error).exit()
    })
}

fn parsed(command: clap::Command, given: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut command = command;
    let matches = command.try_get_matches_from_mut(given)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// When errors of usage are coloured: as `--color` says, though the arguments aren't understood as a whole.
fn color_among(given: &[OsString]) -> ColorChoice {
    let mut color = ColorChoice::Auto;
    let mut words = given.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = if word == "--color" { words.next() } else { word.strip_prefix("--color=") };
        color = match value {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => color,
        };
    }
    color
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a scenario under its protocols and show what happened, side by side
    Replay(ReplayArguments),
    /// Judge stored histories again, and draw every report from them
    Judge(JudgeArguments),
    /// Run scenario files and compare the verdicts with what the files expect
    Check(CheckArguments),
    /// Say why what broke in a scenario broke: which faults and values were necessary, and how it came about
    Explain(ExplainArguments),
    /// Search many seeds for what breaks: each has a plan of faults, clocks and messages of its own
    Hunt(HuntArguments),
    /// Join what the shares of a hunt found, as if it had been one hunt
    Merge(MergeArguments),
    /// Make a scenario in which something breaks as small as it gets, so that the same still breaks
    Shrink(ShrinkArguments),
    /// Make a scenario of a case, to be checked from now on
    Promote(PromoteArguments),
    /// List what there is: protocols, assumptions, faults, checkers, points, events, messages, sightings, scenarios
    List(ListArguments),
    /// Print the JSON Schema of scenario files, for editors that complete and check them, or of histories
    Schema(SchemaArguments),
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
    #[command(flatten)]
    pub(super) shown: ShowArguments,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 as the scenario expects, and as stored · 1 not so, or what is stored isn't what its fingerprint \
                  is of · 2 wrong usage, or a file that can't be read · 3 inconclusive · 70 a bug in holdover.\n\
                  The events are believed, and nothing is run: whatever needs runs, such as `explain`, needs the scenario."
)]
pub(super) struct JudgeArguments {
    /// Files that `replay --format jsonl` wrote, such as the history.jsonl of a case; `-` is standard input
    #[arg(required = true, value_name = "FILE.jsonl")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) shown: ShowArguments,
}

/// How replays are shown, and which part of them.
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: ReplayFormat,
    /// Show nothing earlier in timelines and pictures; a time as scenarios write it: 02:00:28.150, +58s
    #[arg(long, value_name = "TIME")]
    pub(super) from: Option<String>,
    /// Show nothing later in timelines and pictures
    #[arg(long, value_name = "TIME")]
    pub(super) to: Option<String>,
    /// Show only this node's lane in timelines and pictures, and what it has to do with; may be given more than once
    #[arg(long, value_name = "NODE")]
    pub(super) lane: Vec<String>,
    /// Show every event in the timeline, messages and points among them, each with its cause
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Write the picture of the runs to this file, which ends in .html, or as report.html to this folder as well: a page
    /// that needs no network, with why what broke in them broke
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Scenario files, or folders with some; in a folder named `invalid` each file must be refused, and the `original.toml`
    /// of a case is left out
    #[arg(required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Show only the files that aren't as expected, and how many there were
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: CheckFormat,
    /// Write a JUnit XML report to this file as well
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// For whom to write annotations to stderr: a line for each expectation that isn't met and each mistake in a file;
    /// `auto` is for GitHub where GITHUB_ACTIONS is `true`, else for nobody
    #[arg(long, value_name = "WHOM", default_value = "auto")]
    pub(super) annotations: AnnotateFor,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 explained · 1 a run panicked · 2 wrong usage or a bad file · 3 nothing is violated, so \
                  there is nothing to explain, or a bound was hit, or it was ended before its time · 70 a bug in holdover. \
                  An interrupt or SIGTERM ends it with what was learned; a second one ends the program with 130."
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
    /// Write the picture of the runs to this file, which ends in .html, or as report.html to this folder as well: a page
    /// that needs no network, with why what broke in them broke
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 nothing failed · 1 something failed · 2 wrong usage or a bad file · 3 nothing failed, but \
                  the hunt was ended before its time, or a run used up its steps · 70 a bug in holdover. \
                  An interrupt or SIGTERM ends the hunt with what was found; a second one ends the program with 130."
)]
pub(super) struct HuntArguments {
    /// The scenario in whose world to hunt; without it, two workers and nothing special
    pub(super) scenario: Option<PathBuf>,
    /// Hunt for failures of this protocol instead of those that the file names; may be given more than once; `all` for all
    /// (`holdover list protocols` has the names)
    #[arg(long, value_name = "NAME")]
    pub(super) protocol: Vec<String>,
    /// With these seeds, the end not included [default: 0..2000, or with --for all from 0]
    #[arg(long, value_name = "A..B")]
    pub(super) seeds: Option<Seeds>,
    /// For so long, such as 60s; what is found then depends on how fast the machine is
    #[arg(long = "for", value_name = "TIME", value_parser = hunt::lasting)]
    pub(super) lasting: Option<Duration>,
    /// On so many threads; what is found doesn't depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = hunt::jobs)]
    pub(super) jobs: Option<NonZeroUsize>,
    /// How bad the nights are: `realistic` or `hostile` [default: hostile]
    #[arg(long, value_name = "NAME", value_parser = hunt::profile)]
    pub(super) profile: Option<Profile>,
    /// Which kinds of fault are drawn: names of kinds, and of the groups pauses, clocks, stores, workers and network, with
    /// commas between [default: all]
    #[arg(long, value_name = "LIST", value_parser = hunt::faults)]
    pub(super) faults: Option<Selection>,
    /// What becomes of the scenario's own faults; where they are kept none are drawn
    #[arg(long, value_name = "WHAT", default_value = "replaced")]
    pub(super) plan: hunt::Plan,
    /// Count only what fails though all is as the protocol relies on; to be late doesn't count
    #[arg(long)]
    pub(super) inside: bool,
    /// End the hunt when something fails
    #[arg(long, conflicts_with = "keep_going")]
    pub(super) fail_fast: bool,
    /// Go on even if a protocol's code panics or a run doesn't repeat itself
    #[arg(long)]
    pub(super) keep_going: bool,
    /// Only this share of the seeds, such as 1/4; `auto` or `auto/4` takes it from what a runner of parallel jobs sets
    /// (GitLab, CircleCI, Buildkite, Slurm arrays, Kubernetes Indexed Jobs)
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<String>,
    /// Keep what is found in this folder: a case for each failure, shrunk and explained, and all in hunt.json
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Write a JUnit report to this file, for CI systems: a case for each protocol, with what was found as its failure
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Show no progress
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct MergeArguments {
    /// The folders of the shares
    #[arg(required = true)]
    pub(super) folders: Vec<PathBuf>,
    /// Keep the whole in this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "The small scenario goes to stdout, and what was tried to stderr.\n\
                  Exit status: 0 it is as small as it gets · 1 a run panicked · 2 wrong usage or a bad file · 3 nothing is \
                  violated, so there is nothing to shrink, or a bound was hit · 70 a bug in holdover.")]
pub(super) struct ShrinkArguments {
    /// The scenario file
    pub(super) file: PathBuf,
    /// Shrink what breaks under this protocol [default: the first of the file's that breaks something]
    #[arg(long, value_name = "NAME")]
    pub(super) protocol: Option<String>,
    /// Shrink how this rule breaks, or one after the other how each does that breaks, with `all`
    /// (`holdover list checkers` has the names) [default: the first that breaks]
    #[arg(long, value_name = "RULE")]
    pub(super) rule: Option<String>,
    /// Draw from this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Write it to this file, which ends in .toml; or a case with all that there is to it to this folder
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) out: Option<PathBuf>,
    /// Replace the file that --out names, if there is one
    #[arg(long, requires = "out")]
    pub(super) force: bool,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 it is a scenario now, or was one · 1 what it expects isn't what comes out any more · \
                        2 wrong usage, not a case, or there is another scenario."
)]
pub(super) struct PromoteArguments {
    /// The folder of the case
    pub(super) case: PathBuf,
    /// The folder in which to put the scenario
    #[arg(long, value_name = "DIR", default_value = "scenarios/regressions")]
    pub(super) to: PathBuf,
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

#[derive(Debug, Args)]
pub(super) struct SchemaArguments {
    /// Of what
    #[arg(long, value_name = "WHAT", default_value = "scenario")]
    pub(super) of: Described,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Described {
    /// A scenario file
    Scenario,
    /// A line of `replay --format jsonl`
    History,
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
pub(super) enum CheckFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// A JSON line for each file, as soon as it is done
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum AnnotateFor {
    Auto,
    Github,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReplayFormat {
    /// For people: timelines and verdicts
    Text,
    /// One JSON document: verdicts, measures, timelines
    Json,
    /// The histories, a JSON line for each event
    Jsonl,
    /// An incident report in Markdown
    Markdown,
    /// A sequence diagram of what matters, for pages that draw Mermaid
    Mermaid,
    /// A trace for Perfetto and Chrome: a track for each node, flows for messages
    Perfetto,
    /// A picture of the lanes
    Svg,
}

impl ReplayFormat {
    /// Its name on the command line.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
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
    /// The places in a worker's or an operator's path where a fault can be anchored
    Points,
    /// The kinds of event to which a fault can be anchored
    Events,
    /// What workers, operators and services send each other messages about
    Messages,
    /// What operators repair a settlement by
    Procedures,
    /// What a scenario can ask a run to have seen
    Sightings,
    /// The scenario files in a folder
    Scenarios,
}
