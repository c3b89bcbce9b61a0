//! How faults of each kind are drawn: a function for each, and a line in [`kinds!`](self).
//!
//! The ranges come from what real machines do; the comments say where each was seen. Where nothing is known, the range is
//! a guess, and says so. A function draws what the fault is. When it strikes is drawn for all kinds alike.

mod clock;
mod network;
mod pause;
mod process;
mod service;
mod time;

use holdover_sim::fault::{FAULTS, Fault};

use super::sketch::Sketch;
use super::stage::Stage;

/// A group of kinds that can be asked for by one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Pauses,
    Clocks,
    Stores,
    Workers,
    Network,
}

impl Group {
    pub(super) const ALL: [Group; 5] =
        [Group::Pauses, Group::Clocks, Group::Stores, Group::Workers, Group::Network];

    /// The name that the command line uses.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Group::Pauses => "pauses",
            Group::Clocks => "clocks",
            Group::Stores => "stores",
            Group::Workers => "workers",
            Group::Network => "network",
        }
    }
}

/// How faults of one kind are drawn.
pub(super) struct Maker {
    /// The kind's name in [`FAULTS`].
    pub(super) name: &'static str,
    pub(super) group: Group,
    /// How often it is drawn, beside the others; 0 for only if it is asked for. By profile: realistic, hostile.
    pub(super) weights: (u32, u32),
    /// Draws one.
    pub(super) make: fn(&mut Sketch<'_>) -> Fault,
    /// Whether a world has what it takes.
    pub(super) is_possible: fn(&Stage) -> bool,
}

fn always(_: &Stage) -> bool {
    true
}

macro_rules! kinds {
    ($($name:literal $group:ident ($realistic:literal, $hostile:literal) $make:path $(, if $possible:path)?;)*) => {
        /// Every kind, in the order of [`FAULTS`].
        pub(super) const KINDS: &[Maker] = &[$(Maker {
            name: $name,
            group: Group::$group,
            weights: ($realistic, $hostile),
            make: $make,
            is_possible: kinds!(@ $($possible)?),
        }),*];
    };
    (@) => { always };
    (@ $possible:path) => { $possible };
}

kinds! {
    "pause" Pauses (12, 28) pause::pause;
    "clock-step" Clocks (2, 6) clock::step;
    "clock-slew" Clocks (4, 4) clock::slew;
    "restart" Stores (3, 4) service::restart;
    "clock-drift" Clocks (4, 3) clock::drift;
    "clock-strobe" Clocks (0, 2) clock::strobe;
    "zone-error" Clocks (0, 2) clock::zone;
    "leap-second" Clocks (0, 2) time::leap;
    "time-source" Clocks (3, 3) time::source, if Stage::has_daemons;
    "failover" Stores (1, 4) service::failover;
    "crash" Workers (3, 4) process::crash;
    "shutdown" Workers (2, 3) process::shutdown;
    "partition" Network (2, 4) network::partition;
    "latency" Network (5, 4) network::latency;
    "loss" Network (3, 4) network::loss;
    "duplicate" Network (2, 3) network::duplicate;
    "reorder" Network (3, 3) network::reorder;
    "hold" Network (2, 3) network::hold;
    "delay-message" Network (4, 4) network::delay;
    "lose-message" Network (2, 3) network::lose;
    "snapshot" Workers (0, 2) process::snapshot;
    "restore" Workers (0, 3) process::restore;
    "throttle" Pauses (2, 4) pause::throttle;
    "split-brain" Stores (1, 4) service::split;
    "disk-stall" Stores (2, 4) service::stall;
}

const _: () = assert!(
    KINDS.len() == FAULTS.len(),
    "each kind of FAULTS in the simulator needs its line in `kinds!` in src/explore/generate/kinds/mod.rs"
);

/// How many kinds there are.
pub(super) const COUNT: usize = KINDS.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_fault_is_drawn() {
        let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        let registry: Vec<_> = FAULTS.iter().map(|kind| kind.name).collect();
        assert_eq!(
            names, registry,
            "`kinds!` in src/explore/generate/kinds/mod.rs has the kinds of FAULTS in order"
        );
    }
}
