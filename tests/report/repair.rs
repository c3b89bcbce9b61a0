//! How a repair is told: the incident, and operators who come afterwards.

use holdover::explore::Budget;
use holdover::explore::explain::{BUDGET, Explanation};
use holdover::replay::Replay;
use holdover::report::text::Layout;
use holdover::report::{explain, json};
use holdover::scenario::Scenario;
use holdover::sim::fault::{Anchor, Crash, Fault, Loses, PlannedFault, Restart};
use holdover::sim::point::Point;
use holdover::sim::protocol::{self, AnyProtocol};
use holdover::sim::repair::find;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{ClockSpec, Keys, PROVIDER, PayoutSpec, ProviderSpec, WorkerSpec};

use crate::support::{USUAL, snapshot, told};

/// When worker-a and worker-b are in the middle of their damage.
const DURING: i64 = 58_300;
/// When both have exported, and no payout has settled.
const AFTER: i64 = 59_500;
/// When all payouts have settled.
const LATE: i64 = 65_000;

/// What the incident is repaired with.
struct Repaired {
    /// When operators begin, in milliseconds after the start.
    operators: &'static [(&'static str, i64)],
    keys: Keys,
    payouts: PayoutSpec,
    plan: Vec<PlannedFault>,
    procedure: &'static str,
}

fn usual() -> Repaired {
    Repaired {
        operators: &[("operator", DURING)],
        keys: Keys::None,
        payouts: PayoutSpec::default(),
        plan: Vec::new(),
        procedure: "reconcile",
    }
}

impl Repaired {
    fn scenario(self) -> Scenario {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/incidents/clock-jump.toml");
        let mut scenario = Scenario::load(path).expect("the incident is a scenario");
        let world = &mut scenario.world;
        world.provider =
            ProviderSpec { keys: Some(self.keys), payouts: Some(self.payouts), ..ProviderSpec::default() };
        let operators = self.operators.iter().map(|(name, starts)| WorkerSpec {
            name: (*name).to_owned(),
            starts: TrueTime::START + Span::millis(*starts),
            clock: ClockSpec::default(),
        });
        world.operators = operators.collect();
        world.repair.procedure = find(self.procedure).expect("a known procedure");
        world.limits.end = TrueTime::START + Span::secs(900);
        scenario.plan.extend(self.plan);
        scenario
    }

    /// The text report from where the operators begin to the verdicts.
    fn phase(self) -> String {
        self.phase_under(naive())
    }

    fn phase_under(self, protocol: &'static dyn AnyProtocol) -> String {
        let text = told(&self.scenario(), &[protocol], USUAL);
        let lines = text.lines().skip_while(|line| !line.contains("operator starts"));
        lines.take_while(|line| !line.starts_with("  seen")).map(|line| format!("{line}\n")).collect()
    }
}

fn naive() -> &'static dyn AnyProtocol {
    protocol::find("naive").expect("a known protocol")
}

/// A crash of the first operator when it passes `point` for the `nth` time, and a new beginning after `down`.
fn crash(point: Point, nth: u32, down: i64) -> PlannedFault {
    let node = holdover::sim::world::worker_node(2);
    let point = point.to_string();
    let when = Anchor::Point { point, node: Some(node), after: TrueTime::START, nth, delay: Span::ZERO };
    let inject = Fault::Crash(Crash { node, lasting: Some(Span::millis(down)) });
    PlannedFault { when, inject, note: None, name: None }
}

#[test]
fn the_incident_is_repaired() {
    snapshot!("repair", &told(&usual().scenario(), &[naive()], USUAL));
}

#[test]
fn a_narrow_and_a_wide_report_say_the_same() {
    let scenario = usual().scenario();
    let at = |width, verbose| told(&scenario, &[naive()], Layout { width, verbose });
    snapshot!("repair-60", &at(60, false));
    let section = |text: &str| {
        let from = text.find("  repair under").expect("there is a repair");
        let to = text.find("  verdicts").expect("there are verdicts");
        let mut words: Vec<String> = text[from..to].split_whitespace().map(str::to_owned).collect();
        // Totals and sums are beside each other, or below.
        words.sort();
        words
    };
    let whole = section(&at(1_000, false));
    for width in [60, 61, 72, 80, 99, 101, 140] {
        for verbose in [false, true] {
            assert_eq!(section(&at(width, verbose)), whole, "{width}");
        }
    }
}

#[test]
fn conflicting_exports_are_superseded() {
    snapshot!("repair-exports", &Repaired { operators: &[("operator", AFTER)], ..usual() }.phase());
}

#[test]
fn what_has_settled_is_refunded_and_what_failed_is_submitted_again() {
    let payouts = PayoutSpec { fails_percent: 25, refunds_fail_percent: 50, ..PayoutSpec::default() };
    snapshot!("repair-refunds", &Repaired { operators: &[("operator", LATE)], payouts, ..usual() }.phase());
}

#[test]
fn a_provider_that_answers_nothing_leaves_it_to_a_person() {
    let payouts = PayoutSpec { answers: false, ..PayoutSpec::default() };
    snapshot!("repair-unresolved", &Repaired { payouts, ..usual() }.phase());
}

#[test]
fn a_provider_that_keeps_keys_is_asked_by_them() {
    let payouts = PayoutSpec { answers: false, ..PayoutSpec::default() };
    snapshot!("repair-keys", &Repaired { payouts, keys: Keys::Kept, ..usual() }.phase());
}

#[test]
fn an_operator_crashes_and_another_takes_over() {
    let operators = &[("operator", DURING), ("second-operator", DURING + 2_000)];
    let plan = vec![crash(Point::REPAIR_DECIDED, 12, 800)];
    snapshot!("repair-turns", &Repaired { operators, plan, ..usual() }.phase());
}

#[test]
fn a_provider_is_down_for_a_while_and_what_is_asked_of_it_is_lost() {
    let when = Anchor::At(TrueTime::START + Span::millis(DURING + 1_050));
    let inject = Restart { node: PROVIDER, lasting: Span::secs(3), loses: Loses::Nothing }.into();
    let plan = vec![PlannedFault { when, inject, note: None, name: None }];
    snapshot!("repair-provider-down", &Repaired { plan, ..usual() }.phase());
}

#[test]
fn under_fenced_there_is_nothing_to_take_back() {
    let fenced = protocol::find("fenced").expect("a known protocol");
    snapshot!("repair-fenced", &Repaired { keys: Keys::Kept, ..usual() }.phase_under(fenced));
}

#[test]
fn a_trap_looks_clean_in_the_ledger_alone() {
    let trap = Repaired { operators: &[("operator", AFTER)], procedure: "delete-one-workers-records", ..usual() };
    snapshot!("repair-deleted", &trap.phase());
}

#[test]
fn programs_get_all_of_it() {
    let scenario = usual().scenario();
    let replay = Replay::new(&scenario, &[naive()], scenario.seed);
    let mut text = Vec::new();
    json::write(&replay, "small.toml", "holdover replay small.toml", &mut text).expect("a Vec takes any bytes");
    let document: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
    assert_eq!(document["nodes"][5], "operator");
    let repair = &document["runs"][0]["reconciliation"];
    // The operations that had a conflict, and one that had none.
    let told = serde_json::json!({
        "turns": repair["turns"],
        "operations": [repair["operations"][0], repair["operations"][10]],
        "exports": repair["exports"],
        "totals": repair["totals"],
        "sums": repair["sums"],
    });
    snapshot!("repair-json", &serde_json::to_string_pretty(&told).expect("it was JSON"));
}

#[test]
fn an_explanation_tells_what_operators_did() {
    let procedure = "delete-one-workers-records";
    let scenario = Repaired { procedure, operators: &[("operator", AFTER)], ..usual() }.scenario();
    let explanation = Explanation::new(&scenario, &[naive()], scenario.seed, Budget { runs: 4, ..BUDGET });
    let mut text = Vec::new();
    explain::text::write(&explanation, "small.toml", 100, &mut text).expect("a Vec takes any bytes");
    let text = String::from_utf8(text).expect("a report is text");
    assert!(text.contains("operator deleted entry 12 of operation 11"), "{text}");
}
