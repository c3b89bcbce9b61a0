//! lease-43 on stateright's simulation checker.
//!
//! stateright has no clock: its actors' timers fire in any order, however long they are, so a lease of 40 s against a pause of
//! 38 s can't be said with actors. It is said as a plain model here, whose state is the queue of events with their times, and
//! whose step is the earliest of them. What the checker chooses at each step is how long the message takes that the step
//! sends: 1.0 to 3.0 ms in tenths. The whole state is copied and hashed at each step; that is what the checker is for.
//!
//! The checker draws each run's seed from the one that it is given.

use std::sync::{Arc, Mutex};

use lease43::{
    A, B, Op, Outcome, PAUSE_AT, POLL_EVERY, RENEW_EVERY, RESUME_AT, Request, Store, WRITE_EVERY, WRITES, args,
    measure_batch,
};
use stateright::{Checker, Model, Property, UniformChooser};

/// How many latencies there are to choose from.
const LATENCIES: u8 = 21;

/// How many states a run has, by which the checker is told when to stop.
const STATES_A_RUN: u64 = 251;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Event {
    Begin,
    Asked { who: u8, op: u8, number: u32, token: u64 },
    Answered { who: u8, op: u8, ok: bool, token: u64 },
    NextWrite { who: u8 },
    Poll,
    Renew,
    Pause,
    Resume,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    now: u64,
    queued: u32,
    /// The latest first.
    queue: Vec<(u64, u32, Event)>,
    held: Vec<Event>,
    paused: bool,
    store: Store,
    tokens: [u64; 3],
    written: [u32; 3],
    done: [bool; 3],
}

impl State {
    fn at(&mut self, at: u64, event: Event) {
        self.queued += 1;
        let key = (at, self.queued);
        let place = self.queue.partition_point(|(at, number, _)| (*at, *number) > key);
        self.queue.insert(place, (at, self.queued, event));
    }

    fn send(&mut self, who: u8, op: Op, number: u32, latency: u64) {
        let token = self.tokens[usize::from(who)];
        self.at(self.now + latency, Event::Asked { who, op: op as u8, number, token });
    }

    /// Whether the next step sends a message.
    fn sends(&self) -> bool {
        match self.queue.last().map(|(_, _, event)| *event) {
            Some(Event::Begin | Event::Asked { .. } | Event::Poll | Event::Renew) => true,
            Some(Event::Answered { op, ok, .. }) => Op::numbered(op) == Op::Acquire && ok,
            Some(Event::NextWrite { who }) => self.written[usize::from(who)] < WRITES,
            Some(Event::Pause | Event::Resume) | None => false,
        }
    }

    fn is_over(&self) -> bool {
        self.done[usize::from(A)] && self.done[usize::from(B)]
    }

    fn step(&mut self, latency: u64) {
        let (now, _, event) = self.queue.pop().expect("the workers are done before nothing is due");
        self.now = now;
        if self.paused && matches!(event, Event::Answered { who: A, .. } | Event::NextWrite { who: A } | Event::Renew) {
            self.held.push(event);
            return;
        }
        match event {
            Event::Begin => self.send(A, Op::Acquire, 0, latency),
            Event::Asked { who, op, number, token } => {
                let answer = self.store.handle(now, &Request { who, op: Op::numbered(op), token, number });
                self.at(now + latency, Event::Answered { who, op, ok: answer.ok, token: answer.token });
            }
            Event::Answered { who, op, ok, token } => match Op::numbered(op) {
                Op::Acquire if ok => {
                    self.tokens[usize::from(who)] = token;
                    if who == A {
                        self.at(now + RENEW_EVERY, Event::Renew);
                    }
                    self.send(who, Op::Write, 0, latency);
                }
                Op::Acquire => self.at(now + POLL_EVERY, Event::Poll),
                Op::Renew => self.at(now + RENEW_EVERY, Event::Renew),
                Op::Write => {
                    self.written[usize::from(who)] += 1;
                    self.at(now + WRITE_EVERY, Event::NextWrite { who });
                }
            },
            Event::NextWrite { who } => match self.written[usize::from(who)] {
                number if number < WRITES => self.send(who, Op::Write, number, latency),
                _ => self.done[usize::from(who)] = true,
            },
            Event::Poll => self.send(B, Op::Acquire, 0, latency),
            Event::Renew => {
                if !self.done[usize::from(A)] {
                    self.send(A, Op::Renew, 0, latency);
                }
            }
            Event::Pause => self.paused = true,
            Event::Resume => {
                self.paused = false;
                for event in std::mem::take(&mut self.held) {
                    self.at(now, event);
                }
            }
        }
    }
}

/// The model, with what came of the runs that the checker made.
#[derive(Clone, Default)]
struct Lease(Arc<Mutex<Vec<Outcome>>>);

impl Model for Lease {
    type State = State;
    type Action = u8;

    fn init_states(&self) -> Vec<State> {
        let (queue, held, store) = (Vec::with_capacity(8), Vec::new(), Store::default());
        let (tokens, written, done) = ([0; 3], [0; 3], [false; 3]);
        let mut state = State { now: 0, queued: 0, queue, held, paused: false, store, tokens, written, done };
        state.at(0, Event::Begin);
        state.at(POLL_EVERY, Event::Poll);
        state.at(PAUSE_AT, Event::Pause);
        state.at(RESUME_AT, Event::Resume);
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<u8>) {
        if state.is_over() {
            let outcome = state.store.outcome(state.now, state.store.events());
            self.0.lock().expect("nobody panics with it").push(outcome);
            return;
        }
        actions.extend(0..if state.sends() { LATENCIES } else { 1 });
    }

    fn next_state(&self, state: &State, latency: u8) -> Option<State> {
        let mut state = state.clone();
        state.step(1_000_000 + u64::from(latency) * 100_000);
        Some(state)
    }

    /// Never falsified, so the checker goes on for as many states as it was given.
    fn properties(&self) -> Vec<Property<Lease>> {
        let numbered = |_: &Lease, state: &State| state.store.token == u64::from(state.store.grants);
        vec![Property::always("a granted lease is numbered", numbered)]
    }
}

fn check(seed: u64, runs: u64, threads: usize) -> Vec<Outcome> {
    let lease = Lease::default();
    let checker = lease.clone().checker().threads(threads).target_state_count((runs * STATES_A_RUN) as usize);
    checker.spawn_simulation(seed, UniformChooser).join();
    std::mem::take(&mut *lease.0.lock().expect("nobody panics with it"))
}

fn main() {
    measure_batch("stateright", &args(6_000), check);
}
