//! One order of commands by consensus: OmniPaxos as a state machine that is called when a letter or a tick comes.

use omnipaxos::messages::Message;
use omnipaxos::messages::sequence_paxos::PaxosMsg;
use omnipaxos::util::LogEntry;
use omnipaxos::{ClusterConfig, OmniPaxos, OmniPaxosConfig, ServerConfig};

use super::disk::Mounted;
use super::machine::{Command, Position};
use super::order::{Learned, Letter, Order};

/// A heartbeat is due at every second tick, so a leader that is gone is noticed in two or three seconds.
const HEARTBEAT_TICKS: u64 = 2;
/// After how many ticks a message that wasn't answered is sent again.
const RESEND_TICKS: u64 = 4;
/// How many commands are kept beside a snapshot.
const SNAPSHOT_EVERY: usize = 64;
/// How many messages there is room for at first.
const ROOM: usize = 16;

/// A replica's part in the consensus.
pub(super) struct Consensus {
    /// Its place among the replicas.
    me: usize,
    count: usize,
    disk: Mounted,
    paxos: OmniPaxos<Command, Mounted>,
    /// How many commands were taken out.
    learned: usize,
    /// Whether it takes part in nothing, because of what its disk lacks.
    has_stopped: bool,
}

/// What the library calls the replica in this place.
fn pid(place: usize) -> u64 {
    place as u64 + 1
}

fn place(pid: u64) -> usize {
    pid as usize - 1
}

impl Consensus {
    pub(super) fn new(me: usize, count: usize) -> Consensus {
        Consensus::on(Mounted::default(), me, count)
    }

    /// Begins with what is on this disk.
    fn on(disk: Mounted, me: usize, count: usize) -> Consensus {
        let paxos = start(me, count, &disk);
        let mut consensus = Consensus { me, count, paxos, disk, learned: 0, has_stopped: false };
        consensus.look_at_disk();
        consensus
    }

    /// Has the library do something, unless it has stopped.
    fn step(&mut self, act: impl FnOnce(&mut OmniPaxos<Command, Mounted>)) {
        if !self.has_stopped {
            act(&mut self.paxos);
            self.look_at_disk();
        }
    }

    /// Stops if its disk lacks what the library takes to be there. Consensus rests on replicas that forget nothing; one
    /// that sees that something is gone must not guess, and real servers end then as well.
    fn look_at_disk(&mut self) {
        let disk = self.disk.0.borrow();
        self.has_stopped |= !disk.is_whole() || disk.count() != self.paxos.get_accepted_idx();
    }

    /// Whether a letter would have it take back what it knows to be decided. The library relies on that no replica ever
    /// asks for that, which holds as long as none loses what it wrote; such a letter is left unread.
    fn is_contradicted(&self, message: &Message<Command>) -> bool {
        let Message::SequencePaxos(message) = message else { return false };
        let (n, sync) = match &message.msg {
            PaxosMsg::AcceptSync(sync) => (sync.n, Some(&sync.log_sync)),
            PaxosMsg::Promise(promise) => (promise.n, promise.log_sync.as_ref()),
            _ => return false,
        };
        // In the phase of accepting it reads neither.
        let may_be_read =
            n == self.paxos.get_promise() && !matches!(self.paxos.get_current_leader(), Some((_, true)));
        may_be_read && sync.is_some_and(|sync| sync.sync_idx < self.paxos.get_decided_idx())
    }

    fn snapshot_now_and_then(&mut self) {
        let decided = self.paxos.get_decided_idx();
        if decided - self.paxos.get_compacted_idx() >= SNAPSHOT_EVERY {
            let done = self.paxos.snapshot(Some(decided), true);
            assert!(done.is_ok(), "all that is decided can be in a snapshot");
        }
    }
}

/// Starts the library on what is on disk.
fn start(me: usize, count: usize, disk: &Mounted) -> OmniPaxos<Command, Mounted> {
    let config = OmniPaxosConfig {
        cluster_config: ClusterConfig {
            configuration_id: 1,
            nodes: (0..count).map(pid).collect(),
            flexible_quorum: None,
        },
        server_config: ServerConfig {
            pid: pid(me),
            election_tick_timeout: HEARTBEAT_TICKS,
            resend_message_tick_timeout: RESEND_TICKS,
            buffer_size: ROOM,
            // Of those that might lead the first in order does.
            leader_priority: (count - me) as u32,
            ..ServerConfig::default()
        },
    };
    config.build(disk.clone()).expect("the configuration is one of at least three replicas")
}

impl Order for Consensus {
    fn leads(&self) -> bool {
        !self.has_stopped && self.paxos.get_current_leader() == Some((pid(self.me), true))
    }

    fn leader(&self) -> Option<usize> {
        if self.has_stopped {
            return None;
        }
        let (leader, _) = self.paxos.get_current_leader()?;
        Some(place(leader)).filter(|leader| *leader != self.me)
    }

    fn propose(&mut self, command: Command) {
        self.step(|paxos| {
            let proposed = paxos.append(command);
            assert!(proposed.is_ok(), "the replicas stay the same, so nothing stands in the way of a command");
        });
    }

    fn receive(&mut self, _: usize, letter: Letter, _: i64) {
        if let Letter::Consensus(message) = letter
            && !self.is_contradicted(&message)
        {
            self.step(|paxos| paxos.handle_incoming(*message));
        }
    }

    fn reconnected(&mut self, to: usize) {
        self.step(|paxos| paxos.reconnected(pid(to)));
    }

    fn tick(&mut self, _: i64) {
        self.step(OmniPaxos::tick);
    }

    fn begin(&mut self, _: i64) {
        *self = Consensus::on(self.disk.clone(), self.me, self.count);
    }

    fn take_letters(&mut self, letters: &mut Vec<(usize, &'static str, Letter)>) {
        let mut messages = Vec::new();
        self.paxos.take_outgoing_messages(&mut messages);
        if self.has_stopped {
            return;
        }
        letters.extend(messages.into_iter().map(|message| {
            let about = match message {
                Message::BLE(_) => "lease.heartbeat",
                Message::SequencePaxos(_) => "lease.agree",
            };
            (place(message.get_receiver()), about, Letter::Consensus(Box::new(message)))
        }));
    }

    fn learn(&mut self) -> Vec<Learned> {
        if self.has_stopped || self.paxos.get_decided_idx() <= self.learned {
            return Vec::new();
        }
        let decided = self.paxos.read_decided_suffix(self.learned).unwrap_or_default();
        let mut learned = Vec::new();
        for entry in decided {
            match entry {
                LogEntry::Decided(command) => {
                    self.learned += 1;
                    learned.push(Learned::Command(command));
                }
                LogEntry::Snapshotted(snapshotted) => {
                    learned.extend(snapshotted.snapshot.after(self.learned));
                    self.learned = snapshotted.trimmed_idx;
                }
                LogEntry::Undecided(_) | LogEntry::Trimmed(_) | LogEntry::StopSign(..) => {
                    unreachable!("what is decided is there, itself or in a snapshot, and nobody stops")
                }
            }
        }
        self.snapshot_now_and_then();
        learned
    }

    fn learned(&self) -> Position {
        self.learned as Position
    }

    fn writes(&self) -> u64 {
        self.disk.0.borrow().writes
    }

    fn has_stopped(&self) -> bool {
        self.has_stopped
    }

    fn lose_disk(&mut self) {
        self.disk = Mounted::default();
    }

    fn fork(&self) -> Box<dyn Order> {
        let disk = Mounted::default();
        *disk.0.borrow_mut() = self.disk.0.borrow().clone();
        Box::new(Consensus::on(disk, self.me, self.count))
    }
}
