//! Every *always* has a *sometimes*: what a run must have seen for its verdicts to mean something.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::places::Places;
use super::{Bite, Evidence, Strike, bites};
use crate::fault::{PlannedFault, Stops};
use crate::history::{History, Role, What, overlaps};
use crate::id::{Epoch, FaultId, NodeId};

/// Something that may be seen in a run, and that a scenario may ask for.
#[derive(Clone, Copy)]
pub struct Sighting {
    /// The name that scenarios and reports use.
    pub name: &'static str,
    /// What it means, as a phrase.
    pub meaning: &'static str,
    /// Whether it can be seen in any world, and not only in one with replicas.
    pub is_anywhere: bool,
    /// How often it is seen.
    count: fn(&Seen<'_>) -> usize,
}

/// Everything that may be seen, in the order of reports.
pub const SIGHTINGS: &[Sighting] = &[
    Sighting {
        name: "takeover",
        meaning: "the lease went to another worker than before",
        is_anywhere: true,
        count: takeovers,
    },
    Sighting {
        name: "pause-over-lease",
        meaning: "a worker was paused or throttled while the lease store had it on record as the holder, the lease expired or not",
        is_anywhere: true,
        count: pauses_over_lease,
    },
    Sighting {
        name: "belief-overlap",
        meaning: "two workers that weren't paused both thought that they held the lease",
        is_anywhere: true,
        count: |seen| overlaps(seen.evidence).len(),
    },
    Sighting {
        name: "stale-write-tried",
        meaning: "the ledger was asked for a mutation or a fence of an older grant than it had accepted",
        is_anywhere: true,
        count: |seen| seen.stale_writes().tried,
    },
    Sighting {
        name: "stale-write-rejected",
        meaning: "the ledger turned away a mutation or a fence of an older grant than it had accepted",
        is_anywhere: true,
        count: |seen| seen.stale_writes().rejected,
    },
    Sighting {
        name: "duplicate-payout-tried",
        meaning: "the provider was asked for a payout that it had made before, and made it, knew it or turned it away",
        is_anywhere: true,
        count: duplicate_payouts,
    },
    Sighting {
        name: "duplicate-entry-tried",
        meaning: "the ledger was asked for an entry that it had made before, and made it, knew it or turned it away",
        is_anywhere: true,
        count: duplicate_entries,
    },
    Sighting {
        name: "leader-change",
        meaning: "a replica of the lease service began to lead it",
        is_anywhere: false,
        count: |seen| seen.count(|what| matches!(what, What::LeaderElected)),
    },
    Sighting {
        name: "call-timed-out",
        meaning: "a worker or an operator gave up waiting for an answer",
        is_anywhere: true,
        count: |seen| seen.count(|what| matches!(what, What::CallTimedOut { .. })),
    },
];

impl Sighting {
    /// How often it is seen in `history`.
    pub fn times(&self, history: &History) -> usize {
        (self.count)(&Seen::of(&Evidence::of(history), None))
    }
}

/// How often each of [`SIGHTINGS`] is seen in `history`, in their order.
pub fn sightings(history: &History) -> Vec<(&'static Sighting, usize)> {
    all(&Seen::of(&Evidence::of(history), None))
}

/// The same, for whoever has the evidence and knows what became of each fault: its [`bites`].
pub fn sightings_with(evidence: &Evidence<'_>, bites: &[Bite]) -> Vec<(&'static Sighting, usize)> {
    all(&Seen::of(evidence, Some(bites)))
}

fn all(seen: &Seen<'_>) -> Vec<(&'static Sighting, usize)> {
    SIGHTINGS.iter().map(|sighting| (sighting, (sighting.count)(seen))).collect()
}

/// A history as sightings look at it, with what several of them need, or takes long, worked out once.
struct Seen<'a> {
    evidence: &'a Evidence<'a>,
    bites: OnceCell<Cow<'a, [Bite]>>,
    stale_writes: OnceCell<StaleWrites>,
}

impl<'a> Seen<'a> {
    fn of(evidence: &'a Evidence<'a>, bites: Option<&'a [Bite]>) -> Seen<'a> {
        let bites = bites.map_or_else(OnceCell::new, |bites| OnceCell::from(Cow::Borrowed(bites)));
        Seen { evidence, bites, stale_writes: OnceCell::new() }
    }

    fn bites(&self) -> &[Bite] {
        self.bites.get_or_init(|| Cow::Owned(bites(self.evidence)))
    }

    fn stale_writes(&self) -> &StaleWrites {
        self.stale_writes.get_or_init(|| stale_writes(self.evidence))
    }

    /// How many deeds are this one.
    fn count(&self, is_it: impl Fn(&What) -> bool) -> usize {
        self.evidence.deeds().filter(|(_, event)| is_it(&event.what)).count()
    }
}

fn takeovers(seen: &Seen<'_>) -> usize {
    let mut before: Option<NodeId> = None;
    let mut count = 0;
    for (_, event) in seen.evidence.deeds() {
        if let What::LeaseGranted { worker, .. } = event.what {
            count += usize::from(before.is_some_and(|before| before != worker));
            before = Some(worker);
        }
    }
    count
}

fn pauses_over_lease(seen: &Seen<'_>) -> usize {
    let history: &History = seen.evidence;
    let found = OnceCell::new();
    let is_over_lease = |planned: &PlannedFault, fault| {
        let stills = match planned.inject.stops() {
            Stops::Nodes | Stops::AtTimes => planned.inject.nodes(),
            Stops::Nothing | Stops::Process | Stops::Service | Stops::Primary => return false,
        };
        let is_worker = |node: NodeId| history.is(node, Role::Worker);
        // A worker that stands still is hurt over its lease only; on a host there may be something else to hurt.
        stills.iter().all(|node| is_worker(*node))
            || Strike::of(history, found.get_or_init(|| Places::of(history)), FaultId(fault))
                .is_some_and(|strike| strike.overlaps_lease(|node| is_worker(node) && stills.contains(&node)))
    };
    let planned = seen.bites().iter().zip(&history.plan).zip(0..);
    planned.filter(|((bite, planned), fault)| **bite == Bite::Bit && is_over_lease(planned, *fault)).count()
}

#[derive(Default)]
struct StaleWrites {
    /// Accepted or not.
    tried: usize,
    rejected: usize,
}

fn stale_writes(evidence: &Evidence<'_>) -> StaleWrites {
    let mut highest: Option<Epoch> = None;
    let mut stale = StaleWrites::default();
    let mut accepted = evidence.accepted().iter().peekable();
    for (id, event) in evidence.deeds() {
        let is_stale = |epoch| highest.is_some_and(|highest| epoch < highest);
        if let Some(accepted) = accepted.next_if(|accepted| accepted.event == id) {
            stale.tried += usize::from(is_stale(accepted.claim.epoch));
            highest = highest.max(Some(accepted.claim.epoch));
        } else if let Some((claim, _)) = event.what.rejection() {
            let is_stale = usize::from(is_stale(claim.epoch));
            stale.tried += is_stale;
            stale.rejected += is_stale;
        }
    }
    stale
}

fn duplicate_payouts(seen: &Seen<'_>) -> usize {
    let mut paid = vec![false; seen.evidence.batch.len()];
    let mut count = 0;
    for (_, event) in seen.evidence.deeds() {
        let (op, pays) = match event.what {
            What::PayoutMade { op, .. } => (op, true),
            What::PayoutRepeated { op, .. } | What::PayoutRejected { op, .. } => (op, false),
            _ => continue,
        };
        if let Some(paid) = paid.get_mut(op.index()) {
            count += usize::from(*paid);
            *paid |= pays;
        }
    }
    count
}

fn duplicate_entries(seen: &Seen<'_>) -> usize {
    let mut entered = vec![false; seen.evidence.batch.len()];
    let mut count = 0;
    for (_, event) in seen.evidence.deeds() {
        let (op, enters) = match event.what {
            What::WriteAccepted { op, .. } => (op, true),
            What::WriteRepeated { op, .. } | What::WriteRejected { op, .. } => (op, false),
            _ => continue,
        };
        if let Some(entered) = entered.get_mut(op.index()) {
            count += usize::from(*entered);
            *entered |= enters;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock::Wall;
    use crate::fault::{Pause, PauseClocks};
    use crate::history::fixture::{A, B, LEDGER, OPERATORS, PROVIDER, STORE, Story, ms, pause};
    use crate::id::MessageId;
    use crate::time::Span;

    #[track_caller]
    fn check(name: &str, story: Story, expected: usize) {
        let history = story.history();
        for seen in [sightings(&history), sightings_with(&Evidence::of(&history), &bites(&history))] {
            let (sighting, count) = seen.into_iter().find(|(sighting, _)| sighting.name == name).expect("known");
            assert_eq!((count, sighting.times(&history)), (expected, expected));
        }
    }

    #[test]
    fn nothing_is_seen_where_nothing_happens() {
        let seen = sightings(&Story::new().history());
        assert_eq!(seen.len(), SIGHTINGS.len());
        assert!(seen.iter().all(|(_, count)| *count == 0));
        for (i, (sighting, _)) in seen.iter().enumerate() {
            assert!(seen[..i].iter().all(|(earlier, _)| earlier.name != sighting.name));
        }
    }

    #[test]
    fn takeover() {
        let check = |story, expected| check("takeover", story, expected);
        check(Story::new().granted(A, 1, None), 0);
        check(Story::new().granted(A, 1, None).granted(A, 2, None), 0);
        check(Story::new().granted(A, 1, None).granted(B, 2, None).granted(A, 3, None), 2);
    }

    #[test]
    fn pause_over_lease() {
        let check = |story, expected| check("pause-over-lease", story, expected);
        check(Story::new().plan(pause(A)).granted(B, 1, None).begins(0), 0);
        check(Story::new().plan(pause(A)).plan(pause(A)).granted(A, 1, None).begins(0).heals(0).begins(1), 2);
        check(Story::new().plan(pause(LEDGER)).begins(0).sent(A, LEDGER, 0, 5).at(10).heals(0), 0);
        // A host stands still with a worker that hasn't the lease, and a service that a message has to wait for.
        let host = |node| {
            let pause = Pause { beside: vec![node], ..Pause::of(LEDGER, Span::secs(1), PauseClocks::Running) };
            Story::new().plan(pause.into()).granted(A, 1, None).begins(0).sent(A, LEDGER, 0, 5).at(10).heals(0)
        };
        check(host(A), 1);
        check(host(B), 0);
        check(host(PROVIDER), 0);
        let over = |story: Story| story.begins(0).at(90_000).heals(0);
        let granted = || Story::new().plan(pause(A)).granted(A, 1, None).at(10);
        check(over(granted().at(50_000)), 1);
        check(over(granted().released(A, 1)), 0);
        check(over(granted().on(STORE, What::LeaseRevoked { worker: A, epoch: Epoch(1) })), 0);
        check(over(granted().on(STORE, What::LeaseRevoked { worker: A, epoch: Epoch(0) })), 1);
        check(over(granted().with_operators().stopped(OPERATORS[0], 2)), 0);
        // A store that lost the grant, or another one that came behind it.
        let lost = |since| What::WritesLost { since: ms(since) };
        check(over(granted().on(STORE, lost(5))), 1);
        check(over(granted().on(STORE, lost(-1))), 0);
        check(over(granted().granted(B, 2, None).at(20).on(STORE, lost(5))), 1);
        check(over(granted().granted(B, 2, None).at(20).on(LEDGER, lost(5))), 0);
        check(over(granted().at(20).granted(B, 2, None).released(B, 2).at(30).on(STORE, lost(15))), 1);
        // The old half of a store has records of its own.
        let paused = || Story::new().plan(pause(A)).granted(A, 1, None).at(10).split(STORE, A);
        check(over(paused().granted(B, 2, None)), 1);
        check(over(paused().granted(B, 2, None).heals(1)), 0);
        check(over(paused().deposed(STORE, A).granted(A, 2, None).granted(B, 2, None)), 1);
        check(over(paused().released(A, 1)), 1);
        check(over(paused().released(A, 1).deposed(STORE, A).released(A, 1)), 0);
    }

    #[test]
    fn belief_overlap() {
        let check = |story, expected| check("belief-overlap", story, expected);
        check(Story::new().held(A, 1, Wall, 40).at(40).held(B, 2, Wall, 80), 0);
        check(Story::new().held(A, 1, Wall, 40).at(39).held(B, 2, Wall, 80), 1);
    }

    #[test]
    fn stale_write() {
        let check = |story, tried, rejected| {
            let story: Story = story;
            check("stale-write-tried", story.clone(), tried);
            check("stale-write-rejected", story, rejected);
        };
        let newer = || Story::new().wrote(A, 1, 0).fenced(B, 2);
        check(newer(), 0, 0);
        check(newer().wrote(A, 1, 1), 1, 0);
        check(newer().write_rejected(A, 1, 1).fence_rejected(A, 1), 2, 2);
        check(newer().write_rejected(A, 1, 1).checkpoint(A, 1), 2, 1);
        check(newer().write_rejected(B, 2, 1), 0, 0);
        check(Story::new().wrote(A, 1, 0).fence_rejected(B, 2).wrote(A, 1, 1), 0, 0);
    }

    #[test]
    fn duplicate_entry() {
        let check = |story, expected| check("duplicate-entry-tried", story, expected);
        check(Story::new().wrote(A, 1, 0).wrote(A, 1, 1), 0);
        check(Story::new().wrote(A, 1, 0).write_repeated(B, 2, 0).write_rejected(A, 1, 0), 2);
        check(Story::new().write_rejected(A, 1, 0).wrote(B, 2, 0).write_rejected(A, 1, 1), 0);
        check(Story::new().wrote(A, 1, 0).wrote(B, 2, 0).wrote(B, 2, 0), 2);
        check(Story::new().wrote(A, 1, u32::MAX).wrote(A, 1, u32::MAX), 0);
    }

    #[test]
    fn call_timed_out() {
        let gives_up = What::CallTimedOut { message: MessageId(0), to: LEDGER, about: "ledger.write" };
        check("call-timed-out", Story::new().on(A, gives_up).on(B, gives_up), 2);
    }

    #[test]
    fn duplicate_payout() {
        let check = |story, expected| check("duplicate-payout-tried", story, expected);
        check(Story::new().paid(A, 1, 0).paid(A, 1, 1), 0);
        check(Story::new().paid(A, 1, 0).paid(B, 2, 0).paid(B, 2, 0), 2);
        check(Story::new().paid(A, 1, 0).payout_repeated(B, 2, 0).payout_rejected(A, 1, 0), 2);
        check(Story::new().payout_rejected(A, 1, 0).paid(B, 2, 0).payout_rejected(A, 1, 1), 0);
        check(Story::new().paid(A, 1, u32::MAX).paid(A, 1, u32::MAX), 0);
    }
}
