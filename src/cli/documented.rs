//! What the documents have CI systems run: that it is YAML, and that the command line takes the commands in it.

use std::fs;
use std::path::Path;

use clap::Parser;
use saphyr::{LoadableYamlNode, Yaml};

use super::args::Arguments;

/// The folder whose files are YAML; so are the `yaml` blocks of the README.
const FOLDER: &str = "docs/ci";

/// The YAML of the documents, each with where it is.
fn documented() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root.join(FOLDER)).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    let read = |path: &Path| fs::read_to_string(path).expect("a document is text");
    let mut all: Vec<(String, String)> =
        paths.iter().map(|path| (path.display().to_string(), read(path))).collect();
    let readme = read(&root.join("README.md"));
    let blocks = readme.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let blocks = blocks.filter(|(info, _)| *info == "yaml");
    all.extend(blocks.map(|(_, text)| ("README.md".to_owned(), text.to_owned())));
    all
}

/// The scripts in `text`, which is YAML.
fn scripts(text: &str) -> Result<Vec<String>, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    let mut scripts = Vec::new();
    for document in &documents {
        if !document.is_mapping() {
            return Err("a document isn't a mapping".to_owned());
        }
        gather(document, &mut scripts);
    }
    Ok(scripts)
}

fn gather(node: &Yaml<'_>, scripts: &mut Vec<String>) {
    node.as_sequence().into_iter().flatten().for_each(|inner| gather(inner, scripts));
    for (key, value) in node.as_mapping().into_iter().flatten() {
        // A step of a workflow, and what a container is given.
        if matches!(key.as_str(), Some("run" | "args")) {
            let all = value.as_sequence().into_iter().flatten().chain([value]);
            scripts.extend(all.filter_map(Yaml::as_str).map(str::to_owned));
        }
        gather(value, scripts);
    }
}

/// The commands of ours in a script, each as words.
fn commands(script: &str) -> Vec<Vec<String>> {
    let script = script.replace("\\\n", " ");
    let lines = script.lines().map(str::trim);
    let ours = lines.map(|line| line.strip_prefix("exec ").unwrap_or(line)).filter(|line| {
        let rest = line.strip_prefix("holdover");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    ours.map(|line| shlex::split(&filled(line)).unwrap_or_else(|| panic!("{line}: quotes aren't closed")))
        .collect()
}

/// `line` with a number for each thing that is put in when it is run: 1, 2, 3, so that a range of two is one.
fn filled(line: &str) -> String {
    let mut filled = String::new();
    let mut rest = line;
    let mut numbers = 1..;
    while let Some((before, from)) = rest.split_once('$') {
        filled += before;
        filled.extend(numbers.next().map(|number: u32| number.to_string()));
        let end = [("{{", "}}"), ("((", "))"), ("{", "}")].into_iter().find(|(open, _)| from.starts_with(open));
        rest = match end {
            Some((_, close)) => from.split_once(close).map_or("", |(_, behind)| behind),
            None => from.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        };
    }
    filled + rest
}

/// Why the command line doesn't take `command`, if it doesn't.
fn refusal(command: &[String]) -> Option<String> {
    Arguments::try_parse_from(command).err().map(|error| error.to_string())
}

#[test]
fn commands_are_found_and_filled_in() {
    for (script, found) in [
        ("holdover check scenarios", &["holdover check scenarios"][..]),
        ("cd x\n  holdover check \\\n    --quiet y\n", &["holdover check --quiet y"]),
        ("exec holdover hunt --shard \"$((A + 1))/8\"", &["holdover hunt --shard 1/8"]),
        ("holdover hunt --seeds \"$a..$b_2\" --out \"/x/${C}\"", &["holdover hunt --seeds 1..2 --out /x/3"]),
        ("holdover hunt --shard ${{ matrix.shard }}/8", &["holdover hunt --shard 1/8"]),
        ("chmod +x bin/holdover\nholdover-found\n# holdover check", &[]),
    ] {
        let commands: Vec<String> = commands(script).iter().map(|words| words.join(" ")).collect();
        assert_eq!(commands, found, "{script}");
    }
}

#[test]
fn what_isnt_yaml_or_no_command_is_caught() {
    for text in ["a: b: c", "a: 1\na: 2", "a: [1", "- a", "a: \"x"] {
        assert!(scripts(text).is_err(), "{text}");
    }
    let found = scripts("a:\n  - run: x\n  - name: z\n---\nargs: [y]");
    assert_eq!(found.as_deref(), Ok(&["x".to_owned(), "y".to_owned()][..]));
    for (line, taken) in [
        ("holdover check scenarios --junit x.xml", true),
        ("holdover check", false),
        ("holdover check scenarios --junitt x.xml", false),
        ("holdover check scenarios --format xml", false),
        ("holdover chekc scenarios", false),
    ] {
        assert_eq!(refusal(&commands(line)[0]).is_none(), taken, "{line}");
    }
}

#[test]
fn what_ci_systems_are_given_is_taken() {
    let mut found = Vec::new();
    for (place, text) in documented() {
        let scripts = scripts(&text).unwrap_or_else(|error| panic!("{place}: {error}"));
        for command in scripts.iter().flat_map(|script| commands(script)) {
            if let Some(refusal) = refusal(&command) {
                panic!("{place}: {}\n{refusal}", command.join(" "));
            }
            found.push(command.get(1).cloned().unwrap_or_default());
        }
    }
    found.sort();
    assert_eq!(found, ["check", "hunt", "hunt", "merge"]);
}
