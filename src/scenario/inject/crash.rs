//! `crash = { … }` and `shutdown = { … }`

use holdover_sim::fault::{Crash, Fault, Shutdown};
use holdover_sim::id::NodeId;
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, NO_NODE, lasting, node};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::{Lower, Nodes};
use crate::scenario::names::quoted;

/// `crash = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct CrashFile {
    node: Spanned<String>,
    #[serde(rename = "for")]
    lasting: Option<Spanned<Written>>,
}

impl Inject for CrashFile {
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = worker(lower, nodes, &self.node, |service| {
            Wrong::new(format!("the service {service} can't be crashed"))
                .help("a `restart` takes a service down for a while; what it loses by that is up to `loses`")
        });
        let lasting = self.lasting.as_ref().map(|written| lasting(lower, written));
        Crash { node, lasting }.into()
    }
}

/// `shutdown = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ShutdownFile {
    node: Spanned<String>,
    takes: Spanned<Written>,
}

impl Inject for ShutdownFile {
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = worker(lower, nodes, &self.node, |service| {
            Wrong::new(format!("the service {service} can't be shut down"))
                .help("only workers can; a `restart` with loses = \"nothing\" takes a service down in order")
        });
        Shutdown { node, lasting: lasting(lower, &self.takes) }.into()
    }
}

/// The worker of this name; of a service `wrong` says why it won't do.
fn worker(
    lower: &mut Lower,
    nodes: &Nodes,
    name: &Spanned<String>,
    wrong: impl FnOnce(String) -> Wrong,
) -> NodeId {
    let node = node(lower, nodes, name);
    if node != NO_NODE && Nodes::is_service(node) {
        let wrong = wrong(quoted(name.get_ref()));
        lower.mistakes.add(Mistake::at(name.span(), "a service", wrong));
    }
    node
}
