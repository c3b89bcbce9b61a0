//! Takes out of a text what says nothing to a reader of a snapshot.

/// `text` with every fingerprint, 32 hexadecimal digits, replaced by a word: it changes with each change of a history's
/// form.
pub(crate) fn redacted(text: &str) -> String {
    const DIGITS: usize = 32;
    let mut plain = String::with_capacity(text.len());
    let mut word = String::new();
    // The blank behind the end closes the last word.
    for char in text.chars().chain([' ']) {
        if char.is_ascii_alphanumeric() {
            word.push(char);
            continue;
        }
        let is_fingerprint = word.len() == DIGITS && word.chars().all(|char| char.is_ascii_hexdigit());
        plain.push_str(if is_fingerprint { "FINGERPRINT" } else { &word });
        word.clear();
        plain.push(char);
    }
    plain.pop();
    // Lines that end in blanks are a nuisance in snapshots.
    plain.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
