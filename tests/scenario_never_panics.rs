//! Whatever the bytes, reading a scenario gives a scenario or an error that can be rendered, and never a panic.
//!
//! Random bytes rarely get past the parser, so most cases are a good scenario with something broken: a stretch cut out,
//! doubled or overwritten, or a whole value replaced by one of a list of nasty ones.

mod render;

use std::path::Path;

use holdover::scenario::Scenario;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const GOOD: &str = include_str!("data/complete.toml");

/// Values that are far out, of the wrong type, or not values at all.
const NASTY: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "nan",
    "-inf",
    "1e308",
    "9223372036854775807",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
    "true",
    "''",
    "' '",
    "'0s'",
    "'-0s'",
    "'+366d'",
    "'-366d'",
    "'366d'",
    "'9223372036854775807ns'",
    "'9223372036854775808ns'",
    "'99999999999999999999y'",
    "'292y'",
    "'1mo'",
    "'..'",
    "'0s..1h'",
    "'1h..0s'",
    "'23:59:59.999999999'",
    "'99:99:99'",
    "'+'",
    "'-'",
    "':'",
    "'1:µ'",
    "'0000-01-01T00:00:00Z'",
    "'9999-12-31T23:59:59Z'",
    "'9999-12-31T23:59:59.999999999-23:59'",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "1971-01-01T00:00:00Z",
    "2200-12-31T23:59:59Z",
    "2026-01-15T01:59:30+23:59",
    "02:00:28",
    "'ledger'",
    "'worker-b'",
    "'λ\\u0000'",
    "\"\\u001b[2J\"",
    "[]",
    "['naive', 'naive']",
    "{}",
    "{ at = '+1s', point = 'x' }",
    "[[[[]]]]",
    "\"\"\"",
];

/// Reads `text`, and renders what is wrong with it.
fn read(text: &str) {
    if let Err(error) = Scenario::parse("test.toml", text) {
        let rendered = render::plain(&error, 100);
        assert!(!rendered.contains("Failed to read"), "a label is outside the text:\n{rendered}");
    }
}

/// The nearest place at or below `byte` where `text` can be cut.
fn cut(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// One thing to break.
#[derive(Clone, Debug)]
enum Damage {
    Remove(Index, usize),
    Double(Index, usize),
    Insert(Index, String),
    Replace(Index, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        1 => (any::<Index>(), 0_usize..80).prop_map(|(at, length)| Damage::Remove(at, length)),
        1 => (any::<Index>(), 0_usize..200).prop_map(|(at, length)| Damage::Double(at, length)),
        1 => (any::<Index>(), ".{0,8}").prop_map(|(at, text)| Damage::Insert(at, text)),
        8 => (any::<Index>(), select(NASTY)).prop_map(|(value, nasty)| Damage::Replace(value, nasty)),
    ]
}

fn apply(text: &mut String, damage: &Damage) {
    match damage {
        Damage::Remove(at, length) => {
            let from = cut(text, at.index(text.len() + 1));
            let to = cut(text, from + length);
            text.replace_range(from..to, "");
        }
        Damage::Double(at, length) => {
            let from = cut(text, at.index(text.len() + 1));
            let to = cut(text, from + length);
            let copy = text[from..to].to_owned();
            text.insert_str(to, &copy);
        }
        Damage::Insert(at, inserted) => {
            let at = cut(text, at.index(text.len() + 1));
            text.insert_str(at, inserted);
        }
        Damage::Replace(value, nasty) => {
            // A value is what stands between an equals sign and the next comma, brace or end of line.
            let starts: Vec<usize> = text.match_indices("= ").map(|(at, sign)| at + sign.len()).collect();
            if starts.is_empty() {
                return;
            }
            let from = starts[value.index(starts.len())];
            let to = text[from..].find([',', '}', '\n']).map_or(text.len(), |length| from + length);
            text.replace_range(from..to, nasty);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn on_a_damaged_scenario(damages in vec(damage(), 1..6)) {
        let mut text = GOOD.to_owned();
        for damage in &damages {
            apply(&mut text, damage);
        }
        read(&text);
    }

    #[test]
    fn on_any_text(text in ".{0,200}") {
        read(&text);
    }
}

proptest! {
    #[test]
    fn on_any_file(bytes in vec(any::<u8>(), 0..300)) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("any-bytes.toml");
        std::fs::write(&path, &bytes).expect("the target directory can be written");
        if let Err(error) = Scenario::load(&path) {
            render::plain(&error, 100);
        }
    }
}

#[test]
fn on_input_that_goes_on_and_on() {
    for piece in
        ["[", "{", "a.", "{a=", "[[", "\"", "'", "[a.", "a = [", "#", "\n", "0", "-", "\\", "\t", "a=1\n", "[a]\n"]
    {
        for length in [9_000, 200_000] {
            let endless = piece.repeat(length / piece.len());
            for begin in ["", "title = ", "title = '", "[fault]\n", "[expect."] {
                read(&format!("{begin}{endless}"));
                read(&format!("{begin}{endless}?"));
            }
        }
    }
}
