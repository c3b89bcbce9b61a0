//! The nodes of a world by their names: the services, then the workers and the operators in the order of the file, then the
//! lease service's replicas but for the first, which has the lease store's place.

use std::collections::BTreeMap;
use std::ops::Range;

use holdover_sim::id::NodeId;
use holdover_sim::world::{LeaseSpec, SERVICE_NAMES, WorldSpec, replica_name, worker_node};
use toml::Spanned;

use super::error::{Mistake, Wrong};
use super::file::{Table, WorkerFile};
use super::lower::Lower;
use super::names::{did_you_mean, listed, quoted};

pub(super) const MOST_WORKERS: usize = 1_000;
pub(super) const MOST_OPERATORS: usize = 100;
pub(super) const LONGEST_NAME: usize = 32;

/// What a node can be to whoever names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Service,
    Worker,
    Operator,
}

impl NodeKind {
    /// The word for one of them.
    pub(super) fn word(self) -> &'static str {
        match self {
            NodeKind::Service => "service",
            NodeKind::Worker => "worker",
            NodeKind::Operator => "operator",
        }
    }

    /// One of them in the middle of a sentence.
    pub(super) fn one(self) -> &'static str {
        match self {
            NodeKind::Service => "a service",
            NodeKind::Worker => "a worker",
            NodeKind::Operator => "an operator",
        }
    }
}

/// The nodes of the world.
pub(super) struct Nodes {
    names: Vec<String>,
    ids: BTreeMap<String, NodeId>,
    /// The first operator's node, if there is one.
    first_operator: NodeId,
    /// Where workers and operators end.
    behind: NodeId,
    /// The names of the lease service's replicas, if it has any.
    replicas: Vec<String>,
    /// Those with a time daemon.
    disciplined: Vec<NodeId>,
}

impl Nodes {
    /// The nodes that the file has. One with a wrong name is among them, so that it is blamed once and not at each use.
    pub(super) fn of(
        lower: &mut Lower,
        workers: &Spanned<Vec<Table<WorkerFile>>>,
        operators: &[Table<WorkerFile>],
        lease: &LeaseSpec,
    ) -> Nodes {
        if workers.get_ref().is_empty() {
            lower.mistake(workers, Wrong::new("there is no worker").help("add a [[worker]] table"));
        }
        let count = lease.service.and_then(|service| service.replicas()).map_or(0, |spec| usize::from(spec.count));
        let replicas: Vec<String> = (0..count).map(replica_name).collect();
        let mut names = SERVICE_NAMES.map(str::to_owned).to_vec();
        names.iter_mut().zip(&replicas).take(1).for_each(|(store, first)| store.clone_from(first));
        let ids = names.iter().zip(0..).map(|(name, id)| (name.clone(), NodeId(id))).collect();
        let (first_operator, behind, disciplined) = (NodeId(0), NodeId(0), Vec::new());
        let mut nodes = Nodes { names, ids, first_operator, behind, replicas, disciplined };
        let mut places = BTreeMap::new();
        nodes.add(lower, workers.get_ref(), (NodeKind::Worker, MOST_WORKERS), &mut places);
        nodes.first_operator = nodes.next();
        nodes.add(lower, operators, (NodeKind::Operator, MOST_OPERATORS), &mut places);
        nodes.behind = nodes.next();
        for name in nodes.replicas.clone().into_iter().skip(1) {
            let id = nodes.next();
            nodes.ids.insert(name.clone(), id);
            nodes.names.push(name);
        }
        nodes
    }

    /// Adds the nodes of one kind, of which there can be at most `most`.
    fn add<'f>(
        &mut self,
        lower: &mut Lower,
        files: &'f [Table<WorkerFile>],
        (kind, most): (NodeKind, usize),
        places: &mut BTreeMap<&'f str, (NodeKind, Range<usize>)>,
    ) {
        if let Some(Table(first_beyond)) = files.get(most) {
            let wrong = Wrong::new(format!("{} {}s", files.len(), kind.word()));
            lower.mistake(&first_beyond.name, wrong.help(format!("there can be at most {most}")));
        }
        for Table(file) in files.iter().take(most) {
            let name = file.name.get_ref().as_str();
            if let Some((other, first)) = places.get(name) {
                let wrong = Wrong::new(match *other == kind {
                    true => format!("two {}s are called {}", kind.word(), quoted(name)),
                    false => format!("{} and {} are both called {}", other.one(), kind.one(), quoted(name)),
                });
                let mistake =
                    Mistake::at(file.name.span(), "the second one", wrong.help("give each its own name"));
                lower.mistakes.add(mistake.and(first.clone(), "the first one"));
                continue;
            }
            places.insert(name, (kind, file.name.span()));
            if SERVICE_NAMES.contains(&name) || self.replicas.iter().any(|replica| replica == name) {
                let wrong = Wrong::new(format!("`{name}` is the name of a service"));
                let replicas: Vec<&str> = self.replicas.iter().map(String::as_str).collect();
                let help = match SERVICE_NAMES.contains(&name) {
                    true => format!("every world has {} already", listed(&SERVICE_NAMES)),
                    false => format!("replicas are called {}", listed(&replicas)),
                };
                lower.mistake(&file.name, wrong.help(help));
                continue;
            }
            if !is_plain_name(name) {
                let wrong = Wrong::new(format!("{} can't be {}'s name", quoted(name), kind.one()));
                lower.mistake(&file.name, wrong.help(format!(
                    "a name has lower-case letters, digits and dashes, a letter first, at most {LONGEST_NAME} characters"
                )));
            }
            let id = self.next();
            self.ids.insert(name.to_owned(), id);
            self.names.push(name.to_owned());
        }
    }

    /// The node that would come next.
    fn next(&self) -> NodeId {
        NodeId(u16::try_from(self.names.len()).unwrap_or(u16::MAX))
    }

    /// Notes which of them have a time daemon.
    pub(super) fn note_disciplines(&mut self, world: &WorldSpec) {
        self.disciplined = disciplined(world);
    }

    /// The nodes with a time daemon.
    pub(super) fn disciplined(&self) -> &[NodeId] {
        &self.disciplined
    }

    /// The node that `name` names.
    pub(super) fn find(&self, name: &Spanned<String>) -> Result<NodeId, Mistake> {
        self.ids.get(name.get_ref()).copied().ok_or_else(|| {
            let help = did_you_mean(name.get_ref(), "nodes", self.names.iter().map(String::as_str));
            let wrong = Wrong::new(format!("unknown node {}", quoted(name.get_ref())));
            Mistake::at(name.span(), "no such node", wrong.help(help))
        })
    }

    /// What a node is; `None` of one that isn't there.
    pub(super) fn kind(&self, node: NodeId) -> Option<NodeKind> {
        match node.index() {
            index if index >= self.names.len() => None,
            index if index < SERVICE_NAMES.len() => Some(NodeKind::Service),
            _ if node >= self.behind => Some(NodeKind::Service),
            _ if node < self.first_operator => Some(NodeKind::Worker),
            _ => Some(NodeKind::Operator),
        }
    }

    /// Whether a node is one of several that keep the lease.
    pub(super) fn is_replica(&self, node: NodeId) -> bool {
        let is_first = node.index() == 0 && !self.replicas.is_empty();
        is_first || node >= self.behind && node.index() < self.names.len()
    }

    /// The names of the services.
    pub(super) fn services(&self) -> Vec<&str> {
        self.names(NodeKind::Service)
    }

    /// Whether there is an operator.
    pub(super) fn has_operators(&self) -> bool {
        self.first_operator < self.behind
    }

    /// A help for what only nodes of one kind do.
    pub(super) fn only(&self, kind: NodeKind) -> String {
        match self.names(kind).as_slice() {
            [] => format!("only {0}s do, and there is none; add an [[{0}]] table", kind.word()),
            names => format!("only {}s do: {}", kind.word(), listed(names)),
        }
    }

    /// A help for what all but services do.
    pub(super) fn all_but_services(&self) -> String {
        let who = if self.has_operators() { "workers and operators" } else { "workers" };
        format!("only {who} do: {}", listed(&self.askers()))
    }

    /// The names of those that ask services.
    pub(super) fn askers(&self) -> Vec<&str> {
        self.names[SERVICE_NAMES.len()..self.behind.index()].iter().map(String::as_str).collect()
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = NodeId> {
        self.ids.values().copied()
    }

    /// The names of those of one kind.
    fn names(&self, kind: NodeKind) -> Vec<&str> {
        let named = (0..).map(NodeId).zip(&self.names);
        named.filter(|(node, _)| self.kind(*node) == Some(kind)).map(|(_, name)| name.as_str()).collect()
    }
}

/// The nodes of `world` with a time daemon.
pub(super) fn disciplined(world: &WorldSpec) -> Vec<NodeId> {
    let services = world.service_clocks.iter().map(|(node, clock)| (*node, clock));
    let workers = world.workers.iter().enumerate().map(|(index, one)| (worker_node(index), &one.clock));
    let operators =
        world.operators.iter().enumerate().map(|(index, one)| (world.operator_node(index), &one.clock));
    let all = services.chain(workers).chain(operators);
    all.filter(|(_, clock)| clock.discipline.is_some()).map(|(node, _)| node).collect()
}

/// Whether a node or a fault can be called that.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}
