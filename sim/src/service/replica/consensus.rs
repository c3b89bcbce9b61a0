//! One order of commands by consensus: OmniPaxos as a state machine that is called when a letter or a tick comes.

use omnipaxos::messages::Message;
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
        let disk = Mounted::default();
        Consensus { me, count, paxos: start(me, count, &disk), disk, learned: 0 }
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
        self.paxos.get_current_leader() == Some((pid(self.me), true))
    }

    fn leader(&self) -> Option<usize> {
        let (leader, _) = self.paxos.get_current_leader()?;
        Some(place(leader)).filter(|leader| *leader != self.me)
    }

    fn propose(&mut self, command: Command) {
        let proposed = self.paxos.append(command);
        assert!(proposed.is_ok(), "the replicas stay the same, so nothing stands in the way of a command");
    }

    fn receive(&mut self, _: usize, letter: Letter, _: i64) {
        if let Letter::Consensus(message) = letter {
            self.paxos.handle_incoming(*message);
        }
    }

    fn reconnected(&mut self, to: usize) {
        self.paxos.reconnected(pid(to));
    }

    fn tick(&mut self, _: i64) {
        self.paxos.tick();
    }

    fn begin(&mut self, _: i64) {
        self.paxos = start(self.me, self.count, &self.disk);
        self.learned = 0;
    }

    fn take_letters(&mut self, letters: &mut Vec<(usize, &'static str, Letter)>) {
        let mut messages = Vec::new();
        self.paxos.take_outgoing_messages(&mut messages);
        letters.extend(messages.into_iter().map(|message| {
            let about = match message {
                Message::BLE(_) => "lease.heartbeat",
                Message::SequencePaxos(_) => "lease.agree",
            };
            (place(message.get_receiver()), about, Letter::Consensus(Box::new(message)))
        }));
    }

    fn learn(&mut self) -> Vec<Learned> {
        if self.paxos.get_decided_idx() <= self.learned {
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

    fn lose_disk(&mut self) {
        self.disk = Mounted::default();
    }

    fn fork(&self) -> Box<dyn Order> {
        let disk = Mounted::default();
        *disk.0.borrow_mut() = self.disk.0.borrow().clone();
        let paxos = start(self.me, self.count, &disk);
        Box::new(Consensus { me: self.me, count: self.count, disk, paxos, learned: 0 })
    }
}
