//! How tests render an error: as a terminal would show it, without what differs between terminals.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

/// The error as text, without colour, in `width` columns. Words aren't broken at their dashes: dates have dashes, and
/// helps have dates to copy.
pub(crate) fn plain(error: &dyn Diagnostic, width: usize) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(width)
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
        .render_report(&mut text, error)
        .expect("a String takes any text");
    // Lines that end in blanks are a nuisance in snapshots.
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
