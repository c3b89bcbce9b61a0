//! The engine: a discrete-event loop of our own.
//!
//! One queue holds what is due and when. Services are called when a message is delivered; only workers are async tasks.
//! `World` is the state that all of it shares; it is one thread's, so plain cells suffice.

mod call;
mod discipline;
mod disk;
mod glance;
mod halt;
mod memory;
mod network;
mod node;
mod outage;
mod past;
mod peers;
mod process;
mod queue;
mod ready;
mod restoring;
mod sleep;
mod strikes;
mod tasks;
mod timeouts;
mod timers;
mod world;

pub use call::{Address, Answer, Broken, Service, ServiceContext, Ticket};
pub(crate) use call::{Calling, call};
pub(crate) use network::{Effect, Wanted};
pub(crate) use node::{Halt, Node};
pub use past::Journal;
pub(crate) use peers::{Outgoing, Peer};
pub(crate) use process::{Again, Errand};
pub(crate) use queue::{Due, Queue};
pub(crate) use sleep::Passing;
pub use sleep::Sleep;
pub use tasks::TaskHandle;
pub(crate) use tasks::Work;
pub(crate) use world::World;
