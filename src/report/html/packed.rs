//! Texts that differ only in their numbers, each kept once: most of a long history's are such.

use std::collections::BTreeMap;

use serde::Serialize;

/// Stands for a number that was taken out.
const HOLE: char = '\u{1}';

/// The longest number, in digits, that is exact for whoever reads the record.
const LONGEST: usize = 15;

/// Texts in their order.
#[derive(Default, Serialize)]
pub(super) struct Packed {
    /// The texts without their numbers, each once.
    forms: Vec<String>,
    /// The form of each text.
    form: Vec<usize>,
    /// What belongs into the holes of all texts, one after the other.
    numbers: Vec<Number>,
    #[serde(skip)]
    known: BTreeMap<String, usize>,
}

/// A stretch of digits.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    /// With zeros before it, or longer than what is exact.
    Digits(String),
}

impl Packed {
    pub(super) fn push(&mut self, text: &str) {
        let mut form = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
            let (before, digits) = rest.split_at(begin);
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let (digits, after) = digits.split_at(end);
            push_plain(&mut form, before);
            form.push(HOLE);
            self.numbers.push(number(digits));
            rest = after;
        }
        push_plain(&mut form, rest);
        let next = self.forms.len();
        let index = *self.known.entry(form).or_insert_with_key(|form| {
            self.forms.push(form.clone());
            next
        });
        self.form.push(index);
    }
}

/// Adds what has no numbers, and nothing that would be taken for a hole.
fn push_plain(form: &mut String, text: &str) {
    form.extend(text.chars().map(|c| if c == HOLE { char::REPLACEMENT_CHARACTER } else { c }));
}

fn number(digits: &str) -> Number {
    let is_plain = digits == "0" || (!digits.starts_with('0') && digits.len() <= LONGEST);
    match digits.parse() {
        Ok(number) if is_plain => Number::Plain(number),
        _ => Number::Digits(digits.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The texts again, as the page's script makes them.
    fn unpacked(packed: &Packed) -> Vec<String> {
        let mut numbers = packed.numbers.iter();
        let mut number = || match numbers.next() {
            Some(Number::Plain(number)) => number.to_string(),
            Some(Number::Digits(digits)) => digits.clone(),
            None => panic!("a hole without a number"),
        };
        let filled = |form: &usize| {
            let form = packed.forms[*form].chars();
            form.map(|c| if c == HOLE { number() } else { c.to_string() }).collect()
        };
        let texts: Vec<String> = packed.form.iter().map(filled).collect();
        texts
    }

    fn packed(texts: &[&str]) -> Packed {
        let mut packed = Packed::default();
        texts.iter().for_each(|text| packed.push(text));
        packed
    }

    #[test]
    fn texts_that_differ_in_numbers_have_one_form() {
        let texts = ["op 1 at 02:00:28.051", "op 12 at 02:00:29.000", "", "nothing", "op 123456789012345678"];
        let packed = packed(&texts);
        assert_eq!(packed.forms, ["op \u{1} at \u{1}:\u{1}:\u{1}.\u{1}", "", "nothing", "op \u{1}"]);
        assert_eq!(unpacked(&packed), texts);
        assert_eq!(unpacked(&self::packed(&["a\u{1}b"])), ["a\u{fffd}b"]);
    }

    proptest! {
        #[test]
        fn texts_come_back_as_they_were(texts in proptest::collection::vec("[a-c0-3 ‹é]{0,12}", 0..8)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            prop_assert_eq!(unpacked(&packed(&texts)), texts);
        }
    }
}
