//! A small record, made by hand, and everything that can be written of a replay.

use holdover::replay::{JudgedRun, Premise, Replay};
use holdover::report::{Excerpt, json, jsonl, markdown, mermaid, perfetto, svg};
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::clock::{Clock, ClockLine, Deadline, Rate};
use holdover::sim::fault::{Anchor, ClockStep, Pause, PauseClocks, PlannedFault};
use holdover::sim::history::{Claim, Event, History, NodeRecord, Refusal, Role, What};
use holdover::sim::id::{
    Amount, EntryId, Epoch, EventId, FaultId, LeaseId, MessageId, NodeId, OpId, PayoutId, Token,
};
use holdover::sim::limits::Ending;
use holdover::sim::protocol::{AnyProtocol, Fenced, Naive};
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::worker_node;

/// The formats by their names on the command line, and how each is written.
pub(crate) const FORMATS: [(&str, Writer); 6] = [
    ("json", |replay, _, out| json::write(replay, FILE, COMMAND, out).expect("a Vec takes any bytes")),
    ("jsonl", |replay, _, out| jsonl::write(replay, out).expect("a Vec takes any bytes")),
    ("markdown", |replay, excerpt, out| {
        markdown::write(replay, FILE, COMMAND, excerpt, out).expect("a Vec takes any bytes");
    }),
    ("mermaid", |replay, excerpt, out| mermaid::write(replay, excerpt, out).expect("a Vec takes any bytes")),
    ("perfetto", |replay, _, out| perfetto::write(replay, FILE, COMMAND, out).expect("a Vec takes any bytes")),
    ("svg", |replay, excerpt, out| svg::write(replay, excerpt, out).expect("a Vec takes any bytes")),
];

type Writer = fn(&Replay<'_>, &Excerpt, &mut Vec<u8>);

const FILE: &str = "by-hand.toml";
const COMMAND: &str = "holdover replay by-hand.toml";

pub(crate) const BOTH: [&dyn AnyProtocol; 2] = [&Naive, &Fenced];

/// `replay` in the format of this name.
pub(crate) fn written_in(format: &str, replay: &Replay<'_>) -> String {
    excerpt_in(format, replay, &Excerpt::default())
}

/// No more of `replay` than `excerpt`, likewise.
pub(crate) fn excerpt_in(format: &str, replay: &Replay<'_>, excerpt: &Excerpt) -> String {
    let (_, write) = FORMATS.iter().find(|(name, _)| *name == format).expect("a format of the list");
    let mut text = Vec::new();
    write(replay, excerpt, &mut text);
    String::from_utf8(text).expect("all formats are text")
}

/// The scenario that the record is of.
pub(crate) fn scenario() -> Scenario {
    let mut scenario = Scenario::parse("by-hand.toml", SMALLEST).expect("it is a scenario");
    scenario.title = "Made by hand".to_owned();
    scenario.story = Some("One worker pauses.\n\nThe other takes over; 1. this isn't a *list*.".to_owned());
    scenario
}

/// The record: under naive a stale write is accepted and a payout made twice, under fenced both are turned away.
pub(crate) fn replay(scenario: &Scenario) -> Replay<'_> {
    let runs = BOTH.map(|protocol| JudgedRun::of(&scenario.world, protocol, by_hand(scenario, protocol)));
    Replay { premise: Premise::of(scenario), seed: Seed(7), runs: runs.into() }
}

const STORE: NodeId = NodeId(0);
const LEDGER: NodeId = NodeId(1);
const PROVIDER: NodeId = NodeId(2);

fn ms(millis: i64) -> TrueTime {
    TrueTime::START + Span::millis(millis)
}

fn by_hand(scenario: &Scenario, protocol: &dyn AnyProtocol) -> History {
    let fenced = protocol.name() == "fenced";
    let (a, b) = (worker_node(0), worker_node(1));
    let start = scenario.world.start;
    let wall = |millis| start + Span::millis(millis);
    let node = |name: &str, role| NodeRecord {
        name: name.to_owned(),
        role,
        clocks: ClockLine::new(start, Rate::EXACT),
        copy_of: None,
    };
    let workers = scenario.world.workers.iter().map(|worker| node(&worker.name, Role::Worker));
    let services = [("lease-store", Role::LeaseStore), ("ledger", Role::Ledger), ("provider", Role::Provider)];
    let mut nodes: Vec<NodeRecord> =
        services.map(|(name, role)| node(name, role)).into_iter().chain(workers).collect();
    nodes[a.index()].clocks.change(ms(9_000), |segment| segment.step(Span::millis(-420)));
    let note = |text: &str| Some(text.to_owned());
    let mut plan = vec![
        PlannedFault {
            when: Anchor::At(ms(1_000)),
            inject: Pause::of(a, Span::secs(8), PauseClocks::Running).into(),
            note: note("host migration"),
            name: None,
        },
        PlannedFault {
            when: Anchor::At(ms(9_000)),
            inject: ClockStep { node: a, by: Span::millis(-420) }.into(),
            note: note("NTP"),
            name: None,
        },
    ];
    if !scenario.plan.is_empty() {
        plan[0].note.clone_from(&scenario.plan[0].note);
    }

    let mut told = Told { events: Vec::new(), messages: 0 };
    let token = |number| fenced.then_some(Token(number));
    let claim = |worker, epoch: u32| Claim { worker, epoch: Epoch(epoch), token: token(u64::from(epoch)) };
    let granted = |worker, epoch: u32, until| What::LeaseGranted {
        worker,
        epoch: Epoch(epoch),
        lease: LeaseId(u64::from(epoch)),
        token: token(u64::from(epoch)),
        until: wall(until),
    };
    let held = |epoch, until: i64| What::LeaseHeld {
        epoch: Epoch(epoch),
        until: Deadline { clock: Clock::Wall, reading: wall(until).as_nanos() },
    };
    let wrote = |worker, epoch, op, entry| What::WriteAccepted {
        claim: claim(worker, epoch),
        op: OpId(op),
        entry: EntryId(entry),
        amount: Amount(100),
    };
    let paid = |worker, epoch, op, payout| What::PayoutMade {
        claim: claim(worker, epoch),
        op: OpId(op),
        payout: PayoutId(payout),
        amount: Amount(100),
    };
    let why = Refusal::TokenTooLow { highest: Token(2) };

    told.event(0, a, What::WorkerStarted);
    told.event(0, b, What::WorkerStarted);
    told.asked(10, a, STORE, "lease.acquire", granted(a, 1, 5_000));
    told.event(14, a, held(1, 5_000));
    told.asked(20, b, STORE, "lease.acquire", What::LeaseRefused { worker: b, holder: a });
    if fenced {
        told.asked(30, a, LEDGER, "ledger.fence", What::GenerationOpened { claim: claim(a, 1), next: OpId(0) });
    }
    told.asked(40, a, LEDGER, "ledger.write", wrote(a, 1, 0, 1));
    told.asked(50, a, PROVIDER, "provider.pay", paid(a, 1, 0, 1));
    told.event(1_000, a, What::FaultBegan { fault: FaultId(0) });
    told.asked(5_010, b, STORE, "lease.acquire", granted(b, 2, 65_000));
    told.event(5_014, b, held(2, 65_000));
    if fenced {
        told.asked(5_020, b, LEDGER, "ledger.fence", What::GenerationOpened { claim: claim(b, 2), next: OpId(1) });
    }
    told.asked(5_030, b, LEDGER, "ledger.write", wrote(b, 2, 1, 2));
    told.asked(5_040, b, PROVIDER, "provider.pay", paid(b, 2, 1, 2));
    told.event(9_000, a, What::FaultEnded { fault: FaultId(0) });
    told.event(9_000, a, What::FaultBegan { fault: FaultId(1) });
    told.event(9_000, a, What::FaultEnded { fault: FaultId(1) });
    let op = OpId(1);
    match fenced {
        false => {
            told.asked(9_010, a, LEDGER, "ledger.write", wrote(a, 1, 1, 3));
            told.asked(9_020, a, PROVIDER, "provider.pay", paid(a, 1, 1, 3));
        }
        true => {
            told.asked(9_010, a, LEDGER, "ledger.write", What::WriteRejected { claim: claim(a, 1), op, why });
            told.asked(9_020, a, PROVIDER, "provider.pay", What::PayoutRejected { claim: claim(a, 1), op, why });
        }
    }
    told.event(9_030, a, What::WorkerFinished);
    told.event(9_040, b, What::WorkerFinished);
    History {
        protocol: if fenced { "fenced" } else { "naive" },
        seed: Seed(7),
        start,
        nodes,
        batch: vec![Amount(100), Amount(100)],
        plan,
        due: TrueTime::START,
        progress_within: Span::secs(60),
        ttl: Span::secs(5),
        expiry_as_meant: true,
        store_clock: None,
        lease_service: holdover::sim::lease::LeaseService::Table,
        events: told.events,
        exports: Vec::new(),
        ending: Ending::Finished,
        ended_at: ms(10_000),
    }
}

/// What happened so far.
struct Told {
    events: Vec<Event>,
    messages: u32,
}

impl Told {
    fn event(&mut self, millis: i64, node: NodeId, what: What) {
        self.events.push(Event { at: ms(millis), node, cause: None, what });
    }

    /// `worker` asks `service`, whose answer begins with `what`; the request takes two milliseconds.
    fn asked(&mut self, millis: i64, worker: NodeId, service: NodeId, about: &'static str, what: What) {
        let message = MessageId(self.messages);
        self.messages += 1;
        let latency = Span::millis(2);
        let sent = EventId(self.events.len() as u32);
        self.event(millis, worker, What::MessageSent { message, to: service, about, answer: false, latency });
        let (at, cause) = (ms(millis + 2), Some(sent));
        self.events.push(Event {
            at,
            node: service,
            cause,
            what: What::MessageDelivered { message, from: worker },
        });
        self.events.push(Event { at, node: service, cause: Some(EventId(sent.0 + 1)), what });
    }
}
