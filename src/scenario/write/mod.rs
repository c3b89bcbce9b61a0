//! From a scenario to the text of its file, as a person would write it.
//!
//! A key is written beside where it is read, so that both halves are seen together: kinds of fault in `inject`, anchors in
//! `anchors`, clocks in `clocks`, expectations in `expectations`, durations and times in `value` and `calendar`. Here is
//! the rest: `world` has the tables of the world, `keys` the keys of one table, `text` texts in quotes, and `page` puts
//! tables below each other.
//!
//! What was written is read before anyone gets it. So the reader is the one judge of what a file can say, and no text ever
//! says anything but the scenario that it was made from. What a file has no words for is written in words that the reader
//! refuses, such as the name `node 99` for a node that isn't there.

mod keys;
mod page;
mod text;
mod world;

pub(super) use keys::{Keys, Setting, other_than};
pub(super) use page::Page;
pub(super) use text::key;

use holdover_sim::fault::PlannedFault;
use thiserror::Error;

use super::{MAX_BYTES, Scenario, ScenarioError, anchors, expectations, inject};

/// Why a scenario can't be written: some part of it is against the rules of scenario files, or beyond what they can say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} can't be written: {why}")]
pub struct NotWritable {
    /// Which part, as the file would have had it: "`ttl` of \[lease\]", "`inject` of fault 2".
    pub what: String,
    /// What is wrong with it: mostly what the reader would have said of the file.
    pub why: String,
}

/// The text of the file that `scenario` is.
pub(super) fn scenario(scenario: &Scenario) -> Result<String, NotWritable> {
    let page = page_of(scenario);
    let no_file = |why: String| Err(NotWritable { what: "the scenario".to_owned(), why });
    if page.text().len() as u64 > MAX_BYTES {
        return no_file(format!("its file would be larger than {} MiB", MAX_BYTES >> 20));
    }
    match scenario.suite.parse("its file", page.text()) {
        Ok(read) => match difference(scenario, &read) {
            None => Ok(page.into_text()),
            Some(part) => {
                let why = "from a file it would come back as another".to_owned();
                Err(NotWritable { what: part.to_owned(), why })
            }
        },
        Err(ScenarioError::File(error)) => no_file(error.to_string()),
        Err(ScenarioError::Text(error)) => {
            let mistake = error.first();
            let place = mistake.labels.first().map_or(0, |label| label.offset());
            Err(NotWritable { what: page.part_at(place).to_owned(), why: mistake.message.clone() })
        }
    }
}

/// The first part in which two scenarios differ.
fn difference(one: &Scenario, other: &Scenario) -> Option<&'static str> {
    let parts = [
        ("the title", one.title == other.title),
        ("the story", one.story == other.story),
        ("the seed", one.seed == other.seed),
        ("the world", one.world == other.world),
        ("the plan", one.plan == other.plan),
        ("the list of protocols", one.protocols == other.protocols),
        ("what is expected", one.expect == other.expect),
        ("the scenario", one == other),
    ];
    parts.into_iter().find(|(_, is_same)| !is_same).map(|(part, _)| part)
}

fn page_of(scenario: &Scenario) -> Page {
    let setting = Setting::of(&scenario.world);
    let mut page = Page::default();
    page.table("", "the scenario", world::top(scenario, &setting));
    world::tables(&scenario.world, &setting, &mut page);
    for (fault, number) in scenario.plan.iter().zip(1..) {
        page.table("[[fault]]", &format!("fault {number}"), keys_of(fault, &setting));
    }
    expectations::write(scenario, &setting, &mut page);
    page
}

fn keys_of<'s>(fault: &PlannedFault, setting: &'s Setting<'_>) -> Keys<'s> {
    let mut keys = Keys::new(setting);
    keys.table("when", |keys| anchors::write(&fault.when, keys));
    keys.table("inject", |keys| inject::write(&fault.inject, keys));
    keys.text("note", fault.note.as_deref());
    keys.text("name", fault.name.as_deref());
    keys
}
