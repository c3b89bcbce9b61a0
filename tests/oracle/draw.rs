//! Draws scenarios of all kinds from numbers: worlds that are told in our own files, turned this way and that, under drawn
//! faults of every kind.

use std::sync::LazyLock;

use holdover::explore::generate::{Generator, Profile, with_drawn_clocks};
use holdover::scenario::Scenario;
use holdover::sim::lease::{Ending, LeaseService, ReplicaSpec};
use holdover::sim::protocol::{self, AnyProtocol, can_run};
use holdover::sim::seed::Seed;
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{Keys, Latency, PayoutSpec, WorkerSpec, WorldSpec};

/// Those of our own files that runs are drawn like, of each kind some. Drawn runs stay what they are when files are added.
const FILES: [&str; 48] = [
    "clocks/05-stale-wall-host-agent",
    "clocks/05-stale-wall-ntpd",
    "clocks/16-two-offsets",
    "clocks/23-throttled",
    "consensus/answer-lost",
    "consensus/deadlines-clock-step",
    "consensus/deadlines-leader-stalled",
    "consensus/disk-lost",
    "consensus/incident",
    "consensus/leader-cut-off-with-holder",
    "consensus/leader-restarted-async",
    "consensus/leader-stalled",
    "consensus/lock-delay",
    "consensus/lock-delay-given-back",
    "consensus/primary-lost-async",
    "faults/clock-drift",
    "faults/clock-slew",
    "faults/clock-strobe",
    "faults/crash",
    "faults/disk-stall",
    "faults/duplicate",
    "faults/failover",
    "faults/hold",
    "faults/leap-second",
    "faults/lose-message",
    "faults/loss",
    "faults/partition",
    "faults/pause-host",
    "faults/pause-migrated",
    "faults/pause-renewal",
    "faults/reorder",
    "faults/restart-unsynced",
    "faults/restore",
    "faults/restore-copy",
    "faults/shutdown",
    "faults/split-brain",
    "faults/split-brain-of-ledger",
    "faults/split-brain-of-provider",
    "faults/time-source",
    "faults/zone-error",
    "incidents/clock-jump",
    "incidents/frozen-guest-clock",
    "incidents/repair",
    "incidents/repair-midway",
    "monotonic/stall-after-the-check",
    "traps/delete-one-workers-records",
    "traps/fence-ledger-only",
    "traps/kill-the-old-worker-fixed",
];

static BASES: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let paths = FILES.iter().map(|name| format!("scenarios/{name}.toml"));
    paths.map(|path| Scenario::load(path).expect("our own files are scenarios")).collect()
});

/// Numbers from a number: splitmix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn millis(&mut self, from: u64, to: u64) -> Span {
        Span::millis((from + self.below(to - from + 1)) as i64)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    fn range(&mut self, least: u64, most: u64) -> Latency {
        let (one, other) = (self.millis(least, most), self.millis(least, most));
        Latency { min: one.min(other), max: one.max(other) }
    }
}

/// The scenario of a number, and the protocol that it is run under.
pub(crate) fn scenario(number: u64) -> (Scenario, &'static dyn AnyProtocol) {
    let mut dice = Dice(number);
    let mut scenario = dice.pick(&BASES);
    scenario.title = format!("Drawn from {number}");
    scenario.story = None;
    scenario.expect.clear();
    scenario.seed = Seed(dice.next() >> 1);

    let as_told = dice.chance(30);
    if !as_told {
        // Whose nodes are others needs other faults.
        scenario.plan.clear();
        turn(&mut scenario.world, &mut dice);
    }
    let profile = if dice.chance(75) { Profile::Hostile } else { Profile::Realistic };
    if dice.chance(40) {
        scenario.world = with_drawn_clocks(&scenario.world, &scenario.plan, profile, Seed(dice.next()));
    }
    if !as_told || dice.chance(80) {
        let generator = Generator::new(&scenario.world, profile).on_top_of(&scenario.plan);
        scenario.plan = generator.plan(Seed(dice.next()));
    }
    if dice.chance(2) {
        scenario.world.limits.steps = 20 + dice.below(2_000);
    }
    let named: Vec<&'static dyn AnyProtocol> =
        protocol::named().filter(|protocol| can_run(*protocol, &scenario.world)).collect();
    let protocol = dice.pick(&named);
    scenario.protocols = vec![protocol.name().to_owned()];
    (scenario, protocol)
}

/// Another world of the same kind, or of another.
fn turn(world: &mut WorldSpec, dice: &mut Dice) {
    world.limits.end = world.limits.end.min(TrueTime::START + Span::secs(240));
    workers(world, dice);
    lease(world, dice);
    money(world, dice);
    if dice.chance(40) {
        world.job.operations = 1 + dice.below(14) as u32;
        world.job.pace = dice.millis(0, 300);
        world.job.due = world.start + dice.millis(0, 30_000);
    }
    if dice.chance(30) {
        world.network.internal = dice.range(0, 10);
        world.network.provider = dice.range(0, 60);
    }
    if dice.chance(30) {
        world.network.timeout = dice.millis(20, 8_000);
    }
    if dice.chance(20) {
        world.progress_within = dice.millis(1_000, 100_000);
    }
}

fn workers(world: &mut WorldSpec, dice: &mut Dice) {
    if dice.chance(60) {
        return;
    }
    let count = 1 + dice.below(4);
    let worker = |dice: &mut Dice, n| WorkerSpec {
        name: format!("worker-{n}"),
        starts: TrueTime::START + dice.millis(0, 20_000),
        clock: world.workers[0].clock,
    };
    world.workers = (1..=count).map(|n| worker(dice, n)).collect();
    // What was said of replicas was said of their places behind the workers.
    world.service_clocks.retain(|node, _| node.index() < 3);
}

fn lease(world: &mut WorldSpec, dice: &mut Dice) {
    if dice.chance(50) {
        world.lease.ttl = if dice.chance(50) { dice.millis(200, 4_000) } else { dice.millis(4_000, 40_000) };
        world.lease.renew_every = Span::nanos(world.lease.ttl.as_nanos() / (2 + dice.below(4) as i64));
        world.lease.poll_every = dice.millis(200, 2_000);
    }
    if dice.chance(60) {
        return;
    }
    world.service_clocks.retain(|node, _| node.index() < 3);
    let with_replicas = world.operators.is_empty() && dice.chance(60);
    if !with_replicas {
        let table = [None, Some(Expiry::ByAsker), Some(Expiry::ByStore), Some(Expiry::AT_TRANSACTION_START)];
        world.lease.service = Some(LeaseService::Table);
        world.lease.expiry = dice.pick(&table);
        return;
    }
    world.lease.expiry = None;
    let delay = dice.millis(500, 20_000);
    let ending = dice.pick(&[Ending::LeaderTimers, Ending::ReplicatedDeadlines, Ending::LockDelay(delay)]);
    world.lease.service = Some(if dice.chance(70) {
        let count = if dice.chance(60) { 3 } else { 5 };
        LeaseService::Consensus(ReplicaSpec { count, ending, ..ReplicaSpec::THREE })
    } else {
        let count = 2 + dice.below(4) as u16;
        LeaseService::AsyncReplica(ReplicaSpec { count, ending, ..ReplicaSpec::PAIR })
    });
}

/// Ledger, provider and those who repair.
fn money(world: &mut WorldSpec, dice: &mut Dice) {
    world.ledger.forgets_tokens = dice.chance(15);
    if dice.chance(30) {
        let keys = [Some(Keys::None), Some(Keys::Kept), Some(Keys::For(dice.millis(100, 60_000)))];
        world.provider.keys = dice.pick(&keys);
    }
    if dice.chance(20) {
        world.provider.checks_tokens = Some(dice.chance(50));
    }
    if dice.chance(25) {
        world.provider.payouts = Some(PayoutSpec {
            known_in: dice.range(0, 1_000),
            settles_in: dice.range(0, 4_000),
            fails_percent: dice.pick(&[0, 10, 50]),
            refunds_in: dice.range(0, 3_000),
            refunds_fail_percent: dice.pick(&[0, 20]),
            answers: !dice.chance(15),
            page: 1 + dice.below(6) as usize,
        });
    }
    let in_a_table = !matches!(world.lease.service, Some(service) if service.replicas().is_some());
    if in_a_table && world.operators.is_empty() && dice.chance(25) {
        let clock = world.workers[0].clock;
        world.operators = (1..=1 + dice.below(2))
            .map(|n| WorkerSpec {
                name: format!("operator-{n}"),
                starts: TrueTime::START + dice.millis(5_000, 70_000),
                clock,
            })
            .collect();
    }
}
