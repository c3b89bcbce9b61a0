//! `restart = { … }`

use holdover_sim::fault::{Fault, Restart};
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, NO_NODE, lasting, node};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::{Lower, Nodes};
use crate::scenario::names::quoted;

/// `restart = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct RestartFile {
    node: Spanned<String>,
    #[serde(rename = "for")]
    lasting: Spanned<Written>,
}

impl Inject for RestartFile {
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = node(lower, nodes, &self.node);
        if node != NO_NODE && !Nodes::is_service(node) {
            let wrong = Wrong::new(format!("the worker {} can't be restarted", quoted(self.node.get_ref())))
                .help("only services can, for now; a `pause` stops a worker for a while");
            lower.mistakes.add(Mistake::at(self.node.span(), "a worker", wrong));
        }
        Restart { node, lasting: lasting(lower, &self.lasting) }.into()
    }
}
