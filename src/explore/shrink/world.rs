//! A smaller and more ordinary world: fewer workers, operators and operations, and nothing said that would be so anyway.

use holdover_sim::clock::Rate;
use holdover_sim::fault::Anchor;
use holdover_sim::id::NodeId;
use holdover_sim::limits::Limits;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{
    ClockSpec, LedgerSpec, NetworkSpec, PayoutSpec, ProviderSpec, RepairSpec, WorkerSpec, WorldSpec, worker_node,
};

use super::super::knobs::{Knob, knobs, turned};
use super::nodes::without;
use super::search::Search;
use crate::scenario::{FINISH_WITHIN, INTERNAL, PACE, POLL_EVERY, PROVIDER};

/// Takes workers away, the last first, with the faults that happen to them alone.
pub(super) fn fewer_workers(search: &mut Search<'_>) -> Option<()> {
    for index in (0..search.best().world.workers.len()).rev() {
        // A world has at least one.
        if let Some(fewer) = without(search.best(), worker_node(index)) {
            search.attempt(fewer)?;
        }
    }
    Some(())
}

/// Takes operators away, the last first, with the faults that happen to them alone.
pub(super) fn fewer_operators(search: &mut Search<'_>) -> Option<()> {
    for index in (0..search.best().world.operators.len()).rev() {
        let operator = search.best().world.operator_node(index);
        if let Some(fewer) = without(search.best(), operator) {
            search.attempt(fewer)?;
        }
    }
    Some(())
}

/// Takes operations away: as many as can be spared, looking for the number by halving.
pub(super) fn fewer_operations(search: &mut Search<'_>) -> Option<()> {
    let (mut too_few, mut enough) = (0, search.best().world.job.operations);
    let mut next = 1;
    while too_few + 1 < enough {
        let is_enough = with_operations(search, next)?;
        (too_few, enough) = if is_enough { (too_few, next) } else { (next, enough) };
        next = too_few + (enough - too_few) / 2;
    }
    Some(())
}

/// Leaves so many operations; if that isn't enough, faults that wait for a later passing or event don't wait for those of
/// the operations that are gone.
fn with_operations(search: &mut Search<'_>, operations: u32) -> Option<bool> {
    let mut proposal = search.best().clone();
    let gone = proposal.world.job.operations - operations;
    proposal.world.job.operations = operations;
    if search.attempt(proposal.clone())? {
        return Some(true);
    }
    for planned in &mut proposal.plan {
        if let Anchor::Point { nth, .. } | Anchor::Event { nth, .. } = &mut planned.when {
            *nth = nth.saturating_sub(gone).max(1);
        }
    }
    let is_other = proposal.plan != search.best().plan;
    if is_other { search.attempt(proposal) } else { Some(false) }
}

/// Makes the world ordinary: all of it at once if that goes, else one thing after the other.
pub(super) fn ordinary(search: &mut Search<'_>) -> Option<()> {
    change(search, |world| CHANGES.iter().chain(CHANGES_OF_REPAIR).for_each(|change| change(world)))?;
    for one in CHANGES {
        change(search, one)?;
    }
    for one in CHANGES_OF_REPAIR {
        let mut changed = search.best().world.clone();
        one(&mut changed);
        if changed != search.best().world {
            change(search, one)?;
        }
    }
    for index in 0..processes(&mut search.best().world.clone()).count() {
        for one in CHANGES_OF_NODE {
            change(search, |world| {
                processes(world).nth(index).into_iter().for_each(|node| one(&mut node.starts, &mut node.clock));
            })?;
        }
    }
    let services: Vec<NodeId> = search.best().world.service_clocks.keys().copied().collect();
    for service in services {
        for one in CHANGES_OF_NODE {
            change(search, |world| {
                // A service is there from the start.
                let mut starts = TrueTime::START;
                world.service_clocks.get_mut(&service).into_iter().for_each(|clock| one(&mut starts, clock));
            })?;
        }
        change(search, |world| {
            world.service_clocks.remove(&service);
        })?;
    }
    Some(())
}

/// The workers and the operators.
fn processes(world: &mut WorldSpec) -> impl Iterator<Item = &mut WorkerSpec> {
    world.workers.iter_mut().chain(&mut world.operators)
}

/// Changes the world. Where that needs faults that last longer than they do, it is tried with all of them as long as a
/// lease: it is easier to see what a longer fault does than what an odd world has to do with it.
fn change(search: &mut Search<'_>, change: impl Fn(&mut WorldSpec)) -> Option<()> {
    let mut proposal = search.best().clone();
    change(&mut proposal.world);
    if search.attempt(proposal.clone())? {
        return Some(());
    }
    let (end, ttl) = (proposal.world.limits.end, proposal.world.lease.ttl.as_nanos());
    let mut is_longer = false;
    for planned in &mut proposal.plan {
        let lasts = |knob: &Knob| !knob.name.when && knob.name.key == "for" && knob.value < ttl;
        let longer = knobs(planned, end).into_iter().find(lasts);
        if let Some(longer) = longer.and_then(|knob| turned(planned, end, knob.name, ttl)) {
            *planned = longer;
            is_longer = true;
        }
    }
    if is_longer {
        search.attempt(proposal)?;
    }
    Some(())
}

/// What makes a world more ordinary.
const CHANGES: &[fn(&mut WorldSpec)] = &[
    |world| world.service_clocks.clear(),
    |world| processes(world).for_each(|node| node.clock = ClockSpec::default()),
    |world| {
        for worker in &mut world.workers {
            worker.starts = TrueTime::START;
        }
    },
    |world| world.lease.expiry = None,
    |world| world.ledger = LedgerSpec::default(),
    |world| world.job.due = world.start,
    |world| world.lease.poll_every = POLL_EVERY,
    |world| world.job.pace = PACE,
    |world| world.network.internal = INTERNAL,
    |world| world.network.provider = PROVIDER,
    |world| world.network.timeout = NetworkSpec::DEFAULT_TIMEOUT,
    |world| world.progress_within = FINISH_WITHIN,
    |world| world.limits.steps = Limits::DEFAULT_STEPS,
];

/// What makes one node of it more ordinary.
const CHANGES_OF_NODE: &[fn(&mut TrueTime, &mut ClockSpec)] = &[
    |_, clock| *clock = ClockSpec::default(),
    |starts, _| *starts = TrueTime::START,
    |_, clock| clock.offset = Span::ZERO,
    |_, clock| clock.drift = Rate::EXACT,
    |_, clock| clock.discipline = None,
    |_, clock| {
        if let Some(discipline) = &mut clock.discipline {
            discipline.poll = discipline.daemon.default_poll();
        }
    },
];

/// What makes provider and repairs more ordinary: each as a whole, then one thing after the other.
const CHANGES_OF_REPAIR: &[fn(&mut WorldSpec)] = &[
    |world| world.provider = ProviderSpec::default(),
    |world| world.repair = RepairSpec::default(),
    |world| world.provider.keys = None,
    |world| world.provider.checks_tokens = None,
    |world| world.provider.payouts = None,
    |world| of_payouts(world, |payouts, usual| payouts.known_in = usual.known_in),
    |world| of_payouts(world, |payouts, usual| payouts.settles_in = usual.settles_in),
    |world| of_payouts(world, |payouts, usual| payouts.fails_percent = usual.fails_percent),
    |world| of_payouts(world, |payouts, usual| payouts.refunds_in = usual.refunds_in),
    |world| of_payouts(world, |payouts, usual| payouts.refunds_fail_percent = usual.refunds_fail_percent),
    |world| of_payouts(world, |payouts, usual| payouts.answers = usual.answers),
    |world| of_payouts(world, |payouts, usual| payouts.page = usual.page),
    |world| world.repair.procedure = RepairSpec::default().procedure,
    |world| world.repair.ask_every = RepairSpec::default().ask_every,
    |world| world.repair.ask_for = RepairSpec::default().ask_for,
    |world| world.repair.quiet_for = RepairSpec::default().quiet_for,
];

fn of_payouts(world: &mut WorldSpec, change: impl Fn(&mut PayoutSpec, PayoutSpec)) {
    world.provider.payouts.iter_mut().for_each(|payouts| change(payouts, PayoutSpec::default()));
}

/// How much of a world isn't as it would be if nothing were said of it.
pub(super) fn settings(world: &WorldSpec) -> usize {
    let processes = world.workers.iter().chain(&world.operators);
    let of_processes = processes.map(|node| usize::from(node.starts != TrueTime::START) + of_clock(&node.clock));
    // That a service is spoken of at all is one.
    let of_services = world.service_clocks.values().map(|clock| 1 + of_clock(clock));
    let others = count([
        world.lease.expiry.is_some(),
        world.ledger != LedgerSpec::default(),
        world.job.due != world.start,
        world.lease.poll_every != POLL_EVERY,
        world.job.pace != PACE,
        world.network.internal != INTERNAL,
        world.network.provider != PROVIDER,
        world.network.timeout != NetworkSpec::DEFAULT_TIMEOUT,
        world.progress_within != FINISH_WITHIN,
        world.limits.steps != Limits::DEFAULT_STEPS,
    ]);
    of_processes.chain(of_services).sum::<usize>()
        + others
        + of_provider(&world.provider)
        + of_repair(&world.repair)
}

fn of_provider(provider: &ProviderSpec) -> usize {
    let usual = PayoutSpec::default();
    // That payouts take their time at all is one.
    let of_payouts = provider.payouts.map_or(0, |payouts| {
        1 + count([
            payouts.known_in != usual.known_in,
            payouts.settles_in != usual.settles_in,
            payouts.fails_percent != usual.fails_percent,
            payouts.refunds_in != usual.refunds_in,
            payouts.refunds_fail_percent != usual.refunds_fail_percent,
            payouts.answers != usual.answers,
            payouts.page != usual.page,
        ])
    });
    of_payouts + count([provider.keys.is_some(), provider.checks_tokens.is_some()])
}

fn of_repair(repair: &RepairSpec) -> usize {
    let usual = RepairSpec::default();
    count([
        repair.procedure != usual.procedure,
        repair.ask_every != usual.ask_every,
        repair.ask_for != usual.ask_for,
        repair.quiet_for != usual.quiet_for,
    ])
}

fn count<const N: usize>(are_set: [bool; N]) -> usize {
    are_set.into_iter().filter(|is_set| *is_set).count()
}

fn of_clock(clock: &ClockSpec) -> usize {
    let discipline = clock
        .discipline
        .map_or(0, |discipline| 1 + usize::from(discipline.poll != discipline.daemon.default_poll()));
    usize::from(clock.offset != Span::ZERO) + usize::from(clock.drift != Rate::EXACT) + discipline
}
