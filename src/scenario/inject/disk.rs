//! `disk-stall = { … }`

use holdover_sim::fault::{DiskStall, Fault};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, Overlap, lasting, service};
use crate::scenario::error::Wrong;
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::nodes::Nodes;
use crate::scenario::schema::terms;
use crate::scenario::write::Keys;

/// `disk-stall = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct DiskStallFile {
    #[schemars(with = "terms::Service")]
    node: Spanned<String>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for DiskStallFile {
    type Kind = DiskStall;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = service(lower, nodes, &self.node, |kind, who| {
            Wrong::new(format!("{who} keeps nothing on disk"))
                .help(format!("only services do; a `pause` has {} stand still", kind.one()))
        });
        DiskStall { node, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &DiskStall, keys: &mut Keys<'_>) {
        keys.node("node", kind.node);
        keys.duration("for", kind.lasting);
    }

    fn overlap(kind: &DiskStall) -> Overlap {
        Overlap::Refused(Clash {
            lasting: kind.lasting,
            message: "two stalls of the same disk overlap",
            help: "let the first end before the second begins",
        })
    }
}
