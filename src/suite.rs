//! What scenarios can be made of: the protocols that have a name in files, on the command line and in reports.
//!
//! [`Suite::builtin`] has holdover's own. Add to it what is yours, and give it to [`cli::main`](crate::cli::main): then every
//! command has it, with its name in `protocols`, in `[expect.NAME]` and behind `--protocol`, in the schema, in lists and in
//! the errors about a name that isn't known.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use holdover::suite::Suite;
//! # use holdover::sim::protocol::Fenced as MyLock;
//!
//! fn main() -> ExitCode {
//!     holdover::cli::main(Suite::builtin().with(&MyLock))
//! }
//! ```

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use holdover_sim::lease::LeaseService;
use holdover_sim::protocol::{self, AnyProtocol, PROTOCOLS};
use holdover_sim::world::LeaseSpec;
use thiserror::Error;

/// The program that has the built-in protocols and no others.
const PROGRAM: &str = "holdover";

/// What scenarios can be made of. Cheap to clone.
#[derive(Clone)]
pub struct Suite(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    /// The program whose commands know all of this; `None` if no program does.
    program: Option<String>,
    /// Those that are run where nobody names any, in the order of reports.
    protocols: Vec<&'static dyn AnyProtocol>,
    /// Those that are only run by name, behind the others.
    traps: Vec<&'static dyn AnyProtocol>,
}

/// Why something can't be added to a suite.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
    /// Something of its kind has that name.
    #[error("there is a protocol named `{name}` already: give yours another name")]
    Taken {
        /// The name.
        name: &'static str,
    },
    /// No scenario file could have that name.
    #[error(
        "`{name}` can't be the name of a protocol: a name has ASCII letters, digits, dashes and underscores, and is not `all`"
    )]
    NoName {
        /// The name.
        name: &'static str,
    },
}

impl Suite {
    /// A suite without anything in it.
    pub fn empty() -> Suite {
        Suite(Arc::new(Parts { program: None, protocols: Vec::new(), traps: Vec::new() }))
    }

    /// What is built into holdover.
    pub fn builtin() -> Suite {
        let traps = protocol::named().skip(PROTOCOLS.len()).collect();
        Suite(Arc::new(Parts { program: Some(PROGRAM.to_owned()), protocols: PROTOCOLS.to_vec(), traps }))
    }

    /// The suite with `protocol` as well, behind those that it has.
    ///
    /// # Errors
    /// If its name is another's, or none that a scenario file can have.
    pub fn try_with(&self, protocol: &'static dyn AnyProtocol) -> Result<Suite, Unfit> {
        let name = protocol.name();
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !is_name || name == ALL_TOGETHER {
            return Err(Unfit::NoName { name });
        }
        if self.find(name).is_some() {
            return Err(Unfit::Taken { name });
        }
        let mut parts = Parts::clone(&self.0);
        parts.protocols.push(protocol);
        // The commands of holdover's own program don't know it.
        parts.program = None;
        Ok(Suite(Arc::new(parts)))
    }

    /// The same, for protocols that are known to fit, as a program's own are.
    ///
    /// # Panics
    /// Where [`Suite::try_with`] has an error.
    #[must_use]
    #[track_caller]
    pub fn with(&self, protocol: &'static dyn AnyProtocol) -> Suite {
        self.try_with(protocol).unwrap_or_else(|unfit| panic!("{unfit}"))
    }

    /// The suite of the program `name`, whose commands know all that it has.
    #[must_use]
    pub fn of_program(&self, name: &str) -> Suite {
        Suite(Arc::new(Parts { program: Some(name.to_owned()), ..Parts::clone(&self.0) }))
    }

    /// The program whose commands know all that the suite has, if there is one: reports name them.
    pub fn program(&self) -> Option<&str> {
        self.0.program.as_deref()
    }

    /// The protocols that are run where nobody names any, in the order of reports.
    pub fn protocols(&self) -> &[&'static dyn AnyProtocol] {
        &self.0.protocols
    }

    /// Every protocol that has a name, in the order of reports; traps come last.
    pub fn named(&self) -> impl Iterator<Item = &'static dyn AnyProtocol> + use<'_> {
        self.0.protocols.iter().chain(&self.0.traps).copied()
    }

    /// The protocol of this name, traps among them.
    pub fn find(&self, name: &str) -> Option<&'static dyn AnyProtocol> {
        self.named().find(|protocol| protocol.name() == name)
    }

    /// Whether `protocol` is one of these, and isn't only called like one.
    pub fn has(&self, protocol: &dyn AnyProtocol) -> bool {
        self.find(protocol.name()).is_some_and(|known| known.kind() == protocol.kind())
    }

    /// The protocols that are of interest in a world with this lease if nobody names any: all that don't bring a lease
    /// service along that the world doesn't speak of.
    pub fn of_interest(&self, lease: &LeaseSpec) -> impl Iterator<Item = &'static dyn AnyProtocol> + use<'_> {
        let service = lease.service;
        let is_at_home = move |protocol: &&dyn AnyProtocol| {
            service.is_some() || protocol.lease_service() == LeaseService::Table
        };
        self.0.protocols.iter().copied().filter(is_at_home)
    }
}

/// What all protocols together are called on the command line.
pub(crate) const ALL_TOGETHER: &str = "all";

impl Default for Suite {
    fn default() -> Suite {
        Suite::builtin()
    }
}

// Who holds a scenario across a panic finds its suite as it was: nothing in it changes, and a protocol keeps no state.
impl UnwindSafe for Suite {}
impl RefUnwindSafe for Suite {}

/// Two suites are the same if the same things have the same names in them.
impl PartialEq for Suite {
    fn eq(&self, other: &Suite) -> bool {
        let same = |one: &[&'static dyn AnyProtocol], other: &[&'static dyn AnyProtocol]| {
            let of = |protocol: &&'static dyn AnyProtocol| (protocol.name(), protocol.kind());
            one.iter().map(of).eq(other.iter().map(of))
        };
        same(&self.0.protocols, &other.0.protocols) && same(&self.0.traps, &other.0.traps)
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.named().map(AnyProtocol::name)).finish()
    }
}
