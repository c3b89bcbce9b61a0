//! Names of files with characters that nobody sees: every command escapes them wherever it prints them, and what it says to
//! do next works.

use std::fs;
use std::path::Path;

use crate::support::{QUIET, Ran, folder, run, shell};

/// Characters of every kind that a terminal obeys or nobody sees.
const UNSEEN: [char; 11] = [
    '\u{202e}', '\u{2066}', '\u{200b}', '\u{200f}', '\u{feff}', '\u{2028}', '\u{ad}', '\u{61c}', '\u{1b}',
    '\u{85}', '\u{fe0f}',
];

fn is_unseen(c: char) -> bool {
    UNSEEN.contains(&c)
}

/// A name with all of them.
fn name(end: &str) -> String {
    format!("a{}b{end}", String::from_iter(UNSEEN))
}

#[track_caller]
fn nothing_unseen(what: &str, text: &str) {
    assert!(!text.contains(is_unseen), "{what}: {text:?}");
}

/// Runs `arguments`, in which `FILE` is one of those names, in a folder that has it.
fn ran(arguments: &str, text: &str, status: i32) -> Ran {
    let folder = folder(&[(&name(".toml"), text)]);
    let script = format!("set -- '{}'; holdover {}", name(".toml"), arguments.replace("FILE", "\"$1\""));
    let ran = shell(&script, folder.path()).ended(status);
    nothing_unseen(arguments, &ran.stdout);
    nothing_unseen(arguments, &ran.stderr);
    for written in ["junit.xml", "page.html"] {
        let text = fs::read_to_string(folder.path().join(written)).unwrap_or_default();
        nothing_unseen(arguments, &text);
    }
    ran
}

const PAUSE: &str = r#"
[[fault]]
when = { point = "write.checked", node = "worker-a" }
inject = { pause = { node = "worker-a", for = "41s" } }
"#;

#[test]
fn nothing_that_is_printed_has_them() {
    let unmet = format!("{QUIET}{PAUSE}\n[expect.naive]\nsingle-writer = \"holds\"\n");
    let not_a_scenario = "title = 1";
    for (arguments, text, status) in [
        ("check FILE", unmet.as_str(), 1),
        ("check .", unmet.as_str(), 1),
        ("check FILE --format json", unmet.as_str(), 1),
        ("check FILE --format jsonl", unmet.as_str(), 1),
        ("check FILE --annotations github --junit junit.xml", unmet.as_str(), 1),
        ("check FILE --annotations github --junit junit.xml", not_a_scenario, 2),
        ("check FILE --junit FILE", QUIET, 2),
        ("check FILE/x", QUIET, 2),
        ("list scenarios .", QUIET, 0),
        ("list scenarios .", not_a_scenario, 2),
        ("list points FILE", QUIET, 2),
        ("replay FILE", unmet.as_str(), 1),
        ("replay FILE", not_a_scenario, 2),
        ("replay FILE.toml", QUIET, 2),
        ("replay FILE --format json --report page.html", unmet.as_str(), 1),
        ("replay FILE --format markdown", unmet.as_str(), 1),
        ("replay FILE --format mermaid", unmet.as_str(), 1),
        ("replay FILE --format perfetto", unmet.as_str(), 1),
        ("replay FILE --format svg", unmet.as_str(), 1),
        ("replay FILE --lane FILE", QUIET, 2),
        ("replay FILE --protocol FILE", QUIET, 2),
        ("replay FILE --from FILE", QUIET, 2),
        ("replay FILE --report FILE", QUIET, 2),
        ("replay FILE --seed FILE", QUIET, 2),
        ("replay FILE FILE", QUIET, 2),
        ("FILE", QUIET, 2),
        ("explain FILE --protocol naive", unmet.as_str(), 0),
        ("explain FILE --protocol naive --format json", unmet.as_str(), 0),
        ("hunt FILE --protocol naive --seeds 0..40 --junit junit.xml", unmet.as_str(), 1),
        ("hunt FILE --faults FILE", QUIET, 2),
        ("hunt FILE --seeds FILE", QUIET, 2),
        ("hunt FILE --shard FILE", QUIET, 2),
        ("shrink FILE --protocol naive", unmet.as_str(), 0),
        ("shrink FILE --protocol naive --format json", unmet.as_str(), 0),
        ("shrink FILE --rule FILE", QUIET, 2),
        ("judge FILE", QUIET, 2),
        ("judge FILE/x", QUIET, 2),
        ("judge ./it FILE", QUIET, 2),
        ("merge FILE", QUIET, 2),
        ("promote FILE", QUIET, 2),
    ] {
        ran(arguments, text, status);
    }
}

/// Also where a folder is called so.
#[test]
fn folders_are_shown_alike() {
    let folder = folder(&[("x.toml", &format!("{QUIET}{PAUSE}"))]);
    let script = |script: &str| format!("set -- '{}'; holdover {script}", name(""));
    for (arguments, status) in [
        ("shrink x.toml --protocol naive --rule single-writer --out \"$1\"", 0),
        ("hunt x.toml --protocol naive --seeds 0..20 --out \"$1\"/hunt", 1),
        ("hunt x.toml --protocol naive --seeds 0..20 --out \"$1\"/hunt", 2),
        ("merge \"$1\"/hunt --out \"$1\"/all", 1),
        ("check \"$1\"", 0),
        ("promote \"$1\"/single-writer-two-writers-naive --to \"$1\"/kept", 0),
        ("replay x.toml --report \"$1\"/page", 1),
    ] {
        let ran = shell(&script(arguments), folder.path()).ended(status);
        nothing_unseen(arguments, &ran.stdout);
        nothing_unseen(arguments, &ran.stderr);
    }
}

#[test]
fn a_command_with_such_a_name_works_when_it_is_pasted() {
    for c in UNSEEN.into_iter().chain(['\u{1160}', '\u{e0041}', '\u{2800}']) {
        let file = format!("a{c}'b.toml");
        let folder = folder(&[(&file, &format!("{QUIET}\n[expect.fenced]\nsingle-writer = \"violated\"\n"))]);
        let ran = shell("holdover check .", folder.path()).ended(1);
        nothing_unseen("check", &ran.stdout);
        let again = shell(ran.last_line(), folder.path()).ended(1);
        assert_eq!(again.last_line(), ran.last_line(), "{file:?}");
    }
}

#[test]
fn lists_turn_no_title() {
    let folder = folder(&[("x.toml", &QUIET.replacen("Nothing", "No\u{202e}thing", 1))]);
    let ran = shell("holdover list scenarios .", folder.path()).ended(0);
    assert!(ran.stdout.contains("No\\u{202e}thing"), "{:?}", ran.stdout);
}

/// What turns the direction of a line would turn that of an error's excerpt, too.
#[test]
fn excerpts_of_files_turn_nothing() {
    let text = "title = \"\u{202e}x\u{2066}\" oops\n";
    let folder = folder(&[("x.toml", text)]);
    let ran = run([Path::new("replay"), &folder.path().join("x.toml")]).ended(2);
    assert!(!ran.stderr.contains(['\u{202e}', '\u{2066}']), "{:?}", ran.stderr);
    assert!(ran.stderr.contains("\u{fffd}x\u{fffd}"), "{}", ran.stderr);
}
