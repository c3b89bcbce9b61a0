//! The page that a file is written on: its tables, one below the other.

use super::keys::Keys;

/// The text of a file as it grows, and which part of it begins where.
#[derive(Default)]
pub(in crate::scenario) struct Page {
    text: String,
    parts: Vec<(usize, String)>,
}

impl Page {
    /// Adds a table. Its `header` is empty for the keys above the first one; `name` is what messages call it.
    pub(in crate::scenario) fn table(&mut self, header: &str, name: &str, keys: Keys<'_>) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if !header.is_empty() {
            self.parts.push((self.text.len(), name.to_owned()));
            self.text += header;
            self.text.push('\n');
        }
        for (key, value) in keys.into_pairs() {
            self.parts.push((self.text.len(), format!("`{key}` of {name}")));
            self.text += &format!("{key} = {value}\n");
        }
    }

    /// All that is on it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// All that is on it, and nothing else.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// What messages call the part that is at `place`, counted in bytes.
    pub(super) fn part_at(&self, place: usize) -> &str {
        let before = self.parts.partition_point(|(from, _)| *from <= place);
        before.checked_sub(1).map_or("the scenario", |index| &self.parts[index].1)
    }
}
