//! `throttle = { … }`

use holdover_sim::fault::{Fault, Throttle};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, Overlap, lasting, node};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::nodes::Nodes;
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::{Keys, other_than};

/// What a control group has if nobody says otherwise.
const PERIOD: Span = Span::millis(100);

/// Linux takes no shorter quota and no shorter period than this.
const SHORTEST: Span = Span::millis(1);

/// Nor a longer period.
const LONGEST_PERIOD: Span = Span::secs(1);

/// Each stall is two events of the history.
const MOST_STALLS: i64 = 100_000;

/// `throttle = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ThrottleFile {
    #[schemars(with = "terms::Node")]
    node: Spanned<String>,
    #[schemars(with = "terms::PositiveDuration")]
    quota: Spanned<Written>,
    #[schemars(with = "Option<terms::PositiveDuration>", extend("default" = PERIOD.to_string()))]
    period: Option<Spanned<Written>>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for ThrottleFile {
    type Kind = Throttle;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = node(lower, nodes, &self.node);
        let found = lower.mistakes.found();
        let quota = lower.value(Some(&self.quota), SHORTEST, |text| match value::positive_duration(text)? {
            quota if quota < SHORTEST => {
                Err(Wrong::new(format!("a quota of {quota} is too short")).help("it is at least 1ms, as in Linux"))
            }
            quota => Ok(quota),
        });
        let period = lower.value(self.period.as_ref(), PERIOD, |text| match value::positive_duration(text)? {
            period if period < SHORTEST || period > LONGEST_PERIOD => Err(Wrong::new(format!(
                "a period of {period} is too {}",
                if period < SHORTEST { "short" } else { "long" }
            ))
            .help("it is from 1ms to 1s, as in Linux; a `pause` stalls a process for longer")),
            period => Ok(period),
        });
        let lasting = lasting(lower, &self.lasting);
        if lower.mistakes.found() == found {
            self.compare(lower, Throttle { node, quota, period, lasting });
        }
        Throttle { node, quota, period, lasting }.into()
    }

    fn write(kind: &Throttle, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("quota", kind.quota);
        keys.duration("period", other_than(PERIOD, kind.period));
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &Throttle) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two throttles of the same node overlap",
            help: "a process has one quota at a time; let the first end before the second begins",
        })
    }
}

impl ThrottleFile {
    /// Notes what is wrong with values that are right each by itself.
    fn compare(&self, lower: &mut Lower, Throttle { quota, period, lasting, .. }: Throttle) {
        let mistake = if quota >= period {
            let wrong = Wrong::new(format!("a quota of {quota} in every {period} is never used up"))
                .help("make `quota` shorter than `period`, which is 100ms if it isn't there");
            let mistake = Mistake::at(self.quota.span(), "not below the period", wrong);
            match &self.period {
                Some(period) => mistake.and(period.span(), "the period"),
                None => mistake,
            }
        } else if lasting <= period {
            let wrong = Wrong::new(format!("a throttle for {lasting} in periods of {period} stalls only once"))
                .help("make `for` longer than `period`; a `pause` stalls once");
            Mistake::at(self.lasting.span(), "not above the period", wrong)
        } else if lasting.as_nanos() / period.as_nanos() > MOST_STALLS {
            let wrong = Wrong::new(format!("a throttle for {lasting} in periods of {period} stalls too often"))
                .help(format!("it can stall at most {MOST_STALLS} times"));
            Mistake::at(self.lasting.span(), "for how long", wrong)
        } else {
            return;
        };
        lower.mistakes.add(mistake);
    }
}
