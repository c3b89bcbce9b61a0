//! Nights with operators, and what came of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use holdover::scenario::Scenario;
use holdover::sim::check::{Verdict, judge};
use holdover::sim::fault::{Anchor, Crash, Fault, PlannedFault};
use holdover::sim::history::{Event, History, Role, What, payouts};
use holdover::sim::id::{Amount, EntryId, EventId, NodeId, OpId};
use holdover::sim::protocol::{AnyProtocol, Naive};
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{ClockSpec, WorkerSpec, WorldSpec};

/// The operator's node, where there are two workers.
pub(crate) const OPERATOR: NodeId = NodeId(5);

/// Thousands of nights start from it, so it is read once.
static INCIDENT: LazyLock<Scenario> =
    LazyLock::new(|| Scenario::load("scenarios/incidents/clock-jump.toml").expect("it is one of ours"));

/// A night: a world with operators, what befalls it, and the protocol that its workers go by.
#[derive(Clone)]
pub(crate) struct Night {
    pub(crate) world: WorldSpec,
    pub(crate) plan: Vec<PlannedFault>,
    pub(crate) protocol: &'static dyn AnyProtocol,
}

impl Night {
    /// The incident, and an operator who begins when both workers have published what they made of it. Some payouts have
    /// settled by then, others are under way.
    pub(crate) fn incident() -> Night {
        let Scenario { mut world, plan, .. } = INCIDENT.clone();
        world.limits.end = TrueTime::START + Span::secs(900);
        world.operators = vec![operator("operator", 61_000)];
        Night { world, plan, protocol: &Naive }
    }

    /// The incident with a few operations more, and an operator who begins while both workers still work.
    pub(crate) fn midway() -> Night {
        let mut night = Night::incident();
        night.world.job.operations = 18;
        night.world.operators = vec![operator("operator", 58_350)];
        night
    }

    /// The same, and this too.
    pub(crate) fn and(mut self, fault: PlannedFault) -> Night {
        self.plan.push(fault);
        self
    }

    /// The same, with another operator that begins so many milliseconds after the start.
    pub(crate) fn another_operator(mut self, starts: i64) -> Night {
        self.world.operators.push(operator("operator-2", starts));
        self
    }

    pub(crate) fn run(&self, seed: u64) -> History {
        holdover::sim::run::run(&self.world, self.protocol, &self.plan, Seed(seed))
    }
}

/// An operator that begins so many milliseconds after the start.
pub(crate) fn operator(name: &str, starts: i64) -> WorkerSpec {
    WorkerSpec {
        name: name.to_owned(),
        starts: TrueTime::START + Span::millis(starts),
        clock: ClockSpec::default(),
    }
}

/// `inject` when the operator on `node` passes `point` for the n-th time.
pub(crate) fn at_point(node: NodeId, point: &str, nth: u32, inject: impl Into<Fault>) -> PlannedFault {
    let (point, after, delay) = (point.to_owned(), TrueTime::START, Span::ZERO);
    PlannedFault {
        when: Anchor::Point { point, node: Some(node), after, nth, delay },
        inject: inject.into(),
        note: None,
        name: None,
    }
}

/// A crash of the operator on `node`, which comes back after two seconds.
pub(crate) fn crash(node: NodeId) -> Crash {
    Crash { node, lasting: Some(Span::secs(2)) }
}

/// What is left in the end, whatever happened on the way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The entries of each operation that stand.
    pub(crate) ledger: BTreeMap<OpId, Vec<(EntryId, Amount)>>,
    /// How much each operation has moved at the provider, payout by payout.
    pub(crate) effects: BTreeMap<OpId, Vec<Amount>>,
}

pub(crate) fn outcome(history: &History) -> Outcome {
    let mut ledger: BTreeMap<OpId, Vec<(EntryId, Amount)>> = BTreeMap::new();
    for event in &history.events {
        match event.what {
            What::WriteAccepted { op, entry, amount, .. } => ledger.entry(op).or_default().push((entry, amount)),
            What::EntrySuperseded { op, entry, .. } | What::EntryDeleted { op, entry, .. } => {
                ledger.entry(op).or_default().retain(|(known, _)| *known != entry);
            }
            _ => {}
        }
    }
    let mut effects: BTreeMap<OpId, Vec<Amount>> = BTreeMap::new();
    for payout in payouts(history).iter().filter(|payout| payout.is_effect()) {
        effects.entry(payout.op).or_default().push(payout.amount);
    }
    Outcome { ledger, effects }
}

/// The rules that are broken or can't be told, and that a repair is to make good or to keep.
pub(crate) fn not_made_good(history: &History) -> Vec<(&'static str, Verdict)> {
    const MADE_GOOD: [&str; 6] =
        ["export-agreement", "effect-once", "nothing-lost", "audit-kept", "repair-idempotent", "progress"];
    let verdicts = judge(history).into_iter().map(|(checker, verdict)| (checker.name, verdict));
    verdicts
        .filter(|(rule, verdict)| MADE_GOOD.contains(rule) && !matches!(verdict, Verdict::Holds { .. }))
        .collect()
}

/// The passings of points by operators: which, and for the how-manieth time.
pub(crate) fn passings(history: &History) -> Vec<(&'static str, u32)> {
    let mut count: BTreeMap<&str, u32> = BTreeMap::new();
    let mut passings = Vec::new();
    for event in history.events.iter().filter(|event| history.is(event.node, Role::Operator)) {
        if let What::PointPassed(point) = event.what {
            let nth = count.entry(point.0).or_default();
            *nth += 1;
            passings.push((point.0, *nth));
        }
    }
    passings
}

/// The events of a kind, with their numbers.
pub(crate) fn events<'a>(history: &'a History, kind: &'a str) -> impl Iterator<Item = (EventId, &'a Event)> {
    history.numbered().filter(move |(_, event)| event.what.kind() == kind)
}
