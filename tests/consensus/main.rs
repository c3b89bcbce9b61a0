//! A lease service that is several, in the middle of everything that can befall it.

mod letters;
mod nights;
mod planted;
mod support;
