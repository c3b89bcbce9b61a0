//! What may reach a terminal or a page: text without anything that is obeyed rather than shown, and names without anything
//! that can't be seen. Whatever prints a text that isn't ours goes by these.

/// Whether a terminal or a page obeys it rather than shows it: control characters, what ends lines to some, and what turns
/// the direction of all that follows, the sentence around a name as well, so that what is read isn't what is there.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control() || turns(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether it turns the direction of all that follows.
pub(crate) fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether nobody sees it, or sees what it is: all that is obeyed, and all that Unicode has for marks of no width, of no ink
/// and of direction. Texts need some of these (a joiner makes one emoji of two); names that differ only in them look the
/// same.
pub(crate) fn is_unseen(c: char) -> bool {
    // Default_Ignorable_Code_Point, then format characters that aren't, and letters that are drawn as a blank.
    const RANGES: [(char, char); 21] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{34f}', '\u{34f}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{202a}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{fff0}', '\u{fff8}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{1d173}', '\u{1d17a}'),
        ('\u{e0000}', '\u{e0fff}'),
        ('\u{70f}', '\u{70f}'),
        ('\u{2800}', '\u{2800}'),
        ('\u{fff9}', '\u{fffb}'),
        ('\u{13430}', '\u{1345f}'),
    ];
    is_obeyed(c) || RANGES.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// A name, such as a path, on one line and with escapes for what nobody would see.
pub(crate) fn name(text: &str) -> String {
    escaped(text, is_unseen)
}

/// A text with escapes for what would be obeyed.
pub(crate) fn text(text: &str) -> String {
    escaped(text, is_obeyed)
}

fn escaped(text: &str, is_hidden: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// A text of the same length in bytes and lines, in which a replacement character stands for each that turns the direction
/// of the rest: places in the text are places in this one.
pub(crate) fn in_place(text: &str) -> String {
    text.replace(turns, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_unseen() {
        for (given, shown) in [
            ("scenarios/größe 日本.toml", "scenarios/größe 日本.toml"),
            ("e\u{301}.toml", "e\u{301}.toml"),
            ("a\u{202e}lmot.toml", "a\\u{202e}lmot.toml"),
            ("\u{1b}[31m\n\t\u{7f}\u{85}", "\\u{1b}[31m\\n\\t\\u{7f}\\u{85}"),
            ("\u{200b}\u{200f}\u{2066}\u{2028}\u{feff}", "\\u{200b}\\u{200f}\\u{2066}\\u{2028}\\u{feff}"),
            ("\u{ad}\u{61c}\u{3164}\u{e0041}\u{fe0f}", "\\u{ad}\\u{61c}\\u{3164}\\u{e0041}\\u{fe0f}"),
        ] {
            assert_eq!(name(given), shown, "{given:?}");
        }
    }

    #[test]
    fn texts_keep_what_languages_need() {
        for (given, shown) in [
            ("עב\u{200f} 👩\u{200d}🚀", "עב\u{200f} 👩\u{200d}🚀"),
            ("\u{202e}x\u{2069}\u{1b}", "\\u{202e}x\\u{2069}\\u{1b}"),
        ] {
            assert_eq!(text(given), shown, "{given:?}");
        }
    }

    /// In the blocks where Unicode keeps them, what has no width on a terminal is unseen.
    #[test]
    fn no_character_of_no_width_is_forgotten() {
        use unicode_width::UnicodeWidthChar;
        for (first, last) in [('\0', '\u{2ff}'), ('\u{2000}', '\u{206f}'), ('\u{e0000}', '\u{e0fff}')] {
            for c in first..=last {
                assert!(c.width().is_some_and(|width| width > 0) || is_unseen(c), "{:?}", c.escape_unicode());
            }
        }
    }

    #[test]
    fn what_is_put_in_place_has_the_same_length() {
        let given = "a = \"\u{202e}x\u{2066}\"\nb";
        let shown = in_place(given);
        assert_eq!(shown.len(), given.len());
        assert_eq!(shown, "a = \"\u{fffd}x\u{fffd}\"\nb");
    }
}
