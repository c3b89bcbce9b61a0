//! A lease service that is several, in the middle of everything that can befall it.

mod letters;
mod losses;
mod nights;
mod planted;
mod support;
