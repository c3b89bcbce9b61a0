//! Whatever a scenario is, it reads back as it was written; and one that no file can say isn't written.

use std::collections::{BTreeMap, BTreeSet};

use holdover::scenario::{Expectation, Expected, NotWritable, Scenario};
use holdover::sim::check::{CHECKERS, SIGHTINGS};
use holdover::sim::clock::Rate;
use holdover::sim::fault::{Anchor, FAULTS, Fault, PlannedFault, Restore, Snapshot};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Limits;
use holdover::sim::protocol::{AnyProtocol, FencedConsensus, Naive, PROTOCOLS};
use holdover::sim::seed::Seed;
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::time::{Span, TrueTime, WallTime};
use holdover::sim::world::{
    ClockSpec, Discipline, Keys, Latency, LedgerSpec, NetworkSpec, PayoutSpec, TimeDaemon, WorldSpec,
};
use holdover::suite::Suite;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::night::{FIRST_WORKER, Night, any_night, night_of_losses};
use super::repairs;

/// What a plan that was drawn may do and a file may not; two faults that contradict each other aside, of which the reader
/// says "two …".
const NOT_IN_FILES: [&str; 8] = [
    "a wall clock is in two wrong zones at once",
    "the same node's time source has two errors at once",
    "unknown fault",
    "the fault waits for itself",
    "faults wait for each other in a circle",
    "is not before the end of the run",
    "goes on from a snapshot twice",
    "a service that is down has no primary that goes on answering",
];

/// Pieces of which texts are made that are hard to quote.
const PIECES: [&str; 14] = [
    "worker-a stalls",
    " ",
    "\"",
    "\"\"\"",
    "'",
    "'''",
    "\\",
    "\\n",
    "#",
    "[lease]",
    "größer",
    "漢",
    "\u{2028}",
    "\u{feff}",
];

fn text() -> impl Strategy<Value = String> {
    vec(select(PIECES.to_vec()), 0..12).prop_map(|pieces| pieces.concat())
}

fn story() -> impl Strategy<Value = String> {
    vec((text(), select(vec!["", "\n", "\n\n", "\t", "\n\t"])), 0..8)
        .prop_map(|lines| lines.into_iter().map(|(text, end)| text + end).collect())
}

/// A span of whole seconds, milliseconds, microseconds or nanoseconds; not zero.
pub(crate) fn nanos(range: std::ops::Range<i64>) -> impl Strategy<Value = Span> {
    let unit = select(vec![1, 1_000, 1_000_000, 1_000_000_000]);
    (range, unit).prop_map(|(nanos, unit)| Span::nanos((nanos / unit * unit).max(1)))
}

pub(crate) fn clock() -> impl Strategy<Value = ClockSpec> {
    let discipline = option::of((select(TimeDaemon::ALL.to_vec()), option::of(nanos(1..90_000_000_000))));
    (option::of(nanos(1..10_000_000_000)), option::of(-200_000..200_000), discipline).prop_map(
        |(offset, ppb, discipline)| ClockSpec {
            offset: offset.map_or(Span::ZERO, |offset| -offset),
            drift: Rate::from_ppb(ppb.unwrap_or(0)).expect("it is in range"),
            discipline: discipline
                .map(|(daemon, poll)| Discipline { daemon, poll: poll.unwrap_or(daemon.default_poll()) }),
        },
    )
}

/// The same world with all that nights leave at its default, and times that aren't whole milliseconds.
fn world_of(world: WorldSpec) -> impl Strategy<Value = WorldSpec> {
    let clocks = vec((0..FIRST_WORKER, clock()), 0..3)
        .prop_map(|clocks| clocks.into_iter().map(|(node, clock)| (NodeId(node), clock)).collect());
    let ends = prop_oneof![
        1 => Just(Limits::DEFAULT_RUN),
        2 => nanos(130_000_000_000..200_000_000_000),
        1 => nanos(86_400_000_000_000..900_000_000_000_000),
    ];
    let steps = prop_oneof![Just(Limits::DEFAULT_STEPS), 1..=10_000_000_u64];
    let timeout = prop_oneof![Just(NetworkSpec::DEFAULT_TIMEOUT), nanos(1..10_000_000_000)];
    let late = option::of((nanos(1..20_000_000_000), nanos(1..30_000_000_000)));
    let within = prop_oneof![Just(Span::secs(60)), nanos(1..90_000_000_000)];
    let start = prop_oneof![2 => Just(Span::ZERO), 1 => nanos(1..80_000_000_000_000)];
    (clocks, any::<bool>(), ends, steps, timeout, late, within, start).prop_map(
        move |(service_clocks, forgets_tokens, end, steps, timeout, late, progress_within, start)| {
            let mut world = WorldSpec {
                service_clocks,
                ledger: LedgerSpec { forgets_tokens },
                limits: Limits { end: TrueTime::START + end, steps },
                progress_within,
                ..world.clone()
            };
            world.start = world.start + start;
            world.job.due = world.job.due + start;
            world.network.timeout = timeout;
            if let Some((starts, due)) = late {
                world.workers[0].starts = TrueTime::START + starts;
                world.job.due = world.start + due;
            }
            world
        },
    )
}

fn expectations() -> impl Strategy<Value = (Vec<String>, BTreeMap<String, Expectation>)> {
    let names = |names: Vec<&'static str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let protocols = names(PROTOCOLS.iter().map(|protocol| protocol.name()).collect());
    let checkers = names(CHECKERS.iter().map(|checker| checker.name).collect());
    let sightings = names(SIGHTINGS.iter().map(|sighting| sighting.name).collect());
    let verdicts = subsequence(checkers.clone(), 0..=checkers.len())
        .prop_flat_map(|checkers| checkers.into_iter().map(|name| (Just(name), verdict())).collect::<Vec<_>>())
        .prop_map(BTreeMap::from_iter);
    let seen = subsequence(sightings.clone(), 0..=sightings.len()).prop_shuffle();
    let expectation = (verdicts, seen).prop_map(|(verdicts, seen)| Expectation { verdicts, seen });
    let all = vec(expectation, protocols.len());
    let chosen = subsequence(protocols.clone(), 1..=protocols.len()).prop_shuffle();
    (chosen, all, 0..=protocols.len()).prop_map(|(chosen, all, expected)| {
        let expect = chosen.iter().cloned().zip(all).take(expected).collect();
        (chosen, expect)
    })
}

fn verdict() -> impl Strategy<Value = Expected> {
    select(Expected::ALL.to_vec())
}

/// A scenario of a night, with what files say beside it. Its plan may be one that files can't say.
fn drawn() -> impl Strategy<Value = Scenario> {
    let night = prop_oneof![3 => any_night(), 1 => night_of_losses()];
    // Boxed, because all of it at once is more than a thread's stack holds.
    let with_world = night
        .prop_flat_map(|night| (world_of(night.world.clone()).boxed(), Just(night)))
        .boxed()
        .prop_flat_map(|(world, night)| (repairs::repaired(world).boxed(), Just(night)))
        .boxed()
        .prop_flat_map(|(world, night)| (repairs::faults(&world), Just(world), Just(night)))
        .boxed();
    let texts = ("[a-z]", text(), option::of(story()), option::of(text()), nanos(1..1_000_000_000));
    (with_world, texts, expectations()).prop_map(
        |((on_operators, world, Night { mut plan, seed, .. }), (first, title, story, note, late), said)| {
            let (title, (protocols, expect), suite) = (first + &title, said, Suite::builtin());
            plan.extend(on_operators);
            let mut scenario = Scenario { title, story, seed, world, plan, protocols, expect, suite };
            if let Some(last) = scenario.plan.last_mut() {
                last.note = note;
                if let Anchor::At(at) = &mut last.when {
                    *at = *at + late;
                }
            }
            settle(&mut scenario);
            scenario
        },
    )
}

/// Gives faults what they need in a file: a leap second a time, whoever polls a time source a daemon, and who is put back
/// a snapshot. Nobody repairs under a protocol that keeps the lease on replicas.
fn settle(scenario: &mut Scenario) {
    if !scenario.world.operators.is_empty() {
        scenario.protocols.retain(|protocol| protocol != FencedConsensus.name());
        scenario.expect.remove(FencedConsensus.name());
        if scenario.protocols.is_empty() {
            scenario.protocols.push(Naive.name().to_owned());
        }
    }
    let restored = scenario.plan.iter().filter_map(|fault| match fault.inject {
        Fault::Restore(Restore { node, .. }) => Some(node),
        _ => None,
    });
    let when = Anchor::At(TrueTime::START);
    let snapshot =
        |node| PlannedFault { when: when.clone(), inject: Snapshot { node }.into(), note: None, name: None };
    let snapshots: Vec<_> = restored.map(snapshot).collect();
    scenario.plan.extend(snapshots);
    for fault in &mut scenario.plan {
        match &mut fault.inject {
            Fault::LeapSecond(_) => fault.when = Anchor::At(TrueTime::START + Span::secs(20)),
            Fault::TimeSource(source) => {
                for node in &source.nodes {
                    let daemon = TimeDaemon::Chrony;
                    let clock = &mut scenario.world.workers[node.index() - usize::from(FIRST_WORKER)].clock;
                    clock.discipline.get_or_insert(Discipline { daemon, poll: daemon.default_poll() });
                }
            }
            _ => {}
        }
    }
}

/// The scenario without the faults that no file can say beside the others, and its text.
fn writable(mut scenario: Scenario) -> (Scenario, String) {
    loop {
        let NotWritable { what, why } = match scenario.to_toml() {
            Ok(text) => return (scenario, text),
            Err(refused) => refused,
        };
        let is_known = why.starts_with("two ") || NOT_IN_FILES.iter().any(|known| why.contains(known));
        let number = what.rsplit_once(" of fault ").and_then(|(_, number)| number.parse::<usize>().ok());
        let Some(number) = number.filter(|_| is_known) else { panic!("{what}: {why}\n{scenario:#?}") };
        scenario.plan.remove(number - 1);
    }
}

/// Of any size, mostly one at an end of something.
fn any_number() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -2..3_i64, select(vec![i64::MIN, i64::MAX])]
}

/// Puts `number` where one is, whatever it means there.
fn spoil(scenario: &mut Scenario, place: u8, number: i64) {
    let (span, time, node) = (Span::nanos(number), TrueTime::from_nanos(number), NodeId(number as u16));
    let WorldSpec { start, workers, lease, job, network, limits, .. } = &mut scenario.world;
    match place {
        0 => *start = WallTime::from_nanos(number),
        1 => lease.ttl = span,
        2 => lease.renew_every = span,
        3 => lease.poll_every = span,
        4 => lease.expiry = Some(Expiry::ByStoreAtTransactionStart { lock_wait: span }),
        5 => job.operations = number as u32,
        6 => job.due = WallTime::from_nanos(number),
        7 => job.pace = span,
        8 => network.internal.max = span,
        9 => network.timeout = span,
        10 => limits.end = time,
        11 => limits.steps = number as u64,
        12 => workers[0].starts = time,
        13 => workers[0].clock.offset = span,
        14 => workers[0].name = number.to_string(),
        15 => workers.truncate(number.unsigned_abs() as usize),
        16 => scenario.seed = Seed(number as u64),
        17 => drop(scenario.world.service_clocks.insert(node, ClockSpec::default())),
        18 => scenario.protocols.truncate(number.unsigned_abs() as usize),
        24 => scenario.world.provider.keys = Some(Keys::For(span)),
        25 => {
            let payouts = scenario.world.provider.payouts.get_or_insert_default();
            payouts.settles_in = Latency { max: span, ..payouts.settles_in };
        }
        26 => scenario.world.provider.payouts.get_or_insert_default().page = number as usize,
        27 => scenario.world.provider.payouts.get_or_insert_default().fails_percent = number as u8,
        28 => {
            scenario.world.provider.payouts =
                Some(PayoutSpec { refunds_fail_percent: number as u8, ..PayoutSpec::default() })
        }
        29 => scenario.world.operators.truncate(number.unsigned_abs() as usize),
        30 => scenario.world.repair.ask_every = span,
        31 => scenario.world.repair.quiet_for = span,
        _ => {
            let Some(fault) = scenario.plan.last_mut() else { return };
            match (&mut fault.when, &mut fault.inject) {
                (Anchor::At(at), _) if place == 19 => *at = time,
                (Anchor::Point { after, .. } | Anchor::Event { after, .. }, _) if place == 19 => *after = time,
                (Anchor::Point { nth, .. } | Anchor::Event { nth, .. }, _) if place == 20 => *nth = number as u32,
                (Anchor::Point { node: of, .. } | Anchor::Event { node: of, .. }, _) if place == 21 => {
                    *of = Some(node);
                }
                (Anchor::Fault { delay, .. }, _) => *delay = span,
                (_, Fault::Pause(pause)) => (pause.node, pause.lasting) = (node, span),
                (_, Fault::ClockStep(step)) => step.by = span,
                (_, Fault::Loss(loss)) => loss.percent = number as u8,
                (_, Fault::Partition(partition)) => partition.links.and = [node].into_iter().collect(),
                (_, Fault::DelayMessage(delay)) => delay.by = span,
                (_, Fault::TimeSource(source)) => source.nodes = vec![node],
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_reads_as_it_was(scenario in drawn()) {
        let (scenario, text) = writable(scenario);
        let read = Scenario::parse("written", &text).expect("what is written can be read");
        prop_assert_eq!(&read, &scenario);
        prop_assert_eq!(read.to_toml(), Ok(text));
    }

    /// A program may make any scenario, and mostly one that makes no sense.
    #[test]
    fn what_no_file_can_say_is_not_written_as_something_else(
        scenario in drawn(), place in 0..32_u8, number in any_number(), texts in (any::<String>(), any::<String>()), spoilt in 0..3,
    ) {
        let (mut scenario, _) = writable(scenario);
        match spoilt {
            0 => spoil(&mut scenario, place, number),
            1 => (scenario.title, scenario.story) = (texts.0, Some(texts.1)),
            _ => drop(scenario.expect.insert(texts.0, Expectation { verdicts: BTreeMap::new(), seen: vec![texts.1] })),
        }
        if let Ok(text) = scenario.to_toml() {
            prop_assert_eq!(Scenario::parse("written", &text).expect("what is written can be read"), scenario);
        }
    }
}

/// The keys of `table`, each with those above it; which of several tables it is in doesn't matter.
fn note_keys(above: &str, table: &toml::Table, keys: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let path = format!("{above}{key}");
        *keys.entry(path.clone()).or_default() += 1;
        let inner = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        inner
            .iter()
            .filter_map(toml::Value::as_table)
            .for_each(|table| note_keys(&format!("{path}."), table, keys));
    }
}

/// That all is read as it was written says little of a key that was never written.
#[test]
fn every_key_is_written_many_times() {
    let mut runner = TestRunner::deterministic();
    let mut keys = BTreeMap::new();
    let mut faults = [0, 0];
    for _ in 0..600 {
        let mut drawn = drawn().new_tree(&mut runner).expect("nothing is filtered out").current();
        // This test reads the text as any TOML, whose numbers are smaller.
        drawn.seed = Seed(drawn.seed.0 >> 1);
        faults[0] += drawn.plan.len();
        let (scenario, text) = writable(drawn);
        faults[1] += scenario.plan.len();
        note_keys("", &text.parse().expect("it is TOML"), &mut keys);
    }
    let mut expected: BTreeSet<String> = FAULTS
        .iter()
        .flat_map(|kind| kind.fields.iter().map(|field| format!("fault.inject.{}.{}", kind.name, field.name)))
        .collect();
    let others = "title story start seed end steps protocols lease.ttl lease.renew_every lease.poll_every lease.expiry \
                  ledger.highest_token job.operations job.due job.pace job.finish_within network.internal \
                  network.provider network.timeout worker.name worker.starts worker.clock.offset \
                  worker.clock.drift_ppm worker.clock.discipline worker.clock.poll service.ledger.clock.offset \
                  service.lease-store service.provider fault.when.at fault.when.point fault.when.event \
                  fault.when.fault fault.when.node fault.when.after fault.when.nth fault.when.end fault.when.delay \
                  fault.note fault.name expect.naive.seen expect.fenced.single-writer";
    expected.extend(others.split_whitespace().map(str::to_owned));
    let rare: Vec<_> = expected.iter().filter(|key| keys.get(*key).is_none_or(|times| *times < 5)).collect();
    assert!(rare.is_empty(), "{rare:#?} of {keys:#?}");
    assert!(faults[1] > faults[0] / 2, "{faults:?} were drawn and written");
}
