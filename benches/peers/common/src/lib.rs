//! What all programs of lease-43 have in common: the numbers of the workload, the store's rules, latencies, and how runs
//! are measured.
//!
//! The store is plain code that is told what time it is, so it is the same in all of them but holdover, which has services
//! of its own.

mod measure;

pub use measure::{Args, args, measure, measure_batch};

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;
/// Nanoseconds in a second.
pub const SEC: u64 = 1_000 * MS;
/// How long a lease lasts.
pub const TTL: u64 = 40 * SEC;
/// How long A waits before each renewal.
pub const RENEW_EVERY: u64 = 10 * SEC;
/// How long a worker waits after each write.
pub const WRITE_EVERY: u64 = 500 * MS;
/// How long B waits before it asks for the lease, again and again.
pub const POLL_EVERY: u64 = SEC;
/// When A is paused.
pub const PAUSE_AT: u64 = 5 * SEC;
/// For how long.
pub const PAUSE_FOR: u64 = 38 * SEC;
/// When A goes on.
pub const RESUME_AT: u64 = PAUSE_AT + PAUSE_FOR;
/// How many writes a worker makes.
pub const WRITES: u32 = 20;
/// The shortest that a message takes, in microseconds.
pub const LATENCY_MIN_US: u64 = 1_000;
/// The longest, in microseconds.
pub const LATENCY_MAX_US: u64 = 3_000;

/// The worker that has the lease first.
pub const A: u8 = 1;
/// The worker that gets it then.
pub const B: u8 = 2;
/// The lease store.
pub const STORE: u8 = 3;

/// What the store can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// The lease.
    Acquire,
    /// More time.
    Renew,
    /// A write that the lease protects.
    Write,
}

impl Op {
    /// The operation with this number.
    pub fn numbered(number: u8) -> Op {
        [Op::Acquire, Op::Renew, Op::Write][usize::from(number)]
    }
}

/// A request. `token` is the number of the lease that the worker thinks it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// Who asks.
    pub who: u8,
    /// For what.
    pub op: Op,
    /// Under which lease.
    pub token: u64,
    /// The number of the write.
    pub number: u32,
}

/// The answer to one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Response {
    /// Whether it was done.
    pub ok: bool,
    /// The number of the newest lease.
    pub token: u64,
}

impl Request {
    /// How many bytes one has.
    pub const LEN: usize = 16;

    /// The request as bytes.
    pub fn encode(&self) -> [u8; Request::LEN] {
        let mut bytes = [0; Request::LEN];
        bytes[0] = self.who;
        bytes[1] = self.op as u8;
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.token.to_le_bytes());
        bytes
    }

    /// The request that these are the bytes of.
    pub fn decode(bytes: &[u8; Request::LEN]) -> Request {
        let [who, op, _, _, n0, n1, n2, n3, token @ ..] = *bytes;
        let number = u32::from_le_bytes([n0, n1, n2, n3]);
        Request { who, op: Op::numbered(op), number, token: u64::from_le_bytes(token) }
    }
}

impl Response {
    /// How many bytes one has.
    pub const LEN: usize = 16;

    /// The answer as bytes.
    pub fn encode(&self) -> [u8; Response::LEN] {
        let mut bytes = [0; Response::LEN];
        bytes[0] = u8::from(self.ok);
        bytes[8..].copy_from_slice(&self.token.to_le_bytes());
        bytes
    }

    /// The answer that these are the bytes of.
    pub fn decode(bytes: &[u8; Response::LEN]) -> Response {
        let [ok, _, _, _, _, _, _, _, token @ ..] = *bytes;
        Response { ok: ok != 0, token: u64::from_le_bytes(token) }
    }
}

/// The lease store, with what is counted. Its `hash` is over each request that it handled, with the time: two runs with
/// the same hash did the same at the same nanoseconds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    /// The number of the newest lease.
    pub token: u64,
    /// Who has it.
    pub holder: u8,
    /// Until when.
    pub expires: u64,
    /// Messages, of requests and answers.
    pub messages: u32,
    /// How often B asked for the lease.
    pub polls: u32,
    /// How often the lease was granted.
    pub grants: u32,
    /// How often a renewal was asked for.
    pub renewals: u32,
    /// How many writes came.
    pub writes: u32,
    /// How many of them under a lease that was over.
    pub stale: u32,
    /// See above.
    pub hash: u64,
}

impl Default for Store {
    fn default() -> Store {
        let (token, holder, expires) = (0, 0, 0);
        let (messages, polls, grants, renewals, writes, stale) = (0, 0, 0, 0, 0, 0);
        let hash = 0xcbf2_9ce4_8422_2325;
        Store { token, holder, expires, messages, polls, grants, renewals, writes, stale, hash }
    }
}

/// One more value in a hash.
#[inline]
pub fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

impl Store {
    /// Handles a request that arrives at `now`.
    #[inline]
    pub fn handle(&mut self, now: u64, request: &Request) -> Response {
        // The request, and the answer that is about to be sent.
        self.messages += 2;
        let ok = match request.op {
            Op::Acquire => {
                self.polls += u32::from(request.who == B);
                let free = self.holder == 0 || now >= self.expires;
                if free {
                    self.token += 1;
                    self.holder = request.who;
                    self.expires = now + TTL;
                    self.grants += 1;
                }
                free
            }
            Op::Renew => {
                self.renewals += 1;
                let ok = request.token == self.token;
                if ok {
                    self.expires = now + TTL;
                }
                ok
            }
            Op::Write => {
                self.writes += 1;
                let ok = request.token == self.token && now < self.expires;
                self.stale += u32::from(!ok);
                ok
            }
        };
        let what = u64::from(request.who) << 56
            | (request.op as u64) << 48
            | u64::from(request.number) << 16
            | request.token << 1
            | u64::from(ok);
        self.hash = mix(mix(self.hash, now), what);
        Response { ok, token: self.token }
    }

    /// What came of a run that ended at `end` after so many `events`.
    pub fn outcome(&self, end: u64, events: u64) -> Outcome {
        Outcome { store: self.clone(), end, events }
    }

    /// How many events a run has by this count: deliveries, sleeps that are over, and the pause with its end.
    pub fn events(&self) -> u64 {
        u64::from(self.messages + self.writes + self.polls + self.renewals + 2)
    }
}

/// What came of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The store at its end.
    pub store: Store,
    /// When both workers were done, in simulated nanoseconds.
    pub end: u64,
    /// How many messages were delivered and timers fired; 0 where nobody counts.
    pub events: u64,
}

impl Outcome {
    /// Whether the run was the one that is meant.
    pub fn is_right(&self) -> bool {
        let Store { messages, grants, writes, stale, .. } = self.store;
        (messages, grants, writes, stale) == (164, 2, 40, 10)
    }
}

/// What latencies are drawn from, one for each sending node (SplitMix64).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Latencies(u64);

impl Latencies {
    /// Those of `node` under `seed`.
    pub fn new(seed: u64, node: u8) -> Latencies {
        Latencies(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (u64::from(node) << 56))
    }

    /// How long the next message takes, in nanoseconds: 1 to 3 ms, in whole microseconds.
    #[inline]
    pub fn next(&mut self) -> u64 {
        let width = LATENCY_MAX_US - LATENCY_MIN_US + 1;
        (LATENCY_MIN_US + ((u128::from(self.draw()) * u128::from(width)) >> 64) as u64) * 1_000
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }
}
