//! `clock-step = { … }`, `clock-slew = { … }` and what else bends or moves one node's clocks.

use holdover_sim::clock::Rate;
use holdover_sim::fault::{ClockDrift, ClockSlew, ClockStep, ClockStrobe, Fault, ZoneError};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, Overlap, lasting, node};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::quoted;
use crate::scenario::nodes::Nodes;
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::Keys;

/// `clock-step = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct StepFile {
    #[schemars(with = "terms::Node")]
    node: Spanned<String>,
    #[schemars(with = "terms::Jump")]
    by: Spanned<Written>,
}

impl Inject for StepFile {
    type Kind = ClockStep;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let by = lower.value(Some(&self.by), Span::ZERO, |text| match value::signed_duration(text)? {
            Span::ZERO => Err(Wrong::new("a step of zero changes nothing")
                .help("\"-420ms\" steps the clock back, \"2s\" steps it forward")),
            by => Ok(by),
        });
        ClockStep { node: node(lower, nodes, &self.node), by }.into()
    }

    fn write(kind: &ClockStep, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("by", kind.by);
    }

    fn overlap(_: &ClockStep) -> Overlap {
        Overlap::Refused(Clash {
            lasting: Span::ZERO,
            message: "two steps of the same clock at the same instant",
            help: "write one step by the sum of both, or put them at different times",
        })
    }
}

/// `clock-slew = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SlewFile {
    #[schemars(with = "terms::Node")]
    node: Spanned<String>,
    #[schemars(with = "terms::NonZeroPpm")]
    ppm: Spanned<f64>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for SlewFile {
    type Kind = ClockSlew;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        ClockSlew {
            node: node(lower, nodes, &self.node),
            rate: rate(lower, &self.ppm, "slew"),
            lasting: lasting(lower, &self.lasting),
        }
        .into()
    }

    fn write(kind: &ClockSlew, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.rate("ppm", kind.rate);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &ClockSlew) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two slews of the same node's clocks overlap",
            help: "a clock has one slew at a time; let the first end before the second begins",
        })
    }
}

/// `clock-drift = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct DriftFile {
    #[schemars(with = "terms::Node")]
    node: Spanned<String>,
    #[schemars(with = "terms::NonZeroPpm")]
    ppm: Spanned<f64>,
    #[serde(rename = "for")]
    #[schemars(with = "Option<terms::PositiveDuration>")]
    lasting: Option<Spanned<Written>>,
}

impl Inject for DriftFile {
    type Kind = ClockDrift;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        ClockDrift {
            node: node(lower, nodes, &self.node),
            rate: rate(lower, &self.ppm, "drift"),
            lasting: self.lasting.as_ref().map(|written| lasting(lower, written)),
        }
        .into()
    }

    fn write(kind: &ClockDrift, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.rate("ppm", kind.rate);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &ClockDrift) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting.unwrap_or(Span::MAX),
            message: "two changes of the same oscillator overlap",
            help: "let the first end before the second begins, or write the second by the sum of both",
        })
    }
}

/// A rate that isn't zero; `what` has it.
fn rate(lower: &mut Lower, ppm: &Spanned<f64>, what: &str) -> Rate {
    let found = lower.mistakes.found();
    let rate = lower.rate(ppm);
    if rate == Rate::EXACT && lower.mistakes.found() == found {
        let wrong = Wrong::new(format!("a {what} of zero changes nothing"))
            .help("a negative rate slows the clocks down, a positive one speeds them up");
        lower.mistake(ppm, wrong);
    }
    rate
}

/// `clock-strobe = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct StrobeFile {
    #[schemars(with = "terms::Node")]
    node: Spanned<String>,
    #[schemars(with = "terms::Jump")]
    by: Spanned<Written>,
    #[schemars(with = "terms::PositiveDuration")]
    every: Spanned<Written>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

/// Each jump makes a stretch of the clocks that the history keeps.
const MOST_JUMPS: i64 = 100_000;

impl Inject for StrobeFile {
    type Kind = ClockStrobe;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let by = lower.value(Some(&self.by), Span::ZERO, |text| match value::signed_duration(text)? {
            Span::ZERO => {
                Err(Wrong::new("a jump of zero changes nothing").help("such as \"200ms\" or \"-200ms\""))
            }
            by => Ok(by),
        });
        let every = lower.value(Some(&self.every), Span::ZERO, value::positive_duration);
        let lasting = lasting(lower, &self.lasting);
        let wrong = if every == Span::ZERO || lasting == Span::ZERO {
            None
        } else if every >= lasting {
            let wrong = Wrong::new(format!("a strobe of {lasting} that jumps every {every} jumps only once"));
            Some(wrong.help("make `every` shorter than `for`; a `zone-error` jumps away once and back"))
        } else if lasting.as_nanos() / every.as_nanos() > MOST_JUMPS {
            let wrong = Wrong::new(format!("a strobe of {lasting} every {every} jumps too often"));
            Some(wrong.help(format!("it can jump at most {MOST_JUMPS} times")))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let mistake = Mistake::at(self.every.span(), "how often", wrong);
            lower.mistakes.add(mistake.and(self.lasting.span(), "for how long"));
        }
        ClockStrobe { node: node(lower, nodes, &self.node), by, every, lasting }.into()
    }

    fn write(kind: &ClockStrobe, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("by", kind.by);
        keys.duration("every", kind.every);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &ClockStrobe) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two strobes of the same wall clock overlap",
            help: "let the first end before the second begins",
        })
    }
}

/// `zone-error = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ZoneFile {
    #[schemars(with = "terms::Node")]
    node: Spanned<String>,
    #[schemars(with = "terms::Jump")]
    by: Spanned<Written>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

/// Zones differ by quarters of an hour, and by at most 26 hours.
const ZONE_STEP: Span = Span::secs(900);
const FURTHEST_ZONE: Span = Span::secs(26 * 3_600);

impl Inject for ZoneFile {
    type Kind = ZoneError;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let by = lower.value(Some(&self.by), Span::ZERO, |text| {
            let by = value::signed_duration(text)?;
            let is_far = by > FURTHEST_ZONE || by < -FURTHEST_ZONE;
            if by == Span::ZERO || by.as_nanos() % ZONE_STEP.as_nanos() != 0 || is_far {
                return Err(Wrong::new(format!("no two time zones are {} apart", quoted(text))).help(
                    "they differ by quarters of an hour, up to 26 h; a `clock-step` moves a clock by anything",
                ));
            }
            Ok(by)
        });
        ZoneError { node: node(lower, nodes, &self.node), by, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &ZoneError, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("by", kind.by);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &ZoneError) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "a wall clock is in two wrong zones at once",
            help: "let the first end before the second begins",
        })
    }
}
