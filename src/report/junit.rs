//! JUnit XML, which CI systems read: suites of cases, each with what is wrong with it if something is.
//!
//! There is no time of the host in it, nor anything else that differs from one machine to another: the same scenarios give
//! the same file.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Cases that belong together.
#[derive(Clone, Debug)]
pub struct TestGroup {
    /// Its name, which is that of the class of its cases as well.
    pub name: String,
    /// The file that it is about, if there is one.
    pub file: Option<String>,
    /// What else is to be told of it, by name.
    pub properties: Vec<(&'static str, String)>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub problem: Option<Problem>,
}

/// What is wrong with a case.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Which kind of element it is.
    pub kind: Kind,
    /// What sort of failure or error.
    pub sort: &'static str,
    /// What is wrong, in short.
    pub message: String,
    /// The same at length.
    pub text: String,
}

/// The kinds of element that say what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `<failure>`: it was tried, and what came of it isn't as expected or can't be told.
    Failure,
    /// `<error>`: it couldn't be tried, or what came of it means nothing.
    Error,
}

/// Writes `suites` as one document.
///
/// # Errors
/// What `out` says.
pub fn write(suites: &[TestGroup], out: &mut impl Write) -> io::Result<()> {
    let mut report = Report::new("holdover");
    report.add_test_suites(suites.iter().map(test_suite));
    let text = report.to_string().map_err(io::Error::other)?;
    // Nothing is ever skipped, and the schema that Jenkins goes by doesn't know this attribute of the root, which comes
    // before any other.
    let text = text.replacen(" skipped=\"0\"", "", 1);
    // What else XML can't have is already gone.
    out.write_all(text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}").as_bytes())
}

fn test_suite(suite: &TestGroup) -> TestSuite {
    let mut written = TestSuite::new(suite.name.as_str());
    if let Some(file) = &suite.file {
        written.extra.insert("file".into(), file.as_str().into());
    }
    written.add_properties(suite.properties.iter().map(|(name, value)| (*name, value.as_str())));
    written.add_test_cases(suite.cases.iter().map(|case| {
        let mut written = TestCase::new(case.name.as_str(), status(case.problem.as_ref()));
        written.set_classname(suite.name.as_str());
        written
    }));
    written
}

fn status(problem: Option<&Problem>) -> TestCaseStatus {
    let Some(problem) = problem else { return TestCaseStatus::success() };
    let mut status = TestCaseStatus::non_success(match problem.kind {
        Kind::Failure => NonSuccessKind::Failure,
        Kind::Error => NonSuccessKind::Error,
    });
    status.set_message(problem.message.as_str()).set_type(problem.sort).set_description(problem.text.as_str());
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `message` as it comes out of a file that it was written into.
    fn through_a_file(message: &str) -> (String, String) {
        let problem = Problem {
            kind: Kind::Failure,
            sort: "not-as-expected",
            message: message.to_owned(),
            text: message.to_owned(),
        };
        let suite = TestGroup {
            name: message.to_owned(),
            file: Some(message.to_owned()),
            properties: vec![("seed", message.to_owned())],
            cases: vec![Case { name: message.to_owned(), problem: Some(problem) }],
        };
        let mut out = Vec::new();
        write(&[suite], &mut out).expect("memory can be written");
        let text = String::from_utf8(out).expect("it is text");
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("there is one");
        let attribute = failure.attribute("message").expect("it has a message");
        (attribute.to_owned(), failure.text().unwrap_or_default().to_owned())
    }

    #[test]
    fn whatever_a_text_has_the_file_can_be_read() {
        for (message, read) in [
            ("a < b && c > d", "a < b && c > d"),
            ("\"quoted\" and 'quoted'", "\"quoted\" and 'quoted'"),
            ("]]> <!-- --> <?x?> <![CDATA[", "]]> <!-- --> <?x?> <![CDATA["),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{0}\u{8}\u{b}b", "ab"),
            ("a\u{fffe}\u{ffff}b", "a\u{fffd}\u{fffd}b"),
            ("日本 ü 🦀", "日本 ü 🦀"),
            (" skipped=\"0\"", " skipped=\"0\""),
            ("&amp; &#10;", "&amp; &#10;"),
        ] {
            assert_eq!(through_a_file(message), (read.to_owned(), read.to_owned()), "{message:?}");
        }
        assert_eq!(through_a_file("two\nlines").1, "two\nlines");
    }
}
