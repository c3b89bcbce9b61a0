//! `holdover list`: what there is, from the registries.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::args::{Format, ListArguments, Listed};
use super::check::candidates_in;
use super::exit::{Failure, Status};
use super::output::Output;
use crate::report::paragraph;
use crate::scenario::shown_path;
use crate::shown;
use crate::sim::check::{ASSUMPTIONS, CHECKERS, SIGHTINGS};
use crate::sim::fault::FAULTS;
use crate::sim::history::EVENTS;
use crate::sim::point::{POINTS, REPAIR_POINTS};
use crate::sim::repair::PROCEDURES;
use crate::sim::service::{MESSAGES, REPAIR_MESSAGES};
use crate::suite::Suite;

/// Where scenarios are if nobody says.
const SCENARIOS: &str = "scenarios";

/// One thing in a list.
#[derive(Serialize)]
struct Item {
    name: String,
    summary: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<Item>,
}

pub(super) fn run(arguments: &ListArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    if let Some(folder) = arguments.folder.as_ref().filter(|_| arguments.what != Listed::Scenarios) {
        return Err(Failure::NoFolder { path: folder.clone() });
    }
    let mut failures = Vec::new();
    let items = match arguments.what {
        Listed::Protocols => suite.named().map(|protocol| item(protocol.name(), protocol.summary())).collect(),
        Listed::Faults => faults(),
        Listed::Checkers => CHECKERS
            .iter()
            .map(|checker| item(checker.name, &format!("holds when {}", checker.holds_when)))
            .collect(),
        Listed::Assumptions => {
            ASSUMPTIONS.iter().map(|assumption| item(assumption.name, assumption.sentence)).collect()
        }
        Listed::Points => {
            POINTS.iter().chain(REPAIR_POINTS).map(|(point, meaning)| item(point.0, meaning.trim())).collect()
        }
        Listed::Events => EVENTS.iter().map(|(event, meaning)| item(event, meaning)).collect(),
        Listed::Messages => {
            MESSAGES.iter().chain(REPAIR_MESSAGES).map(|(message, meaning)| item(message, meaning)).collect()
        }
        Listed::Procedures => {
            PROCEDURES.iter().map(|procedure| item(procedure.name(), procedure.summary())).collect()
        }
        Listed::Sightings => SIGHTINGS.iter().map(|sighting| item(sighting.name, sighting.meaning)).collect(),
        Listed::Scenarios => {
            let folder = arguments.folder.as_deref().unwrap_or(Path::new(SCENARIOS));
            scenarios(folder, suite, &mut failures)?
        }
    };
    let width = output.width();
    output.show(|out| match arguments.format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &items)?;
            writeln!(out)
        }
        Format::Text => show(&items, 0, width, out),
    })?;
    output.flush()?;
    for failure in &failures {
        output.complain(failure);
    }
    Ok(if failures.is_empty() { Status::AsExpected } else { Status::Misused })
}

fn item(name: &str, summary: &str) -> Item {
    Item { name: name.to_owned(), summary: summary.to_owned(), fields: Vec::new() }
}

fn faults() -> Vec<Item> {
    let faults = FAULTS.iter().map(|fault| {
        let fields = fault.fields.iter().map(|field| item(field.name, field.meaning)).collect();
        Item { fields, ..item(fault.name, fault.summary) }
    });
    faults.collect()
}

/// The scenarios in `folder`; what is wrong with some of them goes to `failures`.
fn scenarios(folder: &Path, suite: &Suite, failures: &mut Vec<Failure>) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for candidate in candidates_in(folder)?.into_iter().filter(|candidate| !candidate.invalid) {
        let path = shown_path(&candidate.path);
        match candidate.load(suite) {
            Ok((scenario, _)) => items.push(item(&path, &scenario.title)),
            Err(error) => failures.push(error.into()),
        }
    }
    Ok(items)
}

fn show(items: &[Item], indent: usize, width: usize, out: &mut impl Write) -> io::Result<()> {
    let widest = items.iter().map(|item| item.name.chars().count()).max().unwrap_or(0);
    for item in items {
        let head = format!("{:indent$}{:<widest$}  ", "", item.name);
        paragraph(out, &head, indent + widest + 2, &shown::text(&item.summary), Default::default(), width)?;
        show(&item.fields, indent + 4, width, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_fit_into_narrow_and_wide_terminals() {
        for width in [60, 80, 120] {
            let mut out = Vec::new();
            show(&faults(), 0, width, &mut out).expect("memory can be written");
            let text = String::from_utf8(out).expect("lists are text");
            let lines = || text.lines().map(|line| line.chars().count());
            assert!(lines().all(|columns| columns <= width), "{width}:\n{text}");
            assert!(lines().any(|columns| columns > width - 10), "{width} columns are used:\n{text}");
        }
    }
}
