//! How wrong the clocks of a world's nodes are to begin with, and what sets them right.

use std::collections::BTreeSet;

use holdover_sim::clock::Rate;
use holdover_sim::fault::PlannedFault;
use holdover_sim::id::NodeId;
use holdover_sim::seed::{Purpose, Seed};
use holdover_sim::time::Span;
use holdover_sim::world::{ClockSpec, Discipline, LEASE_STORE, TimeDaemon, WorldSpec, worker_node};

use super::dice::Dice;
use super::profile::Profile;
use super::sketch::rate_of;

/// The world with other clocks: those of the workers, the operators, and the lease store or its replicas are drawn from
/// `seed`, with time daemons on some. All else is as it was.
///
/// A time source that a fault of `plan` has wrong is there for who polls it: each of its nodes has a daemon, so that a file
/// can say world and plan.
pub fn with_drawn_clocks(world: &WorldSpec, plan: &[PlannedFault], profile: Profile, seed: Seed) -> WorldSpec {
    let polls: BTreeSet<NodeId> = plan.iter().flat_map(|planned| planned.inject.polled_by()).copied().collect();
    let clock_of =
        |node: NodeId| clock(&mut Dice::new(seed, Purpose::Clocks(node)), profile, polls.contains(&node));
    let mut world = world.clone();
    // Operators' nodes come right behind the workers'.
    for (index, worker) in world.workers.iter_mut().chain(&mut world.operators).enumerate() {
        worker.clock = clock_of(worker_node(index));
    }
    let replicas = world.replicas().into_iter().skip(1);
    for node in std::iter::once(LEASE_STORE).chain(replicas) {
        world.service_clocks.insert(node, clock_of(node));
    }
    world
}

fn clock(dice: &mut Dice, profile: Profile, polls: bool) -> ClockSpec {
    // (by a cloud's own source, by one of the internet's), as standard deviations
    let deviation = dice.pick(&[Span::millis(1), Span::millis(20)]);
    let near = Span::micros(dice.normal(deviation.as_nanos() / 1_000));
    let far = dice.log_uniform(Span::millis(11), Span::secs(288));
    let far = dice.either_sign(far);
    let is_far = dice.chance(profile.of(0, 30));
    let discipline = discipline(dice, profile, polls);
    // What a daemon hasn't learned of its oscillator, or all of it.
    let (normal, uniform) = (dice.normal(30_000), i64::from(dice.count(0, 400)) * 1_000 - 200_000);
    let is_worse = dice.chance(profile.of(0, 5));
    let drift = match (profile, discipline) {
        (Profile::Realistic, None) => normal.clamp(-100_000, 100_000),
        (Profile::Realistic, Some(_)) => uniform / 200,
        (Profile::Hostile, None) if is_worse => uniform * 10,
        (Profile::Hostile, None) => uniform,
        (Profile::Hostile, Some(_)) => uniform * 15 / 200,
    };
    let drift = if drift.abs() < 1_000 { rate_of(drift) } else { rate_of(drift / 1_000 * 1_000) };
    ClockSpec { offset: if is_far { far } else { near }, drift, discipline }
}

/// A time daemon, at times or because somebody `polls`, with how often it asks, by powers of two as they do; hostile ones ask more often, so that short runs see
/// it.
fn discipline(dice: &mut Dice, profile: Profile, polls: bool) -> Option<Discipline> {
    let (daemon, doublings) = (dice.pick(&TimeDaemon::ALL), dice.count(0, 6));
    let (least, most) = match (profile, daemon) {
        (Profile::Hostile, _) => (3, 6),
        (Profile::Realistic, TimeDaemon::Timesyncd) => (5, 11),
        (Profile::Realistic, _) => (6, 10),
    };
    let poll = Span::secs(1 << (least + doublings).min(most));
    // Drawn whether it matters or not, so that the draws behind it stay as they are.
    let has_one = dice.chance(50) || polls;
    has_one.then_some(Discipline { daemon, poll })
}

const _: () = assert!(Rate::MAX_PPB >= 2_000_000, "no oscillator that is drawn is beyond what a rate can be");
