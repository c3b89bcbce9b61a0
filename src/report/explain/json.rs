//! The explanation for programs: one JSON document.
//!
//! Faults are indices into `plan`, from 0. Numbers are as [`Unit`] says: spans and times in nanoseconds, rates in parts per
//! billion.

use std::io::{self, Write};

use holdover_sim::check::Bite;
use holdover_sim::fault::PlannedFault;
use holdover_sim::id::EventId;
use holdover_sim::time::{TrueTime, WallTime};
use serde::Serialize;

use super::super::words;
use super::chain;
use super::edges::looked;
use crate::explore::explain::{Difference, Explained, Explanation, Outcome, Role, Turned};
use crate::explore::knobs::Unit;
use crate::explore::{Measures, Signature, Spent, failures, refused};
use crate::replay::{Blame, JudgedRun};

#[derive(Serialize)]
struct Document<'a> {
    holdover: &'static str,
    title: &'a str,
    file: &'a str,
    /// What repeats it.
    command: &'a str,
    seed: u64,
    start: WallTime,
    nodes: Vec<std::borrow::Cow<'a, str>>,
    plan: &'a [PlannedFault],
    explained: Vec<ExplainedDocument<'a>>,
    protocols: Vec<ProtocolDocument>,
}

#[derive(Serialize)]
struct ExplainedDocument<'a> {
    protocol: &'static str,
    violated: Vec<Violated>,
    assumptions: Option<&'static str>,
    broken_assumptions: Vec<&'static str>,
    measures: Measures,
    faults: Vec<FaultDocument>,
    pairs: Vec<PairDocument<'a>>,
    pairs_left_out: u64,
    sufficient: Vec<SufficientDocument<'a>>,
    numbers: Vec<NumberDocument<'a>>,
    chain: Vec<StepDocument<'a>>,
    chain_left_out: usize,
    missed: Option<TrueTime>,
    spent: Spent,
    /// Whether it was ended before all was looked at.
    stopped: bool,
}

#[derive(Serialize)]
struct Violated {
    #[serde(flatten)]
    signature: Signature,
    meaning: &'static str,
    times: usize,
}

#[derive(Serialize)]
struct FaultDocument {
    fault: usize,
    bite: Bite,
    difference: &'static str,
    /// What breaks with it and not without it.
    necessary_for: Vec<Signature>,
    /// What breaks without it and not with it.
    prevents: Vec<Signature>,
    followers: Vec<usize>,
    leaders: Vec<usize>,
    without: OutcomeDocument,
    alone: OutcomeDocument,
}

#[derive(Serialize)]
struct OutcomeDocument {
    violated: Vec<Violated>,
    measures: Measures,
}

#[derive(Serialize)]
struct PairDocument<'a> {
    faults: [usize; 2],
    gone_without_both: &'a [Signature],
}

#[derive(Serialize)]
struct SufficientDocument<'a> {
    #[serde(flatten)]
    signature: Signature,
    sets: &'a [Vec<usize>],
    up_to: Option<usize>,
    reduced: Option<&'a Vec<usize>>,
}

#[derive(Serialize)]
struct NumberDocument<'a> {
    fault: usize,
    name: String,
    unit: Unit,
    value: i64,
    low: i64,
    high: i64,
    looked: usize,
    flickers: bool,
    stretches: Vec<StretchDocument<'a>>,
}

#[derive(Serialize)]
struct StretchDocument<'a> {
    from: i64,
    to: i64,
    looked: usize,
    violated: &'a [Signature],
}

#[derive(Serialize)]
struct StepDocument<'a> {
    event: EventId,
    at: TrueTime,
    utc: String,
    node: &'a str,
    wall: WallTime,
    text: String,
    breaks: &'a [Signature],
}

#[derive(Serialize)]
struct ProtocolDocument {
    protocol: &'static str,
    violated: Vec<Violated>,
    refused: Option<RefusedDocument>,
    fingerprint: String,
}

#[derive(Serialize)]
struct RefusedDocument {
    event: EventId,
    at: TrueTime,
    text: String,
    /// The event by which the same was accepted under the first protocol that is explained.
    accepted_as: Option<EventId>,
}

/// Writes one JSON document on `explanation`, of the scenario in `file`; `command` is what repeats it.
///
/// # Errors
/// What `out` says.
pub fn write(explanation: &Explanation<'_>, file: &str, command: &str, out: &mut impl Write) -> io::Result<()> {
    let replay = &explanation.replay;
    let broken = explanation.asked().find(|(_, explained)| !explained.broken.is_empty()).map(|(run, _)| run);
    let document = Document {
        holdover: env!("CARGO_PKG_VERSION"),
        title: replay.premise.title,
        file,
        command,
        seed: replay.seed.0,
        start: replay.premise.start,
        nodes: replay.premise.nodes.clone(),
        plan: &replay.premise.plan,
        explained: explanation.asked().map(|(run, explained)| explained_document(run, explained)).collect(),
        protocols: replay.runs.iter().map(|run| protocol_document(broken, run)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn explained_document<'a>(run: &'a JudgedRun, explained: &'a Explained) -> ExplainedDocument<'a> {
    let whole = explained.whole();
    let pairs = explained.pairs.iter();
    ExplainedDocument {
        protocol: run.protocol.name(),
        violated: violated(&explained.broken),
        assumptions: run.blame().and_then(Blame::name),
        broken_assumptions: run.broken_assumptions.iter().map(|assumption| assumption.name).collect(),
        measures: explained.measures,
        faults: explained
            .faults
            .iter()
            .enumerate()
            .map(|(fault, role)| role_document(fault, role, &whole))
            .collect(),
        pairs: pairs.map(|pair| PairDocument { faults: pair.faults, gone_without_both: &pair.gone }).collect(),
        pairs_left_out: explained.pairs_left_out,
        sufficient: explained
            .broken
            .iter()
            .zip(&explained.sufficient)
            .map(|((signature, _), found)| SufficientDocument {
                signature: *signature,
                sets: &found.sets,
                up_to: found.up_to,
                reduced: found.reduced.as_ref(),
            })
            .collect(),
        numbers: explained.knobs.iter().map(number_document).collect(),
        chain: explained
            .chain
            .steps
            .iter()
            .map(|step| {
                let told = chain::told(&run.history, step);
                StepDocument {
                    event: step.event,
                    at: told.at,
                    utc: words::utc(&run.history, told.at),
                    node: words::name(&run.history, told.node),
                    wall: told.own,
                    text: told.text,
                    breaks: &step.breaks,
                }
            })
            .collect(),
        chain_left_out: explained.chain.left_out,
        missed: explained.chain.missed.map(|(at, _)| at),
        spent: explained.spent,
        stopped: explained.stopped,
    }
}

fn violated(broken: &[(Signature, usize)]) -> Vec<Violated> {
    let violated = broken.iter();
    violated
        .map(|(signature, times)| Violated { signature: *signature, meaning: signature.meaning(), times: *times })
        .collect()
}

fn role_document(fault: usize, role: &Role, whole: &Outcome) -> FaultDocument {
    let outcome =
        |outcome: &Outcome| OutcomeDocument { violated: violated(&outcome.broken), measures: outcome.measures };
    FaultDocument {
        fault,
        bite: role.bite,
        difference: match role.difference(whole) {
            Difference::Necessary => "necessary",
            Difference::NecessaryForSome => "necessary-for-some",
            Difference::Worse => "worse",
            Difference::Better => "better",
            Difference::Other => "other",
            Difference::None => "none",
        },
        necessary_for: role.gone(whole),
        prevents: role.instead(whole),
        followers: role.followers.clone(),
        leaders: role.leaders.clone(),
        without: outcome(&role.without),
        alone: outcome(&role.alone),
    }
}

fn number_document(turned: &Turned) -> NumberDocument<'_> {
    let stretches = turned.found.stretches.iter();
    NumberDocument {
        fault: turned.fault,
        name: turned.knob.name.to_string(),
        unit: turned.knob.unit,
        value: turned.knob.value,
        low: turned.search.low,
        high: turned.search.high,
        looked: looked(turned),
        flickers: turned.found.flickers,
        stretches: stretches
            .map(|one| StretchDocument { from: one.from, to: one.to, looked: one.looked, violated: &one.found })
            .collect(),
    }
}

fn protocol_document(broken: Option<&JudgedRun>, run: &JudgedRun) -> ProtocolDocument {
    let others = broken.filter(|broken| broken.protocol.name() != run.protocol.name());
    let refused = refused(others, run).map(|refused| RefusedDocument {
        event: refused.event,
        at: run.history.event(refused.event).at,
        text: chain::refusal(&run.history, refused.event),
        accepted_as: refused.accepted_as,
    });
    ProtocolDocument {
        protocol: run.protocol.name(),
        violated: violated(&failures(&run.verdicts)),
        refused,
        fingerprint: run.fingerprint.to_string(),
    }
}
