//! Nights to choose from: worlds like the incident's, and plans of any faults for them.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover::scenario::Scenario;
use holdover::sim::clock::Rate;
use holdover::sim::fault::{
    Anchor, ClockDrift, ClockSlew, ClockStep, ClockStrobe, Crash, DelayMessage, DiskStall, Duplicate, Failover,
    Fault, Hold, Latency, LeapSecond, Links, LoseMessage, Loses, Loss, Original, Part, Partition, Pause,
    PauseClocks, PlannedFault, Reorder, Restart, Restore, Shutdown, Snapshot, SplitBrain, Throttle, TimeSource,
    WorkerTask, ZoneError,
};
use holdover::sim::history::{EVENTS, History};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Limits;
use holdover::sim::point::POINTS;
use holdover::sim::protocol::AnyProtocol;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::service::{MESSAGES, REPLICA_LETTERS};
use holdover::sim::time::{Span, TrueTime, WallTime};
use holdover::sim::world::{
    self, ClockSpec, Discipline, JobSpec, LeaseSpec, LedgerSpec, NetworkSpec, ProviderSpec, RepairSpec,
    TimeDaemon, WorkerSpec, WorldSpec, worker_node,
};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// The node of the first worker; those before it are services.
pub(crate) const FIRST_WORKER: u16 = worker_node(0).0;

/// What a property is about: a world, what is injected into it, and a seed.
#[derive(Debug, Clone)]
pub(crate) struct Night {
    pub(crate) world: WorldSpec,
    pub(crate) plan: Vec<PlannedFault>,
    pub(crate) seed: Seed,
}

impl Night {
    pub(crate) fn run(&self, protocol: &dyn AnyProtocol) -> History {
        run(&self.world, protocol, &self.plan, self.seed)
    }
}

fn millis(range: Range<i64>) -> impl Strategy<Value = Span> {
    range.prop_map(Span::millis)
}

fn latency(most: i64) -> impl Strategy<Value = world::Latency> {
    (0..most, 0..most).prop_map(|(one, other)| world::Latency {
        min: Span::millis(one.min(other)),
        max: Span::millis(one.max(other)),
    })
}

fn worker() -> impl Strategy<Value = WorkerSpec> {
    let offset = prop_oneof![Just(Span::ZERO), millis(-2_000..2_000)];
    let daemon = select(TimeDaemon::ALL.to_vec());
    let discipline = option::weighted(0.3, (daemon, millis(500..64_000)))
        .prop_map(|found| found.map(|(daemon, poll)| Discipline { daemon, poll }));
    (millis(0..20_000), offset, -200_000..200_000, discipline).prop_map(|(starts, offset, ppb, discipline)| {
        WorkerSpec {
            name: String::new(),
            starts: TrueTime::START + starts,
            clock: ClockSpec { offset, drift: Rate::from_ppb(ppb).expect("it is in range"), discipline },
        }
    })
}

/// Worlds like the incident's: with more workers or one, clocks that are off, shorter leases, slower networks.
fn world() -> impl Strategy<Value = WorldSpec> {
    let start = WallTime::from_nanos(1_768_442_370_000_000_000);
    let expiry = select(vec![Expiry::ByAsker, Expiry::ByStore, Expiry::AT_TRANSACTION_START]);
    let ttl = prop_oneof![millis(200..4_000), millis(4_000..40_000)];
    let lease = (ttl, 2..6_i64, millis(200..2_000), option::weighted(0.2, expiry)).prop_map(
        |(ttl, part, poll_every, expiry)| LeaseSpec {
            ttl,
            renew_every: Span::nanos(ttl.as_nanos() / part),
            poll_every,
            expiry,
            service: None,
        },
    );
    let job = (1..20_u32, millis(0..30_000), millis(0..300)).prop_map(move |(operations, due, pace)| JobSpec {
        operations,
        due: start + due,
        pace,
    });
    (vec(worker(), 1..5), lease, job, latency(10), latency(60)).prop_map(
        move |(mut workers, lease, job, internal, provider)| {
            workers.sort_unstable_by_key(|worker| worker.starts);
            for (n, worker) in workers.iter_mut().enumerate() {
                worker.name = format!("worker-{n}");
            }
            WorldSpec {
                start,
                workers,
                service_clocks: BTreeMap::new(),
                lease,
                ledger: LedgerSpec::default(),
                provider: ProviderSpec::default(),
                operators: Vec::new(),
                repair: RepairSpec::default(),
                job,
                network: NetworkSpec { internal, provider, timeout: NetworkSpec::DEFAULT_TIMEOUT },
                limits: Limits { end: TrueTime::START + Span::secs(120), steps: Limits::DEFAULT_STEPS },
                progress_within: Span::secs(60),
            }
        },
    )
}

/// The incident's world.
pub(crate) fn incident() -> WorldSpec {
    let file = include_str!("../../scenarios/incidents/clock-jump.toml");
    Scenario::parse("clock-jump.toml", file).expect("the incident's file is a scenario").world
}

/// A night on which anything may go wrong but that a service loses what it had written or is there twice, or that a worker
/// is copied.
pub(crate) fn night() -> impl Strategy<Value = Night> {
    night_with(14, |workers| fault(workers).boxed())
}

/// A night on which little goes wrong, so that what a protocol relies on may be so; services may lose what they had
/// written as well, and workers be copied.
pub(crate) fn night_of_losses() -> impl Strategy<Value = Night> {
    night_with(3, |workers| prop_oneof![8 => fault(workers), 2 => loss_of(workers), 1 => copy(workers)].boxed())
}

/// A night on which anything at all may go wrong.
pub(crate) fn any_night() -> impl Strategy<Value = Night> {
    night_with(14, |workers| prop_oneof![12 => fault(workers), 2 => loss_of(workers), 1 => copy(workers)].boxed())
}

/// A copy of a worker.
fn copy(workers: u16) -> impl Strategy<Value = Fault> {
    worker_of(workers).prop_map(|node| Restore { node, original: Original::Alive }.into())
}

fn night_with(most: usize, fault: impl Fn(u16) -> BoxedStrategy<Fault> + 'static) -> impl Strategy<Value = Night> {
    let world = prop_oneof![Just(incident()), world()];
    let with_plan = world.prop_flat_map(move |world| {
        let workers = world.workers.len() as u16;
        let plan = plan(workers, most, fault(workers));
        (Just(world), plan, any::<u64>())
    });
    with_plan.prop_map(|(world, plan, seed)| Night { world, plan, seed: Seed(seed) })
}

/// A span from 1 ms to `most`, long or short.
fn lasting(most: i64) -> impl Strategy<Value = Span> {
    prop_oneof![1 => millis(1..100), 1 => millis(100..5_000), 2 => millis(5_000..most)]
}

/// An instant of the run. The work is done in a few stretches of it, so these are hit more often.
fn instant() -> impl Strategy<Value = TrueTime> {
    let since_start = prop_oneof![millis(0..125_000), millis(19_000..21_000), millis(57_900..59_000)];
    since_start.prop_map(|since_start| TrueTime::START + since_start)
}

/// What clocks do in a pause of this length.
fn pause_clocks(lasting: Span) -> impl Strategy<Value = PauseClocks> {
    let parts = (0..=10_i64, -100_000..=100_000, 0..20_000_i64);
    (0..8, parts).prop_map(move |(kind, (lost, ppb, after))| match kind {
        0 => PauseClocks::Running,
        1 => PauseClocks::Suspended,
        2 | 6 | 7 => PauseClocks::Frozen,
        3 => PauseClocks::Counted,
        4 => PauseClocks::Corrected { after: Span::millis(after) },
        _ => PauseClocks::Migrated {
            lost: Span::nanos(lasting.as_nanos() / 10 * lost),
            drift_change: Rate::from_ppb(ppb).expect("it is in range"),
        },
    })
}

/// A pause of a node; with others at times, which then are its host's.
fn pause(node: NodeId, others: Vec<NodeId>) -> impl Strategy<Value = Fault> {
    lasting(45_000).prop_flat_map(pause_of_length(node, others))
}

fn pause_of_length(node: NodeId, others: Vec<NodeId>) -> impl Fn(Span) -> BoxedStrategy<Fault> {
    move |lasting| {
        let beside: Vec<NodeId> = others.iter().copied().filter(|other| *other != node).collect();
        let beside = prop_oneof![6 => Just(Vec::new()), 1 => Just(beside)];
        (pause_clocks(lasting), beside)
            .prop_map(move |(clocks, beside)| Fault::Pause(Pause { node, beside, lasting, clocks, task: None }))
            .boxed()
    }
}

fn task_pause(node: NodeId) -> impl Strategy<Value = Fault> {
    (lasting(45_000), select(vec![WorkerTask::Work, WorkerTask::Renewal])).prop_map(move |(lasting, task)| {
        Fault::Pause(Pause { task: Some(task), ..Pause::of(node, lasting, PauseClocks::Running) })
    })
}

/// Of few periods or of many; the last one may be cut short.
fn throttle(node: NodeId) -> impl Strategy<Value = Fault> {
    // One that is no longer than a period would be a pause.
    (millis(20..1_000), 1..10_i64, lasting(20_000)).prop_map(move |(period, tenths, longer)| {
        let quota = Span::nanos(period.as_nanos() / 10 * tenths);
        Fault::Throttle(Throttle { node, quota, period, lasting: period + longer })
    })
}

fn drift(node: NodeId) -> impl Strategy<Value = Fault> {
    (prop_oneof![-200_000..0, 1..=Rate::MAX_PPB], option::of(lasting(45_000))).prop_map(move |(ppb, lasting)| {
        Fault::ClockDrift(ClockDrift { node, rate: Rate::from_ppb(ppb).expect("it is in range"), lasting })
    })
}

fn strobe(node: NodeId) -> impl Strategy<Value = Fault> {
    (prop_oneof![millis(-2_000..0), millis(1..2_000)], millis(10..500), millis(501..10_000))
        .prop_map(move |(by, every, lasting)| Fault::ClockStrobe(ClockStrobe { node, by, every, lasting }))
}

fn zone(node: NodeId) -> impl Strategy<Value = Fault> {
    (select(vec![-8, -1, 1, 2, 8]), lasting(45_000)).prop_map(move |(hours, lasting)| {
        Fault::ZoneError(ZoneError { node, by: Span::secs(3_600 * hours), lasting })
    })
}

fn leap(node: NodeId, other: NodeId) -> impl Strategy<Value = Fault> {
    let other = if other == node { Vec::new() } else { vec![other] };
    any::<bool>().prop_map(move |steps| {
        let (one, other) = (vec![node], other.clone());
        let (stepped, smeared) = if steps { (one, other) } else { (other, one) };
        Fault::LeapSecond(LeapSecond { stepped, smeared })
    })
}

fn source(node: NodeId) -> impl Strategy<Value = Fault> {
    (prop_oneof![millis(-2_000..0), millis(1..2_000)], lasting(45_000))
        .prop_map(move |(error, lasting)| Fault::TimeSource(TimeSource { nodes: vec![node], error, lasting }))
}

fn step(node: NodeId) -> impl Strategy<Value = Fault> {
    let by = prop_oneof![millis(-1_000..0), millis(1..1_000), millis(-60_000..-1_000), millis(1_000..60_000)];
    by.prop_map(move |by| Fault::ClockStep(ClockStep { node, by }))
}

/// The largest slews are as likely as any, so that overlapping ones add up to more than a clock can be bent by.
fn slew(node: NodeId) -> impl Strategy<Value = Fault> {
    let most = Rate::MAX_PPB;
    let rate = prop_oneof![Just(-most), -most..0, 1..=most, Just(most)];
    (rate, lasting(45_000)).prop_map(move |(ppb, lasting)| {
        let rate = Rate::from_ppb(ppb).expect("it is in range");
        Fault::ClockSlew(ClockSlew { node, rate, lasting })
    })
}

fn restart(node: NodeId) -> impl Strategy<Value = Fault> {
    let loses = select(vec![Loses::Nothing, Loses::Memory]);
    (lasting(10_000), loses).prop_map(move |(lasting, loses)| Fault::Restart(Restart { node, lasting, loses }))
}

/// For good now and then: then all workers may be gone.
fn crash(node: NodeId) -> impl Strategy<Value = Fault> {
    prop_oneof![9 => lasting(20_000).prop_map(Some), 1 => Just(None)]
        .prop_map(move |lasting| Fault::Crash(Crash { node, lasting }))
}

fn shutdown(node: NodeId) -> impl Strategy<Value = Fault> {
    lasting(10_000).prop_map(move |lasting| Fault::Shutdown(Shutdown { node, lasting }))
}

fn disk_stall(node: NodeId) -> impl Strategy<Value = Fault> {
    lasting(20_000).prop_map(move |lasting| DiskStall { node, lasting }.into())
}

fn loss(node: NodeId) -> impl Strategy<Value = Fault> {
    (lasting(6_000), lasting(20_000), any::<bool>()).prop_map(move |(lasting, lag, replica)| match replica {
        true => Fault::Failover(Failover { node, lag, lasting }),
        false => Fault::Restart(Restart { node, lasting, loses: Loses::Unsynced(lag) }),
    })
}

/// The old primary answers some of the workers, or all.
fn split(node: NodeId, workers: u16) -> impl Strategy<Value = Fault> {
    let workers: Vec<NodeId> = (FIRST_WORKER..FIRST_WORKER + workers).map(NodeId).collect();
    let old = prop_oneof![Just(vec![NodeId(FIRST_WORKER)]), subsequence(workers.clone(), 1..=workers.len())];
    let lag = prop_oneof![Just(Span::ZERO), lasting(20_000)];
    (old, lag, lasting(45_000))
        .prop_map(move |(old, lag, lasting)| Fault::SplitBrain(SplitBrain { node, old, lag, lasting }))
}

/// A service loses what it had written.
fn loss_of(workers: u16) -> impl Strategy<Value = Fault> {
    prop_oneof![service().prop_flat_map(loss), service().prop_flat_map(move |node| split(node, workers))]
}

fn service() -> impl Strategy<Value = NodeId> {
    (0..FIRST_WORKER).prop_map(NodeId)
}

/// A worker, mostly the first: it comes first in the incident's world too, so it is the one with something to lose.
fn worker_of(workers: u16) -> impl Strategy<Value = NodeId> {
    prop_oneof![Just(FIRST_WORKER), FIRST_WORKER..FIRST_WORKER + workers].prop_map(NodeId)
}

/// The links of a worker to some services or to all others, or of a service to everybody.
fn links(workers: u16) -> impl Strategy<Value = Links> {
    let services = prop_oneof![
        Just(Vec::new()),
        subsequence((0..FIRST_WORKER).map(NodeId).collect::<Vec<_>>(), 1..=usize::from(FIRST_WORKER)),
    ];
    let sides = prop_oneof![
        4 => (worker_of(workers), services),
        1 => service().prop_map(|service| (service, Vec::new())),
    ];
    (sides, weighted(0.3)).prop_map(|((one, others), one_way)| Links {
        between: [one].into_iter().collect(),
        and: others.into_iter().collect(),
        one_way,
    })
}

fn percent() -> impl Strategy<Value = u8> {
    prop_oneof![1..=100_u8, Just(100)]
}

fn on_links(links: Links) -> impl Strategy<Value = Fault> {
    (0..7, percent(), latency(10_000), lasting(10_000), lasting(45_000)).prop_map(
        move |(kind, percent, range, by, lasting)| {
            let links = links.clone();
            match kind {
                0 => Latency { links, range, lasting }.into(),
                1 => Loss { links, percent, lasting }.into(),
                2 => Duplicate { links, percent, lasting }.into(),
                3 => Reorder { links, percent, by, lasting }.into(),
                4 => Hold { links, lasting }.into(),
                _ => Partition { links, lasting }.into(),
            }
        },
    )
}

/// What befalls a single message of a worker's.
fn on_message(node: NodeId) -> impl Strategy<Value = Fault> {
    let asked = MESSAGES.iter().map(|(message, _)| *message).filter(|message| !REPLICA_LETTERS.contains(message));
    let message = select(asked.map(str::to_owned).collect::<Vec<_>>());
    (message, select(Part::ALL.to_vec()), option::of(lasting(45_000)), 1..4_u32).prop_map(
        move |(message, part, by, nth)| match by {
            Some(by) => DelayMessage { message, part, node, by, nth }.into(),
            None => LoseMessage { message, part, node, nth }.into(),
        },
    )
}

fn fault(workers: u16) -> impl Strategy<Value = Fault> {
    prop_oneof![
        12 => (worker_of(workers), service(), worker_of(workers))
            .prop_flat_map(|(worker, service, other)| pause(worker, if other == worker { vec![service] } else { vec![service, other] })),
        1 => service().prop_flat_map(|service| pause(service, Vec::new())),
        1 => worker_of(workers).prop_flat_map(task_pause),
        1 => prop_oneof![2 => worker_of(workers), 1 => service()].prop_flat_map(throttle),
        1 => worker_of(workers).prop_flat_map(drift),
        1 => worker_of(workers).prop_flat_map(strobe),
        1 => worker_of(workers).prop_flat_map(zone),
        1 => (worker_of(workers), worker_of(workers)).prop_flat_map(|(one, other)| leap(one, other)),
        1 => worker_of(workers).prop_flat_map(source),
        4 => worker_of(workers).prop_flat_map(step),
        2 => worker_of(workers).prop_flat_map(slew),
        2 => service().prop_flat_map(restart),
        1 => service().prop_flat_map(disk_stall),
        1 => worker_of(workers).prop_flat_map(crash),
        1 => worker_of(workers).prop_flat_map(shutdown),
        2 => worker_of(workers).prop_map(|node| Snapshot { node }.into()),
        2 => worker_of(workers).prop_map(|node| Restore { node, original: Original::Gone }.into()),
        4 => links(workers).prop_flat_map(on_links),
        2 => worker_of(workers).prop_flat_map(on_message),
    ]
}

/// The names by which faults of a plan wait for each other.
const NAMES: [&str; 3] = ["first", "second", "third"];

/// Most faults strike in the middle of the work: nights on which nobody is doing anything are dull.
fn anchor(workers: u16) -> impl Strategy<Value = Anchor> {
    let point = select(POINTS.iter().map(|(point, _)| point.0.to_owned()).collect::<Vec<_>>());
    let event = select(EVENTS.iter().map(|(event, _)| (*event).to_owned()).collect::<Vec<_>>());
    let after = || prop_oneof![4 => Just(TrueTime::START), 1 => instant()];
    let nth = || prop_oneof![1..3_u32, 3..15_u32];
    let delay = || prop_oneof![2 => Just(Span::ZERO), 1 => lasting(10_000)];
    let node = prop_oneof![2 => worker_of(workers), 1 => service()];
    let leader = select(NAMES.map(str::to_owned).to_vec());
    prop_oneof![
        2 => instant().prop_map(Anchor::At),
        6 => (point, option::of(worker_of(workers)), after(), nth(), delay())
            .prop_map(|(point, node, after, nth, delay)| Anchor::Point { point, node, after, nth, delay }),
        2 => (event, option::of(node), after(), nth(), delay())
            .prop_map(|(event, node, after, nth, delay)| Anchor::Event { event, node, after, nth, delay }),
        1 => (leader, any::<bool>(), delay()).prop_map(|(name, end, delay)| Anchor::Fault { name, end, delay }),
    ]
}

/// A worker is mostly hit by its own doing, in the middle of it.
fn planned(workers: u16, fault: BoxedStrategy<Fault>) -> impl Strategy<Value = PlannedFault> {
    (anchor(workers), fault, weighted(0.8)).prop_map(|(mut when, inject, own)| {
        if let Anchor::Point { node, .. } = &mut when
            && own
            && inject.node().0 >= FIRST_WORKER
        {
            *node = Some(inject.node());
        }
        PlannedFault { when, inject, note: None, name: None }
    })
}

/// A plan whose first faults have names. Which faults wait for which is left to chance: some wait in vain, for
/// themselves or in a circle.
fn plan(workers: u16, most: usize, fault: BoxedStrategy<Fault>) -> impl Strategy<Value = Vec<PlannedFault>> {
    vec(planned(workers, fault), 0..most).prop_map(|mut plan| {
        for (planned, name) in plan.iter_mut().zip(NAMES) {
            planned.name = Some(name.to_owned());
        }
        plan
    })
}
