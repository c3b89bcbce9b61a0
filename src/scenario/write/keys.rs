//! The keys of one table as they are gathered, and how their values are written.

use std::borrow::Cow;

use holdover_sim::clock::Rate;
use holdover_sim::id::NodeId;
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::world::{Latency, WorldSpec, node_names};

use super::text;
use crate::scenario::nodes::disciplined;
use crate::scenario::{calendar, value};

/// What keys can refer to: the start, which times are told from, and the nodes.
pub(in crate::scenario) struct Setting<'a> {
    start: WallTime,
    names: Vec<Cow<'a, str>>,
    disciplined: Vec<NodeId>,
}

impl Setting<'_> {
    pub(super) fn of(world: &WorldSpec) -> Setting<'_> {
        Setting { start: world.start, names: node_names(world), disciplined: disciplined(world) }
    }

    /// The name of a node. One that isn't there gets a name that no node can have, so that the reader refuses it.
    pub(super) fn name(&self, node: NodeId) -> String {
        self.names.get(node.index()).map_or_else(|| node.to_string(), |name| name.clone().into_owned())
    }

    /// The nodes with a time daemon.
    pub(in crate::scenario) fn disciplined(&self) -> &[NodeId] {
        &self.disciplined
    }
}

/// The value, unless it is what it would be without its key.
pub(in crate::scenario) fn other_than<T: PartialEq>(default: T, value: T) -> Option<T> {
    (value != default).then_some(value)
}

/// The keys of one table, with their values as a file has them, in order. Where there is no value no key is written.
pub(in crate::scenario) struct Keys<'s> {
    setting: &'s Setting<'s>,
    pairs: Vec<(String, String)>,
}

impl<'s> Keys<'s> {
    pub(in crate::scenario) fn new(setting: &'s Setting<'_>) -> Keys<'s> {
        Keys { setting, pairs: Vec::new() }
    }

    /// What these keys can refer to.
    pub(in crate::scenario) fn setting(&self) -> &'s Setting<'s> {
        self.setting
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(super) fn into_pairs(self) -> Vec<(String, String)> {
        self.pairs
    }

    /// A key with a value that is written as it stands in a file.
    pub(in crate::scenario) fn bare(&mut self, key: &str, value: impl Into<Option<String>>) {
        self.pairs.extend(value.into().map(|value| (text::key(key), value)));
    }

    /// A text or a name.
    pub(in crate::scenario) fn text<'t>(&mut self, key: &str, value: impl Into<Option<&'t str>>) {
        self.bare(key, value.into().map(text::quoted));
    }

    /// A text that people read at length.
    pub(super) fn story(&mut self, key: &str, value: Option<&str>) {
        self.bare(key, value.map(text::story));
    }

    /// Several names.
    pub(in crate::scenario) fn texts(&mut self, key: &str, values: Option<&[String]>) {
        let list = |values: &[String]| text::list(&values.iter().map(|one| text::quoted(one)).collect::<Vec<_>>());
        self.bare(key, values.map(list));
    }

    /// A node, by its name.
    pub(in crate::scenario) fn node(&mut self, key: &str, node: impl Into<Option<NodeId>>) {
        let name = node.into().map(|node| self.setting.name(node));
        self.text(key, name.as_deref());
    }

    /// Several nodes, by their names.
    pub(in crate::scenario) fn nodes(&mut self, key: &str, nodes: impl IntoIterator<Item = NodeId>) {
        let names: Vec<String> = nodes.into_iter().map(|node| self.setting.name(node)).collect();
        self.texts(key, Some(&names));
    }

    /// A number.
    pub(in crate::scenario) fn number(&mut self, key: &str, number: impl Into<Option<u64>>) {
        self.bare(key, number.into().map(|number| number.to_string()));
    }

    /// `true`; what is `false` is so without a key.
    pub(in crate::scenario) fn flag(&mut self, key: &str, is_set: bool) {
        self.bare(key, is_set.then(|| "true".to_owned()));
    }

    /// `false`; what is `true` is so without a key.
    pub(in crate::scenario) fn unset_flag(&mut self, key: &str, is_unset: bool) {
        self.bare(key, is_unset.then(|| "false".to_owned()));
    }

    /// A duration.
    pub(in crate::scenario) fn duration(&mut self, key: &str, span: impl Into<Option<Span>>) {
        self.bare(key, span.into().map(|span| text::quoted(&value::write_duration(span))));
    }

    /// A latency, or a range of them.
    pub(in crate::scenario) fn latency(&mut self, key: &str, latency: impl Into<Option<Latency>>) {
        self.bare(key, latency.into().map(|latency| text::quoted(&value::write_latency(latency))));
    }

    /// A rate error, in parts per million.
    pub(in crate::scenario) fn rate(&mut self, key: &str, rate: impl Into<Option<Rate>>) {
        self.bare(key, rate.into().map(value::write_rate));
    }

    /// A time.
    pub(in crate::scenario) fn time(&mut self, key: &str, time: impl Into<Option<TrueTime>>) {
        let start = self.setting.start;
        self.bare(key, time.into().map(|time| text::quoted(&calendar::write_time(start, time))));
    }

    /// A table in braces, with the keys that `write` gives it.
    pub(in crate::scenario) fn table(&mut self, key: &str, write: impl FnOnce(&mut Keys<'s>)) {
        let mut inner = Keys::new(self.setting);
        write(&mut inner);
        let pairs: Vec<String> = inner.pairs.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let table = if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) };
        self.bare(key, table);
    }
}
