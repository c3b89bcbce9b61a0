//! Texts that nobody means well by: each format shows them as text.

use std::sync::LazyLock;

use holdover::scenario::Scenario;
use holdover::sim::fault::{Anchor, Pause, PauseClocks, PlannedFault};
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::worker_node;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::record::{FORMATS, replay, scenario, written_in};

/// What somebody might write into a title, a note or, from a program, a name.
pub(crate) fn texts() -> Vec<String> {
    [
        "<script>alert(1)</script>",
        "</svg><script>alert(1)</script>",
        "]]> <!-- <![CDATA[ & &amp; &#60; &lt;",
        "\"quotes\" 'and' `backticks` ``` ~~~ $math$ \\",
        "a | b | c\n| --- | --- |\n# heading\n- item\n1. item\n> quote\n---",
        "*bold* _it_ **both** ~~gone~~ [link](http://x.y) ![image](x) <http://x.y> http://x.y www.x.y a@b.c @somebody #1 :smile:",
        "end; note over n0: x\nend\nparticipant z\n%%{init: {\"theme\":\"dark\"}}%% style:#35;x; classDef a:#b;c; #quot; wrap: x",
        "\u{202e}desrever\u{202c} \u{2066}isolated\u{2069} \u{200f}\u{61c}مرحبا שלום",
        "a\u{0}b\u{7}c\u{1b}[31md\u{7f}\u{85}\u{fffe}\u{ffff}\u{feff}",
        "{\"json\": [1]} \u{2028}\u{2029}",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["x".repeat(10_000), "<&\"|`;#".repeat(1_500), "日本語".repeat(3_400), String::new()])
    .collect()
}

/// The record with `text` for its title, its story, a note and the name of a node.
pub(crate) fn with(text: &str) -> Scenario {
    let mut scenario = scenario();
    scenario.title = text.to_owned();
    scenario.story = Some(text.to_owned());
    scenario.world.workers[0].name = text.to_owned();
    let when = Anchor::At(TrueTime::START);
    let inject = Pause::of(worker_node(0), Span::secs(8), PauseClocks::Running).into();
    scenario.plan = vec![PlannedFault { when, inject, note: Some(text.to_owned()), name: None }];
    scenario
}

#[test]
fn no_format_has_characters_that_control_anything() {
    for text in texts() {
        let scenario = with(&text);
        for (format, _) in FORMATS {
            let written = written_in(format, &replay(&scenario));
            let turns = |char: char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            // JSON keeps texts as they are: programs read it.
            let is_json = format.starts_with("json");
            let kept = |char: char| is_json && matches!(char, '\u{7f}'..='\u{9f}');
            let controls = |char: &char| char.is_control() && *char != '\n' && !kept(*char);
            let found = written.chars().find(|char| controls(char) || (!is_json && turns(*char)));
            assert_eq!(found, None, "{format}: {text:.40}");
        }
    }
}

#[test]
fn a_picture_has_no_elements_of_anybody_else() {
    let elements = |text: &str| {
        let scenario = with(text);
        let svg = written_in("svg", &replay(&scenario));
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{text:.40}: {error}"));
        let title = document.descendants().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")));
        let title = title.and_then(|title| title.text()).unwrap_or_default().to_owned();
        let names = document.descendants().filter(|node| node.is_element());
        let mut names: Vec<String> = names.map(|node| node.tag_name().name().to_owned()).collect();
        names.sort();
        names.dedup();
        (names, title)
    };
    let (usual, _) = elements("usual");
    for text in texts() {
        let (names, title) = elements(&text);
        assert_eq!(names, usual, "{text:.40}");
        if text.is_ascii() && !text.contains(char::is_control) {
            assert_eq!(title, text, "all of it is there as text");
        }
    }
}

/// What there is in a report in Markdown on the record with `text`, but for the texts; and its title.
fn structure(text: &str) -> (Vec<String>, String) {
    let scenario = with(text);
    let markdown = written_in("markdown", &replay(&scenario));
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH;
    let mut title = String::new();
    let mut in_title = false;
    let mut all = Vec::new();
    for event in Parser::new_ext(&markdown, options) {
        match event {
            Event::Start(Tag::Heading { level: pulldown_cmark::HeadingLevel::H1, .. }) => in_title = true,
            Event::End(pulldown_cmark::TagEnd::Heading(_)) => in_title = false,
            Event::Text(text) if in_title => title += &text,
            Event::Text(_) | Event::Code(_) => {}
            other => all.push(format!("{other:?}")),
        }
    }
    (all, title)
}

#[test]
fn a_report_in_markdown_has_no_structure_of_anybody_else() {
    let (usual, _) = structure("usual");
    for text in texts().into_iter().filter(|text| !text.is_empty()) {
        let (structure, title) = structure(&text);
        let differs =
            (0..structure.len().max(usual.len())).find(|&index| structure.get(index) != usual.get(index));
        let around = differs.map(|index| structure[index.saturating_sub(3)..].iter().take(6).collect::<Vec<_>>());
        assert_eq!(around, None, "{text:.60}");
        if text.is_ascii() && !text.contains(char::is_control) {
            assert_eq!(title, text.trim(), "all of it is there as text");
        }
    }
}

/// The structure of a report without anything special in it.
static USUAL: LazyLock<Vec<String>> = LazyLock::new(|| structure("usual").0);

/// `text` with one blank for several, and none at its ends.
fn collapsed(text: &str) -> String {
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Signs that mean something somewhere are drawn as often as all others together.
    #[test]
    fn whatever_can_be_printed_is_shown_as_it_is(
        text in r#"([ -~é日]|[-+*_`<>&#|;:!.()=~\\\[\]{}"'@$%]){1,40}"#
    ) {
        let wanted = collapsed(&text);
        prop_assume!(!wanted.is_empty());
        let (found, title) = structure(&text);
        prop_assert_eq!(title, wanted.clone());
        prop_assert_eq!(&found, &*USUAL);
        let scenario = with(&text);
        let svg = written_in("svg", &replay(&scenario));
        let document = roxmltree::Document::parse(&svg).expect("XML");
        let title = document.descendants().find(|node| node.attribute("id") == Some("title"));
        prop_assert_eq!(collapsed(title.and_then(|title| title.text()).unwrap_or_default()), wanted);
    }
}
