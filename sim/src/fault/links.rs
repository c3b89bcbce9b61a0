//! Which links of the network a fault is on.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Keep;
use crate::id::NodeId;

/// Some nodes, each once, in the order in which they were named. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSet(Arc<[NodeId]>);

impl NodeSet {
    /// Whether `node` is one of them.
    pub fn contains(&self, node: NodeId) -> bool {
        self.0.contains(&node)
    }

    /// They, in that order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + use<'_> {
        self.0.iter().copied()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that was named first.
    pub fn first(&self) -> Option<NodeId> {
        self.0.first().copied()
    }

    /// Takes away those that `keep` says no to. It may give them other numbers.
    fn keep_nodes(&mut self, keep: &mut Keep<'_>) {
        *self = self.iter().filter_map(|mut node| keep(&mut node).then_some(node)).collect();
    }

    /// Their names as a list: `worker-a, worker-b and ledger`.
    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let names: Vec<String> = self.0.iter().map(|node| name(*node)).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => names.concat(),
        }
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> NodeSet {
        let mut set: Vec<NodeId> = Vec::new();
        for node in nodes {
            if !set.contains(&node) {
                set.push(node);
            }
        }
        NodeSet(set.into())
    }
}

impl Serialize for NodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de> Deserialize<'de> for NodeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NodeSet, D::Error> {
        let named = Vec::<NodeId>::deserialize(deserializer)?;
        let set: NodeSet = named.iter().copied().collect();
        match set.0.len() == named.len() {
            true => Ok(set),
            false => Err(de::Error::custom("a node is named twice on one side of links")),
        }
    }
}

/// The links between some nodes and others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The nodes on one side; at least one.
    pub between: NodeSet,
    /// The nodes on the other side, none of them on both; empty for everybody else.
    pub and: NodeSet,
    /// Whether only messages from `between` to the other side are meant, and not those back.
    pub one_way: bool,
}

impl Links {
    /// Whether a message from `from` to `to` goes over one of them.
    pub fn carry(&self, from: NodeId, to: NodeId) -> bool {
        self.lead(from, to) || (!self.one_way && self.lead(to, from))
    }

    fn lead(&self, from: NodeId, to: NodeId) -> bool {
        let other = if self.and.is_empty() { !self.between.contains(to) } else { self.and.contains(to) };
        self.between.contains(from) && other
    }

    /// Goes on without the nodes that `keep` says no to, which may give them other numbers. `false` if a side has nobody
    /// left: an empty one would mean everybody else, or nothing at all.
    pub(crate) fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
        let Links { between, and, one_way: _ } = self;
        let is_everybody_else = and.is_empty();
        between.keep_nodes(keep);
        and.keep_nodes(keep);
        !between.is_empty() && and.is_empty() == is_everybody_else
    }

    /// The same links in one spelling, in a world of so many `nodes`: each side in the order of its nodes, the shorter side
    /// first if both ways are meant, and nobody on the other side if that is everybody else.
    pub(crate) fn in_one_spelling(&self, nodes: usize) -> Links {
        let sorted = |set: &NodeSet| {
            let mut sorted: Vec<NodeId> = set.iter().collect();
            sorted.sort_unstable();
            sorted
        };
        let everybody = (0..nodes).map(|node| NodeId(node as u16));
        let between = sorted(&self.between);
        let others: Vec<NodeId> = everybody.filter(|node| !between.contains(node)).collect();
        let and = if self.and.is_empty() { others.clone() } else { sorted(&self.and) };
        let is_everybody_else = and == others;
        let is_first = self.one_way || (between.len(), &between) <= (and.len(), &and);
        let (between, and) = if is_first { (between, and) } else { (and, between) };
        let and = if is_everybody_else { Vec::new() } else { and };
        Links { between: between.into_iter().collect(), and: and.into_iter().collect(), one_way: self.one_way }
    }

    /// The first node of `between`: where a fault on these links is noted.
    pub(crate) fn node(&self) -> NodeId {
        self.between.first().unwrap_or(NodeId(0))
    }

    /// They, as the end of a phrase: `between worker-a and everybody else`, `from worker-a to ledger`.
    pub(crate) fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
        let others = if self.and.is_empty() { "everybody else".to_owned() } else { self.and.phrase(name) };
        let (before, amid) = if self.one_way { ("from", "to") } else { ("between", "and") };
        format!("{before} {} {amid} {others}", self.between.phrase(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [&str; 5] = ["store", "ledger", "provider", "a", "b"];

    fn set(names: &str) -> NodeSet {
        let number = |name: &str| NODES.iter().position(|node| *node == name).expect("a node's name");
        names.split_whitespace().map(|name| NodeId(number(name) as u16)).collect()
    }

    /// All pairs that `links` carry, as `from>to`, and how a phrase tells of them.
    #[track_caller]
    fn check(between: &str, and: &str, one_way: bool, phrase: &str, pairs: &str) {
        let links = Links { between: set(between), and: set(and), one_way };
        let all = (0..5).flat_map(|from| (0..5).map(move |to| (NodeId(from), NodeId(to))));
        let name = |node: NodeId| NODES[node.index()].to_owned();
        let carried: Vec<String> = all
            .filter(|(from, to)| links.carry(*from, *to))
            .map(|(from, to)| format!("{}>{}", name(from), name(to)))
            .collect();
        assert_eq!(carried.join(" "), pairs);
        assert_eq!(links.phrase(&name), phrase);
        assert_eq!(links.node(), set(between).first().expect("there is one"));
    }

    #[test]
    fn links_lead_from_one_side_to_the_other_and_back_unless_one_way() {
        check("a", "ledger", false, "between a and ledger", "ledger>a a>ledger");
        check("a", "ledger", true, "from a to ledger", "a>ledger");
        check("a", "store ledger", true, "from a to store and ledger", "a>store a>ledger");
        check("b a", "ledger", false, "between b and a and ledger", "ledger>a ledger>b a>ledger b>ledger");
    }

    #[test]
    fn no_other_side_is_everybody_else() {
        check("a", "", true, "from a to everybody else", "a>store a>ledger a>provider a>b");
        check(
            "store ledger provider",
            "",
            false,
            "between store, ledger and provider and everybody else",
            "store>a store>b ledger>a ledger>b provider>a provider>b a>store a>ledger a>provider b>store b>ledger \
             b>provider",
        );
    }

    #[test]
    fn the_same_links_have_one_spelling() {
        let spelt = |between: &str, and: &str, one_way| {
            Links { between: set(between), and: set(and), one_way }.in_one_spelling(NODES.len())
        };
        let check =
            |between: &str, and: &str, expected: [&str; 2], one_way: [&str; 2]| {
                let [is, is_one_way] = [(expected, false), (one_way, true)]
                    .map(|([between, and], one_way)| Links { between: set(between), and: set(and), one_way });
                assert_eq!(spelt(between, and, false), is, "{between} and {and}");
                assert_eq!(spelt(between, and, true), is_one_way, "{between} to {and}");
            };
        check("a", "ledger", ["ledger", "a"], ["a", "ledger"]);
        check("a", "", ["a", ""], ["a", ""]);
        check("a", "b provider ledger store", ["a", ""], ["a", ""]);
        check("b a ledger provider", "store", ["store", ""], ["ledger provider a b", ""]);
        check("b a", "store provider", ["store provider", "a b"], ["a b", "store provider"]);
    }

    #[test]
    fn a_set_has_each_node_once() {
        assert_eq!(set("a b a"), set("a b"));
        assert!(!set("a b").contains(NodeId(0)));
    }
}
