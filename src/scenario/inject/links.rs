//! Faults on links: `partition`, `latency`, `loss`, `duplicate`, `reorder` and `hold`.

use holdover_sim::fault::{Duplicate, Fault, Hold, Latency, Links, Loss, NodeSet, Partition, Reorder};
use holdover_sim::id::NodeId;
use holdover_sim::time::Span;
use holdover_sim::world;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Inject, NO_NODE, Overlap, lasting, node};
use crate::scenario::error::{Mistake, Wrong};
use crate::scenario::file::Written;
use crate::scenario::lower::Lower;
use crate::scenario::names::quoted;
use crate::scenario::nodes::Nodes;
use crate::scenario::schema::terms;
use crate::scenario::value;
use crate::scenario::write::Keys;

/// The names of the nodes on one side.
type Names = Spanned<Vec<Spanned<String>>>;

/// Stands in for a range that is wrong, until the mistake is reported.
const NO_LATENCY: world::Latency = world::Latency { min: Span::ZERO, max: Span::ZERO };

/// How many of a hundred messages a fault can be about.
pub(in crate::scenario) const PERCENT: std::ops::RangeInclusive<u64> = 1..=100;

/// `partition = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct PartitionFile {
    #[schemars(with = "terms::Nodes")]
    between: Names,
    #[schemars(with = "Option<terms::Nodes>")]
    and: Option<Names>,
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    one_way: Option<bool>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for PartitionFile {
    type Kind = Partition;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let links = links(lower, nodes, &self.between, self.and.as_ref(), self.one_way);
        Partition { links, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Partition, keys: &mut Keys<'_>) {
        write_sides(&kind.links, keys);
        keys.flag("one_way", kind.links.one_way);
        keys.duration("for", kind.lasting);
    }

    fn overlap(_: &Partition) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// `latency = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct LatencyFile {
    #[schemars(with = "terms::Nodes")]
    between: Names,
    #[schemars(with = "Option<terms::Nodes>")]
    and: Option<Names>,
    #[schemars(with = "terms::Latency")]
    range: Spanned<Written>,
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    one_way: Option<bool>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for LatencyFile {
    type Kind = Latency;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let links = links(lower, nodes, &self.between, self.and.as_ref(), self.one_way);
        let range = lower.value(Some(&self.range), NO_LATENCY, value::latency);
        Latency { links, range, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Latency, keys: &mut Keys<'_>) {
        write_sides(&kind.links, keys);
        keys.latency("range", kind.range);
        keys.flag("one_way", kind.links.one_way);
        keys.duration("for", kind.lasting);
    }

    fn overlap(_: &Latency) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// `loss = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct LossFile {
    #[schemars(with = "terms::Nodes")]
    between: Names,
    #[schemars(with = "Option<terms::Nodes>")]
    and: Option<Names>,
    #[schemars(with = "terms::Percent")]
    percent: Spanned<u64>,
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    one_way: Option<bool>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for LossFile {
    type Kind = Loss;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let links = links(lower, nodes, &self.between, self.and.as_ref(), self.one_way);
        let percent = percent(lower, &self.percent);
        Loss { links, percent, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Loss, keys: &mut Keys<'_>) {
        write_sides(&kind.links, keys);
        keys.number("percent", u64::from(kind.percent));
        keys.flag("one_way", kind.links.one_way);
        keys.duration("for", kind.lasting);
    }

    fn overlap(_: &Loss) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// `duplicate = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct DuplicateFile {
    #[schemars(with = "terms::Nodes")]
    between: Names,
    #[schemars(with = "Option<terms::Nodes>")]
    and: Option<Names>,
    #[schemars(with = "terms::Percent")]
    percent: Spanned<u64>,
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    one_way: Option<bool>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for DuplicateFile {
    type Kind = Duplicate;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let links = links(lower, nodes, &self.between, self.and.as_ref(), self.one_way);
        let percent = percent(lower, &self.percent);
        Duplicate { links, percent, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Duplicate, keys: &mut Keys<'_>) {
        write_sides(&kind.links, keys);
        keys.number("percent", u64::from(kind.percent));
        keys.flag("one_way", kind.links.one_way);
        keys.duration("for", kind.lasting);
    }

    fn overlap(_: &Duplicate) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// `reorder = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ReorderFile {
    #[schemars(with = "terms::Nodes")]
    between: Names,
    #[schemars(with = "Option<terms::Nodes>")]
    and: Option<Names>,
    #[schemars(with = "terms::Percent")]
    percent: Spanned<u64>,
    #[schemars(with = "terms::PositiveDuration")]
    by: Spanned<Written>,
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    one_way: Option<bool>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for ReorderFile {
    type Kind = Reorder;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let links = links(lower, nodes, &self.between, self.and.as_ref(), self.one_way);
        let percent = percent(lower, &self.percent);
        let by = lower.value(Some(&self.by), Span::ZERO, value::positive_duration);
        Reorder { links, percent, by, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Reorder, keys: &mut Keys<'_>) {
        write_sides(&kind.links, keys);
        keys.number("percent", u64::from(kind.percent));
        keys.duration("by", kind.by);
        keys.flag("one_way", kind.links.one_way);
        keys.duration("for", kind.lasting);
    }

    fn overlap(_: &Reorder) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// `hold = { … }`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct HoldFile {
    #[schemars(with = "terms::Nodes")]
    between: Names,
    #[schemars(with = "Option<terms::Nodes>")]
    and: Option<Names>,
    #[schemars(with = "Option<terms::Flag>", extend("default" = false))]
    one_way: Option<bool>,
    #[serde(rename = "for")]
    #[schemars(with = "terms::PositiveDuration")]
    lasting: Spanned<Written>,
}

impl Inject for HoldFile {
    type Kind = Hold;

    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
        let links = links(lower, nodes, &self.between, self.and.as_ref(), self.one_way);
        Hold { links, lasting: lasting(lower, &self.lasting) }.into()
    }

    fn write(kind: &Hold, keys: &mut Keys<'_>) {
        write_sides(&kind.links, keys);
        keys.flag("one_way", kind.links.one_way);
        keys.duration("for", kind.lasting);
    }

    fn overlap(_: &Hold) -> Overlap {
        // A message suffers from all that is on its way.
        Overlap::Free
    }
}

/// The links between two sides. Neither may be empty, no node on both or twice on one, and somebody must be left for the
/// other side.
fn links(lower: &mut Lower, nodes: &Nodes, between: &Names, and: Option<&Names>, one_way: Option<bool>) -> Links {
    let first = side(lower, nodes, "between", between);
    let other = and.map(|and| side(lower, nodes, "and", and)).unwrap_or_default();
    for (node, place) in &other {
        let Some((_, earlier)) = first.iter().find(|(of, _)| of == node) else { continue };
        let wrong =
            Wrong::new("the same node is on both sides").help("a node always reaches itself; name it on one side");
        let mistake = Mistake::at(place.clone(), "on this side", wrong);
        lower.mistakes.add(mistake.and(earlier.clone(), "and on this one"));
    }
    let between_set: NodeSet = first.iter().map(|(node, _)| *node).collect();
    if and.is_none() && nodes.all().all(|node| between_set.contains(node)) {
        let wrong =
            Wrong::new("all nodes are on one side").help("nobody is left for the other; name its nodes in `and`");
        lower.mistakes.add(Mistake::at(between.span(), "all there are", wrong));
    }
    let and = other.iter().map(|(node, _)| *node).collect();
    Links { between: between_set, and, one_way: one_way.unwrap_or(false) }
}

/// The keys of the two sides.
fn write_sides(links: &Links, keys: &mut Keys<'_>) {
    keys.nodes("between", links.between.iter());
    if !links.and.is_empty() {
        keys.nodes("and", links.and.iter());
    }
}

/// The nodes on one side that are known, each with its place.
fn side(lower: &mut Lower, nodes: &Nodes, key: &str, names: &Names) -> Vec<(NodeId, std::ops::Range<usize>)> {
    if names.get_ref().is_empty() {
        let help = match key {
            "and" => "name a node, or leave the key out: that is everybody else",
            _ => "name a node",
        };
        lower.mistake(names, Wrong::new(format!("`{key}` names no node")).help(help));
    }
    let mut side: Vec<(NodeId, std::ops::Range<usize>)> = Vec::new();
    for name in names.get_ref() {
        let node = node(lower, nodes, name);
        if node == NO_NODE {
            continue;
        }
        if let Some((_, first)) = side.iter().find(|(of, _)| *of == node) {
            let wrong = Wrong::new(format!("{} is named twice", quoted(name.get_ref()))).help("once is enough");
            let mistake = Mistake::at(name.span(), "the second time", wrong);
            lower.mistakes.add(mistake.and(first.clone(), "the first time"));
            continue;
        }
        side.push((node, name.span()));
    }
    side
}

fn percent(lower: &mut Lower, written: &Spanned<u64>) -> u8 {
    match *written.get_ref() {
        0 => {
            lower.mistake(written, Wrong::new("0 percent of the messages are none").help("write 1 to 100"));
            1
        }
        percent if PERCENT.contains(&percent) => percent as u8,
        percent => {
            lower.mistake(
                written,
                Wrong::new(format!("{percent} percent are more than all")).help("write 1 to 100"),
            );
            100
        }
    }
}
