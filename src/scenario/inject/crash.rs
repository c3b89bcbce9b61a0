//! `crash = { … }` and `shutdown = { … }`

use holdover_sim::fault::{Crash, Fault, Shutdown};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, Overlap, asker, lasting, worker};
use crate::scenario::error::Wrong;
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::nodes::{NodeKind, Nodes};
use crate::scenario::schema::terms;
use crate::scenario::write::Keys;

/// `crash = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct CrashFile {
    #[schemars(with = "terms::Worker")]
    node: Spanned<String>,
    #[serde(rename = "for")]
    #[schemars(with = "Option<terms::PositiveDuration>")]
    lasting: Option<Spanned<Written>>,
}

impl Inject for CrashFile {
    type Kind = Crash;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = asker(lower, nodes, &self.node, |service| {
            Wrong::new(format!("{service} can't be crashed"))
                .help("a `restart` takes a service down for a while; what it loses by that is up to `loses`")
        });
        let lasting = self.lasting.as_ref().map(|written| lasting(lower, written));
        Crash { node, lasting }.into()
    }

    fn write(kind: &Crash, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &Crash) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting.unwrap_or(Span::ZERO),
            message: "two crashes of the same process overlap",
            help: "let it begin anew before it is killed again",
        })
    }
}

/// `shutdown = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ShutdownFile {
    #[schemars(with = "terms::Worker")]
    node: Spanned<String>,
    #[schemars(with = "terms::PositiveDuration")]
    takes: Spanned<Written>,
}

impl Inject for ShutdownFile {
    type Kind = Shutdown;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = worker(lower, nodes, &self.node, |kind, who| {
            Wrong::new(format!("{who} can't be shut down")).help(match kind {
                NodeKind::Operator => {
                    "only workers can; a `crash` ends an operator, and with `for` it begins anew"
                }
                _ => "only workers can; a `restart` with loses = \"nothing\" takes a service down in order",
            })
        });
        Shutdown { node, lasting: lasting(lower, &self.takes) }.into()
    }

    fn write(kind: &Shutdown, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("takes", kind.lasting);
    }

    fn overlap(kind: &Shutdown) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two shutdowns of the same worker",
            help: "who was told to stop doesn't come back",
        })
    }
}
