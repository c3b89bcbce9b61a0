//! `holdover hunt`: search many seeds for what breaks.

mod folder;
mod watch;

use std::io::Write;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::args::{Format, HuntArguments};
use super::command;
use super::exit::{Failure, Status};
use super::junit::JunitFile;
use super::output::Output;
use super::replay::chosen;
use crate::explore::generate::{Profile, Selection, UnknownFaults, UnknownProfile};
use crate::explore::hunt::{self, Cause, Findings, Hunt, OwnPlan, Seeds, Shard};
use crate::report;
use crate::scenario::{SMALLEST, Scenario};
use crate::sim::protocol::{self, AnyProtocol};
use crate::suite::{ALL_TOGETHER, Suite};

pub(super) use folder::{Folder, read, scenario_in};

/// All protocols, or all faults, as one name.
const ALL: &str = ALL_TOGETHER;

pub(super) fn run(arguments: &HuntArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    refuse_contradictions(arguments)?;
    let scenario = match &arguments.scenario {
        Some(path) => suite.load(path)?,
        None => suite.parse("the smallest scenario", SMALLEST)?,
    };
    let protocols: Vec<&'static dyn AnyProtocol> = match &arguments.protocol[..] {
        names if names.iter().any(|name| name == ALL) => {
            suite.protocols().iter().copied().filter(|one| protocol::can_run(*one, &scenario.world)).collect()
        }
        names => chosen(names, &scenario)?,
    };
    let hunt = hunt_of(arguments, &scenario, &protocols)?;
    let folder = arguments.out.as_deref().map(Folder::create).transpose()?;
    let scenarios = arguments.scenario.as_deref().into_iter();
    let junit = arguments.junit.as_deref().map(|path| JunitFile::create(path, scenarios)).transpose()?;
    let watch = watch::Watcher::new(arguments, folder.as_ref(), hunt.count())?;
    let findings = hunt.run_watched(&watch);
    let again = |failure: &hunt::Failure| again(suite, arguments, &findings, failure);
    let mut troubles = Vec::from_iter(watch.finish().err());
    // A folder with no room for what was found has none for more of it.
    if let Some(folder) = folder.as_ref().filter(|_| troubles.is_empty()) {
        troubles.extend(folder.keep(&hunt, &findings, again).err());
    }
    let kept = folder.as_ref().filter(|_| troubles.is_empty());
    if let Some(junit) = junit {
        troubles.extend(junit.write(&[report::hunt::suite(&findings, again)]).err());
    }
    show(arguments.format, &findings, output)?;
    if let Some(command) = repeating(suite, arguments, &findings, kept) {
        match arguments.format {
            Format::Text => output.show(|out| writeln!(out, "\n{command}"))?,
            Format::Json => output.aside(&command)?,
        }
    }
    Ok(with_troubles(status(&findings), &troubles, output))
}

/// Tells what couldn't be written, behind what was found: that is true all the same. Says with which status to leave.
pub(super) fn with_troubles(status: Status, troubles: &[Failure], output: &mut Output) -> Status {
    if troubles.is_empty() {
        return status;
    }
    // Where the results can't be written either, that is told when the program ends.
    if output.flush().is_ok() {
        troubles.iter().for_each(|trouble| output.complain(trouble));
    }
    Status::gravest([status, Status::Misused].into_iter())
}

/// Refuses options of which one leaves nothing to another.
fn refuse_contradictions(arguments: &HuntArguments) -> Result<(), Failure> {
    if arguments.plan != Plan::Replaced && arguments.scenario.is_none() {
        return Err(Failure::NoOwnPlan { plan: OwnPlan::from(arguments.plan).name() });
    }
    let choosing = [("faults", arguments.faults.is_some()), ("profile", arguments.profile.is_some())];
    match choosing.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if arguments.plan == Plan::Kept => Err(Failure::NothingDrawn { option }),
        _ => Ok(()),
    }
}

fn hunt_of<'a>(
    arguments: &HuntArguments,
    scenario: &'a Scenario,
    protocols: &[&'static dyn AnyProtocol],
) -> Result<Hunt<'a>, Failure> {
    let shard = match &arguments.shard {
        Some(shard) => Shard::parse(shard, |name| std::env::var(name).ok())?,
        None => Shard::WHOLE,
    };
    let usual = if arguments.lasting.is_some() { Seeds::ALL } else { Seeds::from(0..2_000) };
    let mut hunt = Hunt::new(scenario)
        .protocols(protocols)
        .seeds(arguments.seeds.unwrap_or(usual))
        .shard(shard)
        .profile(arguments.profile.unwrap_or(Profile::Hostile))
        .faults(arguments.faults.unwrap_or(Selection::ALL))
        .own_plan(arguments.plan.into());
    if let Some(jobs) = arguments.jobs {
        hunt = hunt.jobs(jobs);
    }
    for (is_set, change) in [
        (arguments.fail_fast, Hunt::fail_fast as fn(Hunt<'a>) -> Hunt<'a>),
        (arguments.keep_going, Hunt::keep_going),
        (arguments.inside, Hunt::inside_only),
    ] {
        hunt = if is_set { change(hunt) } else { hunt };
    }
    Ok(hunt)
}

/// Shows what was found.
pub(super) fn show(format: Format, findings: &Findings, output: &mut Output) -> Result<(), Failure> {
    let width = output.width();
    output.show(|out| match format {
        Format::Text => report::hunt::write(findings, width, out),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, findings)?;
            writeln!(out)
        }
    })
}

/// What a hunt comes to. One that was ended before its time, had runs that were, or had nothing in it that could fail, says little if it
/// found nothing.
pub(super) fn status(findings: &Findings) -> Status {
    let open = findings.coverage.values().any(|coverage| coverage.bounds_hit > 0);
    if findings.failures.iter().any(|failure| matches!(failure.cause, Cause::Bug | Cause::Unrepeated)) {
        Status::Bug
    } else if !findings.failures.is_empty() {
        Status::NotAsExpected
    } else if open || !findings.complete || !findings.says_something() {
        Status::Inconclusive
    } else {
        Status::AsExpected
    }
}

/// The command that repeats the first failure.
fn repeating(
    suite: &Suite,
    arguments: &HuntArguments,
    findings: &Findings,
    folder: Option<&Folder>,
) -> Option<String> {
    let failure = findings.failures.first()?;
    Some(match folder {
        Some(folder) => command::replay(suite, &folder.scenario_of(failure), &[], None),
        None => again(suite, arguments, findings, failure),
    })
}

/// The command that finds a failure again, and nothing else.
fn again(suite: &Suite, arguments: &HuntArguments, findings: &Findings, failure: &hunt::Failure) -> String {
    let seed = failure.example.seed;
    let seeds = Seeds { from: seed, until: seed.saturating_add(1) };
    let hunted = &findings.hunted;
    let options = [
        ("--protocol", failure.protocol.clone(), ""),
        ("--profile", hunted.profile.clone(), Profile::Hostile.name()),
        ("--faults", hunted.faults.clone(), ALL),
        ("--plan", hunted.plan.clone(), OwnPlan::Replaced.name()),
        ("--seeds", seeds.to_string(), ""),
    ];
    let told = options.into_iter().filter(|(_, value, usual)| value != usual);
    let told: Vec<_> = told.map(|(name, value, _)| (name, value)).collect();
    command::hunt(suite, arguments.scenario.as_deref(), &told)
}

/// The command line's word for what becomes of a scenario's own plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Plan {
    /// Plans are drawn in its place
    Replaced,
    /// Faults are drawn on top of it
    Extended,
    /// It is the only plan, and only what the runs draw differs from seed to seed
    Kept,
}

impl From<Plan> for OwnPlan {
    fn from(plan: Plan) -> OwnPlan {
        match plan {
            Plan::Replaced => OwnPlan::Replaced,
            Plan::Extended => OwnPlan::Extended,
            Plan::Kept => OwnPlan::Kept,
        }
    }
}

/// Reads how many threads to use.
pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "write a number above zero".to_owned())
}

/// Reads for how long to hunt.
pub(super) fn lasting(text: &str) -> Result<Duration, String> {
    let span = text.parse::<jiff::SignedDuration>().ok().filter(jiff::SignedDuration::is_positive);
    span.and_then(|span| Duration::try_from(span).ok())
        .ok_or_else(|| "write how long, such as 60s or 5m".to_owned())
}

pub(super) fn profile(text: &str) -> Result<Profile, UnknownProfile> {
    text.parse()
}

pub(super) fn faults(text: &str) -> Result<Selection, UnknownFaults> {
    text.parse()
}
