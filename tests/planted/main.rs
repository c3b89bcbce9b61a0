//! A planted bug for each checker: the one that is meant for it must catch it, and the same plan must find nothing
//! where the bug is taken away.
//!
//! Each case is a list of bugs, a plan, and exactly the rules that are broken, whatever the latencies. That one rule
//! is broken and not another one too says as much as that it is.

mod plan;
mod protocol;

use std::sync::LazyLock;

use holdover::explore::explain::Explanation;
use holdover::explore::{Budget, Signature};
use holdover::report::explain::text;
use holdover::scenario::Scenario;
use holdover::sim::check::{CHECKERS, Checker, Verdict, Witness, judge, judge_one, sightings};
use holdover::sim::fault::PauseClocks::{Frozen, Running};
use holdover::sim::fault::PlannedFault;
use holdover::sim::history::{History, What};
use holdover::sim::id::Token;
use holdover::sim::point::Point;
use holdover::sim::protocol::{AnyProtocol, Fenced};
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::world::{LEASE_STORE, LEDGER, PROVIDER, WorldSpec};

use plan::{A, B, on, pause, restart};
use protocol::Bug::{
    CheckInverted, GatewayAdmitsAll, GatewayWithoutKeys, IgnoresLostRenewals, IgnoresPublished, LedgerAdmitsAll,
    LedgerChecksThenWrites, LedgerEntersTwice, LedgerForgets, LedgerTurnsNewTokensAway, NeverChecks, NeverRenews,
    PagesOverlap, ReadsThenFences, SkipsOne, StoreForgetsTokens, TtlInWrongUnit,
};
use protocol::{Bug, Planted};

const INCIDENT: &str = include_str!("../../scenarios/incidents/clock-jump.toml");

const SINGLE_WRITER: &str = "single-writer";
const STALE_WRITE: &str = "stale-write";
const TOKEN_ORDER: &str = "token-order";
const EXPORT_AGREEMENT: &str = "export-agreement";
const EFFECT_ONCE: &str = "effect-once";
const NOTHING_LOST: &str = "nothing-lost";
const PROGRESS: &str = "progress";

/// How many seeds each case is run with.
const SEEDS: u64 = 20;

/// The incident's world, with what a test makes of it.
static WORLD: LazyLock<WorldSpec> = LazyLock::new(|| {
    Scenario::parse("clock-jump.toml", INCIDENT).expect("the incident's file is a scenario").world
});

fn run_incident(protocol: &dyn AnyProtocol, plan: &[PlannedFault], seed: u64) -> History {
    run(&WORLD, protocol, plan, Seed(seed))
}

/// The rules that `history` breaks. Unless it is that nothing gets done, none may be unknown: what can't be told can't
/// be caught.
fn broken(history: &History) -> Vec<&'static str> {
    let verdicts = judge(history);
    let named = |name: &'static str| {
        move |(checker, verdict): &(&'static Checker, Verdict)| (verdict.name() == name).then_some(checker.name)
    };
    let violated: Vec<_> = verdicts.iter().filter_map(named("violated")).collect();
    let unknown: Vec<_> = verdicts.iter().filter_map(named("unknown")).collect();
    assert!(unknown.is_empty() || violated.contains(&PROGRESS), "unknown: {unknown:?}");
    violated
}

/// Runs the fenced protocol with `bugs` under `plan`, and then without them.
#[track_caller]
fn check(bugs: &'static [Bug], plan: &[PlannedFault], expected: &[&str]) {
    for seed in 0..SEEDS {
        let history = run_incident(&Planted { bugs }, plan, seed);
        assert_eq!(broken(&history), expected, "{bugs:?} with seed {seed}");
        for control in [&Planted { bugs: &[] } as &dyn AnyProtocol, &Fenced] {
            let history = run_incident(control, plan, seed);
            assert_eq!(broken(&history), [""; 0], "{} without a bug, with seed {seed}", control.name());
        }
    }
    check_explained(bugs, plan, expected);
}

/// What an explanation of the bugs tells, whatever kind of witness there is: each rule that is broken is broken by one of
/// its steps, or by the settlement's being late.
fn check_explained(bugs: &'static [Bug], plan: &[PlannedFault], expected: &[&str]) {
    let mut scenario = Scenario::parse("clock-jump.toml", INCIDENT).expect("the incident's file is a scenario");
    scenario.plan = plan.to_vec();
    let protocol: &'static dyn AnyProtocol = Box::leak(Box::new(Planted { bugs }));
    let budget = Budget { runs: 20, events: u64::MAX };
    let explanation = Explanation::new(&scenario, &[protocol], Seed(0), budget);
    let chain = &explanation.explained[0].chain;
    let broken = chain.steps.iter().flat_map(|step| &step.breaks).chain(chain.missed.iter().map(|(_, late)| late));
    let mut broken: Vec<Signature> = broken.copied().collect();
    broken.sort_unstable();
    assert_eq!(broken.iter().map(|signature| signature.checker()).collect::<Vec<_>>(), expected, "{bugs:?}");
    text::write(&explanation, "planted.toml", 100, &mut Vec::new()).expect("a Vec takes any bytes");
}

/// What is wrong in `bugs` doesn't break any rule under `plan`: something else stands in for it.
#[track_caller]
fn check_harmless(bugs: &'static [Bug], plan: &[PlannedFault]) {
    check(bugs, plan, &[]);
}

/// A, in the middle of the eleventh operation, is paused at `point` until B has worked for a while. Its clocks go on.
fn a_paused_at(point: Point) -> Vec<PlannedFault> {
    on(A, point, -9_900, &[pause(A, 38_000, Running)])
}

/// A wakes up with a write that it had checked, when B has fenced the ledger and is paused before it goes on; on the
/// way, `more` happens.
fn a_wakes_up_while_b_rests(more: &[holdover::sim::fault::Fault]) -> Vec<PlannedFault> {
    let b_rests = on(B, Point::TAKEOVER_DONE, 28_000, &[pause(B, 2_000, Running)]);
    [
        on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 38_500, Running)]),
        b_rests,
        on(B, Point::TAKEOVER_DONE, 28_000, more),
    ]
    .concat()
}

/// A freezes, and finishes the settlement by its late clocks, while B is about to fence the ledger.
fn a_finishes_while_b_is_about_to_fence() -> Vec<PlannedFault> {
    [
        on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 38_000, Frozen)]),
        on(B, Planted::FENCE_DUE, 28_000, &[pause(B, 2_000, Running)]),
    ]
    .concat()
}

#[test]
fn a_token_check_that_lets_everybody_in() {
    let plan = a_wakes_up_while_b_rests(&[]);
    check(&[LedgerAdmitsAll], &plan, &[SINGLE_WRITER, STALE_WRITE]);
    // One entry for each operation hides that the door is open, if the operation is the one that B has entered.
    check_harmless(&[LedgerAdmitsAll], &a_paused_at(Point::WRITE_CHECKED));
}

#[test]
fn a_token_check_the_wrong_way_round() {
    check(&[LedgerTurnsNewTokensAway], &a_paused_at(Point::WRITE_CHECKED), &[PROGRESS]);
}

#[test]
fn a_token_check_that_is_not_one_step_with_the_write() {
    // B was held up a little, so that A's write passes the ledger's door before B fences it, and is made after.
    let b_is_late = on(B, Point::TAKEOVER_BEGUN, 28_000, &[pause(B, 51, Running)]);
    let plan = [a_paused_at(Point::WRITE_CHECKED), b_is_late].concat();
    check(&[LedgerChecksThenWrites], &plan, &[SINGLE_WRITER, STALE_WRITE]);
    // When nobody takes over in between, nothing comes in between.
    check_harmless(&[LedgerChecksThenWrites], &[]);
}

#[test]
fn a_highest_token_that_does_not_survive_a_restart() {
    let plan = a_wakes_up_while_b_rests(&[restart(LEDGER, 100)]);
    check(&[LedgerForgets], &plan, &[SINGLE_WRITER, STALE_WRITE]);
    // Without the restart it is remembered.
    check_harmless(&[LedgerForgets], &a_wakes_up_while_b_rests(&[]));
}

#[test]
fn a_checkpoint_that_is_read_before_the_fence() {
    let plan = a_finishes_while_b_is_about_to_fence();
    // Idempotency hides it: all that B repeats was there already.
    check_harmless(&[ReadsThenFences], &plan);
    check(&[ReadsThenFences, GatewayWithoutKeys], &plan, &[EXPORT_AGREEMENT, EFFECT_ONCE]);
    check(&[ReadsThenFences, LedgerEntersTwice], &plan, &[EXPORT_AGREEMENT, NOTHING_LOST]);
    // It is the order that matters: after a fence nothing more is needed.
    check_harmless(&[GatewayWithoutKeys, LedgerEntersTwice], &plan);
}

#[test]
fn a_gateway_that_checks_nothing() {
    let plan = a_paused_at(Point::WRITE_DONE);
    check(&[GatewayAdmitsAll, GatewayWithoutKeys], &plan, &[EFFECT_ONCE]);
    // Either would do here.
    check_harmless(&[GatewayAdmitsAll], &plan);
    check_harmless(&[GatewayWithoutKeys], &plan);
}

#[test]
fn a_gateway_that_checks_tokens_but_knows_no_keys() {
    // B repeats what A paid and didn't get behind the checkpoint: a higher token is no reason not to.
    check(&[GatewayWithoutKeys], &a_paused_at(Point::PAYOUT_DONE), &[EFFECT_ONCE]);
    // One worker's own repetition is enough.
    let restarted = on(A, Point::PAYOUT_DONE, -9_900, &[restart(LEDGER, 50)]);
    check(&[GatewayWithoutKeys], &restarted, &[EFFECT_ONCE]);
    check_harmless(&[GatewayAdmitsAll], &restarted);
}

#[test]
fn a_ledger_that_enters_whatever_it_is_asked_to() {
    check(&[LedgerEntersTwice], &a_paused_at(Point::WRITE_DONE), &[NOTHING_LOST]);
    // The payout breaks off, and all of the operation is done again.
    let restarted = on(A, Point::WRITE_DONE, -9_900, &[restart(PROVIDER, 100)]);
    check(&[LedgerEntersTwice], &restarted, &[NOTHING_LOST]);
}

#[test]
fn a_take_over_that_skips_an_operation() {
    check(&[SkipsOne], &a_paused_at(Point::CHECKPOINT_MOVED), &[EFFECT_ONCE, NOTHING_LOST]);
    check_harmless(&[SkipsOne], &[]);
}

#[test]
fn an_export_of_other_rows() {
    check(&[PagesOverlap], &[], &[EXPORT_AGREEMENT]);
    // To publish the same once more is no disagreement.
    check_harmless(&[IgnoresPublished], &[]);
}

#[test]
fn a_protocol_that_gets_nothing_done() {
    check(&[CheckInverted], &[], &[PROGRESS]);
    check(&[TtlInWrongUnit], &[], &[PROGRESS]);
}

#[test]
fn a_fence_makes_up_for_workers_that_are_wrong_about_their_lease() {
    for plan in [
        a_paused_at(Point::WRITE_CHECKED),
        a_wakes_up_while_b_rests(&[]),
        a_finishes_while_b_is_about_to_fence(),
        on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 37_950, Running)]),
    ] {
        check_harmless(&[NeverChecks], &plan);
        check_harmless(&[IgnoresLostRenewals], &plan);
        check_harmless(&[NeverRenews], &plan);
    }
}

#[test]
fn a_count_of_tokens_that_does_not_survive_a_restart() {
    // B gets the token that A has, and the fence lets both in.
    let plan = on(A, Point::WRITE_CHECKED, -9_900, &[pause(A, 38_500, Running), restart(LEASE_STORE, 100)]);
    check(&[StoreForgetsTokens], &plan, &[SINGLE_WRITER, STALE_WRITE, TOKEN_ORDER]);
    // Without the restart it goes on counting.
    check_harmless(&[StoreForgetsTokens], &a_paused_at(Point::WRITE_CHECKED));
}

/// Which orders of tokens are wrong, on a real history whose tokens are changed after the fact.
#[test]
fn tokens_that_do_not_rise() {
    #[track_caller]
    fn check(tokens: [u64; 3], expected: &[&str], repeats: usize) {
        let plan = a_paused_at(Point::WRITE_CHECKED);
        let mut history = run_incident(&Fenced, &plan, 7);
        assert_eq!(broken(&history), [""; 0]);
        let mut grants = Vec::new();
        let mut tokens = tokens.into_iter();
        for (id, event) in history.events.iter_mut().enumerate() {
            if let What::LeaseGranted { token, .. } = &mut event.what {
                *token = tokens.next().map(Token);
                grants.push(id);
            }
        }
        assert_eq!(grants.len(), 3, "A, B, and A once more");
        assert_eq!(broken(&history), expected);
        let token_order = CHECKERS.iter().find(|checker| checker.name == TOKEN_ORDER).expect("in the registry");
        match judge_one(token_order, &history) {
            Verdict::Violated { times, witness: Witness::TokenNotHigher { earlier, later } } => {
                assert_eq!(times, repeats);
                assert!(grants.contains(&earlier.index()) && grants.contains(&later.index()) && earlier < later);
            }
            other => assert_eq!((other, repeats), (Verdict::Holds { judged: 3 }, 0)),
        }
    }
    check([1, 2, 3], &[], 0);
    check([1, 5, 9], &[], 0);
    check([1, 1, 2], &[TOKEN_ORDER], 1);
    check([1, 2, 1], &[TOKEN_ORDER], 1);
    check([2, 1, 3], &[TOKEN_ORDER], 1);
    check([2, 2, 2], &[TOKEN_ORDER], 2);
}

/// The control of the controls: without any bug these plans do bring about what the bugs are about.
#[test]
fn the_plans_bite() {
    #[track_caller]
    fn check(plan: &[PlannedFault], seen: &str) {
        for seed in 0..SEEDS {
            let history = run_incident(&Planted { bugs: &[] }, plan, seed);
            let count = sightings(&history).into_iter().find(|(sighting, _)| sighting.name == seen);
            assert!(count.is_some_and(|(_, count)| count > 0), "{seen} with seed {seed}");
        }
    }
    check(&a_paused_at(Point::WRITE_CHECKED), "stale-write-rejected");
    check(&a_paused_at(Point::WRITE_DONE), "pause-over-lease");
    check(&a_paused_at(Point::PAYOUT_DONE), "duplicate-payout-tried");
    check(&a_paused_at(Point::CHECKPOINT_MOVED), "pause-over-lease");
    check(&a_wakes_up_while_b_rests(&[]), "stale-write-rejected");
    check(&a_wakes_up_while_b_rests(&[restart(LEDGER, 100)]), "stale-write-rejected");
    check(&a_finishes_while_b_is_about_to_fence(), "pause-over-lease");
}

/// Rules whose bugs are in tests/repair/planted.rs and tests/consensus/planted.rs.
const ELSEWHERE: [&str; 3] = ["audit-kept", "repair-idempotent", "linearizable"];

/// Whoever adds a checker shows here that it catches something.
#[test]
fn every_checker_has_its_bug() {
    let names = CHECKERS.iter().map(|checker| checker.name);
    let names: Vec<_> = names.filter(|name| !ELSEWHERE.contains(name)).collect();
    let planted = [SINGLE_WRITER, STALE_WRITE, TOKEN_ORDER, EXPORT_AGREEMENT, EFFECT_ONCE, NOTHING_LOST, PROGRESS];
    assert_eq!(names, planted);
}
