//! The small record in each format, as it was.

use holdover::replay::Replay;
use holdover::report::Excerpt;
use holdover::scenario::Scenario;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::worker_node;

use crate::record::{FORMATS, excerpt_in, replay, scenario, written_in};

/// Snapshots `text` under `name`, in the folder of these tests.
fn keep(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/formats");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, crate::redact::redacted(text)));
}

#[test]
fn the_record_in_each_format() {
    let scenario = scenario();
    for (format, _) in FORMATS {
        keep(format, &written_in(format, &replay(&scenario)));
    }
}

#[test]
fn an_excerpt_in_each_format_that_has_one() {
    let scenario = scenario();
    let at = |millis| Some(TrueTime::START + Span::millis(millis));
    let excerpt = Excerpt { from: at(5_000), to: at(9_000), nodes: vec![worker_node(1)] };
    for format in ["markdown", "mermaid", "svg"] {
        keep(&format!("{format}-excerpt"), &excerpt_in(format, &replay(&scenario), &excerpt));
    }
}

#[test]
fn the_same_record_is_the_same_bytes() {
    let scenario = scenario();
    for (format, _) in FORMATS {
        assert_eq!(written_in(format, &replay(&scenario)), written_in(format, &replay(&scenario)), "{format}");
    }
}

/// The picture in the documents, made anew with HOLDOVER_UPDATE_DOCS=1, as all that they show.
#[test]
fn the_picture_in_the_documents_is_what_is_drawn() {
    const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/clock-jump.svg");
    const INCIDENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");
    let incident = Scenario::load(INCIDENT).expect("the incident is a scenario");
    let drawn = written_in("svg", &Replay::of(&incident));
    if std::env::var_os("HOLDOVER_UPDATE_DOCS").is_some() {
        std::fs::write(PICTURE, &drawn).expect("the documents can be written");
    }
    let shown = std::fs::read_to_string(PICTURE).expect("the picture is there");
    assert!(shown == drawn, "docs/clock-jump.svg isn't what is drawn; HOLDOVER_UPDATE_DOCS=1 draws it anew");
}
