//! From the TOML parser's and serde's messages to ones that a person can act on.
//!
//! Those libraries give a message and a place, no more, so the messages are taken apart here. A message that isn't
//! known stays as it is; the snapshots of the refused scenarios show when a library changes its wording.

use std::ops::Range;

use super::error::{Mistake, Wrong};
use super::names::{closest, example_of_key, listed, place_of_key, quoted};

/// Why `text` isn't a scenario file.
pub(super) fn mistake(error: &toml::de::Error, text: &str) -> Mistake {
    let place = error.span().unwrap_or(0..0);
    let token = text.get(place.clone()).unwrap_or("");
    let (label, wrong) = understand(error.message(), token);
    Mistake::at(in_text(place, text), label, wrong)
}

/// The place, moved into the text if it reaches beyond.
fn in_text(place: Range<usize>, text: &str) -> Range<usize> {
    let start = place.start.min(text.len());
    start..place.end.clamp(start, text.len())
}

fn understand(message: &str, token: &str) -> (&'static str, Wrong) {
    if let Some((name, known)) = unknown(message, "field") {
        return (
            "unknown key",
            Wrong::new(format!("unknown key {}", quoted(name))).help(help_on_key(name, &known)),
        );
    }
    if let Some((name, known)) = unknown(message, "variant") {
        let help = match closest(name, &known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("kinds of fault: {}", listed(&known)),
        };
        return ("unknown kind", Wrong::new(format!("unknown kind of fault {}", quoted(name))).help(help));
    }
    if let Some(key) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let wrong = Wrong::new(format!("`{key}` is missing"));
        return match example_of_key(key) {
            Some(example) => ("missing here", wrong.help(format!("add {example}"))),
            None => ("missing here", wrong),
        };
    }
    let mismatch = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = mismatch.and_then(|rest| rest.rsplit_once(", expected ")) {
        return wrong_type(found, expected, token);
    }
    if message.starts_with("wanted exactly 1 element") {
        let wrong = Wrong::new("a fault injects exactly one thing")
            .help("write one kind in the braces, and a [[fault]] table for each fault");
        return ("one kind of fault goes here", wrong);
    }
    if message == "duplicate key" {
        let help = match token {
            "worker" | "operator" | "fault" => {
                format!("write [[{token}]] each time, with double brackets: there can be many")
            }
            _ => "keep one of them".to_owned(),
        };
        return ("the second one", Wrong::new(format!("{} is there twice", quoted(token))).help(help));
    }
    if message.contains("recursion") {
        return ("too deep", Wrong::new("nested too deeply").help("a scenario has at most three levels"));
    }
    if message.starts_with("string values must be quoted") {
        let wrong = Wrong::new("a text must be in quotes");
        return ("no quotes", wrong.help(format!("write \"{token}\"")));
    }
    let help = if message.starts_with("invalid date") || message.starts_with("invalid time") {
        "dates and times are written like 2026-01-15T01:59:30Z"
    } else {
        "a scenario is a TOML file, and this is not TOML; its format is told at https://toml.io"
    };
    ("here", Wrong::new(message).help(help))
}

/// The name and the known ones from serde's "unknown WHAT `name`, expected one of `a`, `b`".
fn unknown<'m>(message: &'m str, what: &str) -> Option<(&'m str, Vec<&'m str>)> {
    let rest = message.strip_prefix("unknown ")?.strip_prefix(what)?.strip_prefix(" `")?;
    let (name, expected) = rest.rsplit_once("`, expected ")?;
    Some((name, expected.split('`').skip(1).step_by(2).collect()))
}

fn help_on_key(name: &str, known: &[&str]) -> String {
    if let Some(meant) = closest(name, known) {
        return format!("did you mean `{meant}`?");
    }
    match place_of_key(name) {
        Some(place) => format!("`{name}` belongs {place}"),
        None => format!("known keys here: {}", listed(known)),
    }
}

fn wrong_type(found: &str, expected: &str, token: &str) -> (&'static str, Wrong) {
    if found == "unit variant" {
        let wrong = Wrong::new(format!("the fault {} needs its fields", quoted(token.trim_matches(['"', '\'']))));
        return ("no fields", wrong.help("write it like pause = { node = \"worker-a\", for = \"38s\" }"));
    }
    let is_integer = found.starts_with("integer");
    if expected == "u64" && is_integer {
        let help = match token.starts_with('-') {
            true => "it must not be negative".to_owned(),
            false => format!("the largest number that fits is {}", u64::MAX),
        };
        return ("out of range", Wrong::new(format!("{} is out of range", quoted(token))).help(help));
    }
    let expected = match expected {
        "a string" => "a text in quotes",
        "a sequence" => "an array",
        "a map" => "a table",
        "a TOML datetime" => "a date and time without quotes",
        "u64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        other => other,
    };
    // TOML's own dates and times reach serde as a map with one secret key.
    let is_date = found == "map" && token.starts_with(|c: char| c.is_ascii_digit());
    let found = match found.split(' ').next().unwrap_or(found) {
        _ if is_date => "a date or time without quotes",
        _ if is_integer => "a whole number",
        "floating" => "a number with a point",
        "map" => "a table",
        "sequence" => "an array",
        "string" => "a text in quotes",
        "boolean" => "true or false",
        _ => found,
    };
    let wrong = Wrong::new(format!("expected {expected}, found {found}"));
    let help = if let Some(name) = token.strip_prefix("[[") {
        Some(format!("there is only one such table; write it with single brackets: [{}", name.replace("]]", "]")))
    } else if expected == "an array" && token.starts_with('[') {
        Some(format!("write [{token}], with double brackets: there can be many"))
    } else if expected == "an array" && found == "a text in quotes" {
        Some(format!("write [{token}]"))
    } else if expected == "a table of one protocol" {
        Some("what is expected stands below a protocol: [expect.naive]".to_owned())
    } else if expected == "a table" {
        Some("a table is written as { key = value, … }, or as [name] with its keys below".to_owned())
    } else if expected == "a text in quotes" && !token.starts_with(['[', '{']) {
        Some(format!("write \"{token}\""))
    } else if expected == "a date and time without quotes" {
        Some("it is written like 2026-01-15T01:59:30Z".to_owned())
    } else if expected == "true or false" {
        Some("write true or false, without quotes".to_owned())
    } else if matches!(expected, "a number" | "a whole number") && found == "a text in quotes" {
        Some("take the quotes away".to_owned())
    } else {
        None
    };
    ("wrong type", Wrong { help, ..wrong })
}
