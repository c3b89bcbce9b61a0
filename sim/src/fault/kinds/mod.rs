//! The kinds of fault: a file each, and a line in [`kinds!`](self).
//!
//! A kind's file says all there is to it: its fields, how lists and help explain it, what it does to the world, how
//! reports name it, and how to tell from a history whether it bit.

mod clock_drift;
mod clock_slew;
mod clock_step;
mod clock_strobe;
mod crash;
mod delay_message;
mod disk_stall;
mod duplicate;
mod failover;
mod hold;
mod latency;
mod leap_second;
mod lose_message;
mod loss;
mod partition;
mod pause;
mod reorder;
mod restart;
mod restore;
mod shutdown;
mod snapshot;
mod split_brain;
mod throttle;
mod time_source;
mod zone_error;

pub use clock_drift::ClockDrift;
pub use clock_slew::ClockSlew;
pub use clock_step::ClockStep;
pub use clock_strobe::ClockStrobe;
pub use crash::Crash;
pub use delay_message::{DelayMessage, Part};
pub use disk_stall::DiskStall;
pub use duplicate::Duplicate;
pub use failover::Failover;
pub use hold::Hold;
pub use latency::Latency;
pub(crate) use leap_second::smear;
pub use leap_second::{HALF_SMEAR, LeapSecond, SMEAR_PPB};
pub use lose_message::LoseMessage;
pub use loss::Loss;
pub use partition::Partition;
pub use pause::{Pause, PauseClocks, WorkerTask};
pub use reorder::Reorder;
pub use restart::Loses;
pub use restart::Restart;
pub use restore::{Original, Restore};
pub use shutdown::Shutdown;
pub use snapshot::Snapshot;
pub use split_brain::SplitBrain;
pub use throttle::Throttle;
pub use time_source::TimeSource;
pub use zone_error::ZoneError;

use serde::{Deserialize, Serialize};

use crate::check::Strike;
use crate::engine::World;
use crate::fault::Links;
use crate::history::History;
use crate::id::{FaultId, NodeId};
use crate::time::{Span, TrueTime};

/// What every kind of fault tells and does.
pub(crate) trait Kind {
    /// How lists and help explain it.
    const INFO: FaultInfo;

    /// What it does to the running of the nodes that it happens to.
    const STOPS: Stops;

    /// The node that it happens to, or the first of them: where its beginning and its end are noted.
    fn node(&self) -> NodeId;

    /// All nodes that it happens to.
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.node()]
    }

    /// Shows `keep` every node that it names, in whatever part it names it. `keep` may give the node another number, or
    /// answer `false`: then the fault goes on without that node. Answers `false` if nothing is left of it then.
    ///
    /// This is where a kind says which of its fields name nodes; all that numbers nodes anew or asks who is named goes by
    /// it. Each kind takes itself apart here without `..`, so that the compiler asks about a field that is new.
    fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool;

    /// How long it lasts; `None` for what is over as soon as it has struck.
    fn lasting(&self) -> Option<Span>;

    /// Does what is felt of it from the start of the run on, if it is to strike at `_strike`.
    fn prepare(&self, _world: &World, _strike: TrueTime) {}
    /// Whether it lasts until it has done what it came for, or the run ends. Then `lasting` says `None`.
    fn ends_itself(&self) -> bool {
        false
    }

    /// Does it. `fault` tells it from others of its kind.
    fn begin(&self, world: &World, fault: FaultId);

    /// How long after its beginning, or after the last of its `_beats`, there is another; `None` for never.
    fn beat_after(&self, _beats: u32) -> Option<Span> {
        None
    }

    /// Does what happens in the middle of it; [`World::beats`] tells how often that has happened before.
    fn beat(&self, _world: &World, _fault: FaultId) {}

    /// Undoes it, as far as it lasted.
    fn end(&self, world: &World, fault: FaultId);

    /// What must be there from the start of a run for it to be able to strike.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether it touched anything that the lease protects.
    fn bit(&self, history: &History, strike: &Strike) -> bool;

    /// What it is, as a phrase: `pause of worker-a for 38s, its clocks running`.
    fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String;

    /// That it is over, as a sentence without its full stop; `None` if that needs no telling.
    fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String>;
}

/// What a fault does to the running of the nodes that it happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stops {
    /// Nothing.
    Nothing,
    /// They stand still from its beginning to its end; or one task of a worker does.
    Nodes,
    /// They stand still now and then while it lasts, and events tell when.
    AtTimes,
    /// A process ends, and events tell when.
    Process,
    /// The service is down from its beginning to its end.
    Service,
    /// Another primary takes the service's place.
    Primary,
}

/// What a fault needs from the start of a run. Whatever no fault of a plan needs isn't there, and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    /// How far back its service must be able to go.
    pub(crate) past: Option<Span>,
    /// Its worker must be able to begin anew.
    pub(crate) new_beginning: bool,
    /// Its worker must be able to hear that it is to stop.
    pub(crate) farewell: bool,
    /// What its worker's process is told must be noted.
    pub(crate) memory: bool,
    /// There must be a node for a copy of its worker.
    pub(crate) copy: bool,
}

/// What is asked about each node that is named somewhere: whether it stays there. It may give the node another number.
pub type Keep<'a> = dyn FnMut(&mut NodeId) -> bool + 'a;

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        /// One thing to inject.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Fault {
            $(#[doc = concat!("See [`", stringify!($kind), "`].")] $kind($kind),)*
        }

        $(impl From<$kind> for Fault {
            fn from(kind: $kind) -> Fault {
                Fault::$kind(kind)
            }
        })*

        /// Every fault kind, in the order of lists.
        pub const FAULTS: &[FaultInfo] = &[$($kind::INFO),*];

        impl Fault {
            /// The kind's name, as scenarios spell it.
            pub fn name(&self) -> &'static str {
                match self { $(Fault::$kind(_) => $kind::INFO.name,)* }
            }

            /// The node that it happens to, or the first of them.
            pub fn node(&self) -> NodeId {
                match self { $(Fault::$kind(kind) => kind.node(),)* }
            }

            /// All nodes that it happens to.
            pub fn nodes(&self) -> Vec<NodeId> {
                match self { $(Fault::$kind(kind) => kind.nodes(),)* }
            }

            /// What it does to the running of the nodes that it happens to.
            pub fn stops(&self) -> Stops {
                match self { $(Fault::$kind(_) => $kind::STOPS,)* }
            }

            /// Shows `keep` every node that it names: those that it happens to, and whom else it speaks of. `keep` may give
            /// a node another number, or answer `false`, and then the fault goes on without that node. Answers `false` if
            /// nothing is left of it then.
            pub fn keep_nodes(&mut self, keep: &mut Keep<'_>) -> bool {
                match self { $(Fault::$kind(kind) => kind.keep_nodes(keep),)* }
            }

            /// How long it lasts; `None` for what is over as soon as it has struck.
            pub fn lasting(&self) -> Option<Span> {
                match self { $(Fault::$kind(kind) => kind.lasting(),)* }
            }

            /// Whether it lasts until it has done what it came for, or the run ends.
            pub fn ends_itself(&self) -> bool {
                match self { $(Fault::$kind(kind) => kind.ends_itself(),)* }
            }

            /// What it is, as a phrase: `pause of worker-a for 38s, its clocks running`.
            pub fn phrase(&self, name: &dyn Fn(NodeId) -> String) -> String {
                match self { $(Fault::$kind(kind) => kind.phrase(name),)* }
            }

            /// That it is over, as a sentence without its full stop; `None` if that needs no telling.
            pub fn healed(&self, name: &dyn Fn(NodeId) -> String) -> Option<String> {
                match self { $(Fault::$kind(kind) => kind.healed(name),)* }
            }

            pub(crate) fn needs(&self) -> Needs {
                match self { $(Fault::$kind(kind) => kind.needs(),)* }
            }

            pub(crate) fn begin(&self, world: &World, fault: FaultId) {
                match self { $(Fault::$kind(kind) => kind.begin(world, fault),)* }
            }

            pub(crate) fn prepare(&self, world: &World, strike: TrueTime) {
                match self { $(Fault::$kind(kind) => kind.prepare(world, strike),)* }
            }

            pub(crate) fn beat_after(&self, beats: u32) -> Option<Span> {
                match self { $(Fault::$kind(kind) => kind.beat_after(beats),)* }
            }

            pub(crate) fn beat(&self, world: &World, fault: FaultId) {
                match self { $(Fault::$kind(kind) => kind.beat(world, fault),)* }
            }

            pub(crate) fn end(&self, world: &World, fault: FaultId) {
                match self { $(Fault::$kind(kind) => kind.end(world, fault),)* }
            }

            pub(crate) fn bit(&self, history: &History, strike: &Strike) -> bool {
                match self { $(Fault::$kind(kind) => kind.bit(history, strike),)* }
            }
        }
    };
}

impl Fault {
    /// The nodes whose daemons poll the time source that is wrong because of it: each must have one.
    pub fn polled_by(&self) -> &[NodeId] {
        match self {
            Fault::TimeSource(source) => &source.nodes,
            Fault::Pause(_)
            | Fault::ClockStep(_)
            | Fault::ClockSlew(_)
            | Fault::ClockDrift(_)
            | Fault::ClockStrobe(_)
            | Fault::ZoneError(_)
            | Fault::LeapSecond(_)
            | Fault::Restart(_)
            | Fault::Failover(_)
            | Fault::Crash(_)
            | Fault::Shutdown(_)
            | Fault::Partition(_)
            | Fault::Latency(_)
            | Fault::Loss(_)
            | Fault::Duplicate(_)
            | Fault::Reorder(_)
            | Fault::Hold(_)
            | Fault::DelayMessage(_)
            | Fault::LoseMessage(_)
            | Fault::Snapshot(_)
            | Fault::Restore(_)
            | Fault::Throttle(_)
            | Fault::SplitBrain(_)
            | Fault::DiskStall(_) => &[],
        }
    }

    /// The links that it is on; `None` if it isn't on any.
    pub fn links_mut(&mut self) -> Option<&mut Links> {
        match self {
            Fault::Partition(Partition { links, .. })
            | Fault::Latency(Latency { links, .. })
            | Fault::Loss(Loss { links, .. })
            | Fault::Duplicate(Duplicate { links, .. })
            | Fault::Reorder(Reorder { links, .. })
            | Fault::Hold(Hold { links, .. }) => Some(links),
            Fault::Pause(_)
            | Fault::ClockStep(_)
            | Fault::ClockSlew(_)
            | Fault::ClockDrift(_)
            | Fault::ClockStrobe(_)
            | Fault::ZoneError(_)
            | Fault::LeapSecond(_)
            | Fault::TimeSource(_)
            | Fault::Restart(_)
            | Fault::Failover(_)
            | Fault::Crash(_)
            | Fault::Shutdown(_)
            | Fault::DelayMessage(_)
            | Fault::LoseMessage(_)
            | Fault::Snapshot(_)
            | Fault::Restore(_)
            | Fault::Throttle(_)
            | Fault::SplitBrain(_)
            | Fault::DiskStall(_) => None,
        }
    }
}

kinds! {
    Pause,
    ClockStep,
    ClockSlew,
    Restart,
    ClockDrift,
    ClockStrobe,
    ZoneError,
    LeapSecond,
    TimeSource,
    Failover,
    Crash,
    Shutdown,
    Partition,
    Latency,
    Loss,
    Duplicate,
    Reorder,
    Hold,
    DelayMessage,
    LoseMessage,
    Snapshot,
    Restore,
    Throttle,
    SplitBrain,
    DiskStall,
}

/// A fault kind as lists and help show it.
#[derive(Clone, Copy, Debug)]
pub struct FaultInfo {
    /// The name that scenarios use.
    pub name: &'static str,
    /// One sentence on what happens.
    pub summary: &'static str,
    /// Its fields, in the order in which they are best written.
    pub fields: &'static [FieldInfo],
}

/// One field of a fault kind.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// The key.
    pub name: &'static str,
    /// What it means, with its unit and its default.
    pub meaning: &'static str,
}

const fn field(name: &'static str, meaning: &'static str) -> FieldInfo {
    FieldInfo { name, meaning }
}

/// The first side of a fault on links.
const BETWEEN: FieldInfo = field("between", "the nodes on one side, such as [\"worker-a\"]");
/// The other side.
const AND: FieldInfo = field("and", "the nodes on the other side; default: everybody else");
/// Which way.
const ONE_WAY: FieldInfo =
    field("one_way", "true for only the messages from the first side to the other; default false");
/// How long.
const FOR: FieldInfo = field("for", "how long, such as \"20s\"");
