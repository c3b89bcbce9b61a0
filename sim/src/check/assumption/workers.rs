//! What protocols rely on of workers and of the network between them and the services.

use super::Assumption;
use crate::history::{Event, History, Role, What, standstills};
use crate::id::{Epoch, MessageId, NodeId};
use crate::point::Point;
use crate::time::{Span, TrueTime};

/// How long a message may take, and how much of a lease must be left when a worker begins an operation.
const MARGIN: Span = Span::secs(1);

/// See its sentence.
pub const NO_PAUSE_OVER_TTL: Assumption = Assumption {
    name: "no-pause-over-ttl",
    sentence: "no worker, and no task of one, is paused for as long as a lease lasts",
    is_kept: |history| {
        // Pauses that overlap or follow each other without a step in between are one.
        let mut since: Vec<Option<TrueTime>> = vec![None; history.nodes.len()];
        let mut pauses = vec![0; history.nodes.len()];
        let kept = history.events.iter().all(|event| {
            let mut is_short = true;
            paused_workers(history, event, |node, begins| {
                if begins {
                    pauses[node.index()] += 1;
                    since[node.index()].get_or_insert(event.at);
                    return;
                }
                pauses[node.index()] -= 1;
                let over = pauses[node.index()] == 0;
                let began = if over { since[node.index()].take() } else { None };
                is_short &= began.is_none_or(|began| event.at - began < history.ttl);
            });
            is_short
        });
        // One that the run was over before is as long as it got.
        kept && since.iter().flatten().all(|began| history.ended_at - *began < history.ttl)
    },
};

/// See its sentence.
pub const PAUSE_NOT_BETWEEN_CHECK_AND_ACT: Assumption = Assumption {
    name: "pause-not-between-check-and-act",
    sentence: "no worker, and no task of one, is paused between a check of its lease and the end of what follows from it",
    is_kept: |history| {
        let mut acts = Acts::of(history);
        history.events.iter().all(|event| {
            acts.note(event);
            let mut is_between = false;
            paused_workers(history, event, |node, begins| is_between |= begins && acts.is_acting(node));
            !is_between
        })
    },
};

/// See its sentence.
pub const REQUESTS_ARE_QUICK: Assumption = Assumption {
    name: "requests-are-quick",
    sentence: "a message from or to ledger or provider is taken in within a second of being sent, and what it asks to be \
               written is on disk a second later",
    is_kept: |history| {
        // Since when a message is on its way, and a write hangs.
        let mut sent = Vec::new();
        let mut hangs = vec![None; history.nodes.len()];
        let is_quick = |since: Option<TrueTime>, now| since.is_none_or(|since| now - since <= MARGIN);
        let over = |sent: &mut Vec<Option<TrueTime>>, message: MessageId| sent.get_mut(message.index())?.take();
        let kept = history.events.iter().all(|event| match event.what {
            What::MessageSent { message, to, .. } => {
                sent.resize(sent.len().max(message.index() + 1), None);
                let matters = is_resource(history, to) || is_resource(history, event.node);
                sent[message.index()] = matters.then_some(event.at);
                true
            }
            What::MessageDelivered { message, .. } => is_quick(over(&mut sent, message), event.at),
            What::MessageDropped { message, .. } | What::MessageLost { message, .. } => {
                over(&mut sent, message);
                true
            }
            What::WriteHung { .. } => {
                hangs[event.node.index()] = Some(event.at).filter(|_| is_resource(history, event.node));
                true
            }
            What::WriteReturned { .. } => is_quick(hangs[event.node.index()].take(), event.at),
            _ => true,
        });
        // What the run was over before took as long as it got.
        kept && sent.into_iter().chain(hangs).all(|since| is_quick(since, history.ended_at))
    },
};

/// See its sentence.
pub const CHECKS_LEAVE_TIME: Assumption = Assumption {
    name: "checks-leave-time",
    sentence: "a lease that a worker finds to hold has a second left, by the worker's clock",
    is_kept: |history| {
        let mut held = vec![None; history.nodes.len()];
        history.numbered().all(|(id, event)| match event.what {
            What::LeaseHeld { until, .. } => {
                held[event.node.index()] = Some(until);
                true
            }
            What::LeaseChecked { valid: true, .. } => held[event.node.index()].is_none_or(|until| {
                let now = history.reading(id, event.node, until.clock);
                until.reading.saturating_sub(now) >= MARGIN.as_nanos()
            }),
            _ => true,
        })
    },
};

/// See its sentence.
pub const OPERATIONS_RUN_THROUGH: Assumption = Assumption {
    name: "operations-run-through",
    sentence: "no operation is broken off by a death, a broken connection or a missing answer, and done again",
    is_kept: |history| {
        let mut acts = Acts::of(history);
        history.events.iter().all(|event| {
            let broken_off = match event.what {
                What::WorkerDied => acts.is_acting(event.node),
                What::MessageLost { from, .. } => is_resource(history, from) || is_resource(history, event.node),
                What::CallTimedOut { to, .. } => is_resource(history, to),
                _ => false,
            };
            acts.note(event);
            !broken_off
        })
    },
};

/// See its sentence.
pub const REQUESTS_COME_ONCE: Assumption = Assumption {
    name: "requests-come-once",
    sentence: "no request reaches ledger or provider twice",
    is_kept: |history| {
        let repeated =
            |event: &Event| matches!(event.what, What::MessageRepeated { to, .. } if is_resource(history, to));
        !history.events.iter().any(repeated)
    },
};

/// See its sentence.
pub const RELEASED_WHEN_DONE: Assumption = Assumption {
    name: "released-when-done",
    sentence: "a worker gives its lease back only when its work under it is over",
    is_kept: |history| {
        let mut released: Vec<(NodeId, Epoch)> = Vec::new();
        history.events.iter().all(|event| {
            if let What::LeaseReleased { worker, epoch } = event.what {
                released.push((worker, epoch));
            }
            let claim = match event.what {
                What::PayoutMade { claim, .. } | What::PayoutRepeated { claim, .. } => Some(claim),
                _ => event.what.mutation(),
            };
            claim.is_none_or(|claim| !released.contains(&(claim.worker, claim.epoch)))
        })
    },
};

/// See its sentence.
pub const A_WORKER_REMAINS: Assumption = Assumption {
    name: "a-worker-remains",
    sentence: "some worker lives on, or comes back",
    is_kept: |history| {
        history.nodes_with(Role::Worker).any(|worker| {
            let newest = history.events.iter().rev().find(|event| {
                let is_life = matches!(
                    event.what,
                    What::WorkerStarted | What::WorkerFinished | What::WorkerDied | What::WorkerRestored { .. }
                );
                event.node == worker && is_life
            });
            newest.is_some_and(|event| !matches!(event.what, What::WorkerDied))
        })
    },
};

/// See its sentence.
pub const NO_WORKER_GOES_BACK: Assumption = Assumption {
    name: "no-worker-goes-back",
    sentence: "no worker goes on from an earlier state of itself, as from a snapshot of its machine",
    is_kept: |history| !restores(history, |node, of| node == of),
};

/// See its sentence.
pub const NO_WORKER_IS_COPIED: Assumption = Assumption {
    name: "no-worker-is-copied",
    sentence: "no copy of a worker goes on beside it",
    is_kept: |history| !restores(history, |node, of| node != of),
};

/// Whether a machine went on from a snapshot, and it and whose snapshot it was are such.
fn restores(history: &History, are_such: impl Fn(NodeId, NodeId) -> bool) -> bool {
    history.events.iter().any(|event| match event.what {
        What::WorkerRestored { of, .. } => are_such(event.node, of),
        _ => false,
    })
}

/// Tells `found` of the workers that begin to stand still by `event` (`true`), if only with one task, or go on.
fn paused_workers(history: &History, event: &Event, mut found: impl FnMut(NodeId, bool)) {
    standstills(history, event, |still| {
        if history.is(still.node, Role::Worker) {
            found(still.node, still.begins);
        }
    });
}

fn is_resource(history: &History, node: NodeId) -> bool {
    history.is(node, Role::Ledger) || history.is(node, Role::Provider)
}

/// Which workers are between a check that passed and the end of what follows from it.
struct Acts(Vec<bool>);

impl Acts {
    fn of(history: &History) -> Acts {
        Acts(vec![false; history.nodes.len()])
    }

    fn note(&mut self, event: &Event) {
        const OVER: [Point; 5] = [
            Point::CHECKPOINT_MOVED,
            Point::EXPORT_DONE,
            Point::WRITE_BEGUN,
            Point::EXPORT_BEGUN,
            Point::LEASE_ENDED,
        ];
        match event.what {
            What::LeaseChecked { valid, .. } => self.0[event.node.index()] = valid,
            What::PointPassed(point) if OVER.contains(&point) => self.0[event.node.index()] = false,
            What::WorkerDied | What::WorkerFinished => self.0[event.node.index()] = false,
            _ => {}
        }
    }

    fn is_acting(&self, node: NodeId) -> bool {
        self.0[node.index()]
    }
}
