//! An order of commands that a primary makes up alone: it answers first, and copies to the others afterwards.
//!
//! A copy that hasn't heard of its primary for a while is promoted by an operator, who sees only that. What wasn't copied by
//! then isn't in its order, and both take themselves for the primary until they hear of each other; then the one that was
//! promoted earlier becomes a copy of the other, and what it had by itself is gone.

use super::machine::{Command, Position};
use super::order::{Learned, Letter, Order};
use crate::time::Span;

/// How long an operator waits for a primary before the first copy is promoted; the next waits as long again.
pub(super) const PROMOTES_AFTER: Span = Span::secs(10);

/// What those that copy write each other.
#[derive(Clone, Debug)]
pub(crate) enum Copy {
    /// From the primary: the commands from a place on, and how many there are.
    Commands { promotion: u64, from: Position, commands: Vec<Command> },
    /// From a copy: the commands from a place on are missing.
    Missing { promotion: u64, from: Position },
}

impl Copy {
    fn promotion(&self) -> u64 {
        match *self {
            Copy::Commands { promotion, .. } | Copy::Missing { promotion, .. } => promotion,
        }
    }
}

/// What is on disk.
#[derive(Clone, Debug, Default)]
struct Disk {
    log: Vec<Command>,
    /// Which promotion it goes by: the primary is the replica of this number, modulo their count.
    promotion: u64,
    writes: u64,
}

/// A primary, or a copy.
pub(super) struct Copies {
    me: usize,
    count: usize,
    disk: Disk,
    learned: usize,
    /// What the order began with differs from what was taken out: all of it has to be taken out anew.
    began_anew: bool,
    /// When it last heard of the primary, by its monotonic clock.
    heard: i64,
    letters: Vec<(usize, Copy)>,
}

impl Copies {
    pub(super) fn new(me: usize, count: usize) -> Copies {
        Copies { me, count, disk: Disk::default(), learned: 0, began_anew: false, heard: 0, letters: Vec::new() }
    }

    fn primary(&self) -> usize {
        (self.disk.promotion % self.count as u64) as usize
    }

    /// How many come before it if the primary is gone.
    fn rank(&self) -> i64 {
        let behind = (self.me + self.count - self.primary()) % self.count;
        behind as i64
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me;
        (0..self.count).filter(move |other| *other != me)
    }

    /// Writes to all others what there is from a place on.
    fn tell(&mut self, to: impl Iterator<Item = usize>, from: usize) {
        let commands = self.disk.log.get(from..).unwrap_or_default().to_vec();
        for to in to {
            let promotion = self.disk.promotion;
            let commands = commands.clone();
            self.letters.push((to, Copy::Commands { promotion, from: from as Position, commands }));
        }
    }

    /// Takes over what the primary has from a place on.
    fn copy(&mut self, from: usize, commands: Vec<Command>) {
        if from > self.disk.log.len() {
            let missing = Copy::Missing { promotion: self.disk.promotion, from: self.disk.log.len() as Position };
            return self.letters.push((self.primary(), missing));
        }
        let known = self.disk.log.get(from..).unwrap_or_default();
        if known.len() >= commands.len() && known[..commands.len()] == commands[..] {
            return;
        }
        // A primary that lost its last writes goes on from before them, and takes what was copied of them with it.
        let same = known.iter().zip(&commands).take_while(|(known, told)| known == told).count();
        if from + same < self.learned {
            self.learned = 0;
            self.began_anew = true;
        }
        self.disk.log.truncate(from);
        self.disk.log.extend(commands);
        self.disk.writes += 1;
    }

    /// Somebody was promoted: what it has by itself is gone.
    fn follow(&mut self, promotion: u64) {
        self.disk = Disk { log: Vec::new(), promotion, writes: self.disk.writes + 1 };
        self.learned = 0;
        self.began_anew = true;
        self.letters.push((self.primary(), Copy::Missing { promotion, from: 0 }));
    }
}

impl Order for Copies {
    fn leads(&self) -> bool {
        self.primary() == self.me
    }

    fn leader(&self) -> Option<usize> {
        Some(self.primary()).filter(|primary| *primary != self.me)
    }

    fn propose(&mut self, command: Command) {
        if !self.leads() {
            return;
        }
        self.disk.log.push(command);
        self.disk.writes += 1;
        self.tell(self.others(), self.disk.log.len() - 1);
    }

    fn receive(&mut self, from: usize, letter: Letter, mono: i64) {
        let Letter::Copy(copy) = letter else { return };
        if copy.promotion() < self.disk.promotion {
            // It hasn't heard yet that another was promoted.
            return self.tell(std::iter::once(from), self.disk.log.len());
        }
        if copy.promotion() > self.disk.promotion {
            self.heard = mono;
            return self.follow(copy.promotion());
        }
        match copy {
            Copy::Missing { from: place, .. } if self.leads() => self.tell(std::iter::once(from), place as usize),
            Copy::Missing { .. } => {}
            Copy::Commands { from: place, commands, .. } => {
                self.heard = mono;
                self.copy(place as usize, commands);
            }
        }
    }

    /// What is missing shows at the next letter.
    fn reconnected(&mut self, _: usize) {}

    fn tick(&mut self, mono: i64) {
        if self.leads() {
            return self.tell(self.others(), self.disk.log.len());
        }
        if mono.saturating_sub(self.heard) >= PROMOTES_AFTER.as_nanos().saturating_mul(self.rank()) {
            let round = self.disk.promotion / self.count as u64 + 1;
            self.disk.promotion = round * self.count as u64 + self.me as u64;
            self.disk.writes += 1;
            self.tell(self.others(), self.disk.log.len());
        }
    }

    fn begin(&mut self, mono: i64) {
        self.heard = mono;
        self.learned = 0;
        self.began_anew = true;
        self.letters.clear();
    }

    fn take_letters(&mut self, letters: &mut Vec<(usize, &'static str, Letter)>) {
        letters.extend(self.letters.drain(..).map(|(to, copy)| (to, "lease.copy", Letter::Copy(copy))));
    }

    fn learn(&mut self) -> Vec<Learned> {
        let mut learned = Vec::new();
        if std::mem::take(&mut self.began_anew) {
            learned.push(Learned::State(Default::default()));
        }
        learned
            .extend(self.disk.log.get(self.learned..).unwrap_or_default().iter().copied().map(Learned::Command));
        self.learned = self.disk.log.len();
        learned
    }

    fn learned(&self) -> Position {
        self.learned as Position
    }

    fn writes(&self) -> u64 {
        self.disk.writes
    }

    fn lose_disk(&mut self) {
        self.disk = Disk { writes: self.disk.writes + 1, ..Disk::default() };
    }

    fn fork(&self) -> Box<dyn Order> {
        Box::new(Copies { disk: self.disk.clone(), began_anew: true, ..Copies::new(self.me, self.count) })
    }
}
