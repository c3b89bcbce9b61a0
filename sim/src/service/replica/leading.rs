//! What a replica that leads keeps in memory: when the lease ends, and until when nobody gets it after that.

use super::machine::{Held, Position};
use crate::id::NodeId;
use crate::time::Span;

/// A lease, by where it was granted and where it was last renewed.
pub(super) type Version = (Position, Position);

/// What a leader keeps in memory. All times are readings of one of its clocks.
#[derive(Debug, Default)]
pub(super) struct Leading {
    /// The lease that it watches, and when that ends.
    ends: Option<(Version, i64)>,
    /// Whether it leads no longer, and goes on all the same.
    is_deposed: bool,
    /// What it has asked to be taken away.
    revoking: Option<Version>,
    /// Who had the lease that was taken away, and until when nobody gets it.
    delayed: Option<(NodeId, i64)>,
    /// How many grants it made itself; only a flaw counts them.
    pub(super) grants: u64,
}

fn version(held: &Held) -> Version {
    (held.granted, held.renewed)
}

impl Leading {
    /// The lease lasts for its whole time from now.
    pub(super) fn watch(&mut self, held: &Held, now: i64) {
        self.ends = Some((version(held), now.saturating_add(held.ttl.as_nanos())));
    }

    /// There is no lease any more.
    pub(super) fn forget(&mut self) {
        self.ends = None;
    }

    /// Nobody gets the lease for a while that was taken away from `holder`.
    pub(super) fn delay(&mut self, holder: NodeId, now: i64, span: Span) {
        self.delayed = Some((holder, now.saturating_add(span.as_nanos())));
    }

    /// Whose lease it was for which nobody gets one yet: it is about to be taken away, or was a while ago.
    pub(super) fn delayed_for(&self, lease: Option<&Held>, now: i64) -> Option<NodeId> {
        let about_to_go = lease.filter(|held| self.revoking == Some(version(held))).map(|held| held.by.client);
        about_to_go.or(self.delayed.filter(|(_, until)| now < *until).map(|(holder, _)| holder))
    }

    /// It no longer leads, and doesn't care: what it asked for got nowhere, so it asks once more.
    pub(super) fn carry_on(&mut self) {
        if !std::mem::replace(&mut self.is_deposed, true) {
            self.revoking = None;
        }
    }

    /// The lease, if it has run out and wasn't asked to be taken away yet.
    pub(super) fn run_out(&mut self, now: i64) -> Option<Version> {
        let (version, _) = self.ends.filter(|(_, until)| *until <= now)?;
        if self.revoking.replace(version) == Some(version) { None } else { Some(version) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::Session;
    use super::*;
    use crate::id::Token;

    fn held() -> Held {
        Held {
            by: Session { client: NodeId(3), opened: 1 },
            token: Token(2),
            granted: 2,
            number: 1,
            renewed: 2,
            ttl: Span::nanos(40),
            deadline: None,
        }
    }

    #[test]
    fn a_lease_runs_out_at_its_very_instant_and_once() {
        for (now, runs_out) in [(100, false), (139, false), (140, true), (141, true)] {
            let mut leading = Leading::default();
            leading.watch(&held(), 100);
            assert_eq!(leading.run_out(now).is_some(), runs_out, "at {now}");
            assert_eq!(leading.run_out(now), None, "it is asked for once");
        }
    }

    #[test]
    fn a_delay_ends_at_its_very_instant() {
        let mut leading = Leading::default();
        leading.delay(NodeId(3), 100, Span::nanos(15));
        for (now, delayed) in [(100, true), (114, true), (115, false), (116, false)] {
            assert_eq!(leading.delayed_for(None, now).is_some(), delayed, "at {now}");
        }
    }
}
