//! `holdover check --junit`: the report that CI systems read.

use std::fs;
use std::path::Path;

use roxmltree::{Document, Node};
use serde_json::Value;

use crate::support::{CLOCK_JUMP, QUIET, folder, holdover, mixed, shell, snapshot};

/// What the schema that Jenkins goes by allows: elements, what may be in them, and their attributes.
const SCHEMA: [(&str, &[&str], &[&str]); 7] = [
    ("testsuites", &["testsuite"], &["name", "time", "tests", "failures", "errors"]),
    (
        "testsuite",
        &["properties", "testcase"],
        &["name", "tests", "failures", "errors", "skipped", "time", "timestamp", "file"],
    ),
    ("properties", &["property"], &[]),
    ("property", &[], &["name", "value"]),
    ("testcase", &["failure", "error"], &["name", "classname", "time"]),
    ("failure", &[], &["message", "type"]),
    ("error", &[], &["message", "type"]),
];

/// Checks `node` and all in it: names, attributes, and that what is counted is right.
fn check_node(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let (_, inside, attributes) =
        SCHEMA.iter().find(|(known, ..)| *known == name).unwrap_or_else(|| panic!("<{name}> isn't in the schema"));
    for attribute in node.attributes() {
        assert!(attributes.contains(&attribute.name()), "{} of <{name}> isn't in the schema", attribute.name());
        assert!(!attribute.name().starts_with("time"), "there is no time of the host in it");
    }
    for (count, element) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error")] {
        let counted = node.descendants().filter(|inner| inner.has_tag_name(element)).count();
        if let Some(said) = node.attribute(count) {
            assert_eq!(said, counted.to_string(), "{count} of <{name}>");
        }
    }
    for child in node.children().filter(Node::is_element) {
        assert!(inside.contains(&child.tag_name().name()), "<{}> in <{name}>", child.tag_name().name());
        check_node(child);
    }
}

fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the report is there");
    check_node(Document::parse(&text).expect("it is XML").root_element());
    text
}

#[test]
fn a_mixed_folder() {
    let folder = mixed();
    let plain = shell("holdover check mixed", folder.path()).ended(2);
    let ran = shell("holdover check mixed --junit report.xml", folder.path()).ended(2);
    assert_eq!((ran.stdout, ran.stderr), (plain.stdout, plain.stderr), "it changes nothing else");
    let text = read(&folder.path().join("report.xml"));
    snapshot!("check-junit", &text);

    shell("holdover check mixed --junit again.xml -q --format json", folder.path()).ended(2);
    assert_eq!(read(&folder.path().join("again.xml")), text, "the same scenarios give the same report");
}

/// Whoever sees a failed case can repeat that case alone.
#[test]
fn the_command_of_a_case_repeats_it() {
    let folder = mixed();
    shell("holdover check mixed --junit report.xml", folder.path()).ended(2);
    let text = read(&folder.path().join("report.xml"));
    let document = Document::parse(&text).expect("it is XML");
    let mut repeated = Vec::new();
    for problem in document.descendants().filter(|node| node.has_tag_name("failure") || node.has_tag_name("error"))
    {
        let sort = problem.attribute("type").expect("it says what it is");
        let status = match sort {
            "not-as-expected" => 1,
            "unusable" => 2,
            "inconclusive" => 3,
            _ => panic!("{sort}"),
        };
        let command = problem.text().and_then(|text| text.lines().last()).expect("it ends with a command");
        assert!(command.starts_with("holdover "), "{command}");
        shell(command, folder.path()).ended(status);
        repeated.push(sort);
    }
    let expected =
        ["inconclusive", "inconclusive", "inconclusive", "not-as-expected", "unusable", "not-as-expected"];
    assert_eq!(repeated, expected);
}

#[test]
fn a_green_report_has_the_cases_and_nothing_wrong() {
    let folder = folder(&[("a.toml", QUIET), ("invalid/b.toml", "title = 1")]);
    shell("holdover check . --junit reports/of/today.xml", folder.path()).ended(0);
    let text = read(&folder.path().join("reports/of/today.xml"));
    let document = Document::parse(&text).expect("it is XML");
    let cases: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .map(|case| (case.attribute("classname").unwrap_or_default(), case.attribute("name").unwrap_or_default()))
        .collect();
    let file = "./a.toml";
    assert_eq!(
        cases,
        [(file, "naive"), (file, "monotonic"), (file, "fenced"), ("./invalid/b.toml", "is refused")]
    );
}

#[test]
fn names_that_xml_minds_are_no_trouble() {
    for name in ["a<b>&\"c'.toml", "new\nline.toml", "\u{1b}[31mred.toml", "日本.toml"] {
        let folder = folder(&[(&format!("x/{name}"), QUIET)]);
        shell("holdover check x --junit report.xml", folder.path()).ended(0);
        let text = read(&folder.path().join("report.xml"));
        assert!(!text.contains('\u{1b}'), "{name:?}");
    }
}

/// A report of an earlier time isn't left to be taken for one of this.
#[test]
fn a_report_takes_the_place_of_one_that_was_there() {
    let folder = folder(&[("a.toml", QUIET), ("report.xml", &"x".repeat(100_000))]);
    shell("holdover check a.toml --junit report.xml", folder.path()).ended(0);
    assert!(!read(&folder.path().join("report.xml")).contains('x'.to_string().repeat(9).as_str()));
}

#[test]
fn where_no_report_can_be_nothing_is_run() {
    let folder = folder(&[("a.toml", QUIET), ("folder/b.toml", QUIET)]);
    std::os::unix::fs::symlink("a.toml", folder.path().join("link.xml")).expect("a link can be made");
    for (path, told) in [
        ("folder", "folder: the JUnit report can't be written"),
        ("a.toml/report.xml", "a.toml/report.xml: the JUnit report can't be written"),
        ("-", "can't be written to standard output"),
        ("a.toml", "a.toml: the JUnit report would be written over this scenario"),
        ("./folder/../a.toml", "would be written over this scenario"),
        ("link.xml", "link.xml: the JUnit report would be written over this scenario"),
    ] {
        let ran = shell(&format!("holdover check a.toml folder --junit {path}"), folder.path()).ended(2);
        assert_eq!(ran.stdout, "", "{path}");
        assert!(ran.stderr.contains(told), "{path}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(folder.path().join("a.toml")).as_deref().ok(), Some(QUIET));
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_that_finds_no_room_is_told_and_loses_no_results() {
    let folder = mixed();
    for (files, format) in
        [("mixed/good.toml", "text"), ("mixed", "text"), ("mixed", "json"), ("mixed/wrong.toml", "jsonl")]
    {
        let plain = shell(&format!("holdover check {files} --format {format}"), folder.path());
        let ran =
            shell(&format!("holdover check {files} --format {format} --junit /dev/full"), folder.path()).ended(2);
        assert_eq!(ran.stdout, plain.stdout);
        assert!(ran.stderr.contains("/dev/full: the JUnit report can't be written"), "{}", ran.stderr);
        assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
    }
    // The last line stays the command, whoever reads both streams as one.
    let both = shell("holdover check mixed --junit /dev/full 2>&1", folder.path()).ended(2);
    assert_eq!(both.last_line(), "holdover replay mixed/unusable.toml");
}

#[test]
#[cfg(target_os = "linux")]
fn results_that_find_no_room_lose_no_report() {
    let folder = mixed();
    shell("holdover check mixed --junit whole.xml", folder.path()).ended(2);
    let whole = read(&folder.path().join("whole.xml"));
    for (format, redirection, status, told) in [
        ("text", "> /dev/full", 2, true),
        ("json", "> /dev/full", 2, true),
        ("jsonl", "> /dev/full", 2, true),
        ("text", "| true", 0, false),
        ("text", ">&-", 2, false),
        ("jsonl", "2>&-", 2, false),
    ] {
        let script = format!("holdover check mixed --format {format} --junit report.xml {redirection}");
        let ran = shell(&script, folder.path()).ended(status);
        assert_eq!(ran.stderr.contains("the output can't be written"), told, "{script}: {}", ran.stderr);
        assert_eq!(read(&folder.path().join("report.xml")), whole, "{script}");
    }
    let ran = shell("holdover check mixed --junit /dev/full > /dev/full", folder.path()).ended(2);
    assert!(
        ran.stderr.contains("the JUnit report can't") && ran.stderr.contains("the output can't"),
        "{}",
        ran.stderr
    );
}

/// The report says the same as the results: its cases are the runs of the JSON document.
#[test]
fn it_says_what_the_results_say() {
    let folder = folder(&[]);
    let path = folder.path().join("report.xml");
    let ran = holdover()
        .args(["check", CLOCK_JUMP, "scenarios/faults/pause.toml", "--format", "json", "--junit"])
        .arg(&path)
        .output();
    let json: Value = serde_json::from_slice(&ran.expect("the command was built").stdout).expect("it is JSON");
    let files = json["checked"].as_array().expect("there are files").iter();
    let runs: Vec<&Value> = files.filter_map(|file| file["runs"].as_array()).flatten().collect();
    let text = read(&path);
    let document = Document::parse(&text).expect("it is XML");
    let cases: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
    assert_eq!(cases.len(), runs.len());
    for (case, run) in cases.iter().zip(runs) {
        assert_eq!(case.attribute("name"), run["protocol"].as_str());
        assert_eq!(case.has_children(), run["outcome"] != "as-expected");
    }
}
