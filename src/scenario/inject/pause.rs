//! `pause = { … }`

use holdover_sim::clock::Rate;
use holdover_sim::fault::{Fault, Pause, PauseClocks, WorkerTask};
use holdover_sim::id::NodeId;
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Clash, Inject, NO_NODE, Overlap, lasting, node, node_list};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::{PAUSE_CLOCKS, TASKS, did_you_mean, quoted};
use crate::scenario::nodes::{NodeKind, Nodes};
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::{Keys, other_than};

/// What clocks do in a pause that doesn't say it.
const USUAL_CLOCKS: &str = "running";

/// `pause = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["node"] }, { "required": ["nodes"] }]))]
pub(in crate::scenario) struct PauseFile {
    #[schemars(with = "Option<terms::Node>")]
    node: Option<Spanned<String>>,
    #[schemars(with = "Option<terms::Nodes>")]
    nodes: Option<Spanned<Vec<Spanned<String>>>>,
    #[schemars(with = "Option<terms::Task>")]
    task: Option<Spanned<String>>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
    #[schemars(with = "Option<terms::PauseClocks>", extend("default" = USUAL_CLOCKS))]
    clocks: Option<Spanned<String>>,
    #[schemars(with = "Option<terms::Duration>", extend("default" = "0s"))]
    lost: Option<Spanned<Written>>,
    #[schemars(with = "Option<terms::Ppm>", extend("default" = 0))]
    drift_change_ppm: Option<Spanned<f64>>,
    #[schemars(with = "Option<terms::Duration>")]
    corrected_after: Option<Spanned<Written>>,
}

impl Inject for PauseFile {
    type Kind = Pause;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let who = self.who(lower, nodes);
        let lasting = lasting(lower, &self.lasting);
        let clocks = self.clocks(lower, lasting);
        let task = self.task.as_ref().and_then(|task| self.task(lower, nodes, task, who[0]));
        Pause { node: who[0], beside: who[1..].to_vec(), lasting, clocks, task }.into()
    }

    fn write(kind: &Pause, keys: &mut Keys<'_>) {
        match kind.beside.is_empty() {
            true => keys.node("node", kind.node),
            false => keys.nodes("nodes", kind.each_node()),
        }
        keys.text("task", kind.task.map(WorkerTask::name));
        keys.duration("for", kind.lasting);
        keys.text("clocks", other_than(PauseClocks::Running.name(), kind.clocks.name()));
        match kind.clocks {
            PauseClocks::Migrated { lost, drift_change } => {
                keys.duration("lost", other_than(Span::ZERO, lost));
                keys.rate("drift_change_ppm", other_than(Rate::EXACT, drift_change));
            }
            PauseClocks::Corrected { after } => keys.duration("corrected_after", after),
            PauseClocks::Running | PauseClocks::Suspended | PauseClocks::Frozen | PauseClocks::Counted => {}
        }
    }

    fn overlap(kind: &Pause) -> Overlap {
        // A stalled task goes with whatever happens to its node.
        if kind.task.is_some() {
            return Overlap::Free;
        }
        Overlap::Agreeing(
            kind.clocks,
            Clash {
                lasting: kind.lasting,
                message: "two pauses of the same node disagree on what its clocks do",
                help: "where they overlap they must say the same about `clocks`",
            },
        )
    }
}

impl PauseFile {
    /// The nodes that stand still; at least one.
    fn who(&self, lower: &mut Lower, nodes: &Nodes) -> Vec<NodeId> {
        match (&self.node, &self.nodes) {
            (Some(one), None) => vec![node(lower, nodes, one)],
            (None, Some(several)) => {
                let several = node_list(lower, nodes, several);
                if several.is_empty() { vec![NO_NODE] } else { several }
            }
            (Some(one), Some(several)) => {
                let wrong = Wrong::new("a pause has `node` or `nodes`, not both")
                    .help("put them all into `nodes` if they stand still together");
                lower.mistakes.add(Mistake::at(several.span(), "several", wrong).and(one.span(), "one"));
                vec![NO_NODE]
            }
            (None, None) => {
                let wrong = Wrong::new("the pause doesn't say of what")
                    .help("add node = \"worker-a\", or nodes = [\"worker-a\", \"ledger\"] for a host with both");
                lower.mistakes.add(Mistake::at(self.lasting.span(), "whose?", wrong));
                vec![NO_NODE]
            }
        }
    }

    fn task(&self, lower: &mut Lower, nodes: &Nodes, task: &Spanned<String>, node: NodeId) -> Option<WorkerTask> {
        let found = match task.get_ref().as_str() {
            "work" => Some(WorkerTask::Work),
            "renewal" => Some(WorkerTask::Renewal),
            other => {
                let help = did_you_mean(other, "a worker's tasks", TASKS.iter().copied());
                lower.mistake(task, Wrong::new(format!("a worker has no task {}", quoted(other))).help(help));
                None
            }
        };
        if let Some(several) = &self.nodes {
            let wrong = Wrong::new("`task` doesn't go with `nodes`")
                .help("what stops a host stops all of it; write `node` for one task of one worker");
            lower.mistakes.add(Mistake::at(task.span(), "of no use here", wrong).and(several.span(), "a host"));
        } else if let Some(kind) = nodes.kind(node).filter(|kind| *kind != NodeKind::Worker) {
            let kind = kind.one();
            let wrong = Wrong::new(format!("{kind} has no tasks"))
                .help(format!("leave `task` away: all of {kind} is paused"));
            let place = self.node.as_ref().map_or(task.span(), Spanned::span);
            lower.mistakes.add(Mistake::at(task.span(), "of no use here", wrong).and(place, kind));
        }
        if let Some(clocks) = self.clocks.as_ref().filter(|clocks| clocks.get_ref() != "running") {
            let wrong = Wrong::new(format!("one task alone can't be {}", quoted(clocks.get_ref())))
                .help("a task stalls while the clocks run; take `task` or `clocks` away");
            lower
                .mistakes
                .add(Mistake::at(clocks.span(), "this stops all of it", wrong).and(task.span(), "the task"));
        }
        found
    }

    fn clocks(&self, lower: &mut Lower, lasting: Span) -> PauseClocks {
        let name = self.clocks.as_ref().map_or(USUAL_CLOCKS, |clocks| clocks.get_ref().as_str());
        let extras = [
            ("lost", self.lost.as_ref().map(Spanned::span), "migrated"),
            ("drift_change_ppm", self.drift_change_ppm.as_ref().map(Spanned::span), "migrated"),
            ("corrected_after", self.corrected_after.as_ref().map(Spanned::span), "frozen"),
        ];
        let known = PAUSE_CLOCKS.contains(&name);
        for (key, place, goes_with) in extras {
            let Some(place) = place.filter(|_| known && name != goes_with) else { continue };
            let wrong = Wrong::new(format!("`{key}` doesn't go with clocks that are {}", quoted(name)))
                .help(format!("it needs clocks = \"{goes_with}\""));
            let mistake = Mistake::at(place, "of no use here", wrong);
            lower.mistakes.add(match &self.clocks {
                Some(clocks) => mistake.and(clocks.span(), "the clocks"),
                None => mistake,
            });
        }
        match name {
            "running" => PauseClocks::Running,
            "suspended" => PauseClocks::Suspended,
            "counted" => PauseClocks::Counted,
            "frozen" => match &self.corrected_after {
                Some(after) => {
                    PauseClocks::Corrected { after: lower.value(Some(after), Span::ZERO, value::duration) }
                }
                None => PauseClocks::Frozen,
            },
            "migrated" => PauseClocks::Migrated {
                lost: self.lost(lower, lasting),
                drift_change: self.drift_change_ppm.as_ref().map_or(Rate::EXACT, |ppm| lower.rate(ppm)),
            },
            other => {
                if let Some(clocks) = &self.clocks {
                    let help = did_you_mean(other, "clocks do one of", PAUSE_CLOCKS.iter().copied());
                    lower.mistake(clocks, Wrong::new(format!("clocks can't be {}", quoted(other))).help(help));
                }
                PauseClocks::Running
            }
        }
    }

    fn lost(&self, lower: &mut Lower, lasting: Span) -> Span {
        let lost = lower.value(self.lost.as_ref(), Span::ZERO, value::duration);
        if let Some(written) = self.lost.as_ref().filter(|_| lasting > Span::ZERO && lost > lasting) {
            let wrong = Wrong::new(format!("clocks can't lose {lost} in a pause of {lasting}"))
                .help("they lose at most all of it, which is what \"frozen\" does");
            let mistake = Mistake::at(written.span(), "longer than the pause", wrong);
            lower.mistakes.add(mistake.and(self.lasting.span(), "the pause"));
        }
        lost
    }
}
