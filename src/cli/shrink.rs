//! `holdover shrink`: the smallest scenario in which the same breaks.

mod out;

pub(super) use out::Out;

use std::io::Write;

use serde::Serialize;

use super::args::{Format, ShrinkArguments};
use super::command;
use super::exit::{Failure, Status};
use super::output::Output;
use super::replay::{chosen, tell_of_own};
use crate::case::{Find, commented, told};
use crate::explore::shrink::{Account, BUDGET, Shrunk, shrink};
use crate::explore::{Signature, Subject};
use crate::report::explain::listed;
use crate::report::shrink::write_account;
use crate::scenario::{Scenario, did_you_mean, shown_path};
use crate::shown;
use crate::sim::check::CHECKERS;
use crate::sim::limits::Ending;
use crate::sim::panics;
use crate::sim::protocol::AnyProtocol;
use crate::sim::seed::Seed;
use crate::suite::Suite;

/// The name by which all rules that break are meant.
const ALL: &str = "all";

/// What came out, for programs.
#[derive(Serialize)]
struct Document<'a> {
    file: String,
    command: &'a str,
    shrunk: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    protocol: &'static str,
    signature: Signature,
    account: Account,
    scenario: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
}

pub(super) fn run(arguments: &ShrinkArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let rule = arguments.rule.as_deref().map(rule).transpose()?;
    let out = Out::of(arguments);
    let is_one = arguments.format == Format::Text || arguments.out.is_some();
    if rule == Some(Rule::All) && is_one && !out.takes_many() {
        return Err(Failure::ManyScenarios);
    }
    let mut scenario = suite.load(&arguments.file)?;
    out.try_it(&arguments.file)?;
    let protocols = chosen(arguments.protocol.as_slice(), &scenario)?;
    tell_of_own(&arguments.file, suite, output)?;
    scenario.seed = arguments.seed.map_or(scenario.seed, Seed);
    // Where it goes is no part of how to find it.
    let (found_by, command) = (command::shrink(suite, arguments), command::shrink_to(suite, arguments, &out));
    let broken = Broken::find(&scenario, &protocols, rule);
    let mut status = broken.status;
    let mut entries = Vec::new();
    for signature in broken.signatures {
        // A bug of ours is told at the end; what breaks otherwise is shrunk all the same.
        let shrunk = match panics::catch(|| shrink(&scenario, broken.protocol, signature, BUDGET)) {
            Ok(Ok(shrunk)) => shrunk,
            Ok(Err(_)) | Err(_) => continue,
        };
        let find = Find {
            original: &scenario,
            shrunk: &shrunk,
            protocol: broken.protocol,
            plan_seed: None,
            command: &found_by,
            found: 1,
        };
        let (entry, one) = finish(arguments, out, find, output)?;
        status = Status::gravest([status, one].into_iter());
        entries.push(entry);
        if arguments.format == Format::Text {
            output.aside(&account_of(&shrunk, broken.protocol))?;
        }
    }
    let is_nothing = entries.is_empty();
    if arguments.format == Format::Json {
        let document = Document { file: shown_path(&arguments.file), command: &command, shrunk: entries };
        output.show(|out| {
            serde_json::to_writer_pretty(&mut *out, &document)?;
            writeln!(out)
        })?;
    } else if is_nothing {
        output.aside(&nothing(&protocols, rule))?;
    }
    if arguments.format == Format::Text || status != Status::AsExpected {
        output.aside(&command)?;
    }
    Ok(status)
}

/// Which rules are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    All,
    One(&'static str),
}

fn rule(name: &str) -> Result<Rule, Failure> {
    let known = CHECKERS.iter().map(|checker| checker.name);
    match known.clone().find(|known| *known == name) {
        Some(known) => Ok(Rule::One(known)),
        None if name == ALL => Ok(Rule::All),
        None => Err(Failure::UnknownRule {
            name: shown::name(name),
            help: did_you_mean(name, "the rules are", known.chain([ALL])),
        }),
    }
}

/// What breaks under the first protocol under which anything does that was asked for.
struct Broken {
    protocol: &'static dyn AnyProtocol,
    signatures: Vec<Signature>,
    /// What it comes to so far.
    status: Status,
}

impl Broken {
    fn find(scenario: &Scenario, protocols: &[&'static dyn AnyProtocol], rule: Option<Rule>) -> Broken {
        let mut status = Status::Inconclusive;
        for protocol in protocols.iter().copied() {
            let subject = Subject { world: &scenario.world, protocol, seed: scenario.seed };
            let trial = subject.run(&scenario.plan);
            let mut signatures: Vec<Signature> =
                trial.failures().into_iter().map(|(signature, _)| signature).collect();
            match rule {
                Some(Rule::All) => {}
                Some(Rule::One(rule)) => signatures.retain(|signature| signature.checker() == rule),
                None => signatures.truncate(1),
            }
            let found = match trial.history.ending {
                Ending::Bug(_) => Status::Bug,
                Ending::Panicked { .. } => Status::NotAsExpected,
                Ending::StepsUsedUp => Status::Inconclusive,
                Ending::Finished | Ending::TimeUp | Ending::Stuck => Status::AsExpected,
            };
            if !signatures.is_empty() {
                return Broken { protocol, signatures, status: found };
            }
            status = Status::gravest([status, found].into_iter());
        }
        Broken { protocol: protocols[0], signatures: Vec::new(), status }
    }
}

/// Shows or writes what was shrunk; says what it comes to. What can't be written is shown.
fn finish(
    arguments: &ShrinkArguments,
    out: Out<'_>,
    find: Find<'_>,
    output: &mut Output,
) -> Result<(Entry, Status), Failure> {
    let Find { shrunk, protocol, .. } = find;
    let told = told(shrunk, protocol);
    let text = commented(&told.scenario, find)?;
    let (written, trouble) = match out.write(find, &text) {
        Ok(written) => (written, None),
        Err(trouble) => (None, Some(trouble)),
    };
    if arguments.format == Format::Text {
        match &written {
            Some(path) => output.show(|out| writeln!(out, "{}", shown_path(path)))?,
            None => output.show(|out| out.write_all(text.as_bytes()))?,
        }
    }
    if let Some(trouble) = &trouble {
        output.flush()?;
        output.complain(trouble);
    }
    let status = match (told.repeats, shrunk.account.spent.used_up) {
        (false, _) => Status::Bug,
        (true, true) => Status::Inconclusive,
        (true, false) => Status::AsExpected,
    };
    let status = Status::gravest([status].into_iter().chain(trouble.map(|_| Status::Misused)));
    let entry = Entry {
        protocol: protocol.name(),
        signature: shrunk.signature,
        account: shrunk.account.clone(),
        scenario: text,
        written: written.as_deref().map(shown_path),
    };
    Ok((entry, status))
}

fn account_of(shrunk: &Shrunk, protocol: &dyn AnyProtocol) -> String {
    let mut text = Vec::new();
    write_account(shrunk, protocol.name(), &mut text).expect("a Vec takes any bytes");
    String::from_utf8_lossy(&text).into_owned()
}

/// That there is nothing to shrink.
fn nothing(protocols: &[&'static dyn AnyProtocol], rule: Option<Rule>) -> String {
    let names: Vec<String> = protocols.iter().map(|protocol| protocol.name().to_owned()).collect();
    let what = match (rule, names.len()) {
        (Some(Rule::One(rule)), 1) => format!("doesn't violate {rule}"),
        (Some(Rule::One(rule)), _) => format!("don't violate {rule}"),
        (Some(Rule::All) | None, 1) => "violates nothing".to_owned(),
        (Some(Rule::All) | None, _) => "violate nothing".to_owned(),
    };
    format!("{} {what}, so there is nothing to shrink", listed(&names))
}

#[cfg(test)]
mod tests {
    use holdover_sim::protocol::PROTOCOLS;

    use super::*;

    #[test]
    fn one_protocol_violates_and_several_violate() {
        for (protocols, rule, told) in [
            (1, None, "naive violates nothing"),
            (1, Some(Rule::One("token-order")), "naive doesn't violate token-order"),
            (2, Some(Rule::All), "naive and monotonic violate nothing"),
            (3, Some(Rule::One("token-order")), "naive, monotonic and fenced don't violate token-order"),
        ] {
            assert_eq!(nothing(&PROTOCOLS[..protocols], rule), format!("{told}, so there is nothing to shrink"));
        }
    }
}
