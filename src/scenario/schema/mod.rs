//! The JSON Schema of scenario files: what an editor completes and checks them with.
//!
//! It is generated from the structs that a file is read into, so it has their keys. `terms` says what is written behind a
//! key, with the names of the registries and the limits of the reader. What a key means is the comment on its field; for
//! kinds of fault and their keys the registry has it. The rest is said here: what of a table belongs together.
//!
//! It is draft 7 without references, because that is what editors make the most of: taplo, which most of them use, is
//! built for draft 7 and overlooks what stands beside a reference. A schema can't say all that the reader checks. The
//! other way it is a law that it refuses nothing that the reader takes; `tests/schema.rs` has it.

pub(super) mod terms;

use holdover_sim::check::CHECKERS;
use holdover_sim::fault::{FAULTS, FaultInfo};
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::world::{SERVICE_NAMES, replica_name};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::anchors::HEADS;
use super::file::{ScenarioFile, ServiceFile, Table};
use super::lease::MOST_REPLICAS;
use crate::suite::Suite;

/// The JSON Schema of scenario files that name what `suite` has.
pub fn json_schema(suite: &Suite) -> Value {
    let settings = SchemaSettings::draft07()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(RecursiveTransform(without_null))
        .with_transform(RecursiveTransform(complete_description));
    let mut schema = settings.into_generator().into_root_schema_for::<ScenarioFile>().into();
    name_protocols(&mut schema, suite);
    schema
}

/// Says which protocols there are, where the schema of a file's structs can't.
fn name_protocols(schema: &mut Value, suite: &Suite) {
    let of = |protocol: &'static dyn AnyProtocol| (protocol.name(), protocol.summary());
    if let Some(names) = schema.pointer_mut("/properties/protocols/items") {
        *names = terms::explained(suite.named().map(of)).into();
    }
    let Some(Value::Object(expect)) = schema.pointer_mut("/properties/expect") else { return };
    let form = expect.insert("additionalProperties".to_owned(), Value::Bool(false)).unwrap_or_default();
    let expected = |(name, summary): (&str, &str)| {
        let mut expected = form.clone();
        describe(&mut expected, &format!("what should come of it under `{name}`: {summary}"));
        (name.to_owned(), expected)
    };
    let all: Map<String, Value> = suite.named().map(of).map(expected).collect();
    expect.insert("properties".to_owned(), Value::Object(all));
}

/// Joins the lines of a description, because a comment's end where its page does; and adds the default to it, because
/// that is all that some editors show.
fn complete_description(schema: &mut Schema) {
    let default = schema.get("default").map(Value::to_string);
    let Some(Value::String(description)) = schema.get_mut("description") else { return };
    *description = description.replace('\n', " ");
    if let Some(default) = default.filter(|_| !description.to_lowercase().contains("default")) {
        *description += &format!(" Default: {default}.");
    }
}

/// Takes the nulls away: a key that may be left out is left out, and TOML has nothing to write in its place.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|of| of != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(names)) = schema.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
}

/// `text` as a sentence; lists begin theirs in lower case and have no full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.trim().chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", rest.as_str())
}

fn describe(schema: &mut Value, text: &str) {
    if let Value::Object(schema) = schema {
        schema.insert("description".to_owned(), Value::String(sentence(text)));
    }
}

impl<T: JsonSchema> JsonSchema for Table<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Makes one table with a key for each kind of what serde has as a choice of tables with one key: an error is then told
/// where it is, and not at the whole table, for which none of the choices would do. What the kinds and their keys mean
/// is from the registry.
pub(super) fn kinds_as_keys(schema: &mut Schema) {
    let mut kinds = Map::new();
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
        for choice in choices {
            if let Some(Value::Object(properties)) = choice.get_mut("properties") {
                kinds.append(properties);
            }
        }
    }
    for FaultInfo { name, summary, fields } in FAULTS {
        let Some(kind) = kinds.get_mut(*name) else { continue };
        describe(kind, summary);
        for field in *fields {
            if let Some(key) = kind.pointer_mut(&format!("/properties/{}", field.name)) {
                describe(key, field.meaning);
            }
        }
    }
    *schema = json_schema!({
        "type": "object",
        "properties": kinds,
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    });
}

/// Says that an anchor has one head, and which other keys go with it.
pub(super) fn one_head(schema: &mut Schema) {
    let all: Vec<String> = match schema.get("properties") {
        Some(Value::Object(properties)) => properties.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let with_head = |head: &str, fitting: &[&str]| {
        let useless = all.iter().filter(|key| *key != head && !fitting.contains(&key.as_str()));
        let useless: Map<String, Value> = useless.map(|key| (key.clone(), Value::Bool(false))).collect();
        json!({ "required": [head], "properties": useless })
    };
    let heads: Vec<Value> = HEADS.iter().map(|(head, _, fitting)| with_head(head, fitting)).collect();
    schema.insert("oneOf".to_owned(), Value::Array(heads));
}

/// The names of the services that a world may have: a lease store, or replicas in its place.
pub(super) fn service_names() -> Vec<String> {
    let replicas = (0..MOST_REPLICAS).map(replica_name);
    SERVICE_NAMES.into_iter().map(str::to_owned).chain(replicas).collect()
}

/// `[service.NAME]` for each service.
pub(super) fn services(generator: &mut SchemaGenerator) -> Schema {
    let service = generator.subschema_for::<ServiceFile>();
    let of = |name: &str| {
        let mut service = service.clone().to_value();
        describe(&mut service, &format!("the node of the service `{name}`"));
        (name.to_owned(), service)
    };
    let services: Map<String, Value> = service_names().iter().map(|name| of(name)).collect();
    json_schema!({ "type": "object", "properties": services, "additionalProperties": false })
}

/// `[expect.NAME]`, whatever the protocol: a verdict for each checker, and sightings.
pub(super) fn expectations(generator: &mut SchemaGenerator) -> Schema {
    let verdict = generator.subschema_for::<terms::Verdict>();
    let mut keys = Map::new();
    for checker in CHECKERS {
        let mut verdict = verdict.clone().to_value();
        let meaning = format!("the verdict on `{}`, which holds when {}", checker.name, checker.holds_when);
        describe(&mut verdict, &meaning);
        keys.insert(checker.name.to_owned(), verdict);
    }
    let mut seen = generator.subschema_for::<terms::Sightings>().to_value();
    describe(&mut seen, "what the run must have seen for its verdicts to mean something; default: nothing");
    keys.insert("seen".to_owned(), seen);
    let expected = json!({ "type": "object", "properties": keys, "additionalProperties": false });
    json_schema!({ "type": "object", "additionalProperties": expected })
}
