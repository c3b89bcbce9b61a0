//! The floor: a plain event loop on one thread. No async code, no trait objects, no allocation for an event; the heap's
//! room is kept from run to run. The messages, the sleeps and the latencies are those of `madsim-light`.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lease43::{
    A, B, Latencies, Op, Outcome, PAUSE_AT, POLL_EVERY, RENEW_EVERY, RESUME_AT, Request, STORE, Store, WRITE_EVERY,
    WRITES, args, measure,
};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Asked { who: u8, op: u8, number: u32, token: u64 },
    Answered { who: u8, op: u8, ok: bool, token: u64 },
    NextWrite { who: u8 },
    Poll,
    Renew,
    Pause,
    Resume,
}

struct World {
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64, Event)>>,
    queued: u64,
    /// By sender.
    latencies: [Latencies; 4],
    tokens: [u64; 3],
    held: Vec<Event>,
}

impl World {
    fn new() -> World {
        let latencies = [0; 4].map(|node| Latencies::new(0, node));
        World { now: 0, queue: BinaryHeap::new(), queued: 0, latencies, tokens: [0; 3], held: Vec::new() }
    }

    fn at(&mut self, at: u64, event: Event) {
        self.queued += 1;
        self.queue.push(Reverse((at, self.queued, event)));
    }

    fn send(&mut self, who: u8, op: Op, number: u32) {
        let arrives = self.now + self.latencies[usize::from(who)].next();
        self.at(arrives, Event::Asked { who, op: op as u8, number, token: self.tokens[usize::from(who)] });
    }

    fn run(&mut self, seed: u64) -> Outcome {
        self.queue.clear();
        self.held.clear();
        self.latencies = [0, A, B, STORE].map(|node| Latencies::new(seed, node));
        (self.now, self.queued, self.tokens) = (0, 0, [0; 3]);
        let mut store = Store::default();
        let (mut written, mut done) = ([0; 3], [false; 3]);
        let (mut events, mut paused) = (0, false);
        self.send(A, Op::Acquire, 0);
        self.at(POLL_EVERY, Event::Poll);
        self.at(PAUSE_AT, Event::Pause);
        self.at(RESUME_AT, Event::Resume);
        loop {
            let Reverse((now, _, event)) = self.queue.pop().expect("the workers are done before nothing is due");
            self.now = now;
            // A paused node takes no step: what would wake A waits until it goes on.
            if paused && matches!(event, Event::Answered { who: A, .. } | Event::NextWrite { who: A } | Event::Renew) {
                self.held.push(event);
                continue;
            }
            events += 1;
            match event {
                Event::Asked { who, op, number, token } => {
                    let answer = store.handle(now, &Request { who, op: Op::numbered(op), token, number });
                    let arrives = now + self.latencies[usize::from(STORE)].next();
                    self.at(arrives, Event::Answered { who, op, ok: answer.ok, token: answer.token });
                }
                Event::Answered { who, op, ok, token } => match Op::numbered(op) {
                    Op::Acquire if ok => {
                        self.tokens[usize::from(who)] = token;
                        if who == A {
                            self.at(now + RENEW_EVERY, Event::Renew);
                        }
                        self.send(who, Op::Write, 0);
                    }
                    Op::Acquire => self.at(now + POLL_EVERY, Event::Poll),
                    Op::Renew => self.at(now + RENEW_EVERY, Event::Renew),
                    Op::Write => {
                        written[usize::from(who)] += 1;
                        self.at(now + WRITE_EVERY, Event::NextWrite { who });
                    }
                },
                Event::NextWrite { who } => {
                    let number = written[usize::from(who)];
                    if number < WRITES {
                        self.send(who, Op::Write, number);
                    } else {
                        done[usize::from(who)] = true;
                        if done[usize::from(A)] && done[usize::from(B)] {
                            return store.outcome(now, events);
                        }
                    }
                }
                Event::Poll => self.send(B, Op::Acquire, 0),
                Event::Renew => {
                    if !done[usize::from(A)] {
                        self.send(A, Op::Renew, 0);
                    }
                }
                Event::Pause => paused = true,
                Event::Resume => {
                    paused = false;
                    let mut held = std::mem::take(&mut self.held);
                    held.drain(..).for_each(|event| self.at(now, event));
                    self.held = held;
                }
            }
        }
    }
}

fn main() {
    thread_local!(static WORLD: RefCell<World> = RefCell::new(World::new()));
    measure("floor", &args(50_000), |seed| WORLD.with_borrow_mut(|world| world.run(seed)));
}
