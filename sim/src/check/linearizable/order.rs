//! The search for an order, as Wing and Gong do it and Lowe makes it quick: ahead with any request that may be the next, back
//! where none is, and never twice through the same state.

use std::collections::BTreeSet;

use crate::id::{EventId, NodeId, Token};
use crate::lease::{LeaseAsk, LeaseTold};
use crate::time::{Span, TrueTime};

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) client: NodeId,
    pub(super) ask: LeaseAsk,
    pub(super) asked: EventId,
    /// It took effect no earlier.
    pub(super) from: TrueTime,
    /// When its client was told what, if it was: it took effect no later.
    pub(super) told: Option<(EventId, TrueTime, LeaseTold)>,
}

/// What the order must obey beside the service itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether a lease that ran out isn't to be had for a while.
    pub(super) is_delayed: bool,
    /// What the leaders' clocks may take off a lease.
    pub(super) error: Span,
}

/// What a search comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is an order.
    Found,
    /// There is none. Of all beginnings of one the longest ends before this answer.
    None { stuck: usize },
    /// It took too many steps.
    GaveUp,
}

/// Who has the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Holder {
    client: NodeId,
    /// Its token; `None` if its client wasn't told.
    token: Option<Token>,
    /// When it may be taken away at the earliest.
    until: TrueTime,
}

/// The service between two requests. Everything is as early as the order so far lets it be: that never stands in the way, as
/// what waits for a lease to run out is tried by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    now: TrueTime,
    holder: Option<Holder>,
    /// Whether the last lease ran out.
    ran_out: bool,
}

impl Holder {
    fn is(&self, client: NodeId, token: Token) -> bool {
        self.client == client && self.token.is_none_or(|own| own == token)
    }
}

impl State {
    /// Before the first request.
    pub(super) fn start() -> State {
        State { now: TrueTime::START, holder: None, ran_out: false }
    }

    /// The state after the holder's lease ran out.
    fn expired(self) -> Option<State> {
        let holder = self.holder?;
        Some(State { now: self.now.max(holder.until), holder: None, ran_out: true })
    }

    /// The states that `op` can lead to, if it is the next: one for each way in which it can have gone.
    pub(super) fn after(self, op: &Op, rules: Rules) -> Vec<State> {
        let here = State { now: self.now.max(op.from), ..self };
        let is_in_time = |state: &State| op.told.is_none_or(|(_, by, _)| state.now <= by);
        let told = op.told.map(|(_, _, told)| told);
        // It happens at once, or when the lease has run out that there is.
        let states = std::iter::once(here).chain(here.expired()).filter(is_in_time);
        states.flat_map(|state| state.answers(op, told, rules)).collect()
    }

    fn answers(self, op: &Op, told: Option<LeaseTold>, rules: Rules) -> Option<State> {
        let until =
            |ttl: Span| self.now + (ttl - Span::nanos(ttl.as_nanos() / 1_000) - rules.error).max(Span::ZERO);
        let holds = |token| self.holder.is_some_and(|holder| holder.is(op.client, token));
        let free = State { holder: None, ran_out: false, ..self };
        let with = |token, ttl| State {
            holder: Some(Holder { client: op.client, token, until: until(ttl) }),
            ran_out: false,
            ..self
        };
        match (op.ask, told) {
            (LeaseAsk::Come, _) => {
                let is_its = self.holder.is_some_and(|holder| holder.client == op.client);
                Some(if is_its { free } else { self })
            }
            (LeaseAsk::Acquire { ttl }, Some(LeaseTold::Granted { token })) => {
                self.holder.is_none().then(|| with(Some(token), ttl))
            }
            (LeaseAsk::Acquire { .. }, Some(LeaseTold::Refused)) => {
                (self.holder.is_some() || (rules.is_delayed && self.ran_out)).then_some(self)
            }
            (LeaseAsk::Acquire { ttl }, None) => self.holder.is_none().then(|| with(None, ttl)),
            (LeaseAsk::Renew { token, ttl }, Some(LeaseTold::Done) | None) => {
                holds(token).then(|| with(Some(token), ttl))
            }
            (LeaseAsk::Release { token }, Some(LeaseTold::Done) | None) => holds(token).then_some(free),
            (LeaseAsk::Renew { token, .. } | LeaseAsk::Release { token }, Some(LeaseTold::Refused)) => {
                (!holds(token)).then_some(self)
            }
            (LeaseAsk::Read, Some(LeaseTold::Held { by })) => {
                let agrees = match (by, self.holder) {
                    (None, None) => true,
                    (Some((client, token)), Some(holder)) => holder.is(client, token),
                    _ => false,
                };
                agrees.then_some(self)
            }
            _ => None,
        }
    }
}

/// A request that was taken for the next, and what to go back to.
struct Step {
    op: usize,
    before: State,
    /// The ways to go on from `before` that weren't tried yet.
    others: Vec<(usize, State)>,
}

/// Which requests are in the order so far.
struct Taken {
    is: Vec<bool>,
    /// All before this one are.
    prefix: usize,
    /// A hash of which, as the exclusive or of one for each.
    hash: u128,
    /// How many answers are among them.
    answers: usize,
}

impl Taken {
    fn flip(&mut self, op: usize, ops: &[Op]) {
        self.is[op] = !self.is[op];
        self.hash ^= twox_hash::XxHash3_128::oneshot(&(op as u64).to_le_bytes());
        let by = usize::from(ops[op].told.is_some());
        self.answers = if self.is[op] { self.answers + by } else { self.answers - by };
        self.prefix = self.prefix.min(op);
        while self.is.get(self.prefix) == Some(&true) {
            self.prefix += 1;
        }
    }

    /// The requests that may be the next, with the states that they lead to. None may be of which another is over already.
    fn next(&self, ops: &[Op], state: State, rules: Rules) -> Vec<(usize, State)> {
        let mut by = TrueTime::from_nanos(i64::MAX);
        let mut next = Vec::new();
        for (index, op) in ops.iter().enumerate().skip(self.prefix).filter(|(index, _)| !self.is[*index]) {
            if op.from > by {
                break;
            }
            by = op.told.map_or(by, |(_, told, _)| by.min(told));
            next.push(index);
        }
        next.retain(|index| ops[*index].from <= by);
        // The first is tried first, so it comes last.
        next.into_iter()
            .rev()
            .flat_map(|index| state.after(&ops[index], rules).into_iter().rev().map(move |after| (index, after)))
            .collect()
    }

    /// The first answer that isn't among them.
    fn stuck(&self, ops: &[Op]) -> usize {
        let missing = ops.iter().enumerate().filter(|(index, _)| !self.is[*index]);
        let told = missing.filter_map(|(index, op)| op.told.map(|(_, at, _)| (at, index)));
        told.min().map_or(0, |(_, index)| index)
    }
}

/// Looks for an order of `ops`, which are in the order of asking.
pub(super) fn search(ops: &[Op], rules: Rules, most: usize) -> Outcome {
    let answers = ops.iter().filter(|op| op.told.is_some()).count();
    let mut state = State::start();
    let mut taken = Taken { is: vec![false; ops.len()], prefix: 0, hash: 0, answers: 0 };
    let mut steps: Vec<Step> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut furthest = (0, taken.stuck(ops));
    let mut left = most;
    let mut choices = taken.next(ops, state, rules);
    loop {
        if taken.answers == answers {
            return Outcome::Found;
        }
        if left == 0 {
            return Outcome::GaveUp;
        }
        left -= 1;
        match choices.pop() {
            Some((op, after)) => {
                taken.flip(op, ops);
                if !seen.insert((taken.hash, after)) {
                    taken.flip(op, ops);
                    continue;
                }
                steps.push(Step { op, before: state, others: choices });
                state = after;
                if taken.answers > furthest.0 {
                    furthest = (taken.answers, taken.stuck(ops));
                }
                choices = taken.next(ops, state, rules);
            }
            None => {
                let Some(step) = steps.pop() else { return Outcome::None { stuck: furthest.1 } };
                taken.flip(step.op, ops);
                (state, choices) = (step.before, step.others);
            }
        }
    }
}
