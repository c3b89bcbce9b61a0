//! What gives a replica its commands in order.

use omnipaxos::messages::Message;

use super::copies::Copy;
use super::machine::{Command, Machine, Position};

/// What replicas write each other.
#[derive(Debug)]
pub(crate) enum Letter {
    /// A message of the consensus library's.
    Consensus(Box<Message<Command>>),
    /// From one that copies, or is copied.
    Copy(Copy),
}

/// What a replica learns of the order.
pub(crate) enum Learned {
    /// The next command.
    Command(Command),
    /// The state that all commands up to a later one lead to, in place of them.
    State(Machine),
}

/// A replica's part in keeping one order of commands. Replicas are numbered from 0 here.
pub(crate) trait Order {
    /// Whether it takes itself for the leader.
    fn leads(&self) -> bool;

    /// Who leads, as far as it knows, if it isn't itself.
    fn leader(&self) -> Option<usize>;

    /// Has a command put into the order, if it can.
    fn propose(&mut self, command: Command);

    /// A letter from another one has come. `mono` is what the monotonic clock reads.
    fn receive(&mut self, from: usize, letter: Letter, mono: i64);

    /// The connection to another one had been broken.
    fn reconnected(&mut self, to: usize);

    /// It is time to look up. `mono` is what the monotonic clock reads.
    fn tick(&mut self, mono: i64);

    /// Its process begins anew, with what is on disk.
    fn begin(&mut self, mono: i64);

    /// Takes out what it wants written to others, each with what it is about.
    fn take_letters(&mut self, letters: &mut Vec<(usize, &'static str, Letter)>);

    /// Takes out what is in order and wasn't taken out yet. After a new beginning all of it comes once more.
    fn learn(&mut self) -> Vec<Learned>;

    /// How many commands were taken out, themselves or as a state.
    fn learned(&self) -> Position;

    /// How often it wrote to disk.
    fn writes(&self) -> u64;

    /// Whether it found that its disk lacks what it relies on, and takes part in nothing until it begins anew.
    fn has_stopped(&self) -> bool {
        false
    }

    /// What it had on disk is gone.
    fn lose_disk(&mut self);

    /// The same once more, as it would begin anew with what is on disk.
    fn fork(&self) -> Box<dyn Order>;
}
