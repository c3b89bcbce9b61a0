//! `clock-step = { … }` and `clock-slew = { … }`

use holdover_sim::clock::Rate;
use holdover_sim::fault::{ClockSlew, ClockStep, Fault};
use holdover_sim::time::Span;
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, lasting, node};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::{Lower, Nodes};
use crate::scenario::value;

/// `clock-step = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct StepFile {
    node: Spanned<String>,
    by: Spanned<Written>,
}

impl Inject for StepFile {
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let by = lower.value(Some(&self.by), Span::ZERO, |text| match value::signed_duration(text)? {
            Span::ZERO => Err(Wrong::new("a step of zero changes nothing")
                .help("\"-420ms\" steps the clock back, \"2s\" steps it forward")),
            by => Ok(by),
        });
        ClockStep { node: node(lower, nodes, &self.node), by }.into()
    }
}

/// `clock-slew = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SlewFile {
    node: Spanned<String>,
    ppm: Spanned<f64>,
    #[serde(rename = "for")]
    lasting: Spanned<Written>,
}

impl Inject for SlewFile {
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let rate = value::rate(*self.ppm.get_ref()).and_then(|rate| match rate {
            Rate::EXACT => Err(Wrong::new("a slew of zero changes nothing")
                .help("a negative rate slows the clocks down, a positive one speeds them up")),
            rate => Ok(rate),
        });
        let rate = rate.map_err(|wrong| Mistake::here(self.ppm.span(), wrong));
        ClockSlew {
            node: node(lower, nodes, &self.node),
            rate: lower.mistakes.value_or(rate, Rate::EXACT),
            lasting: lasting(lower, &self.lasting),
        }
        .into()
    }
}
