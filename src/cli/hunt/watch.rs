//! Watching a hunt: how far it is, when it is over, and what it has found so far.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::folder::Folder;
use crate::cli::args::HuntArguments;
use crate::cli::exit::Failure;
use crate::cli::interrupt;
use crate::explore::hunt::{Findings, Hunt, Watch};
use crate::report;

/// Watches a hunt for the command line.
pub(super) struct Watcher<'a> {
    until: Option<Instant>,
    bar: Option<ProgressBar>,
    folder: Option<&'a Folder>,
    /// Why what was found couldn't be kept; the hunt is over then.
    trouble: Mutex<Option<Failure>>,
}

impl<'a> Watcher<'a> {
    /// Of `count` seeds. An interrupt ends the hunt with what was found; a second one ends the program.
    pub(super) fn new(
        arguments: &HuntArguments,
        folder: Option<&'a Folder>,
        count: u64,
    ) -> Result<Watcher<'a>, Failure> {
        interrupt::listen()?;
        let shown = !arguments.quiet && stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = match arguments.lasting {
                Some(_) => ProgressBar::new_spinner(),
                None => ProgressBar::new(count),
            };
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            let line = "{elapsed_precise} {wide_bar} {human_pos} of {human_len} seeds, {per_sec} {msg}";
            let open_line = "{elapsed_precise} {spinner} {human_pos} seeds, {per_sec} {msg}";
            let style = ProgressStyle::with_template(if arguments.lasting.is_some() { open_line } else { line });
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        let until = arguments.lasting.and_then(|lasting| Instant::now().checked_add(lasting));
        Ok(Watcher { until, bar, folder, trouble: Mutex::default() })
    }

    /// Takes the progress off the screen, and says what went wrong.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        match self.trouble.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(trouble) => Err(trouble),
            None => Ok(()),
        }
    }

    fn trouble(&self) -> std::sync::MutexGuard<'_, Option<Failure>> {
        self.trouble.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Watch for Watcher<'_> {
    fn is_over(&self) -> bool {
        interrupt::came() || self.until.is_some_and(|until| Instant::now() >= until) || self.trouble().is_some()
    }

    fn looked(&self, hunt: &Hunt<'_>, findings: &Findings) {
        if let Some(bar) = &self.bar {
            bar.set_position(findings.seeds);
            bar.set_message(report::hunt::so_far(findings));
        }
        let Some(folder) = self.folder else { return };
        if let Err(trouble) = folder.keep_new(hunt, findings) {
            *self.trouble() = Some(trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    const INCIDENT: &str = include_str!("../../../scenarios/incidents/clock-jump.toml");

    #[test]
    fn a_hunt_so_far_in_a_few_words() {
        let incident = Scenario::parse("incident", INCIDENT).expect("the incident is a scenario");
        let hunt = |seeds| Hunt::new(&incident).protocols(&[&holdover_sim::protocol::Fenced]).seeds(seeds).run();
        assert_eq!(
            report::hunt::so_far(&hunt(0..1)),
            "· 0 min of true time · 0 of 25 faults bit · 0 distinct failures"
        );
        assert_eq!(
            report::hunt::so_far(&hunt(0..200)),
            "· 3 h of true time · 24 of 25 faults bit · 4 distinct failures"
        );
    }
}
