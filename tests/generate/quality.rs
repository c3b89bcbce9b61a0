//! Drawn plans put protocols to the test: kinds of fault strike and bite, what may be seen is seen, and rules are broken
//! that can be.

use holdover::explore::generate::{Profile, Selection};
use holdover::sim::check::SIGHTINGS;
use holdover::sim::fault::FAULTS;
use holdover::sim::protocol::{Fenced, Naive};

use super::census::{Census, Fate};
use super::worlds;

/// At the least so many of a hundred faults of a kind that were drawn must strike, and so many bite. Half of those that
/// strike have to wait for something that may never come, and a fault that is aimed to bite always tells nothing new.
#[track_caller]
fn check_kinds(census: &Census, profile: Profile) {
    for kind in FAULTS.iter().filter(|kind| Selection::ALL.is_drawn(kind.name, profile)) {
        let Fate { drawn, struck, bit } = census.fates[kind.name];
        assert!(drawn >= census.runs / 100, "{} is hardly drawn:\n{census}", kind.name);
        assert!(struck * 100 >= drawn * 60, "{} hardly strikes:\n{census}", kind.name);
        assert!(bit * 100 >= drawn * 15, "{} hardly bites:\n{census}", kind.name);
    }
}

/// At the least so many of a hundred runs.
#[track_caller]
fn check_at_least(census: &Census, expected: &[(&str, usize)]) {
    for (name, percent) in expected {
        let runs = census.seen.get(name).or(census.violated.get(name)).copied().expect("a sighting or a rule");
        assert!(runs * 100 >= census.runs * percent, "{name} in {runs} of\n{census}");
    }
}

/// No run may panic, and none break a rule of safety with all assumptions kept.
#[track_caller]
fn check_unexcused(census: &Census) {
    let (panicked, unexcused) = (&census.panicked, &census.unexcused);
    assert!(
        panicked.is_empty() && unexcused.is_empty(),
        "seeds {panicked:?} panicked, {unexcused:?} have no excuse"
    );
}

#[test]
fn hostile_plans_break_naive() {
    let census = Census::of(&worlds::with_daemons().world, Profile::Hostile, &Naive, 4_000);
    check_kinds(&census, Profile::Hostile);
    let rules = [("single-writer", 6), ("stale-write", 4), ("export-agreement", 6), ("effect-once", 20)];
    check_at_least(&census, &rules);
    let seen: Vec<_> = SIGHTINGS.iter().map(|sighting| (sighting.name, 3)).collect();
    // Naive turns nobody away, and its lease is a row's, which nobody leads.
    let never = ["stale-write-rejected", "leader-change"];
    let seen: Vec<_> = seen.into_iter().filter(|(name, _)| !never.contains(name)).collect();
    check_at_least(&census, &seen);
    check_unexcused(&census);
}

#[test]
fn hostile_plans_do_not_break_fenced() {
    let census = Census::of(&worlds::incident().world, Profile::Hostile, &Fenced, 20_000);
    check_unexcused(&census);
    // They were no quiet nights, and not all were excused.
    check_at_least(&census, &[("stale-write-tried", 8), ("stale-write-rejected", 8), ("belief-overlap", 3)]);
    assert!((3..25).contains(&census.percent(census.outside)), "{census}");
}

#[test]
fn realistic_plans_mostly_keep_what_naive_relies_on() {
    let census = Census::of(&worlds::with_daemons().world, Profile::Realistic, &Naive, 4_000);
    check_kinds(&census, Profile::Realistic);
    assert!((15..45).contains(&census.percent(census.outside)), "{census}");
    check_unexcused(&census);
    check_at_least(&census, &[("single-writer", 1), ("effect-once", 5), ("call-timed-out", 5)]);
}
