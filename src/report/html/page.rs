//! One file of record, scripts and styles, which says itself that nothing may be fetched and nothing else be run.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use crate::shown::turns;

/// Joined in this order; each may use what stands before it.
const STYLES: [&str; 5] = [
    include_str!("assets/theme.css"),
    include_str!("assets/page.css"),
    include_str!("assets/picture.css"),
    include_str!("assets/tables.css"),
    include_str!("assets/print.css"),
];

/// Joined in this order; each may use what stands before it.
const SCRIPTS: [&str; 18] = [
    include_str!("assets/dom.js"),
    include_str!("assets/record.js"),
    include_str!("assets/time.js"),
    include_str!("assets/axis.js"),
    include_str!("assets/state.js"),
    include_str!("assets/steps.js"),
    include_str!("assets/ink.js"),
    include_str!("assets/shapes.js"),
    include_str!("assets/lanes.js"),
    include_str!("assets/flags.js"),
    include_str!("assets/panel.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/cursor.js"),
    include_str!("assets/reasons.js"),
    include_str!("assets/rows.js"),
    include_str!("assets/keys.js"),
    include_str!("assets/print.js"),
    include_str!("assets/main.js"),
];

/// What is on the page before a script has run.
const BODY: &str = include_str!("assets/body.html");

/// Writes the page with `title`, drawn from `record`, which is JSON.
pub(super) fn write(title: &str, record: &str, out: &mut impl Write) -> io::Result<()> {
    let style = STYLES.concat();
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat());
    let (style_hash, script_hash) = (hash(&style), hash(&script));
    let policy = format!(
        "default-src 'none'; style-src '{style_hash}'; script-src '{script_hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"holdover {}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n{BODY}\
         <script type=\"application/json\" id=\"record\">",
        env!("CARGO_PKG_VERSION"),
        Text(title),
    )?;
    write_embedded(record, out)?;
    write!(out, "</script>\n<script>{script}</script>\n</body>\n</html>\n")
}

/// What a policy has for a script or a style that it allows.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text)))
}

/// Writes JSON so that nothing in it can end the element that it is in, begin a comment there, or turn the texts that it
/// stands in. All that is escaped stands in strings only.
fn write_embedded(json: &str, out: &mut impl Write) -> io::Result<()> {
    let mut rest = json;
    let is_escaped = |c: char| turns(c) || matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    while let Some(place) = rest.find(is_escaped) {
        let (before, after) = rest.split_at(place);
        let mut chars = after.chars();
        match chars.next() {
            // It is to be seen, and not to be obeyed.
            Some(c) if turns(c) => write!(out, "{before}\\\\u{{{:x}}}", u32::from(c))?,
            c => write!(out, "{before}\\u{:04x}", c.map_or(0, u32::from))?,
        }
        rest = chars.as_str();
    }
    out.write_all(rest.as_bytes())
}

/// A text as it stands in an element.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                c if turns(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedded(json: &str) -> String {
        let mut out = Vec::new();
        write_embedded(json, &mut out).expect("a Vec takes any bytes");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_record_can_not_end_its_element() {
        let texts = ["</script>", "<!-- <script>", "&lt;", "\u{2028}\u{2029}", "\"'`\\", "\u{200f}", "é漢"];
        for text in texts {
            let json = serde_json::to_string(text).expect("a text is JSON");
            let embedded = embedded(&json);
            assert!(!embedded.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{embedded}");
            assert_eq!(serde_json::from_str::<String>(&embedded).expect("still JSON"), text);
        }
    }

    #[test]
    fn what_turns_texts_is_seen_and_not_obeyed() {
        let json = serde_json::to_string("a\u{202e}b\u{2066}").expect("a text is JSON");
        let read: String = serde_json::from_str(&embedded(&json)).expect("still JSON");
        assert_eq!(read, r"a\u{202e}b\u{2066}");
        assert_eq!(Text("a\u{202e}b").to_string(), r"a\u{202e}b");
    }

    #[test]
    fn a_title_is_text() {
        let mut page = Vec::new();
        write("</title><script>alert(1)</script>", "{}", &mut page).expect("a Vec takes any bytes");
        let page = String::from_utf8(page).expect("text");
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>"), "{page}");
    }

    /// Nothing in the assets asks for anything from elsewhere, or ends what it stands in.
    #[test]
    fn assets_keep_to_themselves() {
        for asset in STYLES.into_iter().chain(SCRIPTS).chain([BODY]) {
            for forbidden in
                ["http:", "https:", "//cdn", "@import", "url(", "</style", "fetch(", "import(", "innerHTML"]
            {
                assert!(!asset.contains(forbidden), "{forbidden} in {asset}");
            }
        }
        assert!(SCRIPTS.iter().all(|script| !script.contains("</script") && !script.contains("<!--")));
    }
}
