//! Histories that were damaged: whatever is done to one, it is read or refused in words, judged and drawn, and nothing panics.

use holdover::replay::Replay;
use holdover::report::{Excerpt, json, markdown, mermaid, perfetto, svg, text};
use holdover::stored::ReadError;
use holdover::suite::Suite;

use crate::read_back::read;
use crate::record::written_in;

/// Takes the last digit of each fingerprint away that has one too many.
pub(crate) fn shorter_fingerprints(text: &str) -> String {
    const KEY: &str = "\"fingerprint\":\"";
    let mut parts = text.split(KEY);
    let mut shorter = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shorter += KEY;
        let (digits, rest) = part.split_at(33);
        shorter += &digits[..32];
        shorter += rest;
    }
    shorter
}

/// Numbers from a number: splitmix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Draws all of it.
fn draw(replay: &Replay<'_>) {
    let all = Excerpt::default();
    let layout = text::Layout { width: 100, verbose: true };
    let mut out = Vec::new();
    text::write_excerpt(replay, "it", layout, &all, &mut out).expect("a Vec takes any bytes");
    json::write(replay, "it", "repeat it", &mut out).expect("a Vec takes any bytes");
    markdown::write(replay, "it", "repeat it", &all, &mut out).expect("a Vec takes any bytes");
    mermaid::write(replay, &all, &mut out).expect("a Vec takes any bytes");
    perfetto::write(replay, "it", "repeat it", &mut out).expect("a Vec takes any bytes");
    svg::write(replay, &all, &mut out).expect("a Vec takes any bytes");
    holdover::report::jsonl::write(replay, &mut out).expect("a Vec takes any bytes");
}

/// Whether `text` can be read. Then it is judged and drawn; else it is said what is wrong and what to do about it.
fn survives(text: &[u8], what: &str) -> bool {
    match read(text) {
        Ok(replays) => {
            for mut stored in replays {
                let replay = stored.judge(&Suite::builtin());
                let bugs: Vec<&String> = replay.runs.iter().flat_map(|run| &run.bugs).collect();
                assert!(bugs.is_empty(), "{what}: {bugs:?}");
                draw(&replay);
            }
            true
        }
        Err(error) => {
            let told = error.to_string();
            assert!(told.starts_with("it.jsonl") && told.len() < 2_000, "{what}: {told}");
            assert!(matches!(error, ReadError::Wrong { .. }), "{what}: {told}");
            assert!(error.fix().is_some_and(|help| !help.is_empty()), "{what}: {told}");
            false
        }
    }
}

/// Replaces a number in `line` by another.
fn renumbered(line: &str, numbers: &mut Numbers) -> String {
    let starts: Vec<usize> = line
        .char_indices()
        .filter(|(at, c)| {
            c.is_ascii_digit()
                && !line[..*at].ends_with(|c: char| {
                    c.is_ascii_alphanumeric() || "-.:".contains(c) && !line[..*at].ends_with("\":")
                })
        })
        .map(|(at, _)| at)
        .collect();
    if starts.is_empty() {
        return line.to_owned();
    }
    let start = starts[numbers.below(starts.len())];
    let length = line[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len() - start);
    let is: i128 = line[start..start + length].parse().unwrap_or(0);
    let other = match numbers.below(9) {
        0 => is + 1,
        1 => (is - 1).max(0),
        2 => 0,
        3 => i128::from(u16::MAX),
        4 => i128::from(u32::MAX),
        5 => i128::from(i64::MAX),
        6 => is * 10,
        7 => numbers.below(30) as i128,
        _ => i128::from(u64::MAX),
    };
    format!("{}{other}{}", &line[..start], &line[start + length..])
}

/// A history that was changed in some way, and in which.
fn changed(text: &str, numbers: &mut Numbers) -> (Vec<u8>, String) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
    let what = match numbers.below(14) {
        0 => {
            let mut bytes = text.as_bytes().to_vec();
            let (at, bit) = (numbers.below(bytes.len()), numbers.below(8));
            bytes[at] ^= 1 << bit;
            return (bytes, format!("bit {bit} of byte {at}"));
        }
        1 => {
            let at = numbers.below(text.len());
            return (text.as_bytes()[..at].to_vec(), format!("cut at {at}"));
        }
        2 => {
            lines.swap(one, other);
            "swapped"
        }
        3 => {
            lines.remove(one);
            "taken out"
        }
        4 => {
            let again = lines[one].clone();
            lines.insert(other, again);
            "put in again"
        }
        5 => {
            let at = numbers.below(lines[one].len());
            if lines[one].is_char_boundary(at) {
                lines[one].truncate(at);
            }
            "cut"
        }
        6 => {
            // What an event says, said by another.
            let of = |line: &str| line.find("\"what\":");
            if let (Some(at), Some(from)) = (of(&lines[one]), of(&lines[other])) {
                let what = lines[other][from..].to_owned();
                lines[one].truncate(at);
                lines[one] += &what;
            }
            "with the doing of another"
        }
        7 => {
            // What rarely is changed: the first line and the last one.
            let at = if numbers.below(2) == 0 { 0 } else { lines.len() - 1 };
            lines[at] = renumbered(&lines[at], numbers);
            "renumbered at an end"
        }
        8..=9 => {
            lines[one] = renumbered(&lines[one], numbers);
            "renumbered"
        }
        _ => {
            // Only what happened: when it did is said in several ways, which then don't agree.
            let at = lines[one].find("\"what\":").unwrap_or(0);
            let what = renumbered(&lines[one][at..], numbers);
            lines[one].truncate(at);
            lines[one] += &what;
            "with other numbers in it"
        }
    };
    (lines.join("\n").into_bytes(), format!("line {one} ({other}) {what}"))
}

#[test]
fn nothing_panics_whatever_is_changed() {
    let mut numbers = Numbers(7);
    let (mut read, mut refused) = (0, 0);
    for number in 0..160 {
        let (scenario, protocol) = crate::draw::scenario(number);
        let replay = Replay::new(&scenario, &[protocol], scenario.seed);
        // Longer ones have nothing that these haven't.
        if replay.runs[0].history.events.len() > 500 {
            continue;
        }
        let written = written_in("jsonl", &replay);
        for _ in 0..100 {
            let (text, what) = changed(&written, &mut numbers);
            let is_read = survives(&text, &format!("number {number}, {what}"));
            *if is_read { &mut read } else { &mut refused } += 1;
        }
    }
    assert!(read > 300 && refused > 1_000, "{read} read, {refused} refused");
}
