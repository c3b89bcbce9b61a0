//! From the file to the simulator's types, with the checks of what the values mean.
//!
//! Checking goes on after a mistake, with something harmless in its place, so that one reading finds them all. What
//! comes out is worth something only if there was none.

use holdover_sim::clock::Rate;
use holdover_sim::limits::Limits;
use holdover_sim::seed::Seed;
use holdover_sim::time::{Span, TrueTime, WallTime};
use holdover_sim::world::{JobSpec, Latency, LedgerSpec, NetworkSpec, WorkerSpec, WorldSpec};
use toml::Spanned;

use super::calendar::Calendar;
use super::error::{Mistake, Mistakes, Wrong};
use super::file::{JobFile, LedgerFile, NetworkFile, ScenarioFile, Table, WorkerFile, Written};
use super::names::{PLACES_OF_TOKENS, did_you_mean, quoted};
use super::nodes::{MOST_OPERATORS, MOST_WORKERS, Nodes};
use super::{Scenario, clocks, expectations, faults, lease, provider, repair, value};
use crate::suite::Suite;

pub(super) const MOST_OPERATIONS: u64 = 1_000_000;

/// Bounds on steps are no higher: a history of so many steps takes about a gigabyte.
pub(super) const MOST_STEPS: u64 = 10_000_000;
pub(crate) const POLL_EVERY: Span = Span::secs(1);
pub(crate) const PACE: Span = Span::millis(100);
pub(crate) const FINISH_WITHIN: Span = Span::secs(60);
pub(crate) const INTERNAL: Latency = Latency { min: Span::millis(1), max: Span::millis(3) };
pub(crate) const PROVIDER: Latency = Latency { min: Span::millis(24), max: Span::millis(30) };

/// The scenario that `file` means where names are those of `suite`, and the mistakes in it.
pub(super) fn scenario(mut file: ScenarioFile, suite: &Suite) -> (Scenario, Mistakes) {
    let mut lower = Lower { mistakes: Mistakes::default(), calendar: None };
    lower.one_line("title", &file.title);
    if file.title.get_ref().trim().is_empty() {
        lower.mistake(
            &file.title,
            Wrong::new("the title is empty").help("say in one line what the scenario shows"),
        );
    }
    if let Some(story) = &mut file.story {
        // The same scenario whichever line ends its file has.
        *story.get_mut() = story.get_ref().replace("\r\n", "\n");
        lower.no_controls("story", story, &['\n', '\t']);
    }
    lower.calendar = lower.start_and_end(&file);
    let lease = lease::lower(&mut lower, &file.lease.0);
    lease::refuse_operators(&mut lower, &file, &lease);
    let mut nodes = Nodes::of(&mut lower, &file.worker, &file.operator, &lease);
    let start = lower.calendar.map_or(WallTime::default(), |calendar| calendar.start());
    let world = WorldSpec {
        start,
        workers: lower.workers(file.worker.get_ref(), MOST_WORKERS),
        service_clocks: clocks::of_services(&mut lower, &file.service, &nodes),
        lease,
        ledger: lower.ledger(&file.ledger.0),
        provider: provider::lower(&mut lower, &file.provider.0),
        operators: lower.workers(&file.operator, MOST_OPERATORS),
        repair: repair::lower(&mut lower, file.repair.as_ref(), !file.operator.is_empty()),
        job: lower.job(&file.job.0, start),
        network: lower.network(&file.network.0),
        limits: Limits {
            end: lower.calendar.map_or(TrueTime::START, |calendar| calendar.end()),
            steps: lower.steps(file.steps.as_ref()),
        },
        progress_within: lower.value(file.job.0.finish_within.as_ref(), FINISH_WITHIN, value::positive_duration),
    };
    nodes.note_disciplines(&world);
    let plan = faults::plan(&mut lower, &file.fault, &nodes);
    let expects_nothing = file.expect.is_empty();
    let (protocols, expect) =
        expectations::lower(&mut lower.mistakes, file.protocols.as_ref(), file.expect, &world, suite);
    if protocols.is_empty() && file.protocols.is_none() && expects_nothing {
        let wrong = Wrong::new("no protocol can be run");
        lower.mistake(
            &file.title,
            wrong.help("this program has none that keeps the lease in a table: name one in `protocols`"),
        );
    }
    let scenario = Scenario {
        title: file.title.into_inner(),
        story: file.story.map(Spanned::into_inner),
        seed: Seed(file.seed),
        world,
        plan,
        protocols,
        expect,
        suite: suite.clone(),
    };
    (scenario, lower.mistakes)
}

/// What lowering needs everywhere.
pub(super) struct Lower {
    pub(super) mistakes: Mistakes,
    /// `None` if the start is wrong: then no time means anything, and none is checked.
    pub(super) calendar: Option<Calendar>,
}

impl Lower {
    /// Notes that what stands at `place` is wrong.
    pub(super) fn mistake<T>(&mut self, place: &Spanned<T>, wrong: impl Into<Wrong>) {
        self.mistakes.add(Mistake::here(place.span(), wrong));
    }

    /// What `written` means, or `default` if it isn't there or means nothing.
    pub(super) fn value<T>(
        &mut self,
        written: Option<&Spanned<Written>>,
        default: T,
        understand: impl Fn(&str) -> Result<T, Wrong>,
    ) -> T {
        let Some(written) = written else { return default };
        let result = understand(&written.get_ref().0).map_err(|wrong| Mistake::here(written.span(), wrong));
        self.mistakes.value_or(result, default)
    }

    /// The time that `written` names, or the start if it isn't there or wrong.
    pub(super) fn time(&mut self, written: Option<&Spanned<Written>>) -> TrueTime {
        match self.calendar {
            Some(calendar) => self.value(written, TrueTime::START, |text| calendar.time(text)),
            None => TrueTime::START,
        }
    }

    /// The rate error that `ppm` means, or none if it means nothing.
    pub(super) fn rate(&mut self, ppm: &Spanned<f64>) -> Rate {
        let rate = value::rate(*ppm.get_ref()).map_err(|wrong| Mistake::here(ppm.span(), wrong));
        self.mistakes.value_or(rate, Rate::EXACT)
    }

    /// A count that must not be zero.
    pub(super) fn above_zero(&mut self, count: Option<&Spanned<u64>>, key: &str, default: u64) -> u64 {
        let Some(count) = count else { return default };
        if *count.get_ref() == 0 {
            self.mistake(count, Wrong::new(format!("`{key}` is zero")).help("it must be 1 or more"));
        }
        *count.get_ref()
    }

    /// The bound on steps; it can't be higher than what a history of so many takes in memory.
    fn steps(&mut self, written: Option<&Spanned<u64>>) -> u64 {
        let steps = self.above_zero(written, "steps", Limits::DEFAULT_STEPS);
        if let Some(written) = written.filter(|_| steps > MOST_STEPS) {
            self.mistake(
                written,
                Wrong::new(format!("a bound of {steps} steps, of which the history would take all memory"))
                    .help(format!("it is at most {MOST_STEPS}; {} if it is left out", Limits::DEFAULT_STEPS)),
            );
        }
        steps
    }

    /// Which of several a fault waits for, from 1; the first if it isn't there. `what` is what is counted.
    pub(super) fn nth(&mut self, written: Option<&Spanned<u64>>, what: &str) -> u32 {
        let nth = self.above_zero(written, "nth", 1);
        u32::try_from(nth).unwrap_or_else(|_| {
            if let Some(written) = written {
                self.mistake(
                    written,
                    Wrong::new(format!("the {what} number {nth} never comes")).help("count from 1"),
                );
            }
            u32::MAX
        })
    }

    /// Refuses a text that would break a line of a report.
    pub(super) fn one_line(&mut self, key: &str, text: &Spanned<String>) {
        self.no_controls(key, text, &[]);
    }

    /// Refuses control characters that were written as escapes: reports go to terminals, which obey them.
    fn no_controls(&mut self, key: &str, text: &Spanned<String>, but: &[char]) {
        let Some(control) = text.get_ref().chars().find(|c| c.is_control() && !but.contains(c)) else {
            return;
        };
        let wrong = match control {
            '\n' => Wrong::new(format!("the {key} has more than one line")).help("keep it to one line"),
            _ => Wrong::new(format!("the {key} has the control character U+{:04X}", u32::from(control)))
                .help("take it out"),
        };
        self.mistake(text, wrong);
    }

    fn start_and_end(&mut self, file: &ScenarioFile) -> Option<Calendar> {
        let calendar = match Calendar::starting(file.start.get_ref()) {
            Ok(calendar) => calendar,
            Err(wrong) => {
                self.mistake(&file.start, wrong);
                return None;
            }
        };
        Some(match &file.end {
            None => calendar.ending_after(Limits::DEFAULT_RUN),
            Some(end) => match calendar.end_time(&end.get_ref().0) {
                Ok(end) => calendar.ending_after(end),
                Err(wrong) => {
                    // The latest end there can be stays, so that no other time is blamed for this one.
                    self.mistake(end, wrong);
                    calendar
                }
            },
        })
    }

    fn ledger(&mut self, ledger: &LedgerFile) -> LedgerSpec {
        let written = ledger.highest_token.as_ref();
        let forgets_tokens = written.is_some_and(|place| match place.get_ref().as_str() {
            "disk" => false,
            "memory" => true,
            other => {
                let help = did_you_mean(other, "it is kept in one of", PLACES_OF_TOKENS.iter().copied());
                self.mistake(
                    place,
                    Wrong::new(format!("the highest token can't be kept in {}", quoted(other))).help(help),
                );
                false
            }
        });
        LedgerSpec { forgets_tokens }
    }

    fn job(&mut self, job: &JobFile, start: WallTime) -> JobSpec {
        let operations = *job.operations.get_ref();
        if !(1..=MOST_OPERATIONS).contains(&operations) {
            let wrong = Wrong::new(format!("a batch of {operations} operations"));
            self.mistake(
                &job.operations,
                wrong.help(format!("a batch has from 1 to {MOST_OPERATIONS} operations")),
            );
        }
        JobSpec {
            operations: u32::try_from(operations).unwrap_or(u32::MAX),
            due: start + (self.time(job.due.as_ref()) - TrueTime::START),
            pace: self.value(job.pace.as_ref(), PACE, value::duration),
        }
    }

    fn network(&mut self, network: &NetworkFile) -> NetworkSpec {
        NetworkSpec {
            internal: self.value(network.internal.as_ref(), INTERNAL, value::latency),
            provider: self.value(network.provider.as_ref(), PROVIDER, value::latency),
            timeout: self.value(network.timeout.as_ref(), NetworkSpec::DEFAULT_TIMEOUT, value::positive_duration),
        }
    }

    /// The workers, or the operators.
    fn workers(&mut self, workers: &[Table<WorkerFile>], most: usize) -> Vec<WorkerSpec> {
        workers.iter().take(most).map(|Table(worker)| self.worker(worker)).collect()
    }

    fn worker(&mut self, worker: &WorkerFile) -> WorkerSpec {
        WorkerSpec {
            name: worker.name.get_ref().clone(),
            starts: self.time(worker.starts.as_ref()),
            clock: clocks::clock(self, &worker.clock.0),
        }
    }
}
