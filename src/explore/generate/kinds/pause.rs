//! Pauses: of a process, a task, a guest or a host, as long as they were seen in practice.

use holdover_sim::fault::{Fault, Pause, PauseClocks, Throttle, WorkerTask};
use holdover_sim::time::Span;
use holdover_sim::world::PROVIDER;

use crate::explore::generate::profile::Profile;
use crate::explore::generate::sketch::{SHORTEST, Sketch, not_negative};

/// How often a throttle stalls at the most. Each stall costs the run as much as a message.
const MOST_STALLS: i64 = 400;

/// What stands still.
#[derive(Clone, Copy)]
enum What {
    /// A worker's process: garbage collection, a stopped container, a page fault.
    Process,
    /// One task of a worker.
    Task,
    /// A worker's guest.
    Guest,
    /// A service waits for its disk.
    Disk,
    /// A host with several guests.
    Host,
}

pub(super) fn pause(sketch: &mut Sketch<'_>) -> Fault {
    let what = sketch.dice.weighted(&sketch.of(
        [(8, What::Process), (2, What::Task), (7, What::Guest), (2, What::Disk), (0, What::Host)],
        [(8, What::Process), (3, What::Task), (12, What::Guest), (2, What::Disk), (3, What::Host)],
    ));
    match what {
        What::Process => {
            let node = sketch.machine();
            Pause::of(node, stall(sketch), PauseClocks::Running).into()
        }
        What::Task => {
            let node = sketch.worker();
            let task = sketch.dice.pick(&[WorkerTask::Work, WorkerTask::Renewal]);
            Pause { task: Some(task), ..Pause::of(node, stall(sketch), PauseClocks::Running) }.into()
        }
        What::Guest => {
            let node = sketch.machine();
            let (lasting, clocks) = guest(sketch);
            Pause::of(node, lasting, clocks).into()
        }
        What::Disk => {
            let disks = sketch.stage.services.iter().copied().filter(|service| *service != PROVIDER);
            let node = sketch.dice.pick(&disks.collect::<Vec<_>>());
            Pause::of(node, sync(sketch), PauseClocks::Running).into()
        }
        What::Host => {
            let node = sketch.actor();
            let services = sketch.stage.services.iter().copied();
            let others = sketch.stage.askers().chain(services).filter(|other| *other != node);
            let mut others: Vec<_> = others.collect();
            while others.len() > 1 && sketch.dice.chance(60) {
                others.remove(sketch.dice.below(others.len()));
            }
            let (lasting, clocks) = guest(sketch);
            Pause { beside: others, ..Pause::of(node, lasting, clocks) }.into()
        }
    }
}

/// How long a process stalls. Garbage collectors mostly take some 20 ms, and one in a thousand pauses is a full collection
/// of up to 80 s (HBase, Elasticsearch).
fn stall(sketch: &mut Sketch<'_>) -> Span {
    match sketch.profile() {
        Profile::Realistic => {
            let short = sketch.dice.log_normal(Span::millis(20), Span::millis(500));
            let long = sketch.between(Span::secs(1), Span::secs(80));
            let is_long = sketch.dice.below(1_000) == 0;
            sketch.length_or(if is_long { long } else { short })
        }
        Profile::Hostile => {
            let (low, high) =
                sketch.dice.pick(&[(Span::millis(10), Span::secs(5)), (Span::secs(1), Span::secs(600))]);
            sketch.length(low, high)
        }
    }
}

/// How long a guest stands still, and what its clocks do. The migrations of a large cloud take 50 ms, 99 of a hundred less
/// than 300 ms; other clouds' take up to 10 s, and seldom 30 s.
fn guest(sketch: &mut Sketch<'_>) -> (Span, PauseClocks) {
    let lasting = match sketch.profile() {
        Profile::Realistic => {
            let usual = sketch.dice.log_normal(Span::millis(50), Span::millis(300));
            let slow = sketch.dice.uniform(Span::secs(1), Span::secs(10));
            let slow = Span::millis(slow.as_nanos() / 1_000_000);
            let length = match sketch.dice.below(1_000) {
                0..5 => Span::secs(30),
                5..55 => slow,
                _ => usual,
            };
            sketch.length_or(length)
        }
        Profile::Hostile => sketch.length(Span::millis(50), Span::secs(600)),
    };
    (lasting, clocks(sketch, lasting))
}

/// What a guest's clocks do. Nobody publishes how often each is so; the shares of the realistic profile are a guess.
fn clocks(sketch: &mut Sketch<'_>, lasting: Span) -> PauseClocks {
    let lost = match sketch.profile() {
        Profile::Realistic => not_negative(sketch.dice.uniform(Span::ZERO, Span::millis(100))),
        Profile::Hostile => lasting,
    };
    let drift_change = sketch.normal_rate(sketch.of(30_000, 60_000), 100_000);
    // How long an agent of the host takes to see it, if there is one.
    let after = not_negative(sketch.dice.uniform(Span::ZERO, sketch.of(Span::secs(5), Span::secs(60))));
    let migrated = PauseClocks::Migrated { lost: lost.min(lasting), drift_change };
    let corrected = PauseClocks::Corrected { after };
    sketch.dice.weighted(&sketch.of(
        [
            (40, PauseClocks::Frozen),
            (20, migrated),
            (15, PauseClocks::Counted),
            (20, corrected),
            (5, PauseClocks::Suspended),
        ],
        [
            (2, PauseClocks::Frozen),
            (1, migrated),
            (1, PauseClocks::Counted),
            (1, corrected),
            (1, PauseClocks::Suspended),
        ],
    ))
}

/// How long a disk takes to sync, as etcd's users counted it in 19 million syncs: of a thousand four take more than 16 ms,
/// one more than 64 ms, half a one more than 256 ms. Shorter ones aren't worth a fault. On a bad disk one of a hundred
/// takes more than a second.
fn sync(sketch: &mut Sketch<'_>) -> Span {
    let (low, high) = match sketch.profile() {
        Profile::Realistic => match sketch.dice.below(1_000) {
            0..2 => (1_000, 8_000),
            2..45 => (512, 1_000),
            45..130 => (256, 512),
            130..330 => (64, 256),
            _ => (16, 64),
        },
        Profile::Hostile => match sketch.dice.below(100) {
            0..3 => (60_000, 60_000),
            3..30 => (1_000, 8_000),
            _ => (64, 1_000),
        },
    };
    let (low, high) = (Span::millis(low), Span::millis(high));
    sketch.length(low, high)
}

/// Control groups have a quota for every 100 ms where nobody says otherwise; a busy one runs for a fifth to four fifths of
/// them, and one that is far too small for a hundredth to a tenth.
pub(super) fn throttle(sketch: &mut Sketch<'_>) -> Fault {
    let (actor, service) = (sketch.actor(), sketch.service());
    let node = if sketch.dice.chance(10) { service } else { actor };
    let period = Span::millis(sketch.dice.weighted(&[(6, 100), (1, 10), (1, 1_000)]));
    let percent = match sketch.profile() {
        Profile::Realistic => sketch.dice.count(20, 80),
        Profile::Hostile => sketch.dice.count(1, 10),
    };
    let quota = Span::nanos(period.as_nanos() / 100 * i64::from(percent)).max(SHORTEST);
    let lasting = sketch.length(Span::secs(1), Span::secs(60));
    let lasting = lasting.max(period + SHORTEST).min(period.times(MOST_STALLS));
    Throttle { node, quota, period, lasting }.into()
}
