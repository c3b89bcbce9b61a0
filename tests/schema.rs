//! The JSON Schema of scenario files: it is one, it says all there is to say, it refuses nothing that the reader takes,
//! and it refuses what is wrong in spelling or structure.

mod files;

use std::cell::Cell;
use std::collections::BTreeSet;

use holdover::scenario::{SMALLEST, Scenario, json_schema};
use holdover::sim::fault::{FAULTS, FaultInfo};
use holdover::sim::world::SERVICE_NAMES;
use holdover::suite::Suite;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value};

/// Where the kinds of fault are in the schema.
const KINDS: &str = "/properties/fault/items/properties/inject/properties";

fn validator() -> Validator {
    jsonschema::draft7::new(&json_schema(&Suite::builtin())).expect("it is a schema")
}

/// The text of a scenario as JSON has it, which is how editors see it; `None` if it isn't TOML.
fn as_json(text: &str) -> Option<Value> {
    let mut value: Value = toml::from_str(text).ok()?;
    dates_as_texts(&mut value);
    Some(value)
}

/// JSON has no dates, so they come as a table with one secret key.
fn dates_as_texts(value: &mut Value) {
    if let Some(date) = value.get_mut("$__toml_private_datetime") {
        *value = date.take();
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(dates_as_texts),
        Value::Array(items) => items.iter_mut().for_each(dates_as_texts),
        _ => {}
    }
}

/// The files that are scenarios, with their texts.
fn scenarios() -> Vec<(String, String)> {
    let mut paths = files::below("scenarios", ".toml");
    paths.retain(|path| !path.starts_with("scenarios/invalid/"));
    paths.push("tests/data/complete.toml".to_owned());
    paths.into_iter().map(|path| (path.clone(), files::read(&path))).collect()
}

/// Calls `visit` with every schema in `schema`, and where it is.
fn walk<'a>(schema: &'a Value, place: &str, visit: &mut impl FnMut(&str, &'a Map<String, Value>)) {
    let Value::Object(map) = schema else { return };
    visit(place, map);
    for (key, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(property, &format!("{place}/properties/{key}"), visit);
    }
    if let Some(items) = map.get("items") {
        walk(items, &format!("{place}/items"), visit);
    }
}

fn schemas(root: &Value) -> Vec<(String, &Map<String, Value>)> {
    let mut all = Vec::new();
    walk(root, "", &mut |place, schema| all.push((place.to_owned(), schema)));
    all
}

#[test]
fn it_is_as_it_was() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&json_schema(&Suite::builtin())).expect("JSON"));
}

#[test]
fn it_is_a_schema_of_draft_7_that_needs_no_other() {
    let schema = json_schema(&Suite::builtin());
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    let validated = jsonschema::draft7::meta::validate(&schema);
    assert!(validated.is_ok(), "{validated:?}");
    assert!(!schema.to_string().contains("$ref"), "editors overlook what stands beside a reference");
}

#[test]
fn every_key_is_described_and_no_other_is_allowed() {
    let root = json_schema(&Suite::builtin());
    let mut untidy = Vec::new();
    for (place, schema) in schemas(&root) {
        let is_item = place.ends_with("/items") && !schema.contains_key("properties");
        let described = schema.get("description").and_then(Value::as_str).is_some_and(|text| text.ends_with('.'));
        if !described && !is_item {
            untidy.push(format!("{place} isn't described, in whole sentences"));
        }
        if schema.get("type") == Some(&"object".into())
            && schema.get("additionalProperties") != Some(&false.into())
        {
            untidy.push(format!("{place} allows any key"));
        }
        if schema.get("type").and_then(Value::as_str).is_none() {
            untidy.push(format!("{place} hasn't one type"));
        }
        if let Some(default) = schema.get("default") {
            let own = Value::Object(schema.clone());
            let takes = jsonschema::draft7::new(&own).expect("a part of a schema is one").is_valid(default);
            let told = schema["description"].to_string().to_lowercase().contains("default");
            if !takes || !told {
                untidy.push(format!("{place} doesn't take its own default, or doesn't tell it"));
            }
        }
    }
    assert!(untidy.is_empty(), "\n{}\n", untidy.join("\n"));
}

#[test]
fn kinds_of_fault_have_the_fields_of_the_registry() {
    let root = json_schema(&Suite::builtin());
    let kinds = root.pointer(KINDS).and_then(Value::as_object).expect("the kinds are there");
    let known: BTreeSet<&str> = kinds.keys().map(String::as_str).collect();
    assert_eq!(known, FAULTS.iter().map(|fault| fault.name).collect());
    for FaultInfo { name, fields, .. } in FAULTS {
        let keys = kinds[*name]["properties"].as_object().expect("a kind has keys");
        let keys: BTreeSet<&str> = keys.keys().map(String::as_str).collect();
        let told: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
        assert_eq!(keys, told, "{name}: the keys of its file and the fields in the registry");
    }
}

/// The examples that an explanation gives behind "such as", as JSON.
fn examples(meaning: &str) -> Vec<Value> {
    let Some((_, behind)) = meaning.split_once("such as ") else { return Vec::new() };
    match behind.split_once(']').filter(|_| behind.starts_with('[')) {
        Some((list, _)) => vec![serde_json::from_str(&format!("{list}]")).expect("an example of a list is one")],
        None => behind.split('"').skip(1).step_by(2).map(Value::from).collect(),
    }
}

/// What tells the unit of a number.
const UNITS: [&str; 6] = ["parts per million", "of a hundred", "percent", "times", "how many", "which of"];

#[test]
fn explanations_of_faults_tell_units_and_defaults() {
    let root = json_schema(&Suite::builtin());
    let mut untidy = Vec::new();
    for FaultInfo { name, fields, .. } in FAULTS {
        let kind = root.pointer(&format!("{KINDS}/{name}")).expect("every kind is there");
        let is_required = |key: &str| kind["required"].as_array().is_some_and(|keys| keys.contains(&key.into()));
        for field in *fields {
            let schema = &kind["properties"][field.name];
            let says = |words: &[&str]| words.iter().any(|word| field.meaning.contains(word));
            // What may be left out says what it is then, or beside which other key it may be.
            if !is_required(field.name) && !says(&["default", "in place of", "needed"]) {
                untidy.push(format!("{name}: `{}` doesn't say its default", field.name));
            }
            // A pattern that has units in it is that of a duration, and those are best told by an example.
            let is_duration = schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("wdhmsu"));
            let is_number = schema["type"] == "number" || schema["type"] == "integer";
            if is_duration && examples(field.meaning).is_empty() || is_number && !says(&UNITS) {
                untidy.push(format!("{name}: `{}` doesn't say its unit", field.name));
            }
            let validator = jsonschema::draft7::new(schema).expect("a part of a schema is one");
            let wrong = examples(field.meaning).into_iter().filter(|example| !validator.is_valid(example));
            untidy.extend(wrong.map(|example| format!("{name}: `{}` can't be {example}", field.name)));
        }
    }
    assert!(untidy.is_empty(), "\n{}\n", untidy.join("\n"));
}

#[test]
fn every_scenario_fits() {
    let validator = validator();
    for (path, text) in scenarios() {
        let errors: Vec<String> = validator
            .iter_errors(&as_json(&text).expect("our own files are TOML"))
            .map(|error| format!("{path}: {}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
    }
}

/// What the reader says of mistakes in spelling or structure, in part; the schema must find those as well.
const STRUCTURAL: [&str; 22] = [
    "unknown key `",
    "unknown kind of fault `",
    "unknown point `",
    "unknown event `",
    "unknown message `",
    "unknown protocol `",
    "unknown checker `",
    "unknown sighting `",
    "unknown verdict `",
    "unknown service `",
    "unknown discipline `",
    "expected a text in quotes, found ",
    "expected a number, found ",
    "expected a whole number, found ",
    "expected a table, found ",
    "expected an array, found ",
    "expected true or false, found ",
    "a fault injects exactly one thing",
    "the fault doesn't say when it strikes",
    "` is missing",
    "` has no unit",
    "` is not a duration",
];

/// What the schema takes although the reader doesn't is in a snapshot, with what the reader says: names that aren't
/// there, contradictions, limits of sums, and dates, which JSON doesn't tell from texts.
#[test]
fn what_is_wrong_in_spelling_or_structure_is_refused() {
    let validator = validator();
    let (mut taken, mut missed, mut said) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in files::below("scenarios/invalid", ".toml") {
        let text = files::read(&path);
        let error = Scenario::parse(&path, &text).expect_err("it is invalid").to_string();
        let structural = STRUCTURAL.iter().find(|part| error.contains(**part)).filter(|_| !error.contains("date"));
        // What isn't TOML never gets as far as a schema.
        let Some(value) = as_json(&text) else { continue };
        said.extend(structural);
        if validator.is_valid(&value) {
            let name = path.trim_start_matches("scenarios/invalid/").trim_end_matches(".toml");
            taken.push(format!("{name}: {error}"));
            missed.extend(structural.map(|_| format!("{path}: {error}")));
        }
    }
    assert!(
        missed.is_empty(),
        "the schema takes what is wrong in spelling or structure:\n{}\n",
        missed.join("\n")
    );
    assert_eq!(said, BTreeSet::from_iter(&STRUCTURAL), "each has an example");
    insta::assert_snapshot!(taken.join("\n"));
}

fn scenario(table: &toml::Table) -> Option<(Scenario, String)> {
    let text = toml::to_string(table).expect("a table is TOML");
    Scenario::parse("written anew", &text).ok().map(|scenario| (scenario, text))
}

/// The scenarios as tables. Numbers there have 63 bits, so the largest seed of our files becomes a smaller one.
fn tables() -> Vec<(String, toml::Table)> {
    let read = |text: String| text.replace(&u64::MAX.to_string(), "7").parse().expect("our own files are TOML");
    scenarios().into_iter().map(|(path, text)| (path, read(text))).collect()
}

/// A key that may be left out, in a table of a scenario.
struct Optional {
    /// Where it is in the schema.
    place: String,
    /// Where the table is.
    steps: Vec<usize>,
    key: String,
    default: toml::Value,
}

/// The keys with a default that the tables in `value` have or could have; `schema` is that of `value`.
fn optional(schema: &Value, value: &toml::Value, place: &str, steps: &[usize], found: &mut Vec<Optional>) {
    match value {
        toml::Value::Table(table) => {
            for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
                let place = format!("{place}/properties/{key}");
                if let Some((step, (_, value))) = table.iter().enumerate().find(|(_, (name, _))| *name == key) {
                    optional(schema, value, &place, &[steps, &[step]].concat(), found);
                }
                if let Some(default) = schema.get("default") {
                    let default = toml::Value::try_from(default).expect("a default isn't null");
                    found.push(Optional { place, steps: steps.to_vec(), key: key.clone(), default });
                }
            }
        }
        toml::Value::Array(items) => {
            for (step, item) in items.iter().enumerate() {
                optional(&schema["items"], item, &format!("{place}/items"), &[steps, &[step]].concat(), found);
            }
        }
        _ => {}
    }
}

/// What is in `value` at the end of `steps`, each the number of a key or an item.
fn at<'v>(value: &'v mut toml::Value, steps: &[usize]) -> &'v mut toml::Value {
    steps.iter().fold(value, |value, step| match value {
        toml::Value::Table(table) => table.iter_mut().nth(*step).expect("a key").1,
        toml::Value::Array(items) => &mut items[*step],
        _ => panic!("nothing is below {value}"),
    })
}

/// Writes each default of the schema into each scenario, leaves it out, and compares.
#[test]
fn defaults_are_what_the_reader_takes() {
    let root = json_schema(&Suite::builtin());
    let all =
        schemas(&root).into_iter().filter(|(_, schema)| schema.contains_key("default")).map(|(place, _)| place);
    let mut unseen: BTreeSet<String> = all.collect();
    let services = SERVICE_NAMES.map(|name| format!("[service.{name}]\nclock = {{}}\n"));
    let services = format!("{SMALLEST}[ledger]\n[network]\n{}", services.concat());
    let services = ("services".to_owned(), services.parse().expect("it is TOML"));
    let operators = "[[operator]]\nname = \"operator\"\nclock = {}\n[repair]\n[provider]\n";
    let operators = ("operators".to_owned(), format!("{SMALLEST}{operators}").parse().expect("it is TOML"));
    // That payouts take their time goes without saying where there are operators.
    let meant = |mut scenario: Scenario| {
        scenario.world.provider.payouts = scenario.world.payouts();
        scenario
    };
    let replicas = "ttl = \"40s\"\nservice = \"consensus\"\nreplicas = 5\nexpiry = \"lock-delay\"";
    let smallest = SMALLEST.replace("ttl = \"40s\"", replicas);
    let clocks: String = (1..=5).map(|number| format!("[service.lease-{number}]\nclock = {{}}\n")).collect();
    let replicas = ("replicas".to_owned(), format!("{smallest}{clocks}").parse().expect("it is TOML"));
    for (path, table) in tables().into_iter().chain([services, operators, replicas]) {
        let whole = toml::Value::Table(table);
        let mut found = Vec::new();
        optional(&root, &whole, "", &[], &mut found);
        for Optional { place, steps, key, default } in found {
            let with = |value: Option<toml::Value>| {
                let mut whole = whole.clone();
                let table = at(&mut whole, &steps).as_table_mut().expect("a key belongs to a table");
                match value {
                    Some(value) => table.insert(key.clone(), value),
                    None => table.remove(&key),
                };
                whole.as_table().and_then(scenario).map(|(scenario, _)| scenario)
            };
            // Some keys go with some others only.
            if let (Some(written), Some(left_out)) = (with(Some(default.clone())), with(None)) {
                // What says that payouts take their time is more than a default where nothing else does.
                if written.world.payouts().is_some() != left_out.world.payouts().is_some() {
                    continue;
                }
                let (written, left_out) = (meant(written), meant(left_out));
                assert_eq!(written, left_out, "{path}: {place} isn't {default} where it is left out");
                unseen.remove(&place);
            }
        }
    }
    assert!(unseen.is_empty(), "no scenario shows that these are the defaults: {unseen:#?}");
}

/// Everything in `value`: its steps, and the key that it or its list stands behind.
fn places(value: &toml::Value, steps: &[usize], key: &str, found: &mut Vec<(Vec<usize>, String)>) {
    found.push((steps.to_vec(), key.to_owned()));
    let below: Vec<(&str, &toml::Value)> = match value {
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.as_str(), value)).collect(),
        toml::Value::Array(items) => items.iter().map(|item| (key, item)).collect(),
        _ => Vec::new(),
    };
    for (step, (key, below)) in below.into_iter().enumerate() {
        places(below, &[steps, &[step]].concat(), key, found);
    }
}

/// All that some scenario has anywhere, with the key that it stands behind, and some things that none has.
fn values() -> Vec<(String, toml::Value)> {
    let texts = ["0s", "-0s", "1 s", "5", "", "02:00", "+1m", "\u{1b}", "two\nlines", "1ms .. 2ms"];
    let mut values: Vec<toml::Value> = texts.map(toml::Value::from).to_vec();
    values.extend([0, 1, -1, 100, 101, 100_000, 1_000_001, i64::MAX].map(toml::Value::from));
    values.extend([0.0, 0.5, -100_000.0, f64::NAN].map(toml::Value::from));
    values.extend([true, false].map(toml::Value::from));
    let mut values: Vec<(String, toml::Value)> = values.into_iter().map(|value| (String::new(), value)).collect();
    for (_, table) in tables() {
        let mut whole = toml::Value::Table(table);
        let mut all = Vec::new();
        places(&whole, &[], "", &mut all);
        for (steps, key) in all {
            let value = (key, at(&mut whole, &steps).clone());
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

/// Replaces things in scenarios, takes them away and puts keys in. Much of that is refused by the reader; of what it
/// takes, the schema must refuse nothing.
#[test]
fn what_the_reader_takes_fits() {
    let validator = validator();
    let tables: Vec<toml::Table> = tables().into_iter().map(|(_, table)| table).collect();
    let values = values();
    let change = (any::<Index>(), 0..8, any::<Index>());
    let changed = (select(tables), prop::collection::vec(change, 1..3));
    let taken = Cell::new(0);
    let config = ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&changed, |(table, changes)| {
        let mut value = toml::Value::Table(table);
        for (place, how, which) in changes {
            let mut all = Vec::new();
            places(&value, &[], "", &mut all);
            let (steps, key) = &all[place.index(all.len())];
            let alike: Vec<&toml::Value> =
                values.iter().filter(|(of, _)| of == key).map(|(_, value)| value).collect();
            let (any_key, any_value) = &values[which.index(values.len())];
            match (how, at(&mut value, steps)) {
                (0, whatever) => *whatever = any_value.clone(),
                (1..4, toml::Value::Table(table)) => {
                    table.insert(any_key.clone(), any_value.clone());
                }
                (4, toml::Value::Table(table)) => {
                    let key = table.keys().nth(which.index(table.len().max(1))).cloned();
                    key.map(|key| table.remove(&key));
                }
                (_, whatever) => *whatever = alike[which.index(alike.len())].clone(),
            }
        }
        let Some((_, text)) = value.as_table().and_then(scenario) else { return Ok(()) };
        taken.set(taken.get() + 1);
        let errors: Vec<String> =
            validator.iter_errors(&as_json(&text).expect("it was read")).map(|error| error.to_string()).collect();
        prop_assert!(errors.is_empty(), "{errors:?} in\n{text}");
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    assert!(taken.get() > 200, "the reader took only {}", taken.get());
}
