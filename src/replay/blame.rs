//! Where a violation stands to what its protocol relies on. Replays, hunts, shrinking, explanations and reports all ask
//! [`Blame::of`].

use holdover_sim::check::{self, Assumption};
use holdover_sim::history::History;

/// Where a violation stands to what its protocol relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// All that it relies on was so: it is a flaw of the protocol.
    Inside,
    /// Something that it relies on wasn't so.
    Outside,
    /// The settlement was late and nothing else is wrong, though all that the protocol relies on was so. That is no flaw: a
    /// scenario may ask for more than there is time for.
    Late,
    /// The protocol doesn't say what it relies on, so a flaw can't be told from a bad night.
    Unsaid,
}

impl Blame {
    /// Where violations of `rules` in the run of `history` stand to what its protocol relies on, its `assumptions`, of which
    /// the run didn't keep those in `broken`; `None` if no rule was violated.
    ///
    /// A settlement that isn't published in time is late. One that never will be isn't: nothing is left to happen, so more
    /// time wouldn't help.
    pub fn of<'a>(
        rules: impl IntoIterator<Item = &'a str>,
        history: &History,
        assumptions: &[&Assumption],
        broken: &[&Assumption],
    ) -> Option<Blame> {
        let mut rules = rules.into_iter().peekable();
        rules.peek()?;
        if !broken.is_empty() {
            return Some(Blame::Outside);
        }
        if rules.all(|rule| rule == "progress") && !check::is_over_unpublished(history) {
            return Some(Blame::Late);
        }
        Some(if assumptions.is_empty() { Blame::Unsaid } else { Blame::Inside })
    }

    /// Whether a search for flaws takes it for one. Of a protocol that doesn't say what it relies on every violation is, but
    /// for being late.
    pub fn is_flaw(self) -> bool {
        match self {
            Blame::Inside | Blame::Unsaid => true,
            Blame::Outside | Blame::Late => false,
        }
    }

    /// `inside` or `outside`; `None` where there is nothing to blame.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Blame::Inside => Some("inside"),
            Blame::Outside => Some("outside"),
            Blame::Late | Blame::Unsaid => None,
        }
    }
}
