//! Whatever the world, the profile, the selection and the seed: a plan is the same whenever it is drawn, and a file can
//! say it.

use std::collections::{BTreeMap, BTreeSet};

use holdover::explore::generate::{Drawn, Generator, Profile, Selection, with_drawn_clocks};
use holdover::scenario::Scenario;
use holdover::sim::check::{Bite, bites};
use holdover::sim::fault::{Anchor, FAULTS, Fault, PlannedFault};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Ending;
use holdover::sim::point::REPAIR_POINTS;
use holdover::sim::protocol::{Fenced, Naive};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::Span;
use holdover::sim::world::PROVIDER;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::draws;
use super::worlds;

fn profile() -> impl Strategy<Value = Profile> {
    select(Profile::ALL.to_vec())
}

/// All kinds, or some.
fn selection() -> impl Strategy<Value = Selection> {
    let names: Vec<&str> = FAULTS.iter().map(|kind| kind.name).collect();
    let some = subsequence(names, 1..4).prop_map(|names| names.join(",").parse().expect("known kinds"));
    prop_oneof![3 => Just(Selection::ALL), 2 => some]
}

fn written(base: &Scenario, plan: &[PlannedFault], seed: u64) -> Scenario {
    Scenario { seed: Seed(seed), plan: plan.to_vec(), ..base.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_file_can_say_every_plan(
        world in 0..worlds::ALL.len(), profile in profile(), selection in selection(), on_top: bool, clocks: bool, seed: u64,
    ) {
        let mut base = worlds::ALL[world].clone();
        if clocks {
            base.world = with_drawn_clocks(&base.world, &base.plan, profile, Seed(seed));
        }
        let before = if on_top { base.plan.clone() } else { Vec::new() };
        let generator = Generator::new(&base.world, profile).only(selection).on_top_of(&before);
        let plan = generator.plan(Seed(seed));
        prop_assert_eq!(&plan, &generator.plan(Seed(seed)));
        // Only a fault that goes back to a snapshot brings one along that wasn't asked for; names may be given to those
        // that were there before.
        prop_assert!(plan.len() >= before.len());
        for (was, is) in before.iter().zip(&plan) {
            prop_assert_eq!((&was.when, &was.inject, &was.note), (&is.when, &is.inject, &is.note));
        }
        for fault in &plan[before.len()..] {
            let kind = fault.inject.name();
            prop_assert!(selection.has(kind) || (kind == "snapshot" && selection.has("restore")), "{}", kind);
        }
        let scenario = written(&base, &plan, seed);
        let text = scenario.to_toml().map_err(|refused| TestCaseError::fail(format!("{refused}\n{plan:#?}")))?;
        prop_assert_eq!(Scenario::parse("written", &text).expect("what is written can be read"), scenario);
    }

    /// Taking a kind out of the selection only draws faults of that kind anew.
    #[test]
    fn a_kind_that_is_left_out_leaves_the_others_as_they_were(seed: u64, kind in 0..FAULTS.len()) {
        let world = worlds::with_daemons().world;
        let kind = FAULTS[kind].name;
        let others: Vec<&str> = FAULTS.iter().map(|kind| kind.name).filter(|name| *name != kind).collect();
        let others: Selection = others.join(",").parse().expect("known kinds");
        let draw = |selection| Generator::new(&world, Profile::Hostile).only(selection).draw(Seed(seed));
        let (all, fewer) = (draw(Selection::ALL), draw(others));
        let has_kind = all.plan.iter().any(|fault| fault.inject.name() == kind);
        if !has_kind && all.dropped == 0 {
            prop_assert_eq!(&all.plan, &fewer.plan);
        }
        prop_assert_eq!(all.swarm.faults(), fewer.swarm.faults());
    }
}

/// That a plan is drawn changes nothing of what its run draws.
#[test]
fn a_run_draws_the_same_under_every_plan() {
    let world = worlds::incident().world;
    let bare = |seed| run(&world, &Naive, &[], Seed(seed));
    for seed in 0..200 {
        let plan = Generator::new(&world, Profile::Hostile).plan(Seed(seed));
        draws::agree(&bare(seed), &run(&world, &Naive, &plan, Seed(seed)));
    }
}

fn drawn(profile: Profile, seeds: u64) -> impl Iterator<Item = Drawn> {
    let generator = Generator::new(&worlds::with_daemons().world, profile);
    (0..seeds).map(move |seed| generator.draw(Seed(seed)))
}

/// The keys below `inject` and `when` of each fault, with how often each is there.
fn note_keys(scenario: &Scenario, keys: &mut BTreeMap<String, usize>) {
    let text = scenario.to_toml().expect("a plan that a file can say");
    let table: toml::Table = text.parse().expect("it is TOML");
    for fault in table.get("fault").and_then(toml::Value::as_array).into_iter().flatten() {
        let part = |name: &str| fault.get(name).and_then(toml::Value::as_table).expect("every fault has it");
        for (kind, fields) in part("inject") {
            for key in fields.as_table().into_iter().flat_map(toml::Table::keys) {
                *keys.entry(format!("{kind}.{key}")).or_default() += 1;
            }
        }
        for key in part("when").keys() {
            *keys.entry(format!("when.{key}")).or_default() += 1;
        }
    }
}

#[test]
fn every_field_of_every_kind_is_drawn() {
    let base = worlds::with_daemons();
    let mut keys = BTreeMap::new();
    for Drawn { plan, seed, .. } in drawn(Profile::Hostile, 2_000) {
        note_keys(&written(&base, &plan, seed.0), &mut keys);
    }
    let of_kinds =
        FAULTS.iter().flat_map(|kind| kind.fields.iter().map(|field| format!("{}.{}", kind.name, field.name)));
    let of_anchors = ["at", "point", "event", "fault", "node", "after", "nth", "end", "delay"];
    let expected: BTreeSet<String> = of_kinds.chain(of_anchors.map(|key| format!("when.{key}"))).collect();
    let rare: Vec<_> = expected.iter().filter(|key| keys.get(*key).is_none_or(|times| *times < 5)).collect();
    assert!(rare.is_empty(), "{rare:#?} of {keys:#?}");
}

#[test]
fn half_of_all_faults_strike_at_points_events_and_faults() {
    for profile in Profile::ALL {
        let (mut all, mut anchored) = (0, [0; 3]);
        for fault in drawn(profile, 4_000).flat_map(|drawn| drawn.plan) {
            // A leap second can't choose, and whoever goes back to a snapshot mostly waits for it.
            if matches!(fault.inject, Fault::LeapSecond(_) | Fault::Restore(_)) {
                continue;
            }
            all += 1;
            match fault.when {
                Anchor::At(_) => {}
                Anchor::Point { .. } => anchored[0] += 1,
                Anchor::Event { .. } => anchored[1] += 1,
                Anchor::Fault { .. } => anchored[2] += 1,
            }
        }
        let percent = |count: usize| count * 100 / all;
        assert!((45..=55).contains(&percent(anchored.iter().sum())), "{profile}: {anchored:?} of {all}");
        assert!(anchored.iter().all(|count| percent(*count) >= 4), "{profile}: {anchored:?} of {all}");
    }
}

/// What befalls operators, and what befalls others because of a repair: the kinds that matter to one, at each of its
/// points. Whoever repairs always comes back.
#[test]
fn repairs_are_disturbed_at_every_point_of_them() {
    let world = worlds::repaired_twice().world;
    let operators: Vec<NodeId> = (0..2).map(|index| world.operator_node(index)).collect();
    for profile in Profile::ALL {
        let generator = Generator::new(&world, profile);
        let (mut on_operators, mut points) = (BTreeSet::new(), BTreeSet::new());
        let mut provider_is_gone = false;
        for fault in (0..4_000).flat_map(|seed| generator.plan(Seed(seed))) {
            let nodes = fault.inject.nodes();
            if operators.iter().any(|operator| nodes.contains(operator)) {
                on_operators.insert(fault.inject.name());
            }
            if let Fault::Crash(crash) = &fault.inject {
                assert!(!operators.contains(&crash.node) || crash.lasting.is_some(), "{fault:?}");
            }
            if let Anchor::Point { point, .. } = &fault.when
                && let Some((point, _)) = REPAIR_POINTS.iter().find(|(known, _)| known.0 == point)
            {
                points.insert(point.0);
                provider_is_gone |= matches!(&fault.inject, Fault::Restart(restart) if restart.node == PROVIDER);
            }
        }
        for kind in
            ["pause", "crash", "partition", "latency", "loss", "delay-message", "lose-message", "clock-slew"]
        {
            assert!(on_operators.contains(kind), "{profile}: no {kind} of an operator in {on_operators:?}");
        }
        for kind in ["shutdown", "snapshot", "restore"] {
            assert!(!on_operators.contains(kind), "{profile}: a {kind} of an operator");
        }
        assert_eq!(points, REPAIR_POINTS.iter().map(|(point, _)| point.0).collect(), "{profile}");
        assert!(provider_is_gone, "{profile}: the provider is never restarted in a repair");
    }
}

/// What waits for a point of a repair mostly sees it, and no plan has an operator panic.
#[test]
fn half_of_what_is_drawn_for_repairs_strikes() {
    let base = worlds::repaired();
    let generator = Generator::new(&base.world, Profile::Hostile);
    let (mut struck, mut all) = (0, 0);
    for seed in (0..150).map(Seed) {
        let history = run(&base.world, &Fenced, &generator.plan(seed), seed);
        assert!(!matches!(history.ending, Ending::Panicked { .. }), "{seed:?}: {:?}", history.ending);
        for (planned, bite) in history.plan.iter().zip(bites(&history)) {
            let is_at_repair =
                matches!(&planned.when, Anchor::Point { point, .. } if point.starts_with("repair."));
            all += usize::from(is_at_repair);
            struck += usize::from(is_at_repair && bite != Bite::NeverStruck);
        }
    }
    assert!(all > 50 && struck * 2 > all, "{struck} of {all}");
}

/// A sixteenth of a length is near it.
fn is_near(span: Span, lengths: &[Span]) -> bool {
    lengths.iter().any(|length| (span - *length).as_nanos().abs() * 16 <= length.as_nanos().max(16_000_000))
}

#[test]
fn half_of_all_pauses_are_about_as_long_as_what_matters_to_the_lease() {
    let lease = worlds::incident().world.lease;
    let about_ttl = |eighths: i64| Span::nanos(lease.ttl.as_nanos() / 8 * eighths);
    let near: Vec<Span> = (4..=16).map(about_ttl).chain([lease.ttl - lease.renew_every]).collect();
    let pauses = |drawn: Drawn| {
        drawn.plan.into_iter().filter_map(|fault| match fault.inject {
            Fault::Pause(pause) => Some(pause.lasting),
            _ => None,
        })
    };
    let lengths: Vec<Span> = drawn(Profile::Hostile, 4_000).flat_map(pauses).collect();
    let percent =
        |is: &dyn Fn(Span) -> bool| lengths.iter().filter(|length| is(**length)).count() * 100 / lengths.len();
    assert!((40..=65).contains(&percent(&|length| is_near(length, &near))));
    let ttl = lease.ttl;
    for exact in [ttl, ttl - Span::millis(1), ttl + Span::millis(1)] {
        assert!(percent(&|length| length == exact) >= 1, "{exact}");
    }
}

/// Of the faults that 150 seeds draw for each profile, as files have them. Whatever is drawn in another way changes it, and with it
/// what each seed does.
const PLANS: u64 = 0x0863_95b7_31aa_adeb;

#[test]
fn a_seed_gives_the_same_plan_on_every_machine() {
    let base = worlds::with_daemons();
    // FNV-1a.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for drawn in Profile::ALL.into_iter().flat_map(|profile| drawn(profile, 150)) {
        let text = written(&base, &drawn.plan, drawn.seed.0).to_toml().expect("a plan that a file can say");
        // What the file says of the world and of what should come of it is no draw.
        let faults = text.find("[[fault]]").map_or("", |from| &text[from..]);
        let faults = faults.split("[expect").next().unwrap_or_default();
        for byte in faults.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    assert_eq!(hash, PLANS, "what seeds draw has changed; it is now {hash:#018x}");
}
