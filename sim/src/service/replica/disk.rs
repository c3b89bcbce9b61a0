//! What a replica has on disk, in the shape that the consensus library wants it.

use std::cell::RefCell;
use std::rc::Rc;

use omnipaxos::ballot_leader_election::Ballot;
use omnipaxos::storage::{Entry, Snapshot, StopSign, Storage, StorageOp, StorageResult};

use super::machine::{Command, Machine};
use super::order::Learned;

impl Entry for Command {
    type Snapshot = Folded;
}

/// The commands up to a place in the order: the state that the older ones lead to, and the newer ones, so that a replica
/// that is a little behind carries each of them out. Of commands from the middle of the order, only these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folded {
    machine: Machine,
    rest: Vec<Command>,
    /// Where in these the commands begin that were joined last.
    joined: usize,
}

/// How many commands a snapshot has beside a state, before the older half of them becomes part of it.
const UNFOLDED: usize = 128;

impl Folded {
    /// Makes it a snapshot of `count` commands. More there are only if those that were joined last begin before the others
    /// end: the library answers a promise that it had had before with the difference to what was decided then.
    fn fit(&mut self, count: usize) {
        let twice = self.count().saturating_sub(count).min(self.rest.len() - self.joined);
        self.rest.drain(self.joined..self.joined + twice);
        if self.rest.len() > UNFOLDED {
            for command in self.rest.drain(..UNFOLDED / 2) {
                self.machine.apply(command);
            }
        }
        self.joined = self.rest.len();
    }

    /// How many commands it is of.
    fn count(&self) -> usize {
        self.machine.position as usize + self.rest.len()
    }

    /// What a replica learns of it that knows the first `known` commands.
    pub(super) fn after(mut self, known: usize) -> Vec<Learned> {
        let folded = self.machine.position as usize;
        let mut learned = Vec::new();
        if known < folded {
            learned.push(Learned::State(self.machine));
        }
        self.rest.drain(..known.saturating_sub(folded).min(self.rest.len()));
        learned.extend(self.rest.into_iter().map(Learned::Command));
        learned
    }
}

impl Snapshot<Command> for Folded {
    fn create(entries: &[Command]) -> Folded {
        Folded { machine: Machine::default(), rest: entries.to_vec(), joined: 0 }
    }

    fn merge(&mut self, later: Folded) {
        self.joined = self.rest.len();
        self.rest.extend(later.rest);
    }

    fn use_snapshots() -> bool {
        true
    }
}

/// What is on a replica's disk. Each write is on it when it returns.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    /// The commands that aren't in the snapshot.
    log: Vec<Command>,
    /// How many commands the snapshot has.
    compacted: usize,
    snapshot: Option<Folded>,
    promise: Option<Ballot>,
    accepted_round: Option<Ballot>,
    decided: usize,
    stop_sign: Option<StopSign>,
    /// Counts the writes.
    pub(super) writes: u64,
}

impl Disk {
    /// How many commands there are, with those in the snapshot.
    pub(super) fn count(&self) -> usize {
        self.compacted + self.log.len()
    }

    /// Whether everything is there that it says there is. It isn't where replicas lost writes that others rely on: then
    /// what they send each other goes on from commands that a log doesn't have.
    pub(super) fn is_whole(&self) -> bool {
        let snapshot = self.snapshot.as_ref().map_or(0, Folded::count);
        snapshot == self.compacted && self.compacted <= self.decided && self.decided <= self.count()
    }

    fn append_from(&mut self, from: usize, entries: Vec<Command>) {
        self.log.truncate(from.saturating_sub(self.compacted));
        self.log.extend(entries);
    }

    fn trim(&mut self, upto: usize) {
        let gone = upto.saturating_sub(self.compacted).min(self.log.len());
        self.log.drain(..gone);
        self.compacted = self.compacted.max(upto);
    }

    /// Those from `from` to before `to` that are decided. The library asks for others only in one place, where it makes a
    /// snapshot of what was decided here before it takes over what was decided elsewhere, and has counted the latter already.
    fn decided_entries(&self, from: usize, to: usize) -> Vec<Command> {
        self.entries(from, to.min(self.decided))
    }

    /// Those from `from` to before `to`, if all of them are there.
    fn entries(&self, from: usize, to: usize) -> Vec<Command> {
        let range = from.checked_sub(self.compacted).zip(to.checked_sub(self.compacted));
        range.and_then(|(from, to)| self.log.get(from..to)).map(<[Command]>::to_vec).unwrap_or_default()
    }

    fn write(&mut self, op: StorageOp<Command>) {
        match op {
            StorageOp::AppendEntry(entry) => self.log.push(entry),
            StorageOp::AppendEntries(entries) => self.log.extend(entries),
            StorageOp::AppendOnPrefix(from, entries) => self.append_from(from, entries),
            StorageOp::SetPromise(promise) => self.promise = Some(promise),
            StorageOp::SetDecidedIndex(decided) => self.decided = decided,
            StorageOp::SetAcceptedRound(round) => self.accepted_round = Some(round),
            StorageOp::SetCompactedIdx(upto) | StorageOp::Trim(upto) => self.trim(upto),
            StorageOp::SetStopsign(stop_sign) => self.stop_sign = stop_sign,
            StorageOp::SetSnapshot(snapshot) => {
                let count = self.compacted;
                self.snapshot = snapshot.map(|mut snapshot| {
                    snapshot.fit(count);
                    snapshot
                });
            }
        }
        self.writes += 1;
    }
}

/// A replica's disk, which outlives its process.
#[derive(Clone, Debug, Default)]
pub(super) struct Mounted(pub(super) Rc<RefCell<Disk>>);

impl Mounted {
    fn write(&self, op: StorageOp<Command>) -> StorageResult<()> {
        self.0.borrow_mut().write(op);
        Ok(())
    }
}

impl Storage<Command> for Mounted {
    fn write_atomically(&mut self, ops: Vec<StorageOp<Command>>) -> StorageResult<()> {
        ops.into_iter().try_for_each(|op| self.write(op))
    }

    fn append_entry(&mut self, entry: Command) -> StorageResult<()> {
        self.write(StorageOp::AppendEntry(entry))
    }

    fn append_entries(&mut self, entries: Vec<Command>) -> StorageResult<()> {
        self.write(StorageOp::AppendEntries(entries))
    }

    fn append_on_prefix(&mut self, from: usize, entries: Vec<Command>) -> StorageResult<()> {
        self.write(StorageOp::AppendOnPrefix(from, entries))
    }

    fn set_promise(&mut self, promise: Ballot) -> StorageResult<()> {
        self.write(StorageOp::SetPromise(promise))
    }

    fn set_decided_idx(&mut self, decided: usize) -> StorageResult<()> {
        self.write(StorageOp::SetDecidedIndex(decided))
    }

    fn get_decided_idx(&self) -> StorageResult<usize> {
        Ok(self.0.borrow().decided)
    }

    fn set_accepted_round(&mut self, round: Ballot) -> StorageResult<()> {
        self.write(StorageOp::SetAcceptedRound(round))
    }

    fn get_accepted_round(&self) -> StorageResult<Option<Ballot>> {
        Ok(self.0.borrow().accepted_round)
    }

    fn get_entries(&self, from: usize, to: usize) -> StorageResult<Vec<Command>> {
        Ok(self.0.borrow().decided_entries(from, to))
    }

    fn get_log_len(&self) -> StorageResult<usize> {
        Ok(self.0.borrow().log.len())
    }

    fn get_suffix(&self, from: usize) -> StorageResult<Vec<Command>> {
        let disk = self.0.borrow();
        Ok(disk.entries(from, disk.count()))
    }

    fn get_promise(&self) -> StorageResult<Option<Ballot>> {
        Ok(self.0.borrow().promise)
    }

    fn set_stopsign(&mut self, stop_sign: Option<StopSign>) -> StorageResult<()> {
        self.write(StorageOp::SetStopsign(stop_sign))
    }

    fn get_stopsign(&self) -> StorageResult<Option<StopSign>> {
        Ok(self.0.borrow().stop_sign.clone())
    }

    fn trim(&mut self, upto: usize) -> StorageResult<()> {
        self.write(StorageOp::Trim(upto))
    }

    fn set_compacted_idx(&mut self, upto: usize) -> StorageResult<()> {
        self.write(StorageOp::SetCompactedIdx(upto))
    }

    fn get_compacted_idx(&self) -> StorageResult<usize> {
        Ok(self.0.borrow().compacted)
    }

    fn set_snapshot(&mut self, snapshot: Option<Folded>) -> StorageResult<()> {
        self.write(StorageOp::SetSnapshot(snapshot))
    }

    fn get_snapshot(&self) -> StorageResult<Option<Folded>> {
        Ok(self.0.borrow().snapshot.clone())
    }
}
