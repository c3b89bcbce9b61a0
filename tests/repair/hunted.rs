//! Repairs under drawn faults: whatever befalls workers, services, network and operators, no operation ends with any net
//! effect but one; and where the provider makes that impossible, nobody claims success.

use std::collections::BTreeSet;

use holdover::explore::generate::{Generator, Profile};
use holdover::sim::fault::{Fault, Pause, PauseClocks};
use holdover::sim::history::{Decision, Event, History, Role, What};
use holdover::sim::id::OpId;
use holdover::sim::limits::Ending;
use holdover::sim::point::REPAIR_POINTS;
use holdover::sim::protocol::{AnyProtocol, Fenced, Monotonic, Naive};
use holdover::sim::seed::Seed;
use holdover::sim::time::Span;
use holdover::sim::world::{Keys, PayoutSpec, ProviderSpec};

use crate::support::{Night, OPERATOR, at_point, crash, outcome};

/// Small draws that depend on a seed alone.
struct Dice(u64);

impl Dice {
    /// A number below `bound` (SplitMix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A night with all that a seed draws: provider, protocol, operators, faults on the incident and on the repair.
fn drawn(seed: u64) -> Night {
    let mut dice = Dice(seed);
    let mut night = if dice.below(2) == 0 { Night::incident() } else { Night::midway() };
    night.protocol = dice.pick::<&'static dyn AnyProtocol>(&[&Naive, &Monotonic, &Fenced]);
    night.world.provider = ProviderSpec {
        keys: dice.pick(&[None, Some(Keys::None), Some(Keys::Kept), Some(Keys::For(Span::secs(3)))]),
        checks_tokens: if night.protocol.name() == "fenced" { dice.pick(&[None, Some(false)]) } else { None },
        payouts: Some(PayoutSpec {
            fails_percent: dice.pick(&[0, 0, 20]),
            refunds_fail_percent: dice.pick(&[0, 0, 40]),
            answers: dice.below(8) > 0,
            ..PayoutSpec::default()
        }),
    };
    if dice.below(3) == 0 {
        night = night.another_operator(58_000 + dice.below(20_000) as i64);
    }
    // A plan on top of the incident's own, in every other night in its place.
    let profile = dice.pick(&[Profile::Realistic, Profile::Hostile]);
    let plan = Generator::new(&night.world, profile).plan(Seed(seed));
    if dice.below(2) == 0 {
        night.plan = plan;
    }
    for _ in 0..dice.below(4) {
        let point = dice.pick(REPAIR_POINTS).0.0;
        let nth = 1 + dice.below(8) as u32;
        let inject: Fault = match dice.below(2) {
            0 => crash(OPERATOR).into(),
            _ => Pause::of(OPERATOR, Span::millis(50 + dice.below(20_000) as i64), PauseClocks::Running).into(),
        };
        night.plan.push(at_point(OPERATOR, point, nth, inject));
    }
    night
}

/// What the operators say in the end.
struct Claim {
    /// They came to an end.
    ended: bool,
    /// The operations that they left to a person.
    unresolved: BTreeSet<OpId>,
    /// Of which operations something reached the provider after the last repair came to an end.
    later: BTreeSet<OpId>,
    /// The settlement is published, so each operation has to have its effect.
    published: bool,
}

fn claim(history: &History) -> Claim {
    let mut claim = Claim { ended: false, unresolved: BTreeSet::new(), later: BTreeSet::new(), published: false };
    for event in &history.events {
        match event.what {
            What::DispatchStopped { .. } => claim.ended = false,
            What::RepairEnded { .. } => {
                claim.ended = true;
                claim.later.clear();
            }
            What::OperationDecided { op, decision: Decision::GiveUp, .. } => drop(claim.unresolved.insert(op)),
            What::OperationDecided { op, .. } => drop(claim.unresolved.remove(&op)),
            What::PayoutMade { op, .. } => drop(claim.later.insert(op)),
            What::ExportPublished { .. } => claim.published = true,
            _ => {}
        }
    }
    claim
}

/// Whether the provider itself lost payouts that it had made, or had two halves that knew nothing of each other: then nobody
/// can learn of them.
fn provider_forgot(history: &History) -> bool {
    let provider = |event: &Event| history.is(event.node, Role::Provider);
    history.events.iter().any(|event| match event.what {
        What::WritesLost { .. } => provider(event),
        What::PayoutMade { .. } => history.by_deposed(event),
        _ => false,
    })
}

/// What is wrong with what became of a night, if anything is.
fn wrong(history: &History) -> Option<String> {
    if let Ending::Panicked { message, .. } = &history.ending {
        return Some(format!("panicked: {message}"));
    }
    let claim = claim(history);
    if !claim.ended {
        // Nobody claims anything.
        return None;
    }
    if provider_forgot(history) {
        return None;
    }
    let outcome = outcome(history);
    for op in (0..history.batch.len() as u32).map(OpId) {
        let effects = outcome.effects.get(&op).map_or(0, Vec::len);
        let is_excused = claim.unresolved.contains(&op) || claim.later.contains(&op);
        if !is_excused && (effects > 1 || effects == 0 && claim.published) {
            return Some(format!("{op} has {effects} effects"));
        }
    }
    None
}

#[test]
fn no_operation_has_any_net_effect_but_one_or_nobody_claims_success() {
    let (mut ended, mut damaged, mut unresolved) = (0, 0, 0);
    let mut found = Vec::new();
    for seed in 0..5_000 {
        let night = drawn(seed);
        let history = night.run(seed);
        let claim = claim(&history);
        ended += usize::from(claim.ended);
        unresolved += usize::from(!claim.unresolved.is_empty());
        damaged += usize::from(history.events.iter().any(|event| {
            matches!(
                event.what,
                What::PayoutVoided { .. } | What::RefundBegun { .. } | What::EntrySuperseded { .. }
            )
        }));
        if let Some(what) = wrong(&history) {
            found.push(format!("seed {seed}, {}: {what}", history.protocol));
        }
    }
    assert!(found.is_empty(), "{} nights:\n{}", found.len(), found[..found.len().min(20)].join("\n"));
    assert!(
        ended > 4_000 && damaged > 1_000 && unresolved > 100,
        "{ended} ended, {damaged} damaged, {unresolved} unresolved"
    );
}
