//! Why it came about: the story in steps, what each fault is to it, and where the edges are.

use holdover_sim::id::EventId;
use holdover_sim::time::TrueTime;
use serde::Serialize;

use super::tone;
use crate::explore::explain::Explained;
use crate::explore::{Budget, Signature, Sufficient};
use crate::replay::JudgedRun;
use crate::report::explain::edges::{edges, value};
use crate::report::explain::text::{LOOKED, anything, breaks_text, cut_short, enough};
use crate::report::explain::{chain, roles, which};
use crate::report::words;

#[derive(Default, Serialize)]
pub(super) struct ExplainedRecord {
    story: Vec<Step>,
    /// How many steps are left out.
    left_out: usize,
    /// What each fault is to it, by its place in the plan: sentences with their tone.
    roles: Vec<Vec<(String, &'static str)>>,
    /// Faults of which either is enough.
    pairs: Vec<String>,
    /// Which faults are enough.
    enough: Vec<String>,
    edges: Vec<Number>,
    /// Whether anything was run to learn it.
    ran: bool,
    /// What it took to learn this, or that it couldn't be learned.
    spent: String,
}

/// What is told in place of what was learned from runs.
const STORED: &str = "this is a stored history: what each fault is to it and where the edges of numbers are needs runs, so \
                      explain the scenario that it is of";

/// A step by which it comes about.
#[derive(Serialize)]
struct Step {
    /// None for what should have happened and didn't.
    event: Option<EventId>,
    at: TrueTime,
    utc: String,
    /// What the clock of whoever acts reads.
    own: Option<String>,
    text: String,
    is_fault: bool,
    breaks: Option<String>,
}

/// A number of a fault, and where it has edges.
#[derive(Serialize)]
struct Number {
    fault: usize,
    /// The number and how it stands.
    name: String,
    edges: Vec<String>,
}

/// What is told of why `run` came about, as far as `learned` with `budget`.
pub(super) fn explained(run: &JudgedRun, learned: &Explained, budget: Budget) -> ExplainedRecord {
    let whole = learned.whole();
    let others = run.history.plan.len() > 1;
    let told = |role| roles::sentences(role, &whole, others).into_iter().map(|(text, style)| (text, tone(style)));
    ExplainedRecord {
        story: story(run, learned),
        left_out: learned.chain.left_out,
        roles: learned.faults.iter().map(|role| told(role).collect()).collect(),
        pairs: learned
            .pairs
            .iter()
            .map(|pair| {
                let [one, other] = pair.faults;
                let rules = which(&pair.gone, &learned.signatures());
                format!("{} or {}: either is enough for {rules}", one + 1, other + 1)
            })
            .collect(),
        enough: sets(learned),
        edges: numbers(run, learned),
        ran: run.protocol.code().is_some(),
        spent: match run.protocol.code() {
            Some(_) => spent(learned, budget),
            None => STORED.to_owned(),
        },
    }
}

fn story(run: &JudgedRun, learned: &Explained) -> Vec<Step> {
    let history = &run.history;
    let mut story: Vec<Step> = learned
        .chain
        .steps
        .iter()
        .map(|step| {
            let told = chain::told(history, step);
            let own = (told.own != history.utc(told.at)).then(|| words::clock(history, told.own));
            Step {
                event: Some(step.event),
                at: told.at,
                utc: words::utc(history, told.at),
                own,
                text: told.text,
                is_fault: told.is_fault,
                breaks: (!step.breaks.is_empty()).then(|| breaks_text(&step.breaks)),
            }
        })
        .collect();
    if let Some((at, signature)) = learned.chain.missed {
        story.push(Step {
            event: None,
            at,
            utc: words::utc(history, at),
            own: None,
            text: "the settlement should have been published, and isn't".to_owned(),
            is_fault: false,
            breaks: Some(breaks_text(&[signature])),
        });
    }
    story
}

/// Which faults are enough, rules with the same sets together.
fn sets(learned: &Explained) -> Vec<String> {
    let all = learned.signatures();
    let mut groups: Vec<(&Sufficient, Vec<Signature>)> = Vec::new();
    for (signature, sufficient) in all.iter().zip(&learned.sufficient) {
        match groups.iter_mut().find(|(known, _)| *known == sufficient) {
            Some((_, signatures)) => signatures.push(*signature),
            None => groups.push((sufficient, vec![*signature])),
        }
    }
    let told = |(sufficient, signatures): (&Sufficient, Vec<Signature>)| {
        format!("{}: {}", which(&signatures, &all), enough(sufficient))
    };
    groups.into_iter().map(told).collect()
}

/// The numbers that have edges.
fn numbers(run: &JudgedRun, learned: &Explained) -> Vec<Number> {
    let all = if learned.broken.is_empty() { anything(learned) } else { learned.signatures() };
    let number = |turned| {
        let found = edges(&run.history, turned, &all);
        let told = found.iter().map(|edges| {
            let verb = if edges.signatures.len() == 1 { "breaks" } else { "break" };
            format!("{} {verb} {}", which(&edges.signatures, &all), edges.told)
        });
        let planned = value(&run.history, &turned.knob, turned.knob.value);
        found.iter().any(|edges| edges.has_edge).then(|| Number {
            fault: turned.fault,
            name: format!("{} = {planned}", turned.knob.name),
            edges: told.collect(),
        })
    };
    learned.knobs.iter().filter_map(number).collect()
}

fn spent(learned: &Explained, budget: Budget) -> String {
    let runs = words::many(learned.spent.runs as usize, "further run", "further runs");
    let spent = cut_short(learned, budget).unwrap_or_else(|| format!("learned from {runs}"));
    if learned.knobs.is_empty() { spent } else { format!("{spent}; {LOOKED}") }
}
