//! Which kinds of fault are drawn: by their names, or by those of groups.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::kinds::{COUNT, Group, KINDS};
use super::profile::Profile;
use crate::scenario::did_you_mean;

/// Which kinds of fault are drawn.
///
/// ```
/// use holdover::explore::generate::Selection;
///
/// let some: Selection = "pause,clocks".parse().expect("a kind and a group");
/// assert!(some.has("pause") && some.has("clock-step") && !some.has("crash"));
/// assert_eq!("puase".parse::<Selection>().unwrap_err().help, "did you mean `pause`?");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Those that were asked for by name, in the order of the registry; `None` for all that a profile has.
    named: Option<[bool; COUNT]>,
}

/// There is no kind of fault, and no group of kinds, of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no kind of fault `{name}`, and no group of them; {help}")]
pub struct UnknownFaults {
    /// What was asked for.
    pub name: String,
    /// What may have been meant.
    pub help: String,
}

impl Selection {
    /// All kinds that the profile has.
    pub const ALL: Selection = Selection { named: None };

    /// The name that stands for [`Selection::ALL`].
    const ALL_NAME: &'static str = "all";

    /// Whether the kind of this name is among them.
    pub fn has(&self, kind: &str) -> bool {
        KINDS.iter().position(|known| known.name == kind).is_some_and(|index| self.includes(index))
    }

    /// Whether plans of `profile` may have the kind of this name, in a world that has what it takes.
    pub fn is_drawn(&self, kind: &str, profile: Profile) -> bool {
        let index = KINDS.iter().position(|known| known.name == kind);
        index.is_some_and(|index| self.includes(index) && self.weight(index, profile) > 0)
    }

    /// The groups with the names of the kinds in them, in the order of lists.
    pub fn groups() -> Vec<(&'static str, Vec<&'static str>)> {
        let kinds = |group| KINDS.iter().filter(move |kind| kind.group == group).map(|kind| kind.name).collect();
        Group::ALL.iter().map(|group| (group.name(), kinds(*group))).collect()
    }

    pub(super) fn includes(&self, index: usize) -> bool {
        self.named.is_none_or(|named| named[index])
    }

    /// How often the kind at `index` is drawn, beside the others. One that was asked for by name always can be.
    pub(super) fn weight(&self, index: usize, profile: Profile) -> u32 {
        let (realistic, hostile) = KINDS[index].weights;
        match (profile.of(realistic, hostile), self.named) {
            (0, Some(named)) if named[index] => 1,
            (weight, _) => weight,
        }
    }
}

impl Default for Selection {
    fn default() -> Selection {
        Selection::ALL
    }
}

/// Names of kinds, of groups, or `all`, with commas between.
impl FromStr for Selection {
    type Err = UnknownFaults;

    fn from_str(list: &str) -> Result<Selection, UnknownFaults> {
        if list.trim() == Selection::ALL_NAME {
            return Ok(Selection::ALL);
        }
        let mut named = [false; COUNT];
        for name in list.split(',').map(str::trim) {
            let mut is_known = false;
            for (kind, named) in KINDS.iter().zip(&mut named) {
                if name == kind.name || name == kind.group.name() || name == Selection::ALL_NAME {
                    (*named, is_known) = (true, true);
                }
            }
            if !is_known {
                let groups = Group::ALL.map(Group::name).into_iter().chain([Selection::ALL_NAME]);
                let known = groups.chain(KINDS.iter().map(|kind| kind.name));
                return Err(UnknownFaults {
                    name: name.to_owned(),
                    help: did_you_mean(name, "kinds and groups", known),
                });
            }
        }
        Ok(Selection { named: Some(named) })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.named.is_none() {
            return f.write_str(Selection::ALL_NAME);
        }
        let mut comma = "";
        for kind in KINDS.iter().filter(|kind| self.has(kind.name)) {
            write!(f, "{comma}{}", kind.name)?;
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &str) {
        let shown = match list.parse::<Selection>() {
            Ok(selection) => selection.to_string(),
            Err(unknown) => unknown.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn kinds_are_asked_for_by_name_or_group() {
        check("all", "all");
        check("pause", "pause");
        check("clock-step, pause,pause", "pause,clock-step");
        check("stores,crash", "restart,failover,crash,split-brain,disk-stall");
        check("clocks", "clock-step,clock-slew,clock-drift,clock-strobe,zone-error,leap-second,time-source");
        let all = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(",");
        check("pause,all", &all);
    }

    #[test]
    fn what_is_misspelt_is_guessed_at() {
        check("clock", "there is no kind of fault `clock`, and no group of them; did you mean `clocks`?");
        check(
            "pause,retsart",
            "there is no kind of fault `retsart`, and no group of them; did you mean `restart`?",
        );
        let all = "".parse::<Selection>().expect_err("no kind").to_string();
        assert!(
            all.starts_with("there is no kind of fault ``, and no group of them; kinds and groups: `pauses`, "),
            "{all}"
        );
    }

    #[test]
    fn what_is_selected_reads_as_it_was() {
        for list in ["all", "pause", "network,stores", "workers,clock-slew"] {
            let selection: Selection = list.parse().expect("kinds and groups");
            assert_eq!(selection.to_string().parse(), Ok(selection));
        }
    }

    #[test]
    fn a_kind_that_the_profile_leaves_out_is_drawn_if_it_is_asked_for() {
        let index = KINDS.iter().position(|kind| kind.name == "clock-strobe").expect("a kind");
        let named: Selection = "clock-strobe".parse().expect("a kind");
        assert_eq!(Selection::ALL.weight(index, Profile::Realistic), 0);
        assert_eq!(named.weight(index, Profile::Realistic), 1);
        assert!(Selection::ALL.weight(index, Profile::Hostile) > 0);
    }
}
