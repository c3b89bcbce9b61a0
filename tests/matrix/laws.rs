//! What must be so of every command, whatever it is given: it ends with a status that is documented and fits what it says, it
//! says something, what it writes can be read, and the command that it says repeats it does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use holdover::explore::hunt::Findings;
use holdover::replay::{Outcome, Replay};
use holdover::report::history_schema;
use holdover::scenario::Scenario;
use jsonschema::Validator;
use serde_json::Value;

use crate::commands::{Drawing, Shape};

/// What came of a command.
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Words that are said of the program itself if it goes wrong.
const TROUBLE: [&str; 5] =
    ["panicked at", "stack backtrace", "RUST_BACKTRACE", "this is a bug in holdover", "memory allocation"];

/// Nouns that are counted.
const COUNTED: [(&str, &str); 14] = [
    ("seed", "seeds"),
    ("run", "runs"),
    ("fault", "faults"),
    ("event", "events"),
    ("scenario", "scenarios"),
    ("failure", "failures"),
    ("mistake", "mistakes"),
    ("worker", "workers"),
    ("operation", "operations"),
    ("row", "rows"),
    ("share", "shares"),
    ("protocol", "protocols"),
    ("place", "places"),
    ("value", "values"),
];

/// Runs what `command` is told to run, with nothing in its environment that it listens to.
pub(crate) fn run(command: &mut Command, folder: &Path, log: &str) -> Result<Ran, String> {
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM", "CI", "GITHUB_ACTIONS"] {
        command.env_remove(variable);
    }
    command.env_remove("GITHUB_WORKSPACE").env("RUST_LOG", log).current_dir(folder).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    let text =
        |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|error| format!("what is printed isn't text: {error}"));
    Ok(Ran { status: output.status.code(), stdout: text(output.stdout)?, stderr: text(output.stderr)? })
}

pub(crate) fn holdover(words: &[&str], folder: &Path) -> Result<Ran, String> {
    run(Command::new(env!("CARGO_BIN_EXE_holdover")).args(words), folder, "")
}

/// Runs a command as it would be pasted into a shell.
fn paste(line: &str, folder: &Path) -> Result<Ran, String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_holdover"));
    let paths = binary.parent().into_iter().map(Path::to_owned);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let paths = paths.chain(std::env::split_paths(&usual));
    let path = std::env::join_paths(paths).map_err(|error| error.to_string())?;
    run(Command::new("sh").args(["-c", line]).env("PATH", path), folder, "")
}

fn ensure(is_so: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what()) }
}

/// Looks at what came of `drawing` in `folder`; the error is the law that was broken.
pub(crate) fn look_at(drawing: &Drawing, ran: &Ran, folder: &Path, schema: &Validator) -> Result<(), String> {
    let Ran { status, stdout, stderr } = ran;
    let status = status.ok_or_else(|| "a signal ended it".to_owned())?;
    ensure(drawing.statuses.contains(&status), || {
        format!("the status is {status} and not one of {:?}", drawing.statuses)
    })?;
    // Lines for programs are only those of files that aren't as expected, where that is what was asked for.
    let may_be_silent = status == 0 && drawing.shape == Shape::Lines && drawing.has("--quiet");
    let is_silent = stdout.trim().is_empty() && stderr.trim().is_empty();
    ensure(!is_silent || may_be_silent, || "it says nothing".to_owned())?;
    for trouble in TROUBLE {
        ensure(!stdout.contains(trouble) && !stderr.contains(trouble), || format!("it says `{trouble}`"))?;
    }
    is_harmless(drawing, ran)?;
    numbers_agree(stdout)?;
    numbers_agree(stderr)?;
    if status == 2 {
        return is_refused(stdout, stderr);
    }
    has_its_shape(drawing, stdout, schema)?;
    for file in &drawing.written {
        let text = fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))?;
        ensure(!text.is_empty(), || format!("{file} is empty"))?;
        if file.ends_with(".xml") {
            roxmltree::Document::parse(&text).map_err(|error| format!("{file}: {error}"))?;
        }
    }
    match drawing.command() {
        "replay" | "judge" => replay_fits(drawing, status, ran, folder),
        "check" => check_fits(drawing, status, ran, folder),
        "hunt" => hunt_fits(drawing, status, ran, folder),
        "shrink" => shrink_fits(drawing, status, ran, folder),
        "explain" => explain_fits(drawing, status, ran, folder),
        _ => Ok(()),
    }
}

/// Nothing that a terminal obeys or that turns a line is printed for people.
fn is_harmless(drawing: &Drawing, ran: &Ran) -> Result<(), String> {
    let is_data = matches!(drawing.shape, Shape::Json | Shape::Lines | Shape::Histories);
    for text in [&ran.stderr, &ran.stdout].into_iter().take(if is_data { 1 } else { 2 }) {
        let hostile = text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}');
        ensure(hostile.is_none(), || format!("it prints {hostile:?}"))?;
    }
    Ok(())
}

/// One thing is one, and several are several.
fn numbers_agree(text: &str) -> Result<(), String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "·():;|\"".contains(c)).collect();
    for pair in words.windows(2) {
        let [number, noun] = pair else { continue };
        let noun = noun.trim_end_matches([',', '.', '*', '`']);
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == ',');
        if !is_number || number.ends_with(',') {
            continue;
        }
        let wrong = COUNTED.iter().any(|(one, more)| if *number == "1" { noun == *more } else { noun == *one });
        ensure(!wrong, || format!("it says `{number} {noun}`"))?;
    }
    Ok(())
}

/// A refusal names a place and says what to do.
fn is_refused(stdout: &str, stderr: &str) -> Result<(), String> {
    ensure(stderr.contains('×') || stderr.starts_with("error: "), || "the refusal isn't on stderr".to_owned())?;
    let helps = ["help:", "For more information", "tip:", "write ", "hunt.json"];
    ensure(helps.iter().any(|help| stderr.contains(help)), || format!("there is no help: {stderr}{stdout}"))
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("it isn't JSON: {error}"))
}

fn has_its_shape(drawing: &Drawing, stdout: &str, schema: &Validator) -> Result<(), String> {
    match drawing.shape {
        Shape::Text | Shape::Scenario => Ok(()),
        Shape::Other => ensure(!stdout.trim().is_empty(), || "there is no result".to_owned()),
        Shape::Json => json(stdout).map(drop),
        Shape::Lines => stdout.lines().try_for_each(|line| json(line).map(drop)),
        Shape::Histories => {
            ensure(stdout.lines().count() > 2, || "there is no history".to_owned())?;
            for line in stdout.lines() {
                let value = json(line)?;
                schema.validate(&value).map_err(|error| format!("the schema refuses {line}: {error}"))?;
            }
            Ok(())
        }
        Shape::Xml => roxmltree::Document::parse(stdout).map(drop).map_err(|error| error.to_string()),
    }
}

/// The last line of where the command is said, if it is one.
fn last_command<'a>(drawing: &Drawing, ran: &'a Ran) -> Option<&'a str> {
    let text =
        if drawing.shape == Shape::Text && drawing.command() != "shrink" { &ran.stdout } else { &ran.stderr };
    text.lines().rev().find(|line| line.starts_with("holdover "))
}

fn replay_fits(drawing: &Drawing, status: i32, ran: &Ran, folder: &Path) -> Result<(), String> {
    let command = last_command(drawing, ran);
    ensure(command.is_some() == (status != 0), || format!("the status is {status}, and the command {command:?}"))?;
    if drawing.shape == Shape::Text {
        let is_met = ran.stdout.contains("  as the scenario expects\n");
        ensure(is_met == (status == 0), || {
            format!("the status is {status}, and what was expected is told otherwise")
        })?;
    }
    let plain =
        drawing.words[1..].iter().all(|word| !["--verbose", "--from", "--to", "--lane"].contains(&&**word));
    match command {
        Some(command) if drawing.shape == Shape::Text && plain => {
            let again = paste(command, folder)?;
            ensure(again.status == Some(status) && again.stdout == ran.stdout, || {
                format!(
                    "`{command}` doesn't give the same: {:?}\n{}\n{}",
                    again.status, again.stdout, again.stderr
                )
            })
        }
        Some(command) => {
            let again = paste(command, folder)?;
            ensure(again.status == Some(status), || format!("`{command}` ends with {:?}", again.status))
        }
        None => Ok(()),
    }
}

fn check_fits(drawing: &Drawing, status: i32, ran: &Ran, folder: &Path) -> Result<(), String> {
    let count = match drawing.shape {
        Shape::Text => ran.stdout.contains(": 1 as expected, 0 not\n").into(),
        Shape::Json => json(&ran.stdout)?["as_expected"].as_u64().unwrap_or(9),
        _ => u64::from(!ran.stdout.contains("\"command\"")),
    };
    ensure(count == u64::from(status == 0), || format!("the status is {status}, and {count} are as expected"))?;
    let command = last_command(drawing, ran);
    ensure(command.is_some() == (status != 0), || format!("the status is {status}, and the command {command:?}"))?;
    let annotated = ran.stderr.contains("::error file=");
    let wanted = drawing.has("github") && status != 0;
    ensure(annotated == wanted, || format!("the status is {status}, and annotations are there: {annotated}"))?;
    let Some(command) = command else { return Ok(()) };
    let again = paste(command, folder)?;
    ensure(again.status == Some(status), || format!("`{command}` ends with {:?}", again.status))
}

fn hunt_fits(drawing: &Drawing, status: i32, ran: &Ran, folder: &Path) -> Result<(), String> {
    let failed = match drawing.shape {
        Shape::Json => {
            let findings: Findings = serde_json::from_str(&ran.stdout).map_err(|error| error.to_string())?;
            !findings.failures.is_empty()
        }
        _ => ran.stdout.contains(" seed ") && ran.stdout.contains("such as seed"),
    };
    ensure(failed == (status == 1), || format!("the status is {status}, and something failed: {failed}"))?;
    let says_so = drawing.shape == Shape::Json || ran.stdout.contains("  nothing failed");
    ensure(status != 0 || says_so, || "it doesn't say that nothing failed".to_owned())?;
    let command = last_command(drawing, ran);
    ensure(command.is_some() == failed, || format!("something failed: {failed}, and the command is {command:?}"))?;
    if let Some(command) = command {
        let again = paste(command, folder)?;
        // A case says itself what it comes to.
        let wanted: &[i32] = if drawing.has("--out") { &[0, 1, 3] } else { &[1] };
        ensure(again.status.is_some_and(|status| wanted.contains(&status)), || {
            format!("`{command}` ends with {:?}\n{}\n{}", again.status, again.stdout, again.stderr)
        })?;
        if !drawing.has("--out") && drawing.shape == Shape::Text {
            let first = ran.stdout.lines().find(|line| line.starts_with("    ")).unwrap_or_default();
            ensure(again.stdout.contains(first), || format!("`{command}` doesn't find `{first}`"))?;
        }
    }
    if drawing.has("--out") {
        let merged = holdover(&["merge", "found", "--out", "merged"], folder)?;
        let fits = if status == 0 && drawing.has("--shard") { &[0, 3][..] } else { &[status][..] };
        ensure(merged.status.is_some_and(|merged| fits.contains(&merged)), || {
            format!("the status is {status}, and that of merging {:?}: {}", merged.status, merged.stderr)
        })?;
        for place in ["found", "merged"] {
            cases_hold(&folder.join(place))?;
        }
    }
    Ok(())
}

/// Every case in the folder comes to what it expects, by its own command as well, and can be promoted.
fn cases_hold(folder: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if !path.join("case.json").is_file() {
            continue;
        }
        let about = json(&fs::read_to_string(path.join("case.json")).map_err(|error| error.to_string())?)?;
        let command = about["replay"].as_str().unwrap_or_default();
        let ran = paste(command, &path)?;
        ensure(ran.status == Some(0), || {
            format!("{}: `{command}` ends with {:?}:\n{}{}", path.display(), ran.status, ran.stdout, ran.stderr)
        })?;
        let checked = holdover(&["check", "."], &path)?;
        ensure(checked.status == Some(0), || format!("{}: {}", path.display(), checked.stdout))?;
        let promoted = holdover(&["promote", ".", "--to", "../../kept"], &path)?;
        ensure(promoted.status == Some(0), || format!("{}: {}", path.display(), promoted.stderr))?;
    }
    Ok(())
}

fn shrink_fits(drawing: &Drawing, status: i32, ran: &Ran, folder: &Path) -> Result<(), String> {
    let command = last_command(drawing, ran);
    ensure(command.is_some() || status == 0, || "there is no command".to_owned())?;
    let small = match drawing.shape {
        Shape::Json => json(&ran.stdout)?["shrunk"][0]["scenario"].as_str().map(str::to_owned),
        Shape::Text => fs::read_to_string(folder.join("small.toml")).ok(),
        _ => Some(ran.stdout.clone()).filter(|text| !text.is_empty()),
    };
    if let Some(text) = &small {
        let small =
            Scenario::parse("small", text).map_err(|error| format!("{error:?} in what was shrunk:\n{text}"))?;
        let outcome = Replay::of(&small).outcome();
        ensure(outcome == Outcome::AsExpected, || format!("what was shrunk is {outcome:?}:\n{text}"))?;
    }
    if drawing.has("cases") {
        let is_there = folder.join("cases").is_dir();
        ensure(status != 0 || is_there, || "there is no case".to_owned())?;
        return if is_there { cases_hold(&folder.join("cases")) } else { Ok(()) };
    }
    ensure(status != 0 || small.is_some(), || "there is no small scenario".to_owned())
}

fn explain_fits(drawing: &Drawing, status: i32, ran: &Ran, folder: &Path) -> Result<(), String> {
    let command = last_command(drawing, ran);
    ensure(command.is_some() || (status == 0 && drawing.shape == Shape::Json), || {
        "there is no command".to_owned()
    })?;
    if drawing.shape == Shape::Text {
        let explains = ran.stdout.contains("\n  how it comes about");
        ensure(explains || status != 0, || {
            format!("the status is {status}, and something is explained: {explains}")
        })?;
    }
    // Once more takes as long as the first time.
    match command.filter(|_| drawing.shape == Shape::Text && !drawing.has("--report")) {
        Some(command) if status == 3 => {
            let again = paste(command, folder)?;
            ensure(again.status == Some(status) && again.stdout == ran.stdout, || {
                format!("`{command}` doesn't give the same")
            })
        }
        _ => Ok(()),
    }
}

/// The schema of histories.
pub(crate) fn schema() -> Validator {
    jsonschema::draft7::new(&history_schema()).expect("it is a schema")
}
