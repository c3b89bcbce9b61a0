//! `split-brain = { … }`

use holdover_sim::fault::{Fault, SplitBrain};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, Overlap, lasting, node_list, refuse_replica, service};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::quoted;
use crate::scenario::nodes::{NodeKind, Nodes};
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::{Keys, other_than};

/// `split-brain = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SplitBrainFile {
    #[schemars(with = "terms::Service")]
    node: Spanned<String>,
    #[schemars(with = "terms::Nodes")]
    old: Spanned<Vec<Spanned<String>>>,
    #[schemars(with = "Option<terms::Duration>", extend("default" = "0s"))]
    lag: Option<Spanned<Written>>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for SplitBrainFile {
    type Kind = SplitBrain;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = service(lower, nodes, &self.node, |_, who| {
            Wrong::new(format!("{who} has no replica"))
                .help("only services have one that can be promoted beside them")
        });
        refuse_replica(lower, nodes, &self.node, node);
        let old = node_list(lower, nodes, &self.old);
        for (name, old) in self.old.get_ref().iter().zip(&old) {
            if nodes.kind(*old) == Some(NodeKind::Service) {
                let wrong = Wrong::new(format!("the service {} asks nobody", quoted(name.get_ref())))
                    .help("`old` names the workers that the old primary goes on answering");
                lower.mistakes.add(Mistake::at(name.span(), "a service", wrong));
            }
        }
        let lag = lower.value(self.lag.as_ref(), Span::ZERO, value::duration);
        SplitBrain { node, old, lag, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &SplitBrain, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.nodes("old", kind.old.iter().copied());
        keys.duration("lag", other_than(Span::ZERO, kind.lag));
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &SplitBrain) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two split brains of the same service overlap",
            help: "there are two halves at the most; let the first end before the second begins",
        })
    }
}
