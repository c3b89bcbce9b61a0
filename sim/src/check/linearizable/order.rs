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
    /// The event that made it: whatever was told before is before it in the order, if it was at the same instant.
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

impl Rules {
    /// How long a lease lasts at the least that was promised for `ttl`.
    pub(super) fn shortest(self, ttl: Span) -> Span {
        (ttl - Span::nanos(ttl.as_nanos() / 1_000) - self.error).max(Span::ZERO)
    }
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Holder {
    client: NodeId,
    /// Its token; `None` as long as no answer says which.
    token: Option<Token>,
    /// Tokens that it isn't, if nobody said which it is.
    not: Vec<Token>,
    /// When it may be taken away at the earliest.
    until: TrueTime,
}

/// The service between two requests. Everything is as early as the order so far lets it be: that never stands in the way, as
/// what waits for a lease to run out is tried by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    now: TrueTime,
    holder: Option<Holder>,
    /// Whether the last lease ran out.
    ran_out: bool,
}

impl Holder {
    /// Whether it may be this client under this token.
    fn may_be(&self, client: NodeId, token: Token) -> bool {
        self.client == client && self.token.map_or(!self.not.contains(&token), |own| own == token)
    }

    /// The same, known to be under another token than this one; `None` if it is under this one.
    fn other_than(mut self, client: NodeId, token: Token) -> Option<Holder> {
        if self.client == client {
            match self.token {
                Some(own) if own == token => return None,
                Some(_) => {}
                None => {
                    // In order, so that the same knowledge is the same state.
                    if let Err(place) = self.not.binary_search(&token) {
                        self.not.insert(place, token);
                    }
                }
            }
        }
        Some(self)
    }
}

impl State {
    /// Before the first request.
    pub(super) fn start() -> State {
        State { now: TrueTime::START, holder: None, ran_out: false }
    }

    /// The state after the holder's lease ran out.
    fn expired(&self) -> Option<State> {
        let holder = self.holder.as_ref()?;
        Some(State { now: self.now.max(holder.until), holder: None, ran_out: true })
    }

    /// Adds to `states` those that `op` can lead to, if it is the next: one for each way in which it can have gone.
    fn after(&self, op: &Op, rules: Rules, mut found: impl FnMut(State)) {
        let here = State { now: self.now.max(op.from), ..self.clone() };
        // It happens at once, or when the lease has run out that there is.
        let expired = here.expired();
        for state in [Some(here), expired].into_iter().flatten() {
            if op.told.is_none_or(|(_, by, _)| state.now <= by)
                && let Some(after) = state.answers(op, rules)
            {
                found(after);
            }
        }
    }

    /// The state in which `op` is answered as it was; `None` if it can't be.
    fn answers(self, op: &Op, rules: Rules) -> Option<State> {
        let State { now, ref holder, ran_out } = self;
        let told = op.told.map(|(_, _, told)| told);
        let may_hold = |token| holder.as_ref().is_some_and(|holder| holder.may_be(op.client, token));
        let with = |token, ttl| {
            let until = now + rules.shortest(ttl);
            State {
                now,
                holder: Some(Holder { client: op.client, token, not: Vec::new(), until }),
                ran_out: false,
            }
        };
        let free = State { now, holder: None, ran_out: false };
        match (op.ask, told) {
            (LeaseAsk::Come, Some(LeaseTold::Done) | None) => {
                let is_its = holder.as_ref().is_some_and(|holder| holder.client == op.client);
                Some(if is_its { free } else { self })
            }
            (LeaseAsk::Acquire { ttl }, Some(LeaseTold::Granted { token })) => {
                holder.is_none().then(|| with(Some(token), ttl))
            }
            (LeaseAsk::Acquire { .. }, Some(LeaseTold::Refused)) => {
                (holder.is_some() || (rules.is_delayed && ran_out)).then_some(self)
            }
            (LeaseAsk::Acquire { ttl }, None) => holder.is_none().then(|| with(None, ttl)),
            (LeaseAsk::Renew { token, ttl }, Some(LeaseTold::Done) | None) => {
                may_hold(token).then(|| with(Some(token), ttl))
            }
            (LeaseAsk::Release { token }, Some(LeaseTold::Done) | None) => may_hold(token).then_some(free),
            (LeaseAsk::Renew { token, .. } | LeaseAsk::Release { token }, Some(LeaseTold::Refused)) => {
                let State { holder, .. } = self;
                let holder = match holder {
                    Some(holder) => Some(holder.other_than(op.client, token)?),
                    None => None,
                };
                Some(State { now, holder, ran_out })
            }
            (LeaseAsk::Read, Some(LeaseTold::Held { by: None })) => holder.is_none().then_some(self),
            (LeaseAsk::Read, Some(LeaseTold::Held { by: Some((client, token)) })) => {
                let holder = self.holder.filter(|holder| holder.may_be(client, token))?;
                Some(State {
                    holder: Some(Holder { token: Some(token), not: Vec::new(), ..holder }),
                    now,
                    ran_out,
                })
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

    /// Tells `found` of the requests that may be the next, as far as the other requests are concerned: none may be of which
    /// another is over already. Events and not instants say so, as several can be at one instant.
    fn may_be_next(&self, ops: &[Op], mut found: impl FnMut(usize)) {
        let mut first_told = None;
        for (index, op) in ops.iter().enumerate().skip(self.prefix).filter(|(index, _)| !self.is[*index]) {
            if first_told.is_some_and(|told| told < op.asked) {
                break;
            }
            if let Some((told, ..)) = op.told {
                first_told = Some(first_told.map_or(told, |first: EventId| first.min(told)));
            }
            found(index);
        }
    }

    /// The requests that may be the next, with the states that they lead to; the first comes last.
    fn next(&self, ops: &[Op], state: &State, rules: Rules) -> Vec<(usize, State)> {
        let mut next = Vec::new();
        self.may_be_next(ops, |index| state.after(&ops[index], rules, |after| next.push((index, after))));
        next.reverse();
        next
    }

    /// The first answer that isn't among them.
    fn stuck(&self, ops: &[Op]) -> usize {
        let mut first = None;
        // Whoever isn't asked yet when it is told can't be told earlier.
        self.may_be_next(ops, |index| {
            let told = ops[index].told.map(|(told, ..)| (told, index));
            first = first.into_iter().chain(told).min();
        });
        first.map_or(0, |(_, index)| index)
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
    let mut choices = taken.next(ops, &state, rules);
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
                if !seen.insert((taken.hash, after.clone())) {
                    taken.flip(op, ops);
                    continue;
                }
                steps.push(Step { op, before: std::mem::replace(&mut state, after), others: choices });
                if taken.answers > furthest.0 {
                    furthest = (taken.answers, taken.stuck(ops));
                }
                choices = taken.next(ops, &state, rules);
            }
            None => {
                let Some(step) = steps.pop() else { return Outcome::None { stuck: furthest.1 } };
                taken.flip(step.op, ops);
                (state, choices) = (step.before, step.others);
            }
        }
    }
}
