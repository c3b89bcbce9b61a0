//! How replays are shown, whether their runs were made here or stored.

use std::io::Write;

use super::args::{ReplayFormat, ShowArguments};
use super::excerpt;
use super::exit::{Failure, Status};
use super::output::Output;
use crate::replay::Replay;
use crate::report::{json, jsonl, markdown, mermaid, perfetto, svg, text};

/// What is to be shown.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) replay: &'a Replay<'a>,
    /// Where it comes from.
    pub(super) file: &'a str,
    /// What repeats it.
    pub(super) command: &'a str,
}

/// Whether the arguments go together.
pub(super) fn check(arguments: &ShowArguments) -> Result<(), Failure> {
    match arguments.verbose && arguments.format != ReplayFormat::Text {
        true => Err(Failure::NoTimeline { format: arguments.format.name() }),
        false => Ok(()),
    }
}

/// Shows it, and says what it comes to.
pub(super) fn show(shown: Shown<'_>, arguments: &ShowArguments, output: &mut Output) -> Result<Status, Failure> {
    let Shown { replay, file, command } = shown;
    let excerpt = excerpt::of(arguments, replay)?;
    let status = Status::from(replay.outcome());
    match arguments.format {
        ReplayFormat::Text => {
            let layout = text::Layout { width: output.all_columns(), verbose: arguments.verbose };
            output.show(|out| text::write_excerpt(replay, file, layout, &excerpt, out))?;
            if status != Status::AsExpected {
                output.show(|out| writeln!(out, "\n{command}"))?;
            }
        }
        ReplayFormat::Json => output.show(|out| json::write(replay, file, command, out))?,
        ReplayFormat::Jsonl => output.show(|out| jsonl::write(replay, out))?,
        ReplayFormat::Markdown => {
            output.show(|out| markdown::write(replay, file, command, &excerpt, out))?;
        }
        ReplayFormat::Perfetto => output.show(|out| perfetto::write(replay, file, command, out))?,
        ReplayFormat::Svg => output.show(|out| svg::write(replay, &excerpt, out))?,
        ReplayFormat::Mermaid => output.show(|out| mermaid::write(replay, &excerpt, out))?,
    }
    if status != Status::AsExpected && arguments.format != ReplayFormat::Text {
        output.aside(command)?;
    }
    Ok(status)
}
