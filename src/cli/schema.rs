//! `holdover schema`: the JSON Schema of scenario files, for editors.

use std::io::Write;

use super::exit::{Failure, Status};
use super::output::Output;
use crate::scenario::json_schema;

pub(super) fn run(output: &mut Output) -> Result<Status, Failure> {
    let schema = json_schema();
    output.show(|out| {
        serde_json::to_writer_pretty(&mut *out, &schema)?;
        writeln!(out)
    })?;
    Ok(Status::AsExpected)
}
