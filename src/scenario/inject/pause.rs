//! `pause = { … }`

use holdover_sim::clock::Motion;
use holdover_sim::fault::{Fault, Pause};
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, lasting, node};
use crate::scenario::error::Wrong;
use crate::scenario::file::Written;
use crate::scenario::lower::{Lower, Nodes};
use crate::scenario::names::{MOTIONS, did_you_mean, quoted};

/// `pause = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct PauseFile {
    node: Spanned<String>,
    #[serde(rename = "for")]
    lasting: Spanned<Written>,
    clocks: Option<Spanned<String>>,
}

impl Inject for PauseFile {
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let node = node(lower, nodes, &self.node);
        let lasting = lasting(lower, &self.lasting);
        let clocks = self.clocks.as_ref().map_or(Motion::Running, |clocks| motion(lower, clocks));
        Pause { node, lasting, clocks }.into()
    }
}

fn motion(lower: &mut Lower, clocks: &Spanned<String>) -> Motion {
    match clocks.get_ref().as_str() {
        "running" => Motion::Running,
        "suspended" => Motion::Suspended,
        "frozen" => Motion::Frozen,
        other => {
            let help = did_you_mean(other, "clocks do one of", MOTIONS.iter().copied());
            lower.mistake(clocks, Wrong::new(format!("clocks can't be {}", quoted(other))).help(help));
            Motion::Running
        }
    }
}
