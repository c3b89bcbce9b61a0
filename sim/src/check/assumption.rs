//! What protocols rely on, and whether a run kept it.
//!
//! Each assumption is a pure function of a history. A protocol names its own, so that a rule that it broke can be told as
//! broken *inside* its assumptions, which is a flaw of the protocol, or *outside* of them, which says what it can't do
//! without. To add one: a constant here or in a file of this folder, a line in [`ASSUMPTIONS`].

mod clocks;
mod provider;
mod repairs;
mod replicas;
mod services;
mod workers;

pub use clocks::{CLOCK_RATE, CLOCKS_AGREE, FROZEN_CLOCKS_NEVER, NO_LATE_EXPIRY, NO_LATE_WALL_CLOCK, NO_SUSPEND};
pub use provider::{GATEWAY_WANTS_NO_TOKEN, KEYS_OUTLIVE_REQUESTS, NO_PAYOUT_FAILS};
pub use repairs::{REPAIRS_DELETE_NOTHING, REPAIRS_OUTWAIT_REQUESTS};
pub use replicas::{REPLICAS_AGREE, REPLICAS_CLOCKS_KEEP_TIME, REPLICAS_KEEP_THEIR_DISKS};
pub use services::{
    ACCEPTED_IS_DURABLE, EXPIRY_AS_MEANT, HIGHEST_TOKEN_DURABLE, LEASES_SURVIVE_FAILOVER, ONE_PRIMARY_ANSWERS,
    RESOURCE_CHECKS_TOKENS, TOKEN_COUNTER_SURVIVES_FAILOVER,
};
pub use workers::{
    A_WORKER_REMAINS, CHECKS_LEAVE_TIME, NO_PAUSE_OVER_TTL, NO_WORKER_GOES_BACK, NO_WORKER_IS_COPIED,
    OPERATIONS_RUN_THROUGH, PAUSE_NOT_BETWEEN_CHECK_AND_ACT, RELEASED_WHEN_DONE, REQUESTS_ARE_QUICK,
    REQUESTS_COME_ONCE,
};

use crate::history::History;

/// Something that a protocol relies on.
#[derive(Clone, Copy, Debug)]
pub struct Assumption {
    /// Its name; reports write spaces for the dashes.
    pub name: &'static str,
    /// What it says, as a sentence without its full stop.
    pub sentence: &'static str,
    /// Whether a run kept it.
    pub is_kept: fn(&History) -> bool,
}

/// Every assumption, in the order of lists.
pub const ASSUMPTIONS: &[&Assumption] = &[
    &NO_PAUSE_OVER_TTL,
    &PAUSE_NOT_BETWEEN_CHECK_AND_ACT,
    &REQUESTS_ARE_QUICK,
    &CHECKS_LEAVE_TIME,
    &OPERATIONS_RUN_THROUGH,
    &REQUESTS_COME_ONCE,
    &RELEASED_WHEN_DONE,
    &A_WORKER_REMAINS,
    &NO_WORKER_GOES_BACK,
    &NO_WORKER_IS_COPIED,
    &CLOCKS_AGREE,
    &NO_LATE_WALL_CLOCK,
    &NO_LATE_EXPIRY,
    &CLOCK_RATE,
    &FROZEN_CLOCKS_NEVER,
    &NO_SUSPEND,
    &EXPIRY_AS_MEANT,
    &ONE_PRIMARY_ANSWERS,
    &LEASES_SURVIVE_FAILOVER,
    &TOKEN_COUNTER_SURVIVES_FAILOVER,
    &RESOURCE_CHECKS_TOKENS,
    &HIGHEST_TOKEN_DURABLE,
    &ACCEPTED_IS_DURABLE,
    &KEYS_OUTLIVE_REQUESTS,
    &NO_PAYOUT_FAILS,
    &GATEWAY_WANTS_NO_TOKEN,
    &REPAIRS_OUTWAIT_REQUESTS,
    &REPAIRS_DELETE_NOTHING,
    &REPLICAS_AGREE,
    &REPLICAS_KEEP_THEIR_DISKS,
    &REPLICAS_CLOCKS_KEEP_TIME,
];

/// Those of `assumptions` that `history` didn't keep, in their order.
pub fn broken_assumptions(history: &History, assumptions: &[&'static Assumption]) -> Vec<&'static Assumption> {
    broken(history, assumptions).collect()
}

/// The first of `assumptions` that `history` didn't keep. The others aren't asked about: each takes a look at all events.
pub fn first_broken_assumption(
    history: &History,
    assumptions: &[&'static Assumption],
) -> Option<&'static Assumption> {
    broken(history, assumptions).next()
}

fn broken(history: &History, assumptions: &[&'static Assumption]) -> impl Iterator<Item = &'static Assumption> {
    assumptions.iter().copied().filter(|assumption| !(assumption.is_kept)(history))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, Rate};
    use crate::fault::Loses::Memory;
    use crate::fault::{ClockSlew, ClockStep, Failover, Fault, Pause, PauseClocks, Restart, Snapshot, SplitBrain};
    use crate::history::What;
    use crate::history::fixture::{A, B, C, LEDGER, OPERATORS, PROVIDER, STORE, Story, ms, pause};
    use crate::id::{Epoch, EventId, FaultId, MessageId, NodeId, OpId, PayoutId};
    use crate::limits::Ending;
    use crate::point::Point;
    use crate::time::{Span, WallTime};

    /// Of all assumptions exactly these are broken.
    #[track_caller]
    fn check(story: Story, broken: &[&str]) {
        let history = story.history();
        let names: Vec<_> = broken_assumptions(&history, ASSUMPTIONS).iter().map(|one| one.name).collect();
        assert_eq!(names, broken);
        let first = first_broken_assumption(&history, ASSUMPTIONS).map(|one| one.name);
        assert_eq!(first.as_ref(), broken.first());
    }

    /// A story in which A lives, so that only what follows can break anything.
    fn lives() -> Story {
        Story::new().on(A, What::WorkerStarted)
    }

    fn checked(story: Story) -> Story {
        story.on(A, What::LeaseChecked { epoch: Epoch(1), valid: true })
    }

    fn still(clocks: PauseClocks) -> Fault {
        Pause::of(A, Span::secs(1), clocks).into()
    }

    fn outage(node: NodeId) -> Fault {
        Fault::Restart(Restart { node, lasting: Span::secs(1), loses: Memory })
    }

    fn loses(story: Story, node: NodeId, since: i64) -> Story {
        story.on(node, What::WritesLost { since: ms(since) })
    }

    #[test]
    fn pauses() {
        let paused = || lives().plan(pause(A)).begins(0);
        check(paused().at(39_999).heals(0), &[]);
        check(paused().at(40_000).heals(0), &["no-pause-over-ttl"]);
        check(paused().at(39_999).ends(Ending::TimeUp), &[]);
        check(paused().at(40_000).ends(Ending::TimeUp), &["no-pause-over-ttl"]);
        check(lives().plan(pause(LEDGER)).begins(0).at(50_000).heals(0), &[]);
        let host = Pause { beside: vec![A], ..Pause::of(LEDGER, Span::secs(1), PauseClocks::Running) };
        check(lives().plan(host.into()).begins(0).at(50_000).heals(0), &["no-pause-over-ttl"]);
        let twice = || lives().plan(pause(A)).plan(pause(A)).begins(0).at(30_000);
        check(twice().begins(1).at(31_000).heals(0).at(50_000).heals(1), &["no-pause-over-ttl"]);
        check(twice().heals(0).begins(1).at(50_000).heals(1), &[]);

        let fault = FaultId(0);
        let stalls = |story: Story, from, to| {
            story.at(from).on(A, What::Throttled { fault }).at(to).on(A, What::Unthrottled { fault })
        };
        check(stalls(stalls(lives(), 0, 30_000), 30_001, 60_000), &[]);
        check(stalls(lives(), 0, 40_000), &["no-pause-over-ttl"]);
        // On a host, the worker may come second.
        let host = Pause { beside: vec![A], ..Pause::of(LEDGER, Span::secs(1), PauseClocks::Running) };
        check(lives().plan(host.into()).begins(0).at(40_000).heals(0), &["no-pause-over-ttl"]);

        let between = "pause-not-between-check-and-act";
        check(stalls(checked(lives()), 0, 90), &[between]);
        check(checked(lives()).plan(pause(A)).begins(0).at(1).heals(0), &[between]);
        check(checked(lives()).plan(pause(B)).begins(0).at(1).heals(0), &[]);
        let passed =
            |point| checked(lives()).on(A, What::PointPassed(point)).plan(pause(A)).begins(0).at(1).heals(0);
        check(passed(Point::WRITE_CHECKED), &[between]);
        check(passed(Point::PAYOUT_DONE), &[between]);
        check(passed(Point::CHECKPOINT_MOVED), &[]);
    }

    #[test]
    fn clocks() {
        let step = |by| Fault::ClockStep(ClockStep { node: A, by: Span::millis(by) });
        check(lives().plan(step(100)).at(5).begins(0).heals(0), &[]);
        check(lives().plan(step(-101)).at(5).begins(0).heals(0), &["clocks-agree"]);
        let slew = |ppm: i32| {
            let rate = Rate::from_ppb(ppm * 1_000).expect("in range");
            Fault::ClockSlew(ClockSlew { node: A, rate, lasting: Span::secs(1) })
        };
        check(lives().plan(slew(500)).begins(0).at(1_000).heals(0), &[]);
        check(lives().plan(slew(-501)).begins(0).at(1_000).heals(0), &["clock-rate"]);
        let late = |by, at, held| {
            let mut story = lives().plan(step(by)).at(at).begins(0).at(held).held(A, 1, Clock::Monotonic, 90_000);
            story.due(ms(10_000));
            story
        };
        check(late(-1_500, 9_000, 20_000), &["clocks-agree"]);
        check(late(-1_500, 9_000, 10_200), &["clocks-agree", "no-late-wall-clock"]);
        check(late(-1_500, 9_000, 9_500), &["clocks-agree", "no-late-wall-clock"]);
        check(late(-900, 9_000, 9_500), &["clocks-agree"]);
        check(late(1_500, 9_000, 9_500), &["clocks-agree"]);
        // The clock jumps while the holder waits, and nothing is told of the lease until it has begun.
        let waits = |by, stepped, begins| {
            let story =
                lives().plan(step(by)).at(5_000).held(A, 1, Clock::Monotonic, 90_000).at(stepped).begins(0);
            let mut story = story.at(begins).on(A, What::PointPassed(Point::TAKEOVER_BEGUN));
            story.due(ms(10_000));
            story
        };
        check(waits(-1_500, 6_000, 11_500), &["clocks-agree", "no-late-wall-clock"]);
        check(waits(-900, 6_000, 10_900), &["clocks-agree"]);
        check(waits(-1_500, 10_100, 11_600), &["clocks-agree", "no-late-wall-clock"]);
        // It has begun by then.
        check(waits(-1_500, 11_500, 11_500), &["clocks-agree"]);
        let granted = |by| lives().plan(step(by)).begins(0).granted(A, 1, None);
        let lasts = |by, until: i64| {
            let renewed = What::LeaseRenewed {
                worker: A,
                epoch: Epoch(1),
                until: WallTime::from_nanos(ms(until).as_nanos()),
            };
            granted(by).at(10_000).on(STORE, renewed)
        };
        check(lasts(0, 51_000), &[]);
        check(lasts(0, 51_001), &["no-late-expiry"]);
        let refused = |by| granted(by).on(STORE, What::LeaseRefused { worker: A, holder: B });
        check(refused(-1_000), &["clocks-agree"]);
        check(refused(-1_001), &["clocks-agree", "no-late-expiry"]);
        check(refused(1_500), &["clocks-agree"]);
        use crate::fault::PauseClocks::{Frozen, Suspended};
        check(lives().plan(still(Frozen)).begins(0).at(100).heals(0), &["frozen-clocks-never"]);
        check(lives().plan(still(Suspended)).begins(0).at(100).heals(0), &["no-suspend"]);
        check(lives().plan(still(Frozen)).begins(0).at(101).heals(0), &["clocks-agree", "frozen-clocks-never"]);
    }

    #[test]
    fn messages_and_checks() {
        let sent = |to| lives().sent(A, to, 0, 1);
        check(sent(LEDGER).at(1_000).delivered(A, LEDGER, 0), &[]);
        check(sent(LEDGER).at(1_001).delivered(A, LEDGER, 0), &["requests-are-quick"]);
        check(sent(PROVIDER).at(1_001).delivered(A, PROVIDER, 0), &["requests-are-quick"]);
        check(sent(STORE).at(1_001).delivered(A, STORE, 0), &[]);
        check(lives().sent(LEDGER, A, 0, 1).at(1_001).delivered(LEDGER, A, 0), &["requests-are-quick"]);

        // What never comes takes as long as the run, unless the network or a crash lost it.
        let ends = |story: Story, at| story.at(at).ends(Ending::TimeUp);
        check(ends(sent(LEDGER), 1_000), &[]);
        check(ends(sent(LEDGER), 1_001), &["requests-are-quick"]);
        let (message, fault) = (MessageId(0), FaultId(0));
        check(ends(sent(LEDGER).on(A, What::MessageDropped { message, to: LEDGER, fault }), 1_001), &[]);
        check(ends(lives().on(LEDGER, What::WriteHung { fault }), 1_001), &["requests-are-quick"]);

        let hangs = |node, lasting| {
            let fault = crate::id::FaultId(0);
            let story = lives().on(node, What::WriteHung { fault });
            story.at(lasting).on(node, What::WriteReturned { fault, written: true })
        };
        check(hangs(LEDGER, 1_000), &[]);
        check(hangs(PROVIDER, 1_001), &["requests-are-quick"]);
        check(hangs(STORE, 1_001), &[]);

        let held = |until| checked(lives().held(A, 1, Clock::Monotonic, until).at(5_000));
        check(held(6_000), &[]);
        check(held(5_999), &["checks-leave-time"]);
    }

    #[test]
    fn work_that_is_broken_off() {
        check(lives().sent(A, LEDGER, 0, 1).lost(A, LEDGER, 0), &["operations-run-through"]);
        check(lives().sent(A, STORE, 0, 1).lost(A, STORE, 0), &[]);
        let (message, copy, fault) = (MessageId(0), MessageId(1), FaultId(0));
        let timed_out = |to| {
            lives()
                .sent(A, to, 0, 1)
                .delivered(A, to, 0)
                .on(A, What::CallTimedOut { message, to, about: "by-hand" })
        };
        check(timed_out(PROVIDER), &["operations-run-through"]);
        check(timed_out(STORE), &[]);
        let repeated = |to| {
            lives().sent(A, to, 0, 1).delivered(A, to, 0).on(A, What::MessageRepeated { message, to, copy, fault })
        };
        check(repeated(LEDGER), &["requests-come-once"]);
        check(repeated(STORE), &[]);
        let others = || lives().on(B, What::WorkerStarted);
        check(checked(others()).on(A, What::WorkerDied), &["operations-run-through"]);
        check(others().on(A, What::WorkerDied), &[]);
        check(others().on(A, What::WorkerDied).on(B, What::WorkerDied), &["a-worker-remains"]);
        check(others().on(A, What::WorkerDied).on(B, What::WorkerDied).on(A, What::WorkerStarted), &[]);
        check(lives().wrote(A, 1, 0).released(A, 1), &[]);
        check(lives().released(A, 1).wrote(A, 1, 0), &["released-when-done"]);
        check(lives().released(A, 1).paid(A, 1, 0), &["released-when-done"]);
        check(lives().released(A, 1).wrote(A, 2, 0), &[]);
    }

    #[test]
    fn machines_that_go_back() {
        let restored = |node| {
            let snapshot = lives().plan(Snapshot { node: A }.into()).begins(0);
            snapshot.at(5).on(node, What::WorkerRestored { of: A, snapshot: EventId(1) })
        };
        check(restored(A), &["no-worker-goes-back"]);
        check(restored(C), &["no-worker-is-copied"]);
        check(
            lives().on(A, What::WorkerDied).on(A, What::WorkerRestored { of: A, snapshot: EventId(0) }),
            &["no-worker-goes-back"],
        );
    }

    #[test]
    fn tokens() {
        let counter = "token-counter-survives-failover";
        let granted = || lives().granted(A, 1, Some(5)).at(10);
        check(granted().granted(B, 2, Some(6)), &[]);
        // It is the store's own flaw if nothing happened to it.
        check(granted().granted(B, 2, Some(5)), &[]);
        check(granted().plan(outage(STORE)).begins(0).granted(B, 2, Some(5)).heals(0), &[counter]);
        check(granted().plan(outage(LEDGER)).begins(0).granted(B, 2, Some(5)).heals(0), &[]);

        let (checks, durable) = ("resource-checks-tokens", "highest-token-durable");
        check(lives().fenced(A, 2).wrote(B, 2, 0), &[]);
        check(lives().fenced(A, 2).wrote(B, 1, 0), &[checks]);
        check(lives().paid(A, 2, 0).paid(B, 1, 1), &[checks]);
        check(lives().paid(A, 2, 0).wrote(B, 1, 1), &[]);
        check(lives().fenced(A, 2).plan(outage(LEDGER)).begins(0).heals(0).wrote(B, 1, 0), &[durable]);
        check(lives().plan(outage(LEDGER)).begins(0).heals(0).at(5).fenced(A, 2).wrote(B, 1, 0), &[checks]);
    }

    #[test]
    fn two_halves_of_a_service() {
        let split = |node| {
            let (old, lag, lasting) = (vec![A], Span::ZERO, Span::secs(1));
            lives().plan(Fault::SplitBrain(SplitBrain { node, old, lag, lasting }))
        };
        let (one, durable) = ("one-primary-answers", "accepted-is-durable");
        // Each half hands out its next token.
        let granted = || split(STORE).granted(A, 1, Some(5)).at(10).begins(0);
        let both = granted().deposed(STORE, A).granted(A, 2, Some(6)).granted(B, 3, Some(6));
        check(both, &[one, "leases-survive-failover"]);
        check(granted().granted(B, 2, Some(5)), &["token-counter-survives-failover"]);
        check(granted().granted(B, 2, Some(6)), &[]);
        // Each half has the fences that it saw, and those from before.
        let fenced = || split(LEDGER).fenced(A, 2).at(10).begins(0);
        check(fenced().fenced(B, 3).deposed(LEDGER, A).wrote(A, 2, 0), &[one, durable]);
        let flaw = fenced().deposed(LEDGER, A).wrote(A, 1, 0);
        check(flaw, &[one, "resource-checks-tokens", durable]);
        check(fenced().wrote(A, 1, 0), &["highest-token-durable"]);
        check(fenced().deposed(LEDGER, A).write_rejected(A, 1, 0), &[one]);
    }

    #[test]
    fn keys() {
        use crate::history::{Decision, Reason};
        let (keys, durable) = ("keys-outlive-requests", "accepted-is-durable");
        check(lives().paid(A, 1, 0).paid(A, 1, 1), &[]);
        check(lives().paid(A, 1, 0).payout_repeated(B, 2, 0), &[]);
        check(lives().paid(A, 1, 0).paid(B, 2, 0), &[keys]);
        // To lose a payout is to lose its key.
        let lost = |since| loses(lives().at(5).paid(A, 1, 0).at(10), PROVIDER, since).paid(B, 2, 0);
        check(lost(4), &[durable]);
        check(lost(5), &[keys]);
        check(loses(lives().at(5).paid(A, 1, 0).at(10), STORE, 4).paid(B, 2, 0), &[keys]);
        // An operator has another key for each attempt.
        let decides = |story: Story, attempt| {
            story.decided(OPERATORS[0], 5, 0, (Decision::Submit(attempt), Reason::NeverPaid))
        };
        let paid = |op| lives().with_operators().paid(A, 4, op);
        check(decides(paid(1), 0).paid(OPERATORS[0], 5, 0), &[]);
        check(decides(paid(0), 1).paid(OPERATORS[0], 5, 0), &[]);
        check(decides(paid(0), 0).paid(OPERATORS[0], 5, 0), &[keys]);
        // Each half of a provider has the keys that it saw, and those from before.
        let (old, lag, lasting) = (vec![A], Span::ZERO, Span::secs(1));
        let split = Fault::SplitBrain(SplitBrain { node: PROVIDER, old, lag, lasting });
        let halves = || lives().plan(split.clone()).paid(B, 2, 1).begins(0).paid(B, 2, 0);
        check(halves().deposed(PROVIDER, A).paid(A, 2, 0), &["one-primary-answers", durable]);
        check(halves().deposed(PROVIDER, A).paid(A, 2, 1), &["one-primary-answers", durable, keys]);
        check(halves().paid(A, 2, 1), &[keys]);
    }

    #[test]
    fn the_provider_and_repairs() {
        use crate::history::{Decision, Reason, Refusal};
        check(lives().paid_as(A, 1, 0, 1, false), &[]);
        check(lives().paid_as(A, 1, 0, 1, true), &["no-payout-fails"]);
        let turned_away = |why| {
            let claim = crate::history::fixture::claim(A, 1);
            lives().on(PROVIDER, What::PayoutRejected { claim, op: OpId(0), why })
        };
        check(turned_away(Refusal::NoToken), &["gateway-wants-no-token"]);
        check(lives().payout_rejected(A, 1, 0), &[]);

        let operator = OPERATORS[0];
        let closed =
            |story: Story| story.decided(operator, 5, 0, (Decision::Close(PayoutId(1)), Reason::OneEffect));
        let repaired = || closed(lives().with_operators());
        check(repaired().paid(A, 4, 0), &["repairs-outwait-requests"]);
        check(closed(repaired().paid(A, 4, 0)), &[]);
        check(repaired().paid(A, 4, 1), &[]);
        // Whoever has the lease after the repair goes on.
        check(repaired().paid(A, 6, 0), &[]);
        check(repaired().paid(operator, 5, 0), &[]);
        check(lives().with_operators().deleted(operator, 5, 0, 1), &["repairs-delete-nothing"]);
    }

    #[test]
    fn what_was_written() {
        let failover = Fault::Failover(Failover { node: STORE, lag: Span::secs(1), lasting: Span::secs(1) });
        let granted = || lives().plan(failover.clone()).at(5).granted(A, 1, None).at(10);
        check(loses(granted(), STORE, 4), &["leases-survive-failover"]);
        check(loses(granted(), STORE, 5), &[]);
        let wrote = || lives().at(5).wrote(A, 1, 0).at(10);
        check(loses(wrote(), LEDGER, 4), &["accepted-is-durable"]);
        check(loses(wrote(), LEDGER, 5), &[]);
        check(loses(wrote(), PROVIDER, 4), &[]);
        check(loses(lives().at(5).paid(A, 1, 0), PROVIDER, 4), &["accepted-is-durable"]);
    }
}
