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

pub mod annotations;
pub mod check;
mod closing;
mod course;
pub mod explain;
pub mod html;
pub(crate) mod hunt;
pub mod json;
pub mod junit;
mod lanes;
mod layout;
mod repair;
pub mod shrink;
mod style;
mod table;
pub mod text;
mod timeline;
mod verbose;
mod words;

pub(crate) use layout::paragraph;
pub use timeline::{Mark, Row, timeline};
