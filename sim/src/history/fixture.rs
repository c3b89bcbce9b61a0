//! Small histories made by hand, for tests: a world of three services and three workers, told event by event.

mod random;
mod repair;

pub(crate) use random::{belief_stories, believes, ledger_stories};
pub(crate) use repair::OPERATORS;

use super::{Claim, Event, History, NodeRecord, Refusal, Role, Row, What};
use crate::clock::{Clock, ClockLine, Deadline, Motion, Rate};
use crate::fault::{Anchor, Fault, Pause, PauseClocks, PlannedFault, SplitBrain};
use crate::id::{
    Amount, EntryId, Epoch, EventId, ExportId, FaultId, LeaseId, MessageId, NodeId, OpId, PayoutId, Token,
};
use crate::lease::LeaseService;
use crate::limits::Ending;
use crate::seed::Seed;
use crate::time::{Span, TrueTime, WallTime};

pub(crate) const STORE: NodeId = NodeId(0);
pub(crate) const LEDGER: NodeId = NodeId(1);
pub(crate) const PROVIDER: NodeId = NodeId(2);
pub(crate) const A: NodeId = NodeId(3);
pub(crate) const B: NodeId = NodeId(4);
pub(crate) const C: NodeId = NodeId(5);

/// True time `millis` after the start.
pub(crate) fn ms(millis: i64) -> TrueTime {
    TrueTime::START + Span::millis(millis)
}

/// The claim of `worker` under the grant `epoch`, whose token is the same number.
pub(crate) fn claim(worker: NodeId, epoch: u32) -> Claim {
    Claim { worker, epoch: Epoch(epoch), token: Some(Token(u64::from(epoch))) }
}

/// A reading of `clock`, in milliseconds of that clock. All clocks of a story begin at 0.
pub(crate) fn deadline(clock: Clock, millis: i64) -> Deadline {
    Deadline { clock, reading: Span::millis(millis).as_nanos() }
}

/// A pause of `node`; its length is told by the story's events.
pub(crate) fn pause(node: NodeId) -> Fault {
    Pause::of(node, Span::secs(1), PauseClocks::Running).into()
}

/// How far the wall clock jumps when a fault begins.
fn jump(fault: &Fault) -> Span {
    match fault {
        Fault::ClockStep(step) => step.by,
        Fault::ClockStrobe(strobe) => strobe.by,
        Fault::ZoneError(zone) => zone.by,
        Fault::LeapSecond(leap) if !leap.stepped.is_empty() => Span::secs(-1),
        _ => Span::ZERO,
    }
}

/// A row of an export in which entry and payout are numbered as the operation.
pub(crate) fn row(op: u32, amount: i64) -> Row {
    Row { op: OpId(op), amount: Amount(amount), entry: EntryId(op), payout: PayoutId(op) }
}

/// A history in the making. Its batch is two operations, for 100 and 200; nothing is planned; it ends finished, one
/// minute after the start.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    now: TrueTime,
    history: History,
}

impl Story {
    pub(crate) fn new() -> Story {
        let nodes = [
            ("lease-store", Role::LeaseStore),
            ("ledger", Role::Ledger),
            ("provider", Role::Provider),
            ("a", Role::Worker),
            ("b", Role::Worker),
            ("c", Role::Worker),
        ];
        let node = |(name, role): (&str, Role)| NodeRecord {
            name: name.to_owned(),
            role,
            clocks: ClockLine::new(WallTime::default(), Rate::EXACT),
            copy_of: None,
        };
        let history = History {
            protocol: "by-hand",
            seed: Seed(0),
            start: WallTime::default(),
            nodes: nodes.map(node).into(),
            batch: vec![Amount(100), Amount(200)],
            plan: Vec::new(),
            due: TrueTime::START,
            progress_within: Span::secs(10),
            ttl: Span::secs(40),
            expiry_as_meant: true,
            store_clock: None,
            lease_service: LeaseService::Table,
            events: Vec::new(),
            exports: Vec::new(),
            ending: Ending::Finished,
            ended_at: ms(60_000),
        };
        Story { now: TrueTime::START, history }
    }

    pub(crate) fn history(self) -> History {
        self.history
    }

    /// What follows happens `millis` after the start.
    pub(crate) fn at(mut self, millis: i64) -> Story {
        self.now = ms(millis);
        self
    }

    /// The run ends here, in this way.
    pub(crate) fn ends(mut self, ending: Ending) -> Story {
        self.history.ending = ending;
        self.history.ended_at = self.now;
        self
    }

    /// The job is due then.
    pub(crate) fn due(&mut self, at: TrueTime) {
        self.history.due = at;
    }

    /// Leases end by this clock of the lease store.
    pub(crate) fn leases_end_by(mut self, clock: Clock) -> Story {
        self.history.store_clock = Some(clock);
        self
    }

    /// This kept the lease.
    pub(crate) fn kept_by(mut self, service: LeaseService) -> Story {
        self.history.lease_service = service;
        self
    }

    pub(crate) fn batch(mut self, amounts: &[i64]) -> Story {
        self.history.batch = amounts.iter().copied().map(Amount).collect();
        self
    }

    /// Adds a fault to the plan.
    pub(crate) fn plan(mut self, inject: Fault) -> Story {
        self.history.plan.push(PlannedFault { when: Anchor::At(self.now), inject, note: None, name: None });
        self
    }

    pub(crate) fn on(mut self, node: NodeId, what: What) -> Story {
        let id = EventId(self.history.events.len().saturating_sub(1) as u32);
        let follows = |before: &&Event| {
            matches!((before.what, what), (What::DeposedServed { .. }, _) | (_, What::PayoutTakenIn { .. }))
        };
        let cause = self.history.events.last().filter(follows).map(|_| id);
        self.history.events.push(Event { at: self.now, node, cause, what });
        self
    }

    /// The service on `node` is split: its old primary goes on answering `old`.
    pub(crate) fn split(self, node: NodeId, old: NodeId) -> Story {
        let fault = self.history.plan.len() as u16;
        let (old, lag, lasting) = (vec![old], Span::ZERO, Span::secs(1));
        self.plan(Fault::SplitBrain(SplitBrain { node, old, lag, lasting })).begins(fault)
    }

    /// What comes next is the doing of the deposed primary of the service on `node`, for `worker`.
    pub(crate) fn deposed(self, node: NodeId, worker: NodeId) -> Story {
        self.on(node, What::DeposedServed { worker, fault: FaultId(0) })
    }

    /// The planned fault `fault` strikes, and the clocks do what it says.
    pub(crate) fn begins(mut self, fault: u16) -> Story {
        let inject = self.history.plan[usize::from(fault)].inject.clone();
        let since = EventId(self.history.events.len() as u32);
        let clocks = &mut self.history.nodes[inject.node().index()].clocks;
        match &inject {
            Fault::Pause(pause) => {
                let motion = match pause.clocks {
                    PauseClocks::Suspended => Motion::Suspended,
                    PauseClocks::Frozen | PauseClocks::Corrected { .. } => Motion::Frozen,
                    _ => Motion::Running,
                };
                clocks.change_with(since, self.now, |segment| segment.motion = motion);
            }
            Fault::ClockSlew(slew) => clocks.change_with(since, self.now, |segment| segment.slew = slew.rate),
            Fault::ClockDrift(drift) => clocks.change_with(since, self.now, |segment| segment.drift = drift.rate),
            _ => clocks.change_with(since, self.now, |segment| segment.step(jump(&inject))),
        }
        self.on(inject.node(), What::FaultBegan { fault: FaultId(fault) })
    }

    /// The planned fault `fault` heals.
    pub(crate) fn heals(mut self, fault: u16) -> Story {
        let inject = self.history.plan[usize::from(fault)].inject.clone();
        let since = EventId(self.history.events.len() as u32);
        let clocks = &mut self.history.nodes[inject.node().index()].clocks;
        match &inject {
            Fault::Pause(_) => clocks.change_with(since, self.now, |segment| segment.motion = Motion::Running),
            Fault::ClockSlew(_) => clocks.change_with(since, self.now, |segment| segment.slew = Rate::EXACT),
            Fault::ClockDrift(drift) if drift.lasting.is_some() => {
                clocks.change_with(since, self.now, |segment| segment.drift = Rate::EXACT);
            }
            Fault::ClockStrobe(_) | Fault::ZoneError(_) => {
                clocks.change_with(since, self.now, |segment| segment.step(-jump(&inject)));
            }
            _ => {}
        }
        self.on(inject.node(), What::FaultEnded { fault: FaultId(fault) })
    }

    /// `worker` learns that it holds grant `epoch` until its `clock` reads `until`.
    pub(crate) fn held(self, worker: NodeId, epoch: u32, clock: Clock, until: i64) -> Story {
        self.on(worker, What::LeaseHeld { epoch: Epoch(epoch), until: deadline(clock, until) })
    }

    pub(crate) fn dropped(self, worker: NodeId, epoch: u32) -> Story {
        self.on(worker, What::LeaseDropped { epoch: Epoch(epoch) })
    }

    /// The store grants the lease, with a token if there is one.
    pub(crate) fn granted(self, worker: NodeId, epoch: u32, token: Option<u64>) -> Story {
        let (lease, token) = (LeaseId(u64::from(epoch)), token.map(Token));
        let until = WallTime::from_nanos(self.now.as_nanos()) + Span::secs(40);
        self.on(STORE, What::LeaseGranted { worker, epoch: Epoch(epoch), lease, token, until })
    }

    pub(crate) fn released(self, worker: NodeId, epoch: u32) -> Story {
        self.on(STORE, What::LeaseReleased { worker, epoch: Epoch(epoch) })
    }

    pub(crate) fn sent(self, from: NodeId, to: NodeId, message: u32, latency: i64) -> Story {
        let (message, latency) = (MessageId(message), Span::millis(latency));
        self.on(from, What::MessageSent { message, to, about: "by-hand", answer: false, latency })
    }

    pub(crate) fn delivered(self, from: NodeId, to: NodeId, message: u32) -> Story {
        self.on(to, What::MessageDelivered { message: MessageId(message), from })
    }

    pub(crate) fn lost(self, from: NodeId, to: NodeId, message: u32) -> Story {
        self.on(to, What::MessageLost { message: MessageId(message), from })
    }

    pub(crate) fn fenced(self, worker: NodeId, epoch: u32) -> Story {
        self.on(LEDGER, What::GenerationOpened { claim: claim(worker, epoch), next: OpId(0) })
    }

    pub(crate) fn fence_rejected(self, worker: NodeId, epoch: u32) -> Story {
        self.on(LEDGER, What::FenceRejected { claim: claim(worker, epoch), why: Refusal::NoToken })
    }

    /// The ledger takes in an entry for the amount that the batch has.
    pub(crate) fn wrote(self, worker: NodeId, epoch: u32, op: u32) -> Story {
        let amount = self.history.batch.get(op as usize).map_or(0, |amount| amount.0);
        self.wrote_amount(worker, epoch, op, amount)
    }

    pub(crate) fn wrote_amount(self, worker: NodeId, epoch: u32, op: u32, amount: i64) -> Story {
        let (op, entry, amount) = (OpId(op), EntryId(self.history.events.len() as u32), Amount(amount));
        self.on(LEDGER, What::WriteAccepted { claim: claim(worker, epoch), op, entry, amount })
    }

    pub(crate) fn write_repeated(self, worker: NodeId, epoch: u32, op: u32) -> Story {
        let (op, entry) = (OpId(op), EntryId(op));
        self.on(LEDGER, What::WriteRepeated { claim: claim(worker, epoch), op, entry })
    }

    pub(crate) fn write_rejected(self, worker: NodeId, epoch: u32, op: u32) -> Story {
        let why = Refusal::TokenTooLow { highest: Token(u64::MAX) };
        self.on(LEDGER, What::WriteRejected { claim: claim(worker, epoch), op: OpId(op), why })
    }

    pub(crate) fn checkpoint(self, worker: NodeId, epoch: u32) -> Story {
        self.on(LEDGER, What::CheckpointMoved { claim: claim(worker, epoch), next: OpId(1) })
    }

    pub(crate) fn exported(mut self, worker: NodeId, epoch: u32, rows: &[Row]) -> Story {
        let export = ExportId(self.history.exports.len() as u32);
        self.history.exports.push(rows.to_vec());
        self.on(LEDGER, What::ExportPublished { claim: claim(worker, epoch), export })
    }

    pub(crate) fn paid(self, worker: NodeId, epoch: u32, op: u32) -> Story {
        let (op, payout, amount) = (OpId(op), PayoutId(op), Amount(100));
        self.on(PROVIDER, What::PayoutMade { claim: claim(worker, epoch), op, payout, amount })
    }

    pub(crate) fn payout_repeated(self, worker: NodeId, epoch: u32, op: u32) -> Story {
        let (op, payout) = (OpId(op), PayoutId(op));
        self.on(PROVIDER, What::PayoutRepeated { claim: claim(worker, epoch), op, payout })
    }

    pub(crate) fn payout_rejected(self, worker: NodeId, epoch: u32, op: u32) -> Story {
        let why = Refusal::TokenTooLow { highest: Token(u64::MAX) };
        self.on(PROVIDER, What::PayoutRejected { claim: claim(worker, epoch), op: OpId(op), why })
    }
}
