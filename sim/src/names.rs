//! Names that a history brings along when it is read: of protocols, points and messages. They are of programs, which have
//! them for as long as they run, so each that is read is kept as long, and once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, de};

/// A name that is there for as long as the process runs.
pub type Name = &'static str;

/// More than these aren't kept: no program has as many.
pub const MOST: usize = 10_000;

/// A longer name, in bytes, isn't kept.
pub const LONGEST: usize = 200;

static KEPT: Mutex<BTreeSet<Name>> = Mutex::new(BTreeSet::new());

/// The same name, for as long as the process runs.
///
/// # Errors
/// What is wrong with it, as the end of a sentence: it is empty or longer than [`LONGEST`], has a control character, or there
/// are [`MOST`] already.
pub fn kept(name: &str) -> Result<Name, &'static str> {
    // Nothing panics while it is locked, and a set is never half changed.
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(name) {
        return Ok(known);
    }
    if name.is_empty() || name.len() > LONGEST || name.contains(char::is_control) {
        return Err("a name has 1 to 200 bytes, and no control characters");
    }
    if kept.len() >= MOST {
        return Err("there are more names than the 10,000 that are kept");
    }
    let name: Name = Box::leak(name.into());
    kept.insert(name);
    Ok(name)
}

/// Reads a name, and keeps it.
pub(crate) fn kept_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = String::deserialize(deserializer)?;
    kept(&name).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let first = kept("of a test").expect("a name");
        let second = kept(&String::from("of a test")).expect("a name");
        assert!(std::ptr::eq(first, second));
    }

    #[test]
    fn what_is_no_name_is_not_kept() {
        for text in ["", "a\nb", "\u{1b}[31m", &"x".repeat(LONGEST + 1)] {
            assert!(kept(text).is_err(), "{text:?}");
        }
    }
}
