//! One run with what exploring asks of it, and no more: searches make thousands of runs.

use holdover_sim::check::{self, Assumption, Bite, CHECKERS, SIGHTINGS, Verdict};
use holdover_sim::fault::PlannedFault;
use holdover_sim::history::{self, History, What};
use holdover_sim::protocol::AnyProtocol;
use holdover_sim::run::{self, run};
use holdover_sim::seed::Seed;
use holdover_sim::time::Span;
use holdover_sim::world::WorldSpec;
use serde::Serialize;
use tracing::Dispatch;

use super::Signature;
use crate::replay::Blame;

/// All that a run is made of but its plan of faults.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The world.
    pub world: &'a WorldSpec,
    /// The protocol.
    pub protocol: &'a dyn AnyProtocol,
    /// What it is drawn from.
    pub seed: Seed,
}

/// A run that was made to learn something. Nothing is judged before it is asked for.
pub struct Trial {
    assumptions: &'static [&'static Assumption],
    /// What happened.
    pub history: History,
}

/// How bad a run was, in numbers that can be compared with another run's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Measures {
    /// For how long two workers both thought that they held the lease.
    pub belief_overlap: Span,
    /// How often the ledger was asked for a mutation or a fence of an older grant than it had accepted.
    pub stale_writes_tried: usize,
    /// How often it accepted that.
    pub stale_writes_accepted: usize,
    /// How often the provider made a payout again that it had made.
    pub effects_doubled: usize,
}

impl Subject<'_> {
    /// Runs it under `plan`. Logs have nothing of it: they would have thousands.
    pub fn run(&self, plan: &[PlannedFault]) -> Trial {
        let once = || run(self.world, self.protocol, plan, self.seed);
        let history = tracing::dispatcher::with_default(&Dispatch::none(), once);
        Trial { assumptions: self.protocol.assumptions(), history }
    }

    /// Whether another run under `plan` gives the history of `trial` again.
    pub fn repeats(&self, plan: &[PlannedFault], trial: &Trial) -> bool {
        run::repeats(self.world, self.protocol, plan, self.seed, &trial.history)
    }
}

impl Trial {
    /// The signatures of all rules that were broken, with how often each was.
    ///
    /// # Panics
    /// If a checker does.
    pub fn failures(&self) -> Vec<(Signature, usize)> {
        let verdicts = check::judge(&self.history);
        verdicts.iter().for_each(|(_, verdict)| see_that_it_is_told(verdict));
        failures(&verdicts)
    }

    /// Those of `signatures` that the run has, in their order. Asks only the checkers of their rules.
    pub fn having(&self, signatures: &[Signature]) -> Vec<Signature> {
        signatures.iter().copied().filter(|signature| self.times(*signature) > 0).collect()
    }

    /// How often the rule of `signature` was broken, if it was broken that way; 0 if it wasn't.
    ///
    /// # Panics
    /// If its checker does.
    pub fn times(&self, signature: Signature) -> usize {
        let Some(checker) = CHECKERS.iter().find(|checker| checker.name == signature.checker()) else { return 0 };
        let verdict = check::judge_one(checker, &self.history);
        see_that_it_is_told(&verdict);
        match verdict {
            Verdict::Violated { times, .. } if Signature::of(checker, &verdict) == Some(signature) => times,
            _ => 0,
        }
    }

    /// How bad it was.
    pub fn measures(&self) -> Measures {
        Measures::of(&self.history)
    }

    /// How often the thing named `sighting` was seen; the others aren't looked for.
    pub fn seen(&self, sighting: &str) -> usize {
        seen(&self.history, sighting)
    }

    /// What became of each fault of the plan.
    pub fn bites(&self) -> Vec<Bite> {
        check::bites(&self.history)
    }

    /// What the protocol relies on, and the run didn't keep.
    pub fn broken_assumptions(&self) -> Vec<&'static Assumption> {
        check::broken_assumptions(&self.history, self.assumptions)
    }

    /// The first of those. One is enough to know that the run was outside of what the protocol relies on.
    pub fn first_broken_assumption(&self) -> Option<&'static Assumption> {
        check::first_broken_assumption(&self.history, self.assumptions)
    }

    /// Where a failure with this signature stands to what the protocol relies on, of which the run didn't keep those in
    /// `broken`.
    pub fn blame(&self, signature: Signature, broken: &[&Assumption]) -> Option<Blame> {
        Blame::of([signature.checker()], &self.history, self.assumptions, broken)
    }
}

impl Measures {
    /// How bad the run with this history was.
    pub fn of(history: &History) -> Measures {
        let tried = seen(history, "stale-write-tried");
        Measures {
            belief_overlap: history::overlap_total(history),
            stale_writes_tried: tried,
            stale_writes_accepted: tried.saturating_sub(seen(history, "stale-write-rejected")),
            effects_doubled: effects_doubled(history),
        }
    }
}

/// Goes on with the panic of a checker, which is a bug of ours: no search may take it for a rule that holds.
fn see_that_it_is_told(verdict: &Verdict) {
    if let Some(bug) = verdict.bug() {
        panic!("{bug}");
    }
}

fn seen(history: &History, sighting: &str) -> usize {
    SIGHTINGS.iter().find(|known| known.name == sighting).map_or(0, |known| known.times(history))
}

/// The signatures among `verdicts`, with how often each rule was broken.
pub fn failures<'a>(
    verdicts: impl IntoIterator<Item = &'a (&'static check::Checker, Verdict)>,
) -> Vec<(Signature, usize)> {
    let signature = |(checker, verdict): &(&'static check::Checker, Verdict)| {
        let Verdict::Violated { times, .. } = verdict else { return None };
        Signature::of(checker, verdict).map(|signature| (signature, *times))
    };
    verdicts.into_iter().filter_map(signature).collect()
}

fn effects_doubled(history: &History) -> usize {
    let mut paid = vec![false; history.batch.len()];
    let again = history.events.iter().filter(|event| match event.what {
        What::PayoutMade { op, .. } => paid.get_mut(op.index()).is_some_and(|paid| std::mem::replace(paid, true)),
        _ => false,
    });
    again.count()
}
