//! `holdover schema`: the JSON Schemas of what is read and written, for editors and programs.

use std::io::Write;

use super::args::{Described, SchemaArguments};
use super::exit::{Failure, Status};
use super::output::Output;
use crate::report::history_schema;
use crate::scenario::json_schema;
use crate::suite::Suite;

pub(super) fn run(arguments: &SchemaArguments, suite: &Suite, output: &mut Output) -> Result<Status, Failure> {
    let schema = match arguments.of {
        Described::Scenario => json_schema(suite),
        Described::History => history_schema(),
    };
    output.show(|out| {
        serde_json::to_writer_pretty(&mut *out, &schema)?;
        writeln!(out)
    })?;
    Ok(Status::AsExpected)
}
