//! `inject = { KIND = { … } }`: what each kind of fault looks like in a file, how it becomes the simulator's, and how that
//! becomes a file again.
//!
//! A kind is a struct of its keys with [`Inject`] and [`JsonSchema`], in one of the files here, and a line in
//! [`InjectFile`].

mod clock;
mod crash;
mod disk;
mod links;
mod message;
mod pause;
mod restart;
mod snapshot;
mod split;
mod throttle;
mod time;

use holdover_sim::fault::{Fault, PauseClocks};
use holdover_sim::id::NodeId;
use holdover_sim::time::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::error::{Mistake, Wrong};
use super::file::{Table, Written};
use super::lower::Lower;
use super::names::quoted;
use super::nodes::{NodeKind, Nodes};
use super::schema::kinds_as_keys;
use super::value;
use super::write::Keys;

pub(super) use links::PERCENT;

/// Stands in for a node that isn't known, until the mistake is reported.
pub(super) const NO_NODE: NodeId = NodeId(u16::MAX);

/// A kind of fault as a file has it.
trait Inject {
    /// The kind as the simulator has it.
    type Kind;

    /// What it means. Mistakes are noted in `lower`, with something harmless in their place.
    fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault;

    /// The keys that mean `kind`. Whatever is as it would be without its key has none.
    fn write(kind: &Self::Kind, keys: &mut Keys<'_>);

    /// What another of the same kind on the same node at the same time is to `kind`.
    fn overlap(kind: &Self::Kind) -> Overlap;
}

/// What two faults of one kind are to each other that are on the same node at the same time.
#[derive(Clone, Copy)]
pub(super) enum Overlap {
    /// They go together.
    Free,
    /// They go together if they say the same of the clocks.
    Agreeing(PauseClocks, Clash),
    /// They contradict each other.
    Refused(Clash),
}

/// Two faults that contradict each other.
#[derive(Clone, Copy)]
pub(super) struct Clash {
    /// How long after its beginning the fault keeps others out. What is over at once keeps them out at its instant.
    pub(super) lasting: Span,
    /// What is wrong.
    pub(super) message: &'static str,
    /// What to do about it.
    pub(super) help: &'static str,
}

macro_rules! kinds {
    ($($kind:ident($file:ty)),* $(,)?) => {
        /// `inject = { KIND = { … } }`
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = kinds_as_keys)]
        pub(super) enum InjectFile {
            $($kind(Table<$file>),)*
        }

        impl InjectFile {
            /// What it means.
            pub(super) fn lower(&self, lower: &mut Lower, nodes: &Nodes) -> Fault {
                match self { $(InjectFile::$kind(Table(file)) => file.lower(lower, nodes),)* }
            }
        }

        /// The one key of `inject = { … }`, with the table that means `fault`.
        pub(super) fn write(fault: &Fault, keys: &mut Keys<'_>) {
            match fault { $(Fault::$kind(kind) => keys.table(fault.name(), |keys| <$file>::write(kind, keys)),)* }
        }

        /// What another fault of the same kind on the same node at the same time is to `fault`.
        pub(super) fn overlap(fault: &Fault) -> Overlap {
            match fault { $(Fault::$kind(kind) => <$file>::overlap(kind),)* }
        }
    };
}

kinds! {
    Pause(pause::PauseFile),
    ClockStep(clock::StepFile),
    ClockSlew(clock::SlewFile),
    Restart(restart::RestartFile),
    ClockDrift(clock::DriftFile),
    ClockStrobe(clock::StrobeFile),
    ZoneError(clock::ZoneFile),
    LeapSecond(time::LeapFile),
    TimeSource(time::SourceFile),
    Failover(restart::FailoverFile),
    Crash(crash::CrashFile),
    Shutdown(crash::ShutdownFile),
    Partition(links::PartitionFile),
    Latency(links::LatencyFile),
    Loss(links::LossFile),
    Duplicate(links::DuplicateFile),
    Reorder(links::ReorderFile),
    Hold(links::HoldFile),
    DelayMessage(message::DelayFile),
    LoseMessage(message::LoseFile),
    Snapshot(snapshot::SnapshotFile),
    Restore(snapshot::RestoreFile),
    Throttle(throttle::ThrottleFile),
    SplitBrain(split::SplitBrainFile),
    DiskStall(disk::DiskStallFile),
}

/// The node of this name.
fn node(lower: &mut Lower, nodes: &Nodes, name: &Spanned<String>) -> NodeId {
    lower.mistakes.value_or(nodes.find(name), NO_NODE)
}

/// The node of this name, which must be of one of the kinds in `fitting`. Of any other `wrong` says why it won't do: it gets
/// the kind, and the node as the middle of a sentence has it.
fn node_of_kind(
    lower: &mut Lower,
    nodes: &Nodes,
    name: &Spanned<String>,
    fitting: &[NodeKind],
    wrong: impl FnOnce(NodeKind, &str) -> Wrong,
) -> NodeId {
    let node = node(lower, nodes, name);
    if let Some(kind) = nodes.kind(node).filter(|kind| !fitting.contains(kind)) {
        let wrong = wrong(kind, &format!("the {} {}", kind.word(), quoted(name.get_ref())));
        lower.mistakes.add(Mistake::at(name.span(), kind.one(), wrong));
    }
    node
}

/// The worker of this name.
fn worker(
    lower: &mut Lower,
    nodes: &Nodes,
    name: &Spanned<String>,
    wrong: impl FnOnce(NodeKind, &str) -> Wrong,
) -> NodeId {
    node_of_kind(lower, nodes, name, &[NodeKind::Worker], wrong)
}

/// The worker or operator of this name: somebody with a process of its own, who asks services.
fn asker(lower: &mut Lower, nodes: &Nodes, name: &Spanned<String>, wrong: impl FnOnce(&str) -> Wrong) -> NodeId {
    node_of_kind(lower, nodes, name, &[NodeKind::Worker, NodeKind::Operator], |_, who| wrong(who))
}

/// The service of this name.
fn service(
    lower: &mut Lower,
    nodes: &Nodes,
    name: &Spanned<String>,
    wrong: impl FnOnce(NodeKind, &str) -> Wrong,
) -> NodeId {
    node_of_kind(lower, nodes, name, &[NodeKind::Service], wrong)
}

/// Refuses to promote by hand what promotes itself.
fn refuse_replica(lower: &mut Lower, nodes: &Nodes, name: &Spanned<String>, node: NodeId) {
    if node != NO_NODE && nodes.is_replica(node) {
        let wrong = Wrong::new(format!("nothing takes the place of {}", quoted(name.get_ref())))
            .help("replicas find another leader by themselves: use `restart`, `pause` or `partition`");
        lower.mistakes.add(Mistake::at(name.span(), "one of several", wrong));
    }
}

/// How long a fault lasts; above zero.
fn lasting(lower: &mut Lower, written: &Spanned<Written>) -> Span {
    lower.value(Some(written), Span::ZERO, value::positive_duration)
}

/// The nodes of these names; there must be one, and none twice.
fn node_list(lower: &mut Lower, nodes: &Nodes, list: &Spanned<Vec<Spanned<String>>>) -> Vec<NodeId> {
    let names = list.get_ref();
    if names.is_empty() {
        lower.mistake(list, Wrong::new("the list of nodes is empty").help("name a node, such as [\"worker-a\"]"));
    }
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = names[..index].iter().find(|earlier| earlier.get_ref() == name.get_ref()) {
            let wrong =
                Wrong::new(format!("{} is listed twice", quoted(name.get_ref()))).help("name each node once");
            lower.mistakes.add(Mistake::at(name.span(), "the second time", wrong).and(first.span(), "the first"));
        }
    }
    names.iter().map(|name| node(lower, nodes, name)).collect()
}
