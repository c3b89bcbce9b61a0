//! The planted bugs under messy plans: of each at most three faults are left.

use std::fmt::Write;

use holdover::explore::shrink::{BUDGET, shrink};
use holdover::explore::{Signature, Subject};
use holdover::scenario::Scenario;
use holdover::sim::fault::PauseClocks::{Frozen, Running};
use holdover::sim::fault::PlannedFault;
use holdover::sim::point::Point;
use holdover::sim::world::{LEASE_STORE, LEDGER, PROVIDER};

use crate::plan::{A, B, on, pause, restart};
use crate::protocol::Bug::{self, *};
use crate::protocol::Planted;
use crate::support::{NOISE, scenario, snapshot};

/// The plan that brings a bug about, in the middle of noise.
fn messy(plan: &[PlannedFault]) -> Scenario {
    let mut messy = scenario(NOISE);
    let noise = std::mem::take(&mut messy.plan);
    let half = noise.len() / 2;
    messy.plan = [&noise[..half], plan, &noise[half..]].concat();
    messy
}

fn a_paused_at(point: Point) -> Vec<PlannedFault> {
    on(A, point, -9_900, &[pause(A, 38_000, Running)])
}

fn a_wakes_up_while_b_rests() -> Vec<PlannedFault> {
    let b_rests = on(B, Point::TAKEOVER_DONE, 28_000, &[pause(B, 2_000, Running)]);
    [on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 38_500, Running)]), b_rests].concat()
}

fn a_finishes_while_b_is_about_to_fence() -> Vec<PlannedFault> {
    [
        on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 38_000, Frozen)]),
        on(B, Planted::FENCE_DUE, 28_000, &[pause(B, 2_000, Running)]),
    ]
    .concat()
}

/// Bugs, the plan that brings them about, and a rule that they break.
pub(crate) fn cases() -> Vec<(&'static [Bug], Vec<PlannedFault>, &'static str)> {
    let restarted = |point, node, millis| on(A, point, -9_900, &[restart(node, millis)]);
    let with_late_b =
        |plan: Vec<PlannedFault>| [plan, on(B, Point::TAKEOVER_BEGUN, 28_000, &[pause(B, 115, Running)])].concat();
    let with_lost_memory =
        |plan: Vec<PlannedFault>| [plan, on(B, Point::TAKEOVER_DONE, 28_000, &[restart(LEDGER, 100)])].concat();
    vec![
        (&[LedgerAdmitsAll], a_wakes_up_while_b_rests(), "single-writer"),
        (&[LedgerAdmitsAll], a_wakes_up_while_b_rests(), "stale-write"),
        (&[LedgerTurnsNewTokensAway], a_paused_at(Point::WRITE_CHECKED), "progress"),
        (&[LedgerChecksThenWrites], with_late_b(a_paused_at(Point::WRITE_CHECKED)), "stale-write"),
        (&[LedgerForgets], with_lost_memory(a_wakes_up_while_b_rests()), "single-writer"),
        (&[ReadsThenFences, GatewayWithoutKeys], a_finishes_while_b_is_about_to_fence(), "export-agreement"),
        (&[ReadsThenFences, LedgerEntersTwice], a_finishes_while_b_is_about_to_fence(), "nothing-lost"),
        (&[GatewayAdmitsAll, GatewayWithoutKeys], a_paused_at(Point::WRITE_DONE), "effect-once"),
        (&[GatewayWithoutKeys], restarted(Point::PAYOUT_DONE, LEDGER, 50), "effect-once"),
        (&[LedgerEntersTwice], restarted(Point::WRITE_DONE, PROVIDER, 100), "nothing-lost"),
        (&[SkipsOne], a_paused_at(Point::CHECKPOINT_MOVED), "effect-once"),
        (&[PagesOverlap], vec![], "export-agreement"),
        (&[IgnoresPublished, PagesOverlap], vec![], "export-agreement"),
        (&[CheckInverted], vec![], "progress"),
        (&[TtlInWrongUnit], vec![], "progress"),
        (
            &[StoreForgetsTokens],
            on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 38_500, Running), restart(LEASE_STORE, 100)]),
            "token-order",
        ),
    ]
}

#[test]
fn planted_bugs_shrink_to_a_few_faults() {
    let mut table = String::new();
    for (bugs, plan, rule) in cases() {
        let protocol = Planted { bugs };
        let messy = messy(&plan);
        let subject = Subject { world: &messy.world, protocol: &protocol, seed: messy.seed };
        let broken = subject.run(&messy.plan).failures().into_iter().map(|(signature, _)| signature);
        let signature: Signature = broken
            .into_iter()
            .find(|signature| signature.checker() == rule)
            .unwrap_or_else(|| panic!("{bugs:?} doesn't break {rule}"));
        let shrunk = shrink(&messy, &protocol, signature, BUDGET).expect("it breaks this");
        let (before, after) = (shrunk.account.before, shrunk.account.after);
        assert!(!shrunk.account.spent.used_up);
        assert!(after.faults <= 3, "{bugs:?}: {}", after.faults);
        let name = |node: holdover::sim::id::NodeId| match node.index() {
            0..3 => holdover::sim::world::SERVICE_NAMES[node.index()].to_owned(),
            index => shrunk.scenario.world.workers[index - 3].name.clone(),
        };
        let phrases = shrunk.scenario.plan.iter().map(|fault| format!("\n    {}", fault.inject.phrase(&name)));
        let phrases: String = phrases.collect();
        writeln!(
            table,
            "{bugs:?} {rule}: faults {} → {}, workers {} → {}, operations {} → {}, {} runs{phrases}",
            before.faults,
            after.faults,
            before.workers,
            after.workers,
            before.operations,
            after.operations,
            shrunk.account.spent.runs,
        )
        .expect("a String takes it");
    }
    snapshot!("planted", table);
}
