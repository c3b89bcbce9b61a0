//! `restart = { … }` and `failover = { … }`

use holdover_sim::fault::{Failover, Fault, Loses, Restart};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, Overlap, lasting, refuse_replica, service};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::{LOSSES, did_you_mean, quoted};
use crate::scenario::nodes::{NodeKind, Nodes};
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::Keys;

/// What a restart loses that doesn't say it.
const USUAL_LOSS: &str = "memory";

/// `restart = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct RestartFile {
    #[schemars(with = "terms::Service")]
    node: Spanned<String>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
    #[schemars(with = "Option<terms::Loses>", extend("default" = USUAL_LOSS))]
    loses: Option<Spanned<String>>,
    #[schemars(with = "Option<terms::PositiveDuration>")]
    unsynced: Option<Spanned<Written>>,
}

impl Inject for RestartFile {
    type Kind = Restart;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = service(lower, nodes, &self.node, |kind, who| {
            Wrong::new(format!("{who} can't be restarted")).help(format!(
                "only services can; a `crash` with `for` kills {} and has it begin anew",
                kind.one()
            ))
        });
        Restart { node, lasting: lasting(lower, &self.lasting), loses: self.loses(lower) }.into()
    }

    fn write(kind: &Restart, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("for", kind.lasting);
        match kind.loses {
            Loses::Nothing => keys.text("loses", "nothing"),
            Loses::Memory => {}
            Loses::Unsynced(unsynced) => {
                keys.text("loses", "unsynced");
                keys.duration("unsynced", unsynced);
            }
        }
    }

    fn overlap(kind: &Restart) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two restarts of the same service overlap",
            help: "let it come back before it is restarted again",
        })
    }
}

impl RestartFile {
    fn loses(&self, lower: &mut Lower) -> Loses {
        let written = self.loses.as_ref();
        let loses = written.map_or(USUAL_LOSS, |loses| loses.get_ref().as_str());
        match (loses, &self.unsynced) {
            ("unsynced", Some(unsynced)) => {
                return Loses::Unsynced(lower.value(Some(unsynced), Span::ZERO, value::positive_duration));
            }
            ("unsynced", None) => {
                let wrong = Wrong::new("how much was unsynced isn't said")
                    .help("add `unsynced = \"2s\"`: how far back the lost writes go");
                written.into_iter().for_each(|loses| lower.mistake(loses, wrong.clone()));
            }
            ("nothing" | "memory", Some(unsynced)) => {
                let wrong = Wrong::new(format!("`unsynced` doesn't go with loses = \"{loses}\"")).help(
                    "it says how far back lost writes go: write loses = \"unsynced\" as well, or take it away",
                );
                let mistake = Mistake::at(unsynced.span(), "of no use here", wrong);
                lower.mistakes.add(match written {
                    Some(loses) => mistake.and(loses.span(), "what it loses"),
                    None => mistake,
                });
            }
            ("nothing", None) => return Loses::Nothing,
            ("memory", None) => {}
            (other, _) => {
                let help = did_you_mean(other, "it can lose one of", LOSSES.iter().copied());
                let wrong = Wrong::new(format!("a restart can't lose {}", quoted(other))).help(help);
                written.into_iter().for_each(|loses| lower.mistake(loses, wrong.clone()));
            }
        }
        Loses::Memory
    }
}

/// `failover = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct FailoverFile {
    #[schemars(with = "terms::Service")]
    node: Spanned<String>,
    #[schemars(with = "terms::PositiveDuration")]
    lag: Spanned<Written>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for FailoverFile {
    type Kind = Failover;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = service(lower, nodes, &self.node, |kind, who| {
            Wrong::new(format!("{who} has no replica")).help(match kind {
                NodeKind::Operator => "only services fail over; a `crash` kills an operator",
                _ => "only services fail over; a `crash` kills a worker, and the others take its place",
            })
        });
        refuse_replica(lower, nodes, &self.node, node);
        let lag = lower.value(Some(&self.lag), Span::ZERO, |text| match value::duration(text)? {
            Span::ZERO => Err(Wrong::new("a replica that isn't behind loses nothing")
                .help("a `lag` above zero says which writes are lost; without any, it is a `restart`")),
            lag => Ok(lag),
        });
        Failover { node, lag, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Failover, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("lag", kind.lag);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &Failover) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two failovers of the same service overlap",
            help: "let the replica take its place before that fails",
        })
    }
}
