//! The part of a run that a picture of it shows.

use holdover_sim::history::History;
use holdover_sim::id::NodeId;
use holdover_sim::time::TrueTime;

use super::timeline::Row;
use super::words;

/// From when to when, and whose lanes; all of it, if nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Nothing that is earlier.
    pub from: Option<TrueTime>,
    /// Nothing that is later.
    pub to: Option<TrueTime>,
    /// Only what these nodes have to do with; all nodes, if there are none.
    pub nodes: Vec<NodeId>,
}

impl Excerpt {
    /// Whether `at` is earlier than all of it.
    pub(super) fn is_behind(&self, at: TrueTime) -> bool {
        self.from.is_some_and(|from| at < from)
    }

    /// Whether `at` is later than all of it.
    pub(super) fn is_ahead_of(&self, at: TrueTime) -> bool {
        self.to.is_some_and(|to| at > to)
    }

    /// Whether `at` is in it.
    pub(super) fn covers(&self, at: TrueTime) -> bool {
        !self.is_behind(at) && !self.is_ahead_of(at)
    }

    /// Whether it has the lane of `node`.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.nodes.is_empty() || self.nodes.contains(&node)
    }

    /// Whether one of its nodes has to do with `row`.
    pub(super) fn concerns(&self, row: &Row) -> bool {
        self.has(row.node) || row.touched.iter().any(|node| self.has(*node))
    }
}

/// How much isn't part of an excerpt.
#[derive(Default)]
pub(super) struct LeftOut {
    before: usize,
    after: usize,
    of_others: usize,
}

impl LeftOut {
    /// Whether `excerpt` shows something that happens at `at`, and to its nodes only if `concerned`; if not, it is counted.
    pub(super) fn shows(&mut self, excerpt: &Excerpt, at: TrueTime, concerned: bool) -> bool {
        let counted = match () {
            () if excerpt.is_behind(at) => &mut self.before,
            () if excerpt.is_ahead_of(at) => &mut self.after,
            () if !concerned => &mut self.of_others,
            () => return true,
        };
        *counted += 1;
        false
    }

    /// How many `thing`s that are, as a phrase; nothing if there are none.
    pub(super) fn told(&self, history: &History, excerpt: &Excerpt, thing: &str) -> String {
        let many = |count| words::many(count, thing, &format!("{thing}s"));
        let time = |at: Option<TrueTime>| at.map_or(String::new(), |at| words::utc(history, at));
        let told = [
            (self.before, format!("{} before {}", many(self.before), time(excerpt.from))),
            (self.of_others, format!("{} of other lanes", many(self.of_others))),
            (self.after, format!("{} after {}", many(self.after), time(excerpt.to))),
        ];
        let told: Vec<String> = told.into_iter().filter(|(count, _)| *count > 0).map(|(_, told)| told).collect();
        told.join(", ")
    }
}
