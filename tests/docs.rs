//! The documents say what is so: every command shown in them is run and its output compared, every scenario in them is
//! read, and every path that they name is there.
//!
//! - A `console` block has commands after `$ `, each with its output below. Only `holdover` (also as `cargo run`) and the
//!   example are run, so commands that aren't to be run belong in a block of another kind. A line `…` stands for lines
//!   that were left out. `HOLDOVER_UPDATE_DOCS=1 cargo test --test docs` writes the present output into the blocks. Where
//!   something was left out it keeps as many first and last lines as there were, and finds a stretch in the middle again
//!   where the most lines are like it, numbers aside.
//! - A `toml` block is a scenario; a `toml fragment` goes below the smallest one. If its first line is a comment with a
//!   file's name, it is a file: one of the project, which then has the lines below, or a new one, which the commands of
//!   the document can use.
//! - In ARCHITECTURE.md a path may be short: relative to the folder in the heading above it.

mod files;
#[expect(dead_code, reason = "the example has a main function, and here it is a module")]
#[path = "../examples/own_protocol.rs"]
mod own_protocol;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdover::scenario::{SMALLEST, Scenario};

const DOCUMENTS: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "scenarios/README.md", "docs/clock-model.md", "docs/formats.md"];

/// The line that stands for lines that were left out.
const CUT: &str = "…";

/// A fenced block.
struct Block {
    /// What stands behind the opening fence.
    info: String,
    /// The index of its first line in the document.
    begin: usize,
    lines: Vec<String>,
}

/// The blocks of a document, in order.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block { info: info.to_owned(), begin: index + 1, lines: Vec::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block isn't closed");
    blocks
}

/// A command with the output that the document shows.
struct Shown {
    command: String,
    /// The index of the command's line in the document.
    line: usize,
    output: Vec<String>,
}

fn shown_commands(block: &Block) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for (index, line) in block.lines.iter().enumerate() {
        match (line.strip_prefix("$ "), shown.last_mut()) {
            (Some(command), _) => {
                shown.push(Shown { command: command.to_owned(), line: block.begin + index, output: Vec::new() });
            }
            (None, Some(last)) => last.output.push(line.clone()),
            (None, None) => panic!("line {}: a console block begins with a command", block.begin + 1),
        }
    }
    shown
}

/// The name of the file that a block is, as its first line has it.
fn file_name(block: &Block) -> Option<&str> {
    let name = block.lines.first()?.strip_prefix("# ")?;
    (block.info == "toml" && name.ends_with(".toml") && !name.contains(' ')).then_some(name)
}

/// A folder for the files that a document has its reader write.
fn scratch(document: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs").join(document.replace('/', "-"));
    fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// Writes the new files of a document into its scratch folder, and gives their names.
fn write_new_files(document: &str, blocks: &[Block]) -> BTreeSet<String> {
    let new = blocks.iter().filter_map(|block| {
        let name = file_name(block).filter(|name| !is_there(name))?;
        fs::write(scratch(document).join(name), block.lines.join("\n") + "\n").expect("the file can be written");
        Some(name.to_owned())
    });
    new.collect()
}

fn is_there(path: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists()
}

/// What a command prints, on stdout and stderr together.
fn output_of(command: &str, document: &str, new_files: &BTreeSet<String>) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_else(|| panic!("{command}: not a command line"));
    let is_setting = |word: &&String| word.split_once('=').is_some_and(|(name, _)| name.chars().all(is_name));
    let settings: Vec<&String> = words.iter().take_while(is_setting).collect();
    let words: Vec<&str> = words.iter().skip(settings.len()).map(String::as_str).collect();
    let arguments = match words.as_slice() {
        ["holdover", arguments @ ..] | ["cargo", "run", "--release", "--", arguments @ ..] => arguments,
        ["cargo", "run", "--example", "own_protocol"] => {
            let mut text = Vec::new();
            own_protocol::report(&mut text).expect("the example runs");
            return lines_of(&String::from_utf8(text).expect("text"));
        }
        _ => panic!("{document}: it isn't known how to run `{command}`"),
    };
    let uses_new_file = arguments.iter().any(|argument| new_files.contains(*argument));
    let (mut reader, writer) = pipe().expect("a pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_holdover"));
    child
        .args(arguments)
        .envs(settings.iter().filter_map(|setting| setting.split_once('=')))
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("GITHUB_ACTIONS")
        .current_dir(if uses_new_file { scratch(document) } else { env!("CARGO_MANIFEST_DIR").into() })
        .stdin(Stdio::null())
        .stdout(writer.try_clone().expect("a second end"))
        .stderr(writer);
    if !settings.iter().any(|setting| setting.starts_with("RUST_LOG=")) {
        child.env_remove("RUST_LOG");
    }
    let mut running = child.spawn().expect("the program starts");
    // Only the child must hold the writing end, or there is no end to read to.
    drop(child);
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    running.wait().expect("an end");
    lines_of(&text)
}

fn is_name(c: char) -> bool {
    c.is_ascii_uppercase() || c == '_'
}

/// The lines without blanks at their ends, and without empty ones at the end: documents have neither.
fn lines_of(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// What is left of `shown` between the cuts.
fn stretches(shown: &[String]) -> Vec<&[String]> {
    shown.split(|line| line == CUT).collect()
}

/// Why `output` isn't what is `shown`, if it isn't.
fn difference(shown: &[String], output: &[String]) -> Option<String> {
    let all = stretches(shown);
    let Some((last, others)) = all.split_last().filter(|(_, others)| !others.is_empty()) else {
        let lines = shown.len().max(output.len());
        let differs = (0..lines).find(|&index| shown.get(index) != output.get(index))?;
        let [shown, output] = [shown, output].map(|lines| lines.get(differs).map_or("(nothing)", |line| line));
        return Some(format!("  shown:   {shown}\n  printed: {output}"));
    };
    let mut rest = output;
    for (index, stretch) in others.iter().enumerate() {
        let places = rest.windows(stretch.len().max(1));
        let place = match index {
            0 => rest.starts_with(stretch).then_some(0),
            _ => places.into_iter().position(|window| window == *stretch),
        };
        match place {
            Some(place) => rest = &rest[place + stretch.len()..],
            None => return Some(format!("  not printed in this place:\n{}", stretch.join("\n"))),
        }
    }
    (!rest.ends_with(last)).then(|| format!("  not printed at the end:\n{}", last.join("\n")))
}

/// `shown` with what it shows taken anew from `output`.
fn renewed(shown: &[String], output: &[String]) -> Vec<String> {
    let all = stretches(shown);
    if all.len() == 1 {
        return output.to_vec();
    }
    let mut new = Vec::new();
    let mut from = 0;
    for (index, stretch) in all.iter().enumerate() {
        let begin = match index {
            0 => 0,
            _ if index + 1 == all.len() => output.len() - stretch.len().min(output.len()),
            _ => from + place_of(stretch, &output[from..]),
        };
        from = (begin + stretch.len()).min(output.len());
        if index > 0 {
            new.push(CUT.to_owned());
        }
        new.extend_from_slice(&output[begin..from]);
    }
    new
}

/// Where in `output` the most lines are like those of `stretch`.
fn place_of(stretch: &[String], output: &[String]) -> usize {
    let likeness = |(shown, printed): (&String, &String)| match shown == printed {
        true => 2,
        false => u32::from(without_numbers(shown) == without_numbers(printed)),
    };
    let likeness = |place: &usize| stretch.iter().zip(&output[*place..]).map(likeness).sum::<u32>();
    // Of those that are equally like it the first is meant, and `max_by_key` gives the last.
    let place = (0..output.len()).rev().max_by_key(likeness).filter(|place| likeness(place) > 0);
    place.unwrap_or_else(|| panic!("nothing that is printed is like this any more:\n{}", stretch.join("\n")))
}

/// The line with each run of digits, or of what looks like a hash, as one `#`.
fn without_numbers(line: &str) -> String {
    let plain = |word: &str| match word.len() >= 16 && word.chars().all(|c| c.is_ascii_hexdigit()) {
        true => "#".to_owned(),
        false => word.replace(|c: char| c.is_ascii_digit(), "#"),
    };
    let mut line = line.split(' ').map(plain).collect::<Vec<_>>().join(" ");
    while line.contains("##") {
        line = line.replace("##", "#");
    }
    line
}

#[test]
fn commands_print_what_is_shown() {
    let update = std::env::var_os("HOLDOVER_UPDATE_DOCS").is_some();
    let mut differences = Vec::new();
    for document in DOCUMENTS {
        let text = files::read(document);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let blocks = blocks(&text);
        let new_files = write_new_files(document, &blocks);
        let console = blocks.iter().filter(|block| block.info == "console");
        let all: Vec<Shown> = console.flat_map(shown_commands).collect();
        // From the last to the first, so that the lines of those before stay where they are.
        for shown in all.iter().rev() {
            let end = shown.line + 1 + shown.output.len();
            let output = output_of(&shown.command, document, &new_files);
            // An empty line before the next command is the document's.
            let kept = lines_of(&shown.output.join("\n"));
            let blank = shown.output.len() - kept.len();
            let Some(difference) = difference(&kept, &output) else { continue };
            differences.push(format!("{document}:{}: $ {}\n{difference}", shown.line + 1, shown.command));
            lines.splice(shown.line + 1..end - blank, renewed(&kept, &output));
        }
        if update {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
            fs::write(path, lines.join("\n") + "\n").expect("the document can be written");
        }
    }
    differences.reverse();
    assert!(
        update || differences.is_empty(),
        "\n{}\nHOLDOVER_UPDATE_DOCS=1 cargo test --test docs writes the present output into the documents\n",
        differences.join("\n\n")
    );
}

#[test]
fn scenarios_in_documents_can_be_read() {
    for document in DOCUMENTS {
        for block in blocks(&files::read(document)) {
            let text = block.lines.join("\n") + "\n";
            let place = format!("{document}:{}", block.begin);
            match (block.info.as_str(), file_name(&block)) {
                ("toml fragment", _) => check_scenario(&place, &format!("{SMALLEST}\n{text}")),
                ("toml", Some(name)) if is_there(name) => {
                    let (_, lines) = text.split_once('\n').expect("a line with the name");
                    assert!(files::read(name).contains(lines), "{place}: {name} hasn't these lines");
                }
                ("toml", _) => check_scenario(&place, &text),
                _ => {}
            }
        }
    }
}

fn check_scenario(place: &str, text: &str) {
    if let Err(error) = Scenario::parse(place, text) {
        panic!("{place}: {error:?}");
    }
}

/// The paths that a document names in code, each with the folder that the heading above it names.
fn paths(text: &str) -> Vec<(usize, String, String)> {
    let mut paths = Vec::new();
    let (mut folder, mut fenced) = (String::new(), false);
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let code: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if line.starts_with('#') {
            folder =
                code.first().filter(|path| path.ends_with('/')).map_or(String::new(), |path| (*path).to_owned());
        }
        let links = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let links = links.filter(|link| !link.is_empty() && !link.contains("://"));
        let named = code.into_iter().filter(|code| looks_like_path(code)).chain(links);
        paths.extend(named.map(|path| (index + 1, folder.clone(), path.to_owned())));
    }
    paths
}

fn looks_like_path(code: &str) -> bool {
    let path = code.split("::").next().unwrap_or(code);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let ends_like_file = [".rs", ".md", ".toml", ".lock"].iter().any(|ending| path.ends_with(ending));
    path.chars().all(is_plain) && (ends_like_file || path.contains('/'))
}

/// Where the path is, from the repository's root, if it is there; and with `file.rs::name`, if the file has that function.
fn resolve(document: &str, folder: &str, path: &str) -> Option<String> {
    let (path, function) = path.split_once("::").map_or((path, None), |(path, name)| (path, Some(name)));
    let beside = Path::new(document).parent().expect("a file is in a folder").display().to_string();
    let beside = if beside.is_empty() { beside } else { beside + "/" };
    let mut places = ["", folder, &beside].into_iter().map(|base| format!("{base}{path}"));
    let found = places.find(|place| is_there(place))?;
    let has = |name: &str| files::read(&found).contains(&format!("fn {name}("));
    function.is_none_or(has).then_some(found)
}

#[test]
fn paths_in_documents_are_there() {
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = files::read(document);
        let new_files = write_new_files(document, &blocks(&text));
        for (line, folder, path) in paths(&text) {
            if resolve(document, &folder, &path).is_none() && !new_files.contains(&path) {
                missing.push(format!("{document}:{line}: {path} isn't there"));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}

#[test]
fn the_code_map_has_every_file() {
    let text = files::read("ARCHITECTURE.md");
    let mapped: BTreeSet<String> = paths(&text)
        .into_iter()
        .filter_map(|(_, folder, path)| resolve("ARCHITECTURE.md", &folder, &path))
        .map(|path| path.trim_end_matches('/').to_owned())
        .collect();
    let is_mapped = |path: &String| mapped.contains(path.strip_suffix("/mod.rs").unwrap_or(path));
    let code =
        ["src", "sim/src", "host/src", "host/tests", "host/benches", "tests", "sim/tests", "examples", "benches"];
    let pages = [("src/report/html/assets", ""), ("tests/browser", ".mjs")];
    let pages = pages.iter().flat_map(|(folder, ending)| files::below(folder, ending));
    let missing: Vec<String> = code
        .iter()
        .flat_map(|folder| files::below(folder, ".rs"))
        .chain(pages.filter(|path| !path.contains("/node_modules/")))
        .filter(|path| !is_mapped(path))
        .map(|path| format!("ARCHITECTURE.md doesn't say what {path} is for"))
        .collect();
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}

#[test]
fn cuts_stand_for_any_lines_and_nothing_else_does() {
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let output = lines("a b7 c d e9");
    for (shown, same) in [
        ("a b7 c d e9", true),
        ("a b7 c d", false),
        ("a … e9", true),
        ("a … c … e9", true),
        ("a … c d", false),
        ("b7 … e9", false),
        ("a … x … e9", false),
        ("a … d c … e9", false),
        ("a … c … c … e9", false),
    ] {
        assert_eq!(difference(&lines(shown), &output).is_none(), same, "{shown}");
    }
    for (shown, new) in [("x", "a b7 c d e9"), ("x y … z", "a b7 … e9"), ("x … b1 y … z", "a … b7 c … e9")]
    {
        assert_eq!(renewed(&lines(shown), &output), lines(new), "{shown}");
    }
}
