//! Places in a scenario's file, as editors count them: where what a scenario expects is written, and where what is wrong
//! with it is.

use std::collections::BTreeMap;

use miette::{Diagnostic, LabeledSpan};
use serde::Serialize;
use toml::Spanned;

use super::error::{FileError, Mistake, ScenarioError, TextError};
use super::file::{ExpectFile, ScenarioFile};

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl Place {
    /// The place of the byte at `offset` in `text`; behind its end if there is no such byte.
    fn of(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        // A byte order mark is no character that an editor shows.
        let column = before[begin..].trim_start_matches('\u{feff}').chars().count() + 1;
        Place { line, column }
    }

    /// The beginning of a line.
    fn line(line: usize) -> Place {
        Place { line, column: 1 }
    }
}

impl ScenarioError {
    /// All that is wrong, and where in the file each is, if it is at one place.
    pub fn places(&self) -> Vec<(Option<Place>, &dyn Diagnostic)> {
        match self {
            ScenarioError::File(error) => vec![(error.place(), error)],
            ScenarioError::Text(error) => {
                error.mistakes().map(|mistake| (error.place(mistake), mistake as &dyn Diagnostic)).collect()
            }
        }
    }
}

impl FileError {
    fn place(&self) -> Option<Place> {
        match self {
            FileError::ControlCharacter { line, .. } | FileError::LongLine { line, .. } => {
                Some(Place::line(*line))
            }
            _ => None,
        }
    }
}

impl TextError {
    /// Where in the text `mistake` is, if it is at one place.
    pub fn place(&self, mistake: &Mistake) -> Option<Place> {
        let label = mistake.labels.iter().find(|label| label.primary()).or(mistake.labels.first());
        label.map(LabeledSpan::offset).map(|offset| Place::of(self.source_text().inner(), offset))
    }
}

/// Where in a scenario's file is written what it expects.
#[derive(Clone, Debug)]
pub struct Places {
    text: String,
    offsets: Offsets,
}

/// The same as bytes of the text.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    title: usize,
    steps: Option<usize>,
    protocols: BTreeMap<String, usize>,
    expect: BTreeMap<String, ExpectOffsets>,
}

#[derive(Clone, Debug)]
struct ExpectOffsets {
    table: usize,
    verdicts: BTreeMap<String, usize>,
    seen: BTreeMap<String, usize>,
}

impl Offsets {
    pub(super) fn of(file: &ScenarioFile) -> Offsets {
        let expect = file.expect.iter().map(|(protocol, expect)| {
            (protocol.get_ref().clone(), ExpectOffsets::of(protocol.span().start, expect))
        });
        Offsets {
            title: file.title.span().start,
            steps: file.steps.as_ref().map(|steps| steps.span().start),
            protocols: file.protocols.iter().flat_map(Spanned::get_ref).map(named).collect(),
            expect: expect.collect(),
        }
    }

    pub(super) fn in_text(self, text: String) -> Places {
        Places { text, offsets: self }
    }
}

impl ExpectOffsets {
    fn of(table: usize, file: &ExpectFile) -> ExpectOffsets {
        ExpectOffsets {
            table,
            verdicts: file.verdicts.iter().map(|(checker, _)| named(checker)).collect(),
            seen: file.seen.iter().map(named).collect(),
        }
    }
}

fn named(name: &Spanned<String>) -> (String, usize) {
    (name.get_ref().clone(), name.span().start)
}

impl Places {
    /// Where it is written what `checker` should conclude of the run under `protocol`. For a rule that isn't mentioned
    /// that is the table of the protocol, or what else has the run made.
    pub fn verdict(&self, protocol: &str, checker: &str) -> Place {
        let stated = self.offsets.expect.get(protocol).and_then(|expect| expect.verdicts.get(checker));
        self.at_or_run(stated, protocol)
    }

    /// Where it is written that the run under `protocol` must have seen `sighting`.
    pub fn seen(&self, protocol: &str, sighting: &str) -> Place {
        let stated = self.offsets.expect.get(protocol).and_then(|expect| expect.seen.get(sighting));
        self.at_or_run(stated, protocol)
    }

    /// Where the bound on steps of the run under `protocol` is written.
    pub fn steps(&self, protocol: &str) -> Place {
        self.at_or_run(self.offsets.steps.as_ref(), protocol)
    }

    /// Where it is written that the scenario is run under `protocol`: the table of what is expected of it, the list of
    /// protocols, or, where there is neither, the title.
    pub fn run(&self, protocol: &str) -> Place {
        let table = self.offsets.expect.get(protocol).map(|expect| expect.table);
        let listed = || self.offsets.protocols.get(protocol).copied();
        Place::of(&self.text, table.or_else(listed).unwrap_or(self.offsets.title))
    }

    fn at_or_run(&self, offset: Option<&usize>, protocol: &str) -> Place {
        offset.map_or_else(|| self.run(protocol), |offset| Place::of(&self.text, *offset))
    }
}

#[cfg(test)]
mod tests {
    use super::super::SMALLEST;
    use super::*;
    use crate::suite::Suite;

    #[test]
    fn places_are_counted_as_editors_count() {
        for (text, offset, line, column) in [
            ("ab\ncd", 0, 1, 1),
            ("ab\ncd", 1, 1, 2),
            ("ab\ncd", 2, 1, 3),
            ("ab\ncd", 3, 2, 1),
            ("ab\r\ncd", 4, 2, 1),
            ("äö\nü = 1", 5, 2, 1),
            ("äö = 1", 4, 1, 3),
            ("\u{feff}ab", 3, 1, 1),
            ("\u{feff}a\nb", 5, 2, 1),
            ("ab\n", 3, 2, 1),
            ("ab", 99, 1, 3),
            ("", 0, 1, 1),
        ] {
            assert_eq!(Place::of(text, offset), Place { line, column }, "{text:?} at {offset}");
        }
    }

    /// What stands at a place of `SMALLEST` with `more` below it.
    fn at(more: &str, place: impl Fn(&Places) -> Place) -> (usize, String) {
        let text = format!("{SMALLEST}{more}");
        let (_, places) = Suite::builtin().parse_with_places("x.toml", &text).expect("a scenario");
        let Place { line, column } = place(&places);
        let written = text.lines().nth(line - 1).expect("there is such a line");
        (line, written.chars().skip(column - 1).collect())
    }

    #[test]
    fn expectations_are_where_they_are_written() {
        let tables = "[expect.naive]\nsingle-writer = \"holds\"\nseen = [\"takeover\",\n  \"belief-overlap\"]\n";
        let dotted = "[expect]\nnaive.single-writer = \"holds\"\nfenced = { stale-write = \"holds\" }\n";
        let below = SMALLEST.lines().count();
        let told = |line: usize, rest: &str| (below + line, rest.to_owned());
        assert_eq!(at(tables, |places| places.run("naive")), told(1, "naive]"));
        assert_eq!(
            at(tables, |places| places.verdict("naive", "single-writer")),
            told(2, "single-writer = \"holds\"")
        );
        assert_eq!(at(tables, |places| places.verdict("naive", "progress")), told(1, "naive]"));
        assert_eq!(at(tables, |places| places.seen("naive", "takeover")), told(3, "\"takeover\","));
        assert_eq!(at(tables, |places| places.seen("naive", "belief-overlap")), told(4, "\"belief-overlap\"]"));
        assert_eq!(at(tables, |places| places.steps("naive")), told(1, "naive]"));
        assert_eq!(
            at(dotted, |places| places.verdict("naive", "single-writer")),
            told(2, "single-writer = \"holds\"")
        );
        assert_eq!(
            at(dotted, |places| places.verdict("fenced", "stale-write")),
            told(3, "stale-write = \"holds\" }")
        );
    }

    #[test]
    fn without_a_table_it_is_the_list_of_protocols_or_the_title() {
        let (line, rest) = at("", |places| places.verdict("fenced", "progress"));
        assert_eq!((line, rest.as_str()), (1, "\"Two workers, one lease\""));
        let text = SMALLEST.replacen("\n\n", "\nsteps = 50\nprotocols = [\"naive\", \"fenced\"]\n\n", 1);
        let (_, places) = Suite::builtin().parse_with_places("x.toml", &text).expect("a scenario");
        assert_eq!(places.steps("naive"), Place { line: 3, column: 9 });
        assert_eq!(places.verdict("fenced", "progress"), Place { line: 4, column: 23 });
        let marked = format!("\u{feff}{text}");
        let (_, marked) =
            Suite::builtin().parse_with_places("x.toml", &marked).expect("a scenario with a byte order mark");
        assert_eq!(marked.steps("naive"), places.steps("naive"));
        assert_eq!(marked.run("monotonic"), places.run("monotonic"));
    }

    #[test]
    fn mistakes_are_where_they_were_made() {
        let wrong = SMALLEST.replace("\"40s\"", "\"0s\"").replace("operations = 14", "operations = 0");
        let long = format!("{SMALLEST}# {}\n", "x".repeat(20_000));
        for (text, found) in [
            (wrong.as_str(), &[Some((5, 7)), Some((9, 14))][..]),
            ("title = 1", &[Some((1, 9))]),
            ("# ä\ntitel = \"x\"\n", &[Some((2, 1))]),
            ("", &[None]),
            ("a = 1\nb = \"\u{1}\"", &[Some((2, 1))]),
            (long.as_str(), &[Some((SMALLEST.lines().count() + 1, 1))]),
        ] {
            let error = Suite::builtin().parse("x.toml", text).expect_err("it is no scenario");
            let places: Vec<_> =
                error.places().iter().map(|(place, _)| place.map(|place| (place.line, place.column))).collect();
            assert_eq!(places, found, "{error}");
        }
    }
}
