//! What a service is, and what it sees.

use crate::clock::Clock;
use crate::engine::past::Journal;
use crate::engine::{Node, World};
use crate::history::{Row, What};
use crate::id::{Epoch, ExportId, NodeId};
use crate::time::{MonoTime, Span, TrueTime, WallTime};

/// A deterministic state machine on a node, called when a message is delivered.
///
/// Its state is what the service keeps; what of it survives a crash is up to [`Service::crash`].
pub trait Service: Sized + 'static {
    /// What it can be asked. A network that repeats itself may bring a request twice.
    type Request: Clone + 'static;
    /// What it answers. A worker that is put back to an earlier state is told what it was told before.
    type Response: Clone + 'static;
    /// How to take back one change of what it keeps on disk.
    type Undo: 'static;

    /// What a request is about, such as `ledger.write`: a name for histories and drawings.
    fn about(request: &Self::Request) -> &'static str;

    /// Handles a request. One call is one atomic step, also for what it does to the state.
    fn handle(&mut self, request: Self::Request, context: &ServiceContext<'_>) -> Answer<Self>;

    /// The process dies: what isn't on disk is gone. The default is that all of it is on disk.
    fn crash(&mut self) {}

    /// Where it notes each change of what it keeps on disk, before it makes it.
    fn journal(&mut self) -> &mut Journal<Self::Undo>;

    /// Takes back the newest change that wasn't taken back yet.
    fn undo(&mut self, undo: Self::Undo);

    /// Takes back the newest change that wasn't taken back yet, and of which nobody has learned.
    fn undo_unseen(&mut self, undo: Self::Undo) {
        self.undo(undo);
    }

    /// Whether the step that is just over has written to disk what `undo` would take back, right after it. The default is
    /// that whatever is noted was written.
    fn has_written(&self, _undo: &Self::Undo) -> bool {
        true
    }

    /// The same service once more, with all that it has on disk and in memory, and nothing noted: a replica, from which on
    /// the two know nothing of each other.
    fn fork(&self) -> Self;
}

pub(super) type Later<S> = Box<dyn FnOnce(&mut S, &ServiceContext<'_>) -> <S as Service>::Response>;

/// What a service does with a request.
pub enum Answer<S: Service> {
    /// It answers at once.
    Now(S::Response),
    /// It does the rest after a while, as a second step; other requests come in between, and a crash loses it.
    After(Span, Later<S>),
    /// It answers when it can: it is one of several, and asks the others first. The ticket of the request tells which one
    /// it answers then; a crash breaks the connection.
    Parked,
}

/// A request that is answered later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub(in crate::engine) u32);

/// What a service sees beside its own state.
pub struct ServiceContext<'a> {
    world: &'a World,
    /// The service's own node.
    pub node: NodeId,
    /// Who asks.
    pub from: NodeId,
    /// The request, if it is one.
    pub ticket: Option<Ticket>,
    /// Whether nobody is to know yet what it does, because the disk takes no writes.
    is_withheld: bool,
}

impl<'a> ServiceContext<'a> {
    pub(in crate::engine) fn new(world: &'a World, node: NodeId, from: NodeId) -> ServiceContext<'a> {
        let is_withheld = world.node(node).disk.is_stalled();
        ServiceContext { world, node, from, ticket: None, is_withheld }
    }

    /// For a request to the service on `node`, which is `owner`.
    #[inline]
    pub(super) fn of_request(
        world: &'a World,
        (node, owner): (NodeId, &Node),
        from: NodeId,
        ticket: Ticket,
    ) -> ServiceContext<'a> {
        ServiceContext { world, node, from, ticket: Some(ticket), is_withheld: owner.disk.is_stalled() }
    }

    pub(super) fn world(&self) -> &'a World {
        self.world
    }

    #[inline]
    pub(super) fn is_withheld(&self) -> bool {
        self.is_withheld
    }

    pub(super) fn now(&self) -> TrueTime {
        self.world.now()
    }

    /// What a clock of the service's own reads, in nanoseconds.
    pub fn read(&self, clock: Clock) -> i64 {
        self.world.read_clock(self.node, clock)
    }

    /// The service's own wall clock.
    #[inline]
    pub fn wall(&self) -> WallTime {
        WallTime::from_nanos(self.world.read_clock(self.node, Clock::Wall))
    }

    /// The service's own monotonic clock.
    #[inline]
    pub fn mono(&self) -> MonoTime {
        MonoTime::from_nanos(self.world.read_clock(self.node, Clock::Monotonic))
    }

    /// Writes into the history what the service did.
    // Inlined, and told as a closure, so that it is written where it stays.
    #[inline(always)]
    pub fn record(&self, what: impl FnOnce() -> What) {
        if self.is_withheld {
            return self.world.node(self.node).disk.withhold(what(), None);
        }
        self.world.record(self.node, what());
    }

    /// Writes into the history what the service did, if it is told when that is written.
    pub(crate) fn record_if(&self, is_told: impl FnOnce() -> bool + 'static, what: What) {
        if self.is_withheld {
            return self.world.node(self.node).disk.withhold(what, Some(Box::new(is_told)));
        }
        if is_told() {
            self.world.record(self.node, what);
        }
    }

    /// Has the host's clocks read what it is now, for code that may read them and isn't ours.
    pub(crate) fn set_host_clocks(&self) {
        self.world.set_host_clocks();
    }

    /// Keeps the rows of an export that is about to be published.
    pub(crate) fn keep_export(&self, rows: Vec<Row>) -> ExportId {
        self.world.keep_export(rows)
    }

    /// A number for a new grant; see [`Epoch`].
    pub(crate) fn next_epoch(&self) -> Epoch {
        self.world.next_epoch()
    }
}
