//! What is made of a hunt's failures: cases, each shrunk and explained, and the message of a test that fails.

use std::fmt::Write;

use holdover_sim::panics;
use holdover_sim::protocol::{self, AnyProtocol};

use super::{Case, Find};
use crate::explore::hunt::{Cause, Failure, Findings, Hunt};
use crate::explore::shrink::{BUDGET, shrink};
use crate::scenario::NotWritable;

impl Hunt<'_> {
    /// The failure in its smallest form, with all that is told of it; `command` is what finds it again. `None` if it isn't a
    /// rule that was broken, or isn't this hunt's.
    ///
    /// # Errors
    /// If no file can say it.
    pub fn case_of(&self, failure: &Failure, command: &str) -> Result<Option<Case>, NotWritable> {
        let hunted = self.hunted_protocols().iter().find(|protocol| protocol.name() == failure.protocol);
        let (Cause::Rule(signature), Some(protocol)) = (failure.cause, hunted) else { return Ok(None) };
        let seed = failure.example.seed;
        let mut original = self.scenario_of(seed, protocol.name());
        let known = self.hunted_protocols().iter().filter(|protocol| original.suite.has(**protocol));
        let known: Vec<String> = known.map(|protocol| protocol.name().to_owned()).collect();
        // A protocol that the suite doesn't have can't stand in a file, where there must be one.
        let first = || original.suite.named().next().map(|protocol| protocol.name().to_owned());
        original.protocols = if known.is_empty() { first().into_iter().collect() } else { known };
        let Ok(shrunk) = shrink(&original, *protocol, signature, BUDGET) else { return Ok(None) };
        let (original, shrunk, protocol) = (&original, &shrunk, *protocol);
        let find = Find { original, shrunk, protocol, plan_seed: Some(seed), command, found: failure.seeds };
        Case::new(find).map(Some)
    }

    /// Looks at all seeds, and panics if anything fails, or if no fault touched anything that the lease protects: then that
    /// nothing failed says nothing. For tests.
    ///
    /// # Panics
    /// With the smallest scenario in which the first failure happens, why it does, and how to see it again.
    #[track_caller]
    pub fn assert_holds(&self) {
        let findings = self.run();
        if let Some(failure) = findings.failures.first() {
            panic!("{}", self.message(&findings, failure));
        }
        let bit = |protocol: &&&'static dyn AnyProtocol| {
            let coverage = findings.coverage.get(protocol.name());
            coverage.is_some_and(|coverage| coverage.faults.values().any(|strikes| strikes.bit > 0))
        };
        if let Some(protocol) = self.hunted_protocols().iter().find(|protocol| !bit(protocol)) {
            panic!(
                "{} nothing of {}: no fault touched anything that the lease protects; hunt with more seeds, or other \
                 faults",
                many(findings.seeds, "seed says", "seeds say"),
                protocol.name()
            );
        }
    }

    /// What a test says of a failure.
    fn message(&self, findings: &Findings, failure: &Failure) -> String {
        let Failure { protocol, cause, seeds, inside, outside, example, message } = failure;
        let is_broken = *cause != Cause::Unrepeated;
        let all = findings.seeds;
        let mut told = match is_broken {
            true => format!("{protocol} breaks {cause}\n{seeds} of {}", many(all, "seed does", "seeds do")),
            false => format!(
                "{protocol} isn't deterministic: {cause}\n{seeds} of {}",
                many(all, "seed did", "seeds did")
            ),
        };
        if is_broken && *outside > 0 {
            told += &format!(", {inside} of them although all was as {protocol} relies on");
        }
        told += &format!("; this is seed {}", example.seed);
        match findings.failures.len() - 1 {
            0 => {}
            1 => told += "; one more failure was found",
            others => told += &format!("; {others} more failures were found"),
        }
        told.push('\n');
        if let Some(message) = message {
            told += &format!("{message}\n");
        }
        let again = self.code_for(failure);
        match panics::catch(|| self.case_of(failure, &again)) {
            // What was found is worth more than that it couldn't be made smaller.
            Err(panic) => told += &format!("\nholdover itself panicked while it made this smaller {panic}\n"),
            Ok(Ok(Some(case))) => {
                let _written = write!(told, "\n{}\n{}", case.scenario, case.explanation);
            }
            Ok(Ok(None)) => {}
            Ok(Err(refused)) => told += &format!("\nno file can say it: {refused}\n"),
        }
        told + &format!("\nTo see it again: {again}\n")
    }

    /// The code of the hunt that finds `failure` again, and nothing else: all that isn't as [`Hunt::new`] has it.
    pub fn code_for(&self, failure: &Failure) -> String {
        let (name, seed) = (&failure.protocol, failure.example.seed);
        let hunted = self.hunted_protocols().iter().find(|protocol| protocol.name() == *name);
        // The code of a test has all that is built in.
        let own = hunted.filter(|protocol| !protocol::comes_along(**protocol));
        let mut code = "Hunt::new(&scenario)".to_owned();
        code += &match own {
            Some(_) => ".protocols(&[protocol])".to_owned(),
            None => format!(".protocols(&[protocol::find({name:?}).unwrap()])"),
        };
        self.settings().iter().for_each(|setting| code += setting);
        code += &format!(".seeds({seed}..{})", seed.saturating_add(1));
        match own {
            Some(_) => code + &format!(", where protocol is {name}"),
            None => code,
        }
    }
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
