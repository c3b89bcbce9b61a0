//! Who thinks that it holds the lease, and when.
//!
//! A worker *believes* from the moment it learns of a grant until its own clock reaches the lease's end, or until it drops
//! the lease, looks and finds it gone, or is done. One that looks and finds its lease to hold past that end doesn't go by
//! the end: it believes all the while, until one of the others. While it is paused it thinks nothing.

use serde::Serialize;

use super::{History, What, standstills};
use crate::clock::Deadline;
use crate::fault::Fault;
use crate::id::{Epoch, EventId, FaultId, NodeId};
use crate::time::TrueTime;

/// One stretch of true time in which a worker thought that it held the lease: as long as it gets, and never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Belief {
    /// Who.
    pub worker: NodeId,
    /// The grant that it thought of.
    pub epoch: Epoch,
    /// When it began.
    pub from: TrueTime,
    /// The first instant at which it no longer thought so.
    pub until: TrueTime,
}

/// All beliefs of a run, ordered by their beginning, then by worker.
pub fn beliefs(history: &History) -> Vec<Belief> {
    let mut endless = Vec::new();
    loop {
        match beliefs_but_for(history, &endless) {
            Ok(beliefs) => return beliefs,
            Err(found) => endless.push(found),
        }
    }
}

/// The beliefs if the `endless` ones alone don't end with their leases.
///
/// # Errors
/// Another one that doesn't: whose it is, and of which grant.
fn beliefs_but_for(history: &History, endless: &[(NodeId, Epoch)]) -> Result<Vec<Belief>, (NodeId, Epoch)> {
    let mut minds = vec![Mind::default(); history.nodes.len()];
    let mut beliefs = Vec::new();
    // What the workers had in mind when snapshots of them were taken.
    let mut remembered: Vec<(EventId, Option<Held>)> = Vec::new();
    for (id, event) in history.numbered() {
        let mut apply = |node: NodeId, change| {
            if let Some(mind) = minds.get_mut(node.index()) {
                mind.close(history, node, event.at, &mut beliefs);
                mind.apply(change);
            }
        };
        match event.what {
            // Most of a history is these.
            What::PointPassed(_) | What::MessageSent { .. } | What::MessageDelivered { .. } => {}
            What::LeaseHeld { epoch, until } => {
                apply(event.node, Change::Held(epoch, until, endless.contains(&(event.node, epoch))));
            }
            What::LeaseChecked { epoch, valid: true } => {
                let held = minds.get(event.node.index()).and_then(|mind| mind.held);
                if held.is_some_and(|held| held.epoch == epoch && held.is_over(history, id, event.node)) {
                    return Err((event.node, epoch));
                }
            }
            What::LeaseChecked { epoch, valid: false } | What::LeaseDropped { epoch } => {
                apply(event.node, Change::Dropped(epoch))
            }
            What::WorkerFinished | What::WorkerDied => apply(event.node, Change::Finished),
            What::WorkerRestored { snapshot, .. } => {
                let held = remembered.iter().find(|(taken, _)| *taken == snapshot).and_then(|(_, held)| *held);
                // A copy of a worker may act past an end that the worker itself goes by.
                let held = held.map(|held| Held {
                    endless: held.endless || endless.contains(&(event.node, held.epoch)),
                    ..held
                });
                apply(event.node, Change::Restored(held));
            }
            What::FaultBegan { fault } if is_snapshot(history, fault) => {
                remembered.push((id, minds.get(event.node.index()).and_then(|mind| mind.held)));
            }
            // A worker of which one task stands still goes on thinking.
            _ => standstills(history, event, |still| match still.task {
                None if still.begins => apply(still.node, Change::Paused),
                None => apply(still.node, Change::Resumed),
                Some(_) => {}
            }),
        }
    }
    for (i, mind) in minds.iter_mut().enumerate() {
        mind.close(history, NodeId(i as u16), history.ended_at, &mut beliefs);
    }
    beliefs.sort_unstable_by_key(|belief| (belief.from, belief.worker));
    Ok(beliefs)
}

fn is_snapshot(history: &History, fault: FaultId) -> bool {
    history.plan.get(fault.index()).is_some_and(|planned| matches!(planned.inject, Fault::Snapshot(_)))
}

/// A grant that a worker knows of.
#[derive(Clone, Copy)]
struct Held {
    epoch: Epoch,
    /// The end that it knows for it.
    until: Deadline,
    /// Whether it doesn't go by that.
    endless: bool,
}

impl Held {
    /// Whether it has ended at the event `id`, by the clock of the worker on `node`.
    fn is_over(&self, history: &History, id: EventId, node: NodeId) -> bool {
        !self.endless && history.reading(id, node, self.until.clock) >= self.until.reading
    }
}

/// What happened to one worker's belief.
enum Change {
    Held(Epoch, Deadline, bool),
    Dropped(Epoch),
    Finished,
    /// It thinks what it thought when a snapshot was taken.
    Restored(Option<Held>),
    Paused,
    Resumed,
}

/// What one worker has in mind, as far as the events went.
#[derive(Clone, Copy, Default)]
struct Mind {
    /// The grant that it knows of.
    held: Option<Held>,
    /// How many pauses it is in: they may overlap.
    pauses: usize,
    /// Since when all this is so.
    since: TrueTime,
    /// The place of its newest belief in the list.
    newest: Option<usize>,
}

impl Mind {
    /// Adds what it believed since the last change to `beliefs`, up to `now`.
    fn close(&mut self, history: &History, worker: NodeId, now: TrueTime, beliefs: &mut Vec<Belief>) {
        let since = std::mem::replace(&mut self.since, now);
        let Some(Held { epoch, until: deadline, endless }) = self.held.filter(|_| self.pauses == 0) else {
            return;
        };
        let mut believed = |from, until| {
            let newest = self.newest.and_then(|i| beliefs.get_mut(i));
            match newest {
                // A renewal, a change of the clock's rate or a pause of no length does not end a belief.
                Some(newest) if newest.until == from && newest.epoch == epoch => newest.until = until,
                _ => {
                    self.newest = Some(beliefs.len());
                    beliefs.push(Belief { worker, epoch, from, until });
                }
            }
        };
        match endless {
            true if since < now => believed(since, now),
            true => {}
            false => history.node(worker).clocks.before(deadline, since, now, believed),
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Held(epoch, until, endless) => self.held = Some(Held { epoch, until, endless }),
            // A late farewell to an earlier grant leaves the present one alone.
            Change::Dropped(epoch) => self.held = self.held.filter(|held| held.epoch != epoch),
            Change::Finished => self.held = None,
            Change::Restored(held) => self.held = held,
            Change::Paused => self.pauses += 1,
            Change::Resumed => self.pauses = self.pauses.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Clock::{Monotonic, Wall};
    use crate::fault::{ClockStep, Pause, PauseClocks, Snapshot};
    use crate::history::fixture::{A, B, C, Story, belief_stories, believes, ms, pause};
    use crate::limits::Ending;
    use crate::time::Span;

    /// Worker, grant, from and until in milliseconds.
    #[track_caller]
    fn check(story: Story, expected: &[(NodeId, u32, i64, i64)]) {
        let expected: Vec<Belief> = expected
            .iter()
            .map(|&(worker, epoch, from, until)| Belief {
                worker,
                epoch: Epoch(epoch),
                from: ms(from),
                until: ms(until),
            })
            .collect();
        assert_eq!(beliefs(&story.history()), expected);
    }

    fn held_to(worker: NodeId, until: i64) -> Story {
        Story::new().held(worker, 1, Wall, until)
    }

    fn step(node: NodeId, by: i64) -> Fault {
        Fault::ClockStep(ClockStep { node, by: Span::millis(by) })
    }

    #[test]
    fn a_worker_believes_until_its_clock_reaches_the_deadline() {
        check(Story::new(), &[]);
        check(Story::new().at(5).held(A, 1, Wall, 40), &[(A, 1, 5, 40)]);
        check(Story::new().at(40).held(A, 1, Wall, 40), &[]);
    }

    #[test]
    fn a_renewal_replaces_the_deadline_and_does_not_split_the_belief() {
        check(held_to(A, 40).at(10).held(A, 1, Wall, 50), &[(A, 1, 0, 50)]);
        check(held_to(A, 40).at(10).held(A, 1, Wall, 20), &[(A, 1, 0, 20)]);
        check(held_to(A, 40).at(40).held(A, 1, Wall, 50), &[(A, 1, 0, 50)]);
        check(held_to(A, 40).at(41).held(A, 1, Wall, 50), &[(A, 1, 0, 40), (A, 1, 41, 50)]);
        check(held_to(A, 40).at(10).held(A, 2, Wall, 50), &[(A, 1, 0, 10), (A, 2, 10, 50)]);
    }

    #[test]
    fn dropping_and_finishing_end_it() {
        check(held_to(A, 40).at(10).dropped(A, 1), &[(A, 1, 0, 10)]);
        check(held_to(A, 40).at(10).on(A, What::WorkerFinished), &[(A, 1, 0, 10)]);
        check(held_to(A, 40).at(10).dropped(B, 1), &[(A, 1, 0, 40)]);
        check(held_to(A, 40).at(10).held(A, 2, Wall, 50).dropped(A, 1), &[(A, 1, 0, 10), (A, 2, 10, 50)]);
        check(held_to(A, 40).at(30).ends(Ending::TimeUp), &[(A, 1, 0, 30)]);
    }

    #[test]
    fn who_acts_past_the_end_believes_all_the_while() {
        let looks = |story: Story, valid| story.on(A, What::LeaseChecked { epoch: Epoch(1), valid });
        let checked = || looks(held_to(A, 40).at(50), true).at(55);
        check(checked().ends(Ending::TimeUp), &[(A, 1, 0, 55)]);
        check(checked().dropped(A, 1), &[(A, 1, 0, 55)]);
        check(checked().on(A, What::WorkerFinished), &[(A, 1, 0, 55)]);
        check(looks(checked(), false), &[(A, 1, 0, 55)]);
        check(checked().held(A, 2, Wall, 60), &[(A, 1, 0, 55), (A, 2, 55, 60)]);
        check(
            checked().plan(pause(A)).begins(0).at(70).heals(0).at(75).dropped(A, 1),
            &[(A, 1, 0, 55), (A, 1, 70, 75)],
        );
        check(looks(held_to(A, 40).at(39), true), &[(A, 1, 0, 40)]);
        check(looks(held_to(A, 40).at(39), false), &[(A, 1, 0, 39)]);
        // At the very end it is over, so whoever finds it to hold then doesn't go by that end.
        check(looks(held_to(A, 40).at(40), true).at(45).dropped(A, 1), &[(A, 1, 0, 45)]);
        // What is true of one isn't of others, nor of another grant.
        check(
            looks(held_to(A, 40).held(B, 2, Wall, 45).at(50), true).at(55).dropped(A, 1),
            &[(A, 1, 0, 55), (B, 2, 0, 45)],
        );
        check(looks(held_to(A, 40).at(45).held(A, 2, Wall, 60).at(65), true), &[(A, 1, 0, 40), (A, 2, 45, 60)]);
        // A clock that jumps right after a look was still before the end in it.
        check(looks(held_to(A, 40).plan(step(A, 30)).at(20), true).begins(0), &[(A, 1, 0, 20)]);
    }

    #[test]
    fn a_paused_worker_thinks_nothing() {
        let paused = || held_to(A, 40).plan(pause(A)).plan(pause(A)).at(10).begins(0);
        check(paused(), &[(A, 1, 0, 10)]);
        check(paused().at(20).heals(0), &[(A, 1, 0, 10), (A, 1, 20, 40)]);
        check(paused().heals(0), &[(A, 1, 0, 40)]);
        check(paused().at(50).heals(0), &[(A, 1, 0, 10)]);
        let overlapping = paused().at(15).begins(1).at(20).heals(0).at(30).heals(1);
        check(overlapping, &[(A, 1, 0, 10), (A, 1, 30, 40)]);
        let other = held_to(A, 40).plan(pause(B)).at(10).begins(0);
        check(other, &[(A, 1, 0, 40)]);
    }

    #[test]
    fn a_worker_that_is_throttled_thinks_nothing_while_it_stalls() {
        let fault = crate::id::FaultId(0);
        let stall = |story: Story, from, to| {
            story.at(from).on(A, What::Throttled { fault }).at(to).on(A, What::Unthrottled { fault })
        };
        let twice = stall(stall(held_to(A, 40), 10, 15), 20, 25);
        check(twice, &[(A, 1, 0, 10), (A, 1, 15, 20), (A, 1, 25, 40)]);
        check(stall(held_to(A, 40).plan(pause(A)).at(5).begins(0), 10, 15), &[(A, 1, 0, 5)]);
    }

    #[test]
    fn events_of_one_instant_count_in_their_order() {
        let story = || Story::new().plan(pause(A)).at(10);
        check(story().held(A, 1, Wall, 40).begins(0).at(20).heals(0), &[(A, 1, 20, 40)]);
        check(story().begins(0).at(20).heals(0).held(A, 1, Wall, 40), &[(A, 1, 20, 40)]);
        check(story().held(A, 1, Wall, 40).dropped(A, 1), &[]);
        check(story().held(A, 1, Wall, 40).dropped(A, 1).held(A, 2, Wall, 30), &[(A, 2, 10, 30)]);
    }

    #[test]
    fn a_step_backward_makes_a_worker_believe_again() {
        let back = |at| held_to(A, 40).plan(step(A, -20)).at(at).begins(0);
        check(back(50), &[(A, 1, 0, 40), (A, 1, 50, 60)]);
        check(back(40), &[(A, 1, 0, 60)]);
        check(back(70), &[(A, 1, 0, 40)]);
        check(back(50).dropped(A, 1), &[(A, 1, 0, 40)]);
        check(held_to(A, 40).at(45).dropped(A, 1).plan(step(A, -20)).at(50).begins(0), &[(A, 1, 0, 40)]);
        let monotonic = Story::new().held(A, 1, Monotonic, 40).plan(step(A, -20)).at(50).begins(0);
        check(monotonic, &[(A, 1, 0, 40)]);
        check(held_to(A, 40).plan(step(A, 20)).at(10).begins(0), &[(A, 1, 0, 20)]);
    }

    #[test]
    fn a_worker_that_is_put_back_thinks_what_it_thought_then() {
        let snapshot = |story: Story| story.plan(Snapshot { node: A }.into()).begins(0);
        let taken = EventId(1);
        let restored = |story: Story, node| story.on(node, What::WorkerRestored { of: A, snapshot: taken });
        let dropped = || snapshot(held_to(A, 40)).at(10).dropped(A, 1).at(20);
        check(restored(dropped(), A), &[(A, 1, 0, 10), (A, 1, 20, 40)]);
        check(restored(dropped(), C), &[(A, 1, 0, 10), (C, 1, 20, 40)]);
        // A copy that acts past the end, as the worker itself doesn't.
        let looks = |story: Story, node| story.on(node, What::LeaseChecked { epoch: Epoch(1), valid: true });
        check(looks(restored(dropped(), C).at(50), C).at(60).dropped(C, 1), &[(A, 1, 0, 10), (C, 1, 20, 60)]);
        let died = || snapshot(held_to(A, 40)).at(10).on(A, What::WorkerDied).at(20);
        check(restored(died(), A), &[(A, 1, 0, 10), (A, 1, 20, 40)]);
        let nothing = Story::new().on(A, What::WorkerStarted).plan(Snapshot { node: A }.into()).begins(0);
        check(restored(nothing.at(5).held(A, 1, Wall, 40).at(20), A), &[(A, 1, 5, 20)]);
    }

    #[test]
    fn a_freeze_leaves_the_lease_as_long_as_it_was() {
        let freeze = Pause::of(A, Span::secs(1), PauseClocks::Frozen).into();
        let story = held_to(A, 40).plan(freeze).at(10).begins(0).at(50).heals(0);
        check(story, &[(A, 1, 0, 10), (A, 1, 50, 80)]);
    }

    proptest! {
        #[test]
        fn beliefs_agree_with_a_look_at_any_instant(story in belief_stories(), at in 0..120_000_000i64) {
            let history = story.history();
            let beliefs = beliefs(&history);
            for at in [TrueTime::from_nanos(at), TrueTime::from_nanos(at / 1_000_000 * 1_000_000)] {
                for worker in [A, B, C] {
                    let within =
                        beliefs.iter().filter(|one| one.worker == worker && one.from <= at && at < one.until);
                    prop_assert_eq!(within.count(), usize::from(believes(&history, worker, at)));
                }
            }
            let touching = |one: &Belief, other: &Belief| {
                one.worker == other.worker && one.epoch == other.epoch && one.until == other.from
            };
            for (i, one) in beliefs.iter().enumerate() {
                prop_assert!(one.from < one.until && one.until <= history.ended_at);
                prop_assert!(!beliefs[i..].iter().any(|other| touching(one, other)));
            }
        }
    }
}
