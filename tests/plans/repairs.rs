//! What scenarios say of repairs: operators, how they go about it, how the provider pays, and what befalls them.

use holdover::sim::fault::{
    Anchor, ClockStep, Crash, Fault, Links, LoseMessage, Part, Partition, Pause, PauseClocks, PlannedFault,
    SplitBrain, Throttle,
};
use holdover::sim::id::NodeId;
use holdover::sim::point::REPAIR_POINTS;
use holdover::sim::repair::{Chosen, PROCEDURES};
use holdover::sim::service::REPAIR_MESSAGES;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{
    Keys, LEDGER, Latency, PROVIDER, PayoutSpec, ProviderSpec, RepairSpec, WorkerSpec, WorldSpec,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::written::{clock, nanos};

fn keys() -> impl Strategy<Value = Keys> {
    prop_oneof![Just(Keys::None), Just(Keys::Kept), nanos(1..200_000_000_000_000).prop_map(Keys::For)]
}

/// Of any length, also of hours, and with two ends or one.
fn range() -> impl Strategy<Value = Latency> {
    (nanos(1..9_000_000_000_000), prop_oneof![Just(Span::ZERO), nanos(1..9_000_000_000)])
        .prop_map(|(min, more)| Latency { min, max: min + more })
}

fn payouts() -> impl Strategy<Value = PayoutSpec> {
    let ranges = (option::of(range()), option::of(range()), option::of(range()));
    let percents = (prop_oneof![Just(0), 0..=100_u8], prop_oneof![Just(0), 0..=99_u8]);
    let page = prop_oneof![Just(PayoutSpec::default().page), 1..1_000_usize];
    (ranges, percents, any::<bool>(), page).prop_map(|(ranges, percents, answers, page)| {
        let usual = PayoutSpec::default();
        PayoutSpec {
            known_in: ranges.0.unwrap_or(usual.known_in),
            settles_in: ranges.1.unwrap_or(usual.settles_in),
            fails_percent: percents.0,
            refunds_in: ranges.2.unwrap_or(usual.refunds_in),
            refunds_fail_percent: percents.1,
            answers,
            page,
        }
    })
}

fn provider() -> impl Strategy<Value = ProviderSpec> {
    let payouts = option::of(prop_oneof![1 => Just(PayoutSpec::default()), 3 => payouts()]);
    (option::of(keys()), option::of(any::<bool>()), payouts)
        .prop_map(|(keys, checks_tokens, payouts)| ProviderSpec { keys, checks_tokens, payouts })
}

fn repair() -> impl Strategy<Value = RepairSpec> {
    let waits = || option::of(nanos(1..400_000_000_000));
    let procedure = select(PROCEDURES.iter().map(|procedure| Chosen(*procedure)).collect::<Vec<_>>());
    (procedure, waits(), waits(), waits()).prop_map(|(procedure, every, long, quiet)| {
        let usual = RepairSpec::default();
        RepairSpec {
            procedure,
            ask_every: every.unwrap_or(usual.ask_every),
            ask_for: long.unwrap_or(usual.ask_for),
            quiet_for: quiet.unwrap_or(usual.quiet_for),
        }
    })
}

/// The same world with a provider of any kind, and at times with somebody who repairs.
pub(crate) fn repaired(world: WorldSpec) -> impl Strategy<Value = WorldSpec> {
    let operators = vec((option::of(nanos(1..100_000_000_000)), clock()), 0..3);
    (provider(), operators, repair()).prop_map(move |(provider, operators, repair)| {
        let operators: Vec<WorkerSpec> = operators
            .into_iter()
            .zip(1..)
            .map(|((starts, clock), number)| WorkerSpec {
                name: format!("operator-{number}"),
                starts: TrueTime::START + starts.unwrap_or(Span::ZERO),
                clock,
            })
            .collect();
        // Nobody goes about a repair where nobody is there to repair anything.
        let repair = if operators.is_empty() { RepairSpec::default() } else { repair };
        WorldSpec { provider, operators, repair, ..world.clone() }
    })
}

/// What befalls the operators of `world`, and what waits for them.
pub(crate) fn faults(world: &WorldSpec) -> BoxedStrategy<Vec<PlannedFault>> {
    let nodes: Vec<NodeId> = (0..world.operators.len()).map(|index| world.operator_node(index)).collect();
    match nodes.is_empty() {
        true => Just(Vec::new()).boxed(),
        false => vec((anchor(nodes.clone()), fault(nodes)), 0..4)
            .prop_map(|faults| faults.into_iter().map(planned).collect())
            .boxed(),
    }
}

fn planned((when, inject): (Anchor, Fault)) -> PlannedFault {
    PlannedFault { when, inject, note: None, name: None }
}

fn anchor(nodes: Vec<NodeId>) -> impl Strategy<Value = Anchor> {
    let point = select(REPAIR_POINTS.to_vec()).prop_map(|(point, _)| point.0.to_owned());
    let (after, delay) = (TrueTime::START, prop_oneof![Just(Span::ZERO), nanos(1..9_000_000_000)]);
    let at_point = (point, option::of(select(nodes.clone())), 1..9_u32, delay)
        .prop_map(move |(point, node, nth, delay)| Anchor::Point { point, node, after, nth, delay });
    let at_event = (select(nodes), 1..9_u32).prop_map(move |(node, nth)| Anchor::Event {
        event: "operation-decided".to_owned(),
        node: Some(node),
        after,
        nth,
        delay: Span::ZERO,
    });
    let at = nanos(1..100_000_000_000).prop_map(|at| Anchor::At(TrueTime::START + at));
    prop_oneof![2 => at_point, 1 => at_event, 1 => at]
}

fn fault(nodes: Vec<NodeId>) -> impl Strategy<Value = Fault> {
    let asked = REPAIR_MESSAGES.iter().map(|(message, _)| *message).chain(["provider.pay"]);
    let message = select(asked.collect::<Vec<_>>());
    (select(nodes), nanos(1..9_000_000_000), 0..7_u8, message).prop_map(
        |(node, lasting, kind, message)| match kind {
            0 => Pause::of(node, lasting, PauseClocks::Frozen).into(),
            1 => Crash { node, lasting: Some(lasting) }.into(),
            2 => Crash { node, lasting: None }.into(),
            3 => {
                let (between, and) = ([node].into_iter().collect(), [PROVIDER].into_iter().collect());
                Partition { links: Links { between, and, one_way: false }, lasting }.into()
            }
            4 => LoseMessage { message: message.to_owned(), part: Part::Answer, node, nth: 1 }.into(),
            5 => SplitBrain { node: LEDGER, old: vec![node], lag: Span::ZERO, lasting }.into(),
            _ if lasting > Span::millis(100) => {
                Throttle { node, quota: Span::millis(20), period: Span::millis(100), lasting }.into()
            }
            _ => ClockStep { node, by: lasting }.into(),
        },
    )
}
