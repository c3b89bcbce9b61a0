//! The explanation for a terminal.

use std::io::{self, Write};

use anstyle::Style;
use holdover_sim::check::Verdict;
use holdover_sim::limits::Ending;

use super::super::layout::{columns, cut, harmless, paragraph};
use super::super::style::{BAD, BOLD, DIM, FAULT, GOOD, PLAIN};
use super::super::summary::blame;
use super::super::text::MIN_WIDTH;
use super::super::{closing, words};
use super::edges::{Edges, edges, value};
use super::{chain, listed, numbered, roles, rules, which};
use crate::explore::explain::{Difference, Explained, Explanation, Role, Turned};
use crate::explore::{Budget, Signature, Spent, Sufficient, failures, refused};
use crate::replay::JudgedRun;

/// How numbers were turned, and what a number in brackets behind a range is.
pub(in crate::report) const LOOKED: &str = "each number is turned alone, over the length of the run; in brackets is how many \
                                            values of a range were run, its ends among them; what lies between those wasn't";

/// Writes `explanation` with colours, `width` columns wide; who can't show colours strips them. `file` is where the scenario
/// was read.
///
/// # Errors
/// What `out` says.
pub fn write(explanation: &Explanation<'_>, file: &str, width: usize, out: &mut impl Write) -> io::Result<()> {
    let width = width.max(MIN_WIDTH);
    let replay = &explanation.replay;
    paragraph(out, "", 0, &harmless(replay.premise.title), BOLD, width)?;
    let protocols: Vec<&str> = explanation.asked().map(|(run, _)| run.protocol.name()).collect();
    let origin = format!("{} · seed {} · {}", harmless(file), replay.seed.0, protocols.join(", "));
    paragraph(out, "", 0, &origin, DIM, width)?;
    for (run, explained) in explanation.asked() {
        writeln!(out)?;
        Section { run, explained, budget: explanation.budget, width }.write(out)?;
    }
    write_elsewhere(explanation, width, out)
}

/// Of more faults that make no difference only the numbers are told.
const IDLE_SHOWN: usize = 6;

/// The columns of a time of day.
const TIME: usize = 12;

/// What is told under one protocol.
struct Section<'a> {
    run: &'a JudgedRun,
    explained: &'a Explained,
    budget: Budget,
    width: usize,
}

impl Section<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{BOLD}▌ {}{BOLD:#}", self.run.protocol.name())?;
        let used = 2 + columns(self.run.protocol.name());
        paragraph(out, "  ", 2, self.run.protocol.summary(), DIM, self.width.saturating_sub(used).max(1))?;
        self.write_broken(out)?;
        if !self.explained.broken.is_empty() {
            self.write_faults(out)?;
            self.write_sufficient(out)?;
            self.write_chain(out)?;
        }
        self.write_edges(out)?;
        self.write_spent(out)
    }

    fn head(&self, text: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(out)?;
        writeln!(out, "  {BOLD}{text}{BOLD:#}")
    }

    fn write_broken(&self, out: &mut impl Write) -> io::Result<()> {
        let broken = &self.explained.broken;
        let hang = 4 + broken.iter().map(|(signature, _)| columns(signature.checker())).max().unwrap_or(0);
        for (signature, times) in broken {
            let text = format!("{}, {}×", signature.meaning(), words::grouped(*times as u64));
            let name = format!("  {:<1$}", signature.checker(), hang - 2);
            paragraph(out, &name, hang, &text, BAD, self.width)?;
        }
        let unknown = self.run.verdicts.iter().filter_map(|(checker, verdict)| match verdict {
            Verdict::Unknown { reason } => Some(format!("can't tell {}: {}", checker.name, harmless(reason))),
            _ => None,
        });
        for text in unknown {
            paragraph(out, "  ", 4, &text, FAULT, self.width)?;
        }
        if let Ending::Panicked { message, .. } = &self.run.history.ending {
            paragraph(out, "  ", 4, &format!("PANICKED: {}", harmless(message)), BAD, self.width)?;
        }
        if let Ending::Bug(panic) = &self.run.history.ending {
            let text =
                format!("holdover itself panicked: this is a bug in holdover: {}", harmless(&panic.to_string()));
            paragraph(out, "  ", 4, &text, BAD, self.width)?;
        }
        if !self.run.repeats {
            let why = self.run.why_unrepeated();
            let text = format!("a second run with the same seed gave another history: {why}");
            paragraph(out, "  ", 4, &text, BAD, self.width)?;
        }
        if let Some((text, style)) = blame(self.run) {
            paragraph(out, "  ", 4, &text, style, self.width)?;
        }
        if broken.is_empty() {
            paragraph(out, "  ", 4, "violates nothing, so there is nothing to explain", GOOD, self.width)?;
        }
        Ok(())
    }

    fn write_chain(&self, out: &mut impl Write) -> io::Result<()> {
        self.head("how it comes about", out)?;
        let history = &self.run.history;
        let steps: Vec<(chain::Told, &[Signature])> = self
            .explained
            .chain
            .steps
            .iter()
            .map(|step| (chain::told(history, step), step.breaks.as_slice()))
            .collect();
        let own_width = columns("its own clock");
        let (true_width, hang) = (TIME, 2 + TIME + 2 + own_width + 2);
        writeln!(out, "  {DIM}{:<true_width$}  its own clock{DIM:#}", "UTC")?;
        let mut day = words::day(history.start);
        for (told, breaks) in &steps {
            let now = history.utc(told.at);
            if day != words::day(now) {
                day = words::day(now);
                writeln!(out, "  {DIM}── {} ──{DIM:#}", words::date(now))?;
            }
            let (at, own) = (words::time_of_day(now), words::time_of_day(told.own));
            let style = if told.is_fault { FAULT } else { PLAIN };
            let head = format!("  {at:<true_width$}  {own:<own_width$}  ");
            paragraph(out, &head, hang, &told.text, style, self.width)?;
            if !breaks.is_empty() {
                let text = format!("✗ {}", breaks_text(breaks));
                paragraph(out, &" ".repeat(hang), hang + 2, &text, BAD, self.width)?;
            }
        }
        if self.explained.chain.left_out > 0 {
            let others = words::many(self.explained.chain.left_out, "step is", "steps are");
            paragraph(out, "  ", 4, &format!("{others} left out"), DIM, self.width)?;
        }
        if let Some((at, signature)) = self.explained.chain.missed {
            let at = words::utc(history, at);
            let head = format!("  {at:<true_width$}  {:<own_width$}  ", "");
            paragraph(
                out,
                &head,
                hang,
                "the settlement should have been published, and isn't",
                PLAIN,
                self.width,
            )?;
            let text = format!("✗ {}", breaks_text(&[signature]));
            paragraph(out, &" ".repeat(hang), hang + 2, &text, BAD, self.width)?;
        }
        Ok(())
    }

    fn write_faults(&self, out: &mut impl Write) -> io::Result<()> {
        let plan = &self.run.history.plan;
        if plan.is_empty() {
            return Ok(());
        }
        self.head("what each fault is to it", out)?;
        let whole = self.explained.whole();
        let digits = plan.len().to_string().len();
        let hang = 2 + digits + 2;
        let idle = |role: &Role| role.difference(&whole) == Difference::None;
        let all_idle: Vec<usize> = self
            .explained
            .faults
            .iter()
            .enumerate()
            .filter(|(_, role)| idle(role))
            .map(|(index, _)| index)
            .collect();
        let together = all_idle.len() > IDLE_SHOWN;
        for (index, (planned, role)) in plan.iter().zip(&self.explained.faults).enumerate() {
            if together && idle(role) {
                continue;
            }
            let called = planned.name.as_ref().map_or(String::new(), |name| format!(", called {name}"));
            let text = format!("{}{called}", closing::planned_fault(&self.run.history, planned));
            let head = format!("  {:>digits$}  ", index + 1);
            paragraph(out, &head, hang + 2, &text, PLAIN, self.width)?;
            for (text, style) in roles::sentences(role, &whole, plan.len() > 1) {
                paragraph(out, &" ".repeat(hang), hang + 2, &text, style, self.width)?;
            }
        }
        if together {
            let text = format!("{} make no difference", numbered(&all_idle));
            paragraph(out, "  ", 4, &text, DIM, self.width)?;
        }
        for pair in &self.explained.pairs {
            let [one, other] = pair.faults;
            let text = format!(
                "{} or {}: either is enough for {}; only without both {} not broken",
                one + 1,
                other + 1,
                rules(&pair.gone),
                if pair.gone.len() == 1 { "it is" } else { "they are" }
            );
            paragraph(out, "  ", 4, &text, PLAIN, self.width)?;
        }
        if self.explained.pairs_left_out > 0 {
            let pairs = words::many(self.explained.pairs_left_out as usize, "pair", "pairs");
            paragraph(out, "  ", 4, &format!("{pairs} of faults more weren't taken away"), DIM, self.width)?;
        }
        Ok(())
    }

    fn write_sufficient(&self, out: &mut impl Write) -> io::Result<()> {
        let all = self.explained.signatures();
        let is_known = |sufficient: &Sufficient| self.run.history.plan.len() == 1 && sufficient.sets == [vec![0]];
        if self.explained.sufficient.iter().all(is_known) {
            return Ok(());
        }
        let mut groups: Vec<(&Sufficient, Vec<Signature>)> = Vec::new();
        for (signature, sufficient) in all.iter().zip(&self.explained.sufficient) {
            match groups.iter_mut().find(|(known, _)| *known == sufficient) {
                Some((_, signatures)) => signatures.push(*signature),
                None => groups.push((sufficient, vec![*signature])),
            }
        }
        self.head("which faults are enough", out)?;
        for (sufficient, signatures) in groups {
            let text = format!("{}: {}", which(&signatures, &all), enough(sufficient));
            paragraph(out, "  ", 4, &text, PLAIN, self.width)?;
        }
        Ok(())
    }

    fn write_edges(&self, out: &mut impl Write) -> io::Result<()> {
        if self.explained.knobs.is_empty() {
            return Ok(());
        }
        let history = &self.run.history;
        let mut all = self.explained.signatures();
        let holds = all.is_empty();
        self.head(if holds { "how far it is to the edge" } else { "where the edges are" }, out)?;
        if holds {
            all = anything(self.explained);
        }
        let mut fault = None;
        let mut without: Vec<(usize, Vec<String>)> = Vec::new();
        for turned in &self.explained.knobs {
            let edges = edges(history, turned, &all);
            if !edges.iter().any(|edges| edges.has_edge) {
                let name = turned.knob.name.to_string();
                match without.last_mut().filter(|(fault, _)| *fault == turned.fault) {
                    Some((_, names)) => names.push(name),
                    None => without.push((turned.fault, vec![name])),
                }
                continue;
            }
            if fault.replace(turned.fault) != Some(turned.fault) {
                let planned = &history.plan[turned.fault];
                let text = words::fault(history, &planned.inject);
                paragraph(out, &format!("  {}  ", turned.fault + 1), 7, &text, DIM, self.width)?;
            }
            self.write_edges_of(turned, &edges, &all, out)?;
        }
        if !without.is_empty() {
            let same = match (holds, fault) {
                (true, None) => "nothing breaks at any value",
                (true, Some(_)) => "nothing breaks otherwise at any value",
                (false, _) => "the same breaks at every value",
            };
            let text = format!("{same} that was looked at: {}", together(&without));
            paragraph(out, "  ", 4, &text, PLAIN, self.width)?;
        }
        paragraph(out, "  ", 4, LOOKED, DIM, self.width)
    }

    fn write_edges_of(
        &self,
        turned: &Turned,
        edges: &[Edges],
        all: &[Signature],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let planned = value(&self.run.history, &turned.knob, turned.knob.value);
        let head = format!("     {BOLD}{} = {planned}{BOLD:#}", turned.knob.name);
        writeln!(out, "{head}")?;
        for edges in edges {
            let verb = if edges.signatures.len() == 1 { "breaks" } else { "break" };
            let text = format!("{} {verb} {}", which(&edges.signatures, all), edges.told);
            paragraph(out, "       ", 9, &text, PLAIN, self.width)?;
        }
        Ok(())
    }

    fn write_spent(&self, out: &mut impl Write) -> io::Result<()> {
        let spent = self.explained.spent;
        if spent == Spent::default() && !self.explained.stopped {
            return Ok(());
        }
        writeln!(out)?;
        let runs = words::many(spent.runs as usize, "further run", "further runs");
        if spent.panicked > 0 {
            let panicked = words::many(spent.panicked as usize, "run", "runs");
            let text = format!("code panicked in {panicked}, which count as if nothing had been broken in them");
            paragraph(out, "  ", 4, &text, FAULT, self.width)?;
        }
        if let Some(text) = cut_short(self.explained, self.budget) {
            return paragraph(out, "  ", 4, &text, FAULT, self.width);
        }
        paragraph(out, "  ", 4, &format!("learned from {runs}"), DIM, self.width)
    }
}

/// Why not all was looked at; `None` if it was.
pub(in crate::report) fn cut_short(explained: &Explained, budget: Budget) -> Option<String> {
    let spent = explained.spent;
    let runs = words::many(spent.runs as usize, "further run", "further runs");
    let why = match (explained.stopped, spent.used_up) {
        (true, _) => "it was ended".to_owned(),
        (false, true) => format!(
            "the bound of {} runs and {} events was hit",
            words::grouped(budget.runs),
            words::grouped(budget.events)
        ),
        (false, false) => return None,
    };
    Some(format!("{why} after {runs}: what isn't told wasn't looked at"))
}

/// All that broke at any value of any number.
pub(in crate::report) fn anything(explained: &Explained) -> Vec<Signature> {
    let stretches = explained.knobs.iter().flat_map(|turned| &turned.found.stretches);
    let mut all: Vec<Signature> = stretches.flat_map(|stretch| stretch.found.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Names of numbers with the faults whose they are, those of several faults together.
fn together(names: &[(usize, Vec<String>)]) -> String {
    let mut groups: Vec<(&[String], Vec<usize>)> = Vec::new();
    for (fault, names) in names {
        match groups.iter_mut().find(|(known, _)| known == names) {
            Some((_, faults)) => faults.push(*fault),
            None => groups.push((names, vec![*fault])),
        }
    }
    let told = groups.iter().map(|(names, faults)| format!("{} of {}", listed(names), numbered(faults)));
    told.collect::<Vec<_>>().join("; ")
}

/// What breaks now, with its way if that isn't plain.
pub(in crate::report) fn breaks_text(signatures: &[Signature]) -> String {
    let verb = if signatures.len() == 1 { "is" } else { "are" };
    format!("{} {verb} broken", rules(signatures))
}

/// Which faults are enough, as what stands behind a colon.
pub(in crate::report) fn enough(sufficient: &Sufficient) -> String {
    let together = |one: &Vec<usize>| match one.len() {
        0 => "no fault is needed".to_owned(),
        1 => format!("{} alone", numbered(one)),
        _ => format!("{} together", numbered(one)),
    };
    let mut text = match (&sufficient.sets[..], &sufficient.reduced) {
        ([], Some(reduced)) => format!("{}, of which none can be spared", together(reduced)),
        ([], None) => "none found".to_owned(),
        (sets, _) => sets.iter().map(together).collect::<Vec<_>>().join(", or "),
    };
    if let Some(most) = sufficient.up_to {
        let sets = words::many(most, "fault", "faults");
        text += &format!(" (sets of more than {sets} weren't looked at)");
    }
    text
}

/// Writes what the same faults come to under every protocol.
fn write_elsewhere(explanation: &Explanation<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "{BOLD}▌ the same faults under every protocol{BOLD:#}")?;
    let widest = closing::widest_name(&explanation.replay);
    for elsewhere in elsewhere(explanation) {
        let name = cut(elsewhere.protocol, widest);
        let head = format!("  {name:<widest$}  ");
        let hang = widest + 4;
        paragraph(out, &head, hang, &elsewhere.text, elsewhere.style, width)?;
        if let Some(refused) = elsewhere.refused {
            paragraph(out, &" ".repeat(hang), hang, &refused, DIM, width)?;
        }
    }
    Ok(())
}

/// What the same faults come to under one protocol.
pub(in crate::report) struct Elsewhere {
    pub(in crate::report) protocol: &'static str,
    /// What it violates.
    pub(in crate::report) text: String,
    style: Style,
    /// What it turned away that another protocol took.
    pub(in crate::report) refused: Option<String>,
}

/// What the same faults come to under every protocol.
pub(in crate::report) fn elsewhere(explanation: &Explanation<'_>) -> Vec<Elsewhere> {
    let broken = explanation.asked().find(|(_, explained)| !explained.broken.is_empty()).map(|(run, _)| run);
    let under = |run: &JudgedRun| {
        let failures: Vec<Signature> =
            failures(&run.verdicts).into_iter().map(|(signature, _)| signature).collect();
        let unknown = run.verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Unknown { .. }));
        let (text, style) = match (&failures[..], unknown) {
            ([], false) => (format!("holds all {} rules", run.verdicts.len()), GOOD),
            ([], true) => ("violates nothing, but not all can be told".to_owned(), FAULT),
            (failures, _) => (format!("violates {}", rules(failures)), BAD),
        };
        Elsewhere { protocol: run.protocol.name(), text, style, refused: refused_text(broken, run) }
    };
    explanation.replay.runs.iter().map(under).collect()
}

/// What `run` turned away that `broken` took, or that it turned away at all.
fn refused_text(broken: Option<&JudgedRun>, run: &JudgedRun) -> Option<String> {
    let others = broken.filter(|broken| broken.protocol.name() != run.protocol.name());
    let refused = refused(others, run)?;
    let at = words::utc(&run.history, run.history.event(refused.event).at);
    let why = chain::refusal(&run.history, refused.event);
    Some(match (refused.accepted_as, others) {
        (Some(accepted), Some(broken)) => format!(
            "at {at} {why}; under {} it was accepted at {}",
            broken.protocol.name(),
            words::utc(&broken.history, broken.history.event(accepted).at)
        ),
        _ => format!("at {at} {why}"),
    })
}
