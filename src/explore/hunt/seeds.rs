//! Which seeds are hunted: a range of them, and one share of it where several machines hunt together.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::shown;

/// A range of seeds: `0..20000`, the end not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// The first.
    pub from: u64,
    /// The first that is no longer in it; above `from`.
    pub until: u64,
}

/// That isn't a range of seeds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoSeeds {
    /// It can't be read as one.
    #[error("write a range such as 0..20000, whose end isn't in it; `{0}` isn't one")]
    Unreadable(String),
    /// It has none in it.
    #[error("write a range such as 0..20000, whose end isn't in it; `{0}` has no seeds in it")]
    Empty(String),
}

impl Seeds {
    /// All that there are.
    pub const ALL: Seeds = Seeds { from: 0, until: u64::MAX };

    /// How many there are.
    pub fn count(self) -> u64 {
        self.until - self.from
    }
}

impl From<Range<u64>> for Seeds {
    /// An empty range has its first seed all the same: to hunt nothing would hold whatever the protocol.
    fn from(range: Range<u64>) -> Seeds {
        let from = range.start.min(u64::MAX - 1);
        Seeds { from, until: range.end.max(from + 1) }
    }
}

impl FromStr for Seeds {
    type Err = NoSeeds;

    fn from_str(text: &str) -> Result<Seeds, NoSeeds> {
        let wrong = || NoSeeds::Unreadable(text.to_owned());
        let number = |digits: &str| {
            let plain = digits.trim().replace('_', "");
            // A sign would be taken too.
            plain.parse::<u64>().ok().filter(|_| plain.starts_with(|first: char| first.is_ascii_digit()))
        };
        let (from, until) = text.split_once("..").ok_or_else(wrong)?;
        let (from, until) = (number(from).ok_or_else(wrong)?, number(until).ok_or_else(wrong)?);
        if from < until { Ok(Seeds { from, until }) } else { Err(NoSeeds::Empty(text.to_owned())) }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.until)
    }
}

/// One of several shares of the seeds: every `of`-th of them, so that the shares are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 1.
    pub number: u64,
    /// Of how many; not below `number`.
    pub of: u64,
}

/// Which share it is can't be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoShard {
    /// That isn't a share.
    #[error("write a share such as 1/4, or auto, or auto/4; `{0}` isn't one")]
    Unreadable(String),
    /// Nothing that is known sets an index.
    #[error("no index of a parallel job is set: none of {}", INDICES.map(|index| index.index).join(", "))]
    NoIndex,
    /// An index is set, but not of how many.
    #[error("{0} says which job it is, but nothing says of how many; write auto/N")]
    NoTotal(&'static str),
    /// The indices have gaps.
    #[error(
        "the indices behind {name} aren't {of} at one distance, so which share this job has can't be told; write I/N"
    )]
    Gaps {
        /// The variable.
        name: &'static str,
        /// How many jobs there are.
        of: u64,
    },
    /// What is set makes no sense.
    #[error("{name} is `{value}`, which isn't the index of one of {of} jobs")]
    WrongIndex {
        /// The variable.
        name: &'static str,
        /// What it is set to.
        value: String,
        /// How many jobs there are.
        of: u64,
    },
}

/// How a runner of parallel jobs tells a job which one it is.
struct JobIndex {
    index: &'static str,
    /// What the first job's index is.
    first: First,
    total: &'static str,
}

/// What the first job's index is.
#[derive(Clone, Copy)]
enum First {
    /// Always this.
    Is(u64),
    /// What was asked for; these variables say the first index, the last, and how far each is from the next.
    Said { first: &'static str, last: &'static str, step: &'static str },
}

/// GitLab, CircleCI, Buildkite, Slurm arrays and Kubernetes Indexed Jobs, by their documentation. The last says no total.
const INDICES: [JobIndex; 5] = [
    JobIndex { index: "CI_NODE_INDEX", first: First::Is(1), total: "CI_NODE_TOTAL" },
    JobIndex { index: "CIRCLE_NODE_INDEX", first: First::Is(0), total: "CIRCLE_NODE_TOTAL" },
    JobIndex { index: "BUILDKITE_PARALLEL_JOB", first: First::Is(0), total: "BUILDKITE_PARALLEL_JOB_COUNT" },
    JobIndex {
        index: "SLURM_ARRAY_TASK_ID",
        first: First::Said {
            first: "SLURM_ARRAY_TASK_MIN",
            last: "SLURM_ARRAY_TASK_MAX",
            step: "SLURM_ARRAY_TASK_STEP",
        },
        total: "SLURM_ARRAY_TASK_COUNT",
    },
    JobIndex { index: "JOB_COMPLETION_INDEX", first: First::Is(0), total: "" },
];

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Share `number` of `of`; `None` if there is none of this number.
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// What `text` says: `1/4`, or `auto` for what the runner of this job says in its environment, which `variable` looks
    /// up, or `auto/4` where the runner doesn't say of how many.
    ///
    /// # Errors
    /// If that isn't a share, or the environment doesn't say one.
    pub fn parse(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, NoShard> {
        let unreadable = || NoShard::Unreadable(shown::name(text));
        let (number, of) = match text.split_once('/') {
            Some((number, of)) => (number, Some(of.trim().parse::<u64>().map_err(|_| unreadable())?)),
            None => (text, None),
        };
        if number.trim() == "auto" {
            return Shard::of_job(of, variable);
        }
        let number = number.trim().parse().map_err(|_| unreadable())?;
        of.and_then(|of| Shard::new(number, of)).ok_or_else(unreadable)
    }

    fn of_job(of: Option<u64>, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, NoShard> {
        let known = INDICES.iter().find_map(|known| Some((known, variable(known.index)?)));
        let (JobIndex { index: name, first, total }, value) = known.ok_or(NoShard::NoIndex)?;
        let said = |name: &str| variable(name).and_then(|value| value.trim().parse::<u64>().ok());
        let of = of.or_else(|| said(total)).ok_or(NoShard::NoTotal(name))?;
        let (first, step) = match *first {
            First::Is(first) => (first, 1),
            First::Said { first, last, step } => {
                let (first, step) = (said(first).unwrap_or(0), said(step).unwrap_or(1).max(1));
                // A list such as 1,2,7 has no step, and nothing says which of its indices come before this one.
                let span = said(last).map(|last| last.saturating_sub(first));
                if let (Some(span), Some(all)) = (span, said(total))
                    && step.checked_mul(all.saturating_sub(1)) != Some(span)
                {
                    return Err(NoShard::Gaps { name, of: all });
                }
                (first, step)
            }
        };
        let index = value.trim().parse::<u64>().ok().and_then(|index| index.checked_sub(first));
        let place = index.filter(|index| index.is_multiple_of(step)).map(|index| index / step);
        let shard = place.and_then(|place| Shard::new(place.saturating_add(1), of));
        shard.ok_or_else(|| NoShard::WrongIndex { name, value: shown::name(&value), of })
    }

    /// How many of `seeds` are in it.
    pub fn count(self, seeds: Seeds) -> u64 {
        let (count, before) = (seeds.count(), self.number - 1);
        if before >= count { 0 } else { (count - before).div_ceil(self.of) }
    }

    /// The seed that comes at `index` in it; below [`Shard::count`].
    pub(super) fn seed(self, seeds: Seeds, index: u64) -> u64 {
        seeds.from + (self.number - 1) + index * self.of
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_range_of_seeds_is_read_as_it_is_written() {
        for (text, seeds) in [
            ("0..20000", Some((0, 20_000))),
            ("7..8", Some((7, 8))),
            (" 1 .. 20_000 ", Some((1, 20_000))),
            ("0..18446744073709551615", Some((0, u64::MAX))),
            ("8..8", None),
            ("9..8", None),
            ("-1..8", None),
            ("+1..8", None),
            ("1..=8", None),
            ("..8", None),
            ("8", None),
            ("", None),
            ("0..18446744073709551616", None),
        ] {
            let read = text.parse::<Seeds>().ok();
            assert_eq!(read, seeds.map(|(from, until)| Seeds { from, until }), "{text}");
            if let Some(read) = read {
                assert_eq!(read.to_string().parse(), Ok(read));
            }
        }
        for empty in ["5..5", "9..8"] {
            let wrong = empty.parse::<Seeds>().map_err(|wrong| wrong.to_string());
            assert!(
                wrong.is_err_and(|wrong| wrong.ends_with(&format!("`{empty}` has no seeds in it"))),
                "{empty}"
            );
        }
        assert_eq!(Seeds::from(5..5), Seeds { from: 5, until: 6 });
    }

    /// `variables` as `NAME=value`, with spaces between.
    #[track_caller]
    fn check(text: &str, variables: &str, expected: Result<(u64, u64), &str>) {
        let variable = |name: &str| {
            let pairs = variables.split_whitespace().filter_map(|pair| pair.split_once('='));
            pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next()
        };
        let shard = Shard::parse(text, variable);
        let shard = shard.map(|shard| (shard.number, shard.of)).map_err(|wrong| wrong.to_string());
        match (&shard, expected) {
            (Err(wrong), Err(part)) => assert!(wrong.contains(part), "{text} {variables}: {wrong}"),
            _ => assert_eq!(shard, expected.map_err(str::to_owned), "{text} {variables}"),
        }
    }

    #[test]
    fn a_share_is_written_or_taken_from_the_environment() {
        check("1/4", "", Ok((1, 4)));
        check("4/4", "", Ok((4, 4)));
        for wrong in ["0/4", "5/4", "1", "1/", "/4", "a/4", "1/0", "-1/4", ""] {
            check(wrong, "", Err("write a share such as 1/4"));
        }
        check("auto", "CI_NODE_INDEX=1 CI_NODE_TOTAL=4", Ok((1, 4)));
        check("auto", "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=4", Ok((1, 4)));
        check("auto", "BUILDKITE_PARALLEL_JOB=3 BUILDKITE_PARALLEL_JOB_COUNT=4", Ok((4, 4)));
        check("auto", "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=2", Ok((1, 2)));
        check("auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2", Ok((2, 2)));
        const BY_FOUR: &str =
            "SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=14 SLURM_ARRAY_TASK_STEP=4";
        for (index, share) in [(2, 1), (6, 2), (10, 3), (14, 4)] {
            check("auto", &format!("SLURM_ARRAY_TASK_ID={index} {BY_FOUR}"), Ok((share, 4)));
        }
        check("auto", &format!("SLURM_ARRAY_TASK_ID=7 {BY_FOUR}"), Err("SLURM_ARRAY_TASK_ID is `7`"));
        const LIST: &str =
            "SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=1";
        check("auto", &format!("SLURM_ARRAY_TASK_ID=2 {LIST}"), Err("write I/N"));
        check("auto/9", "JOB_COMPLETION_INDEX=8", Ok((9, 9)));
        check("auto", "JOB_COMPLETION_INDEX=8", Err("write auto/N"));
        check("auto/8", "JOB_COMPLETION_INDEX=8", Err("JOB_COMPLETION_INDEX is `8`"));
        check("auto", "CI_NODE_INDEX=0 CI_NODE_TOTAL=4", Err("CI_NODE_INDEX is `0`"));
        check("auto", "CI_NODE_INDEX=x CI_NODE_TOTAL=4", Err("CI_NODE_INDEX is `x`"));
        check("auto", "", Err("none of CI_NODE_INDEX, "));
        check("auto/x", "", Err("write a share"));
    }

    proptest! {
        #[test]
        fn the_shares_together_are_all_the_seeds(from in 0..1_000_u64, count in 1..200_u64, of in 1..20_u64) {
            let seeds = Seeds { from, until: from + count };
            let mut all: Vec<u64> = Vec::new();
            for number in 1..=of {
                let shard = Shard { number, of };
                all.extend((0..shard.count(seeds)).map(|index| shard.seed(seeds, index)));
            }
            all.sort_unstable();
            prop_assert_eq!(all, (from..from + count).collect::<Vec<_>>());
        }
    }
}
