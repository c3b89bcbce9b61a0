//! `snapshot = { … }` and `restore = { … }`

use holdover_sim::fault::{Fault, Original, Restore, Snapshot};
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, InjectFile, Overlap, worker};
use crate::scenario::error::Wrong;
use crate::scenario::file::Table;
use crate::scenario::lower::Lower;
use crate::scenario::names::{did_you_mean, quoted};
use crate::scenario::nodes::{NodeKind, Nodes};
use crate::scenario::schema::terms;
use crate::scenario::write::{Keys, other_than};

/// `snapshot = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SnapshotFile {
    #[schemars(with = "terms::Worker")]
    node: Spanned<String>,
}

impl Inject for SnapshotFile {
    type Kind = Snapshot;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = worker(lower, nodes, &self.node, |kind, who| {
            Wrong::new(format!("no snapshot can be taken of {who}")).help(match kind {
                NodeKind::Operator => {
                    "only workers have snapshots; a `crash` with `for` has an operator begin anew"
                }
                _ => "only workers have snapshots; a `failover` promotes an older copy of a service",
            })
        });
        Snapshot { node }.into()
    }

    fn write(kind: &Snapshot, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
    }

    fn overlap(_: &Snapshot) -> Overlap {
        // Two snapshots of one instant are the same.
        Overlap::Free
    }
}

/// `restore = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct RestoreFile {
    #[schemars(with = "terms::Worker")]
    node: Spanned<String>,
    #[schemars(with = "Option<terms::Original>", extend("default" = Original::Gone.name()))]
    original: Option<Spanned<String>>,
}

impl Inject for RestoreFile {
    type Kind = Restore;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = worker(lower, nodes, &self.node, |kind, who| {
            Wrong::new(format!("{who} can't be put back to a snapshot")).help(match kind {
                NodeKind::Operator => "only workers can; a `crash` with `for` has an operator begin anew",
                _ => "only workers can; a `failover` promotes an older copy of a service",
            })
        });
        Restore { node, original: self.original(lower) }.into()
    }

    fn write(kind: &Restore, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.text("original", other_than(Original::Gone, kind.original).map(Original::name));
    }

    fn overlap(_: &Restore) -> Overlap {
        Overlap::Refused(Clash {
            lasting: Span::ZERO,
            message: "the same worker goes on from a snapshot twice at the same instant",
            help: "take one away, or put them at different times",
        })
    }
}

impl RestoreFile {
    fn original(&self, lower: &mut Lower) -> Original {
        let Some(written) = &self.original else { return Original::Gone };
        let known = Original::ALL.into_iter().find(|original| original.name() == written.get_ref());
        known.unwrap_or_else(|| {
            let help = did_you_mean(written.get_ref(), "it is one of", Original::ALL.map(Original::name));
            let wrong = Wrong::new(format!("an original can't be {}", quoted(written.get_ref()))).help(help);
            lower.mistake(written, wrong);
            Original::Gone
        })
    }
}

impl InjectFile {
    /// Where the worker is named that is put back, if this puts one back.
    pub(in crate::scenario) fn restored(&self) -> Option<&Spanned<String>> {
        match self {
            InjectFile::Restore(Table(file)) => Some(&file.node),
            _ => None,
        }
    }
}
