//! `holdover merge`: join what the shares of a hunt found.

use super::args::{Format, MergeArguments};
use super::command;
use super::exit::{Failure, Status};
use super::hunt::{self, Folder};
use super::output::Output;
use crate::explore::hunt::Findings;
use crate::suite::Suite;

pub(super) fn run(arguments: &MergeArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let parts: Vec<Findings> = arguments.folders.iter().map(|path| hunt::read(path)).collect::<Result<_, _>>()?;
    let mut findings: Option<Findings> = None;
    for (path, part) in arguments.folders.iter().zip(&parts) {
        match &mut findings {
            None => findings = Some(part.clone()),
            Some(findings) => findings
                .join(part.clone())
                .map_err(|why| Failure::Findings { path: path.clone(), why: why.to_string() })?,
        }
    }
    let Some(findings) = findings else { return Err(Failure::NoFindings) };
    let folder = arguments.out.as_deref().map(Folder::create).transpose()?;
    let kept = folder.as_ref().map_or(Ok(()), |folder| keep(folder, &findings, &parts, arguments));
    hunt::show(arguments.format, &findings, output)?;
    let status = match hunt::status(&findings) {
        Status::AsExpected if findings.shares_missing() > 0 => Status::Inconclusive,
        status => status,
    };
    if let (Some(failure), Some(out), Ok(())) = (findings.failures.first(), &arguments.out, &kept) {
        let command = command::replay(suite, &hunt::scenario_in(out, failure), &[], None);
        match arguments.format {
            Format::Text => output.show(|to| std::io::Write::write_fmt(to, format_args!("\n{command}\n")))?,
            Format::Json => output.aside(&command)?,
        }
    }
    Ok(hunt::with_troubles(status, &Vec::from_iter(kept.err()), output))
}

/// Keeps all that was found in `folder`, as the folders of the parts have it.
fn keep(
    folder: &Folder,
    findings: &Findings,
    parts: &[Findings],
    arguments: &MergeArguments,
) -> Result<(), Failure> {
    for failure in &findings.failures {
        // The example is one of the parts', and so is its scenario.
        let has_it = |part: &Findings| {
            part.failures.iter().any(|one| one.name() == failure.name() && one.example == failure.example)
        };
        let place = parts.iter().position(has_it).expect("an example comes from one of the parts");
        folder.copy_from(&arguments.folders[place], failure)?;
    }
    folder.keep_findings(findings)
}
