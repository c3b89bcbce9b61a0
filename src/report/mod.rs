//! Reports: a file a format. Renderers only read; none runs anything.
//!
//! - `timeline` tells the story of a history in rows, with `course` for what goes on for a while
//! - [`text`] is the report for a terminal, with `lanes`, `verbose`, `table` and `closing` for its parts
//! - [`json`] is for programs
//! - [`explain`] has the two for explanations
//! - [`html`] is the picture of a run, with all that an explanation says of it
//! - [`check`] has those on files that were checked, for programs, with [`junit`] and [`annotations`] for CI systems
//! - [`shrink`] has the story of a shrunk scenario, and the account of how it was found
//! - `words` has the phrases, `layout` fits text into columns, `style` has the colours

mod acts;
pub mod annotations;
mod beside;
mod books;
pub mod check;
mod clock_errors;
mod closing;
mod course;
mod drawing;
mod excerpt;
pub mod explain;
mod grants;
mod history_schema;
pub mod html;
pub(crate) mod hunt;
pub mod json;
pub mod jsonl;
pub mod junit;
mod lanes;
mod layout;
pub mod markdown;
pub mod mermaid;
mod notable;
pub mod perfetto;
mod repair;
mod settings;
pub mod shrink;
mod style;
mod summary;
pub mod svg;
mod table;
pub mod text;
mod timeline;
mod verbose;
mod words;

pub use excerpt::Excerpt;
pub use history_schema::history_schema;
pub(crate) use layout::paragraph;
pub use timeline::{Mark, Row, timeline};
