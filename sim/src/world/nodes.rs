//! Nodes by their numbers: whose clocks are whose, and what becomes of the others' numbers when one goes.

use super::{ClockSpec, LeaseSpec, NetworkSpec, RepairSpec, SERVICE_NAMES, WorkerSpec, WorldSpec};
use crate::id::NodeId;
use crate::limits::Limits;

impl WorldSpec {
    /// The clocks of `node`; `None` if it is a service of whose clocks nothing is said.
    pub fn clock_mut(&mut self, node: NodeId) -> Option<&mut ClockSpec> {
        match self.process(node) {
            Some(index) => {
                let processes = self.workers.iter_mut().chain(&mut self.operators);
                processes.map(|process| &mut process.clock).nth(index)
            }
            None => self.service_clocks.get_mut(&node),
        }
    }

    /// The clocks of `node`, as they are where nothing is said of them too.
    pub fn clock(&self, node: NodeId) -> ClockSpec {
        match self.process(node) {
            Some(index) => {
                let processes: Option<&WorkerSpec> = self.workers.iter().chain(&self.operators).nth(index);
                processes.map(|process| process.clock).unwrap_or_default()
            }
            None => self.service_clock(node),
        }
    }

    /// The same world without the worker or the operator on `gone`. The others keep their names, their clocks and their
    /// order, and those behind it get [other numbers](renumbered). Nobody goes about repairs in any way where no operator is
    /// left.
    ///
    /// `None` if that is the only worker, or no worker and no operator: services stay.
    pub fn without(&self, gone: NodeId) -> Option<WorldSpec> {
        let place = self.process(gone)?;
        let mut left = self.clone();
        // Without `..`: whoever adds a field decides here what becomes of the nodes in it. Services' own settings name none.
        let WorldSpec {
            start: _,
            workers,
            service_clocks,
            lease: LeaseSpec { ttl: _, renew_every: _, poll_every: _, expiry: _, service: _ },
            ledger: _,
            provider: _,
            operators,
            repair,
            job: _,
            network: NetworkSpec { internal: _, provider: _, timeout: _ },
            limits: Limits { end: _, steps: _ },
            progress_within: _,
        } = &mut left;
        match place.checked_sub(workers.len()) {
            None if workers.len() == 1 => return None,
            None => drop(workers.remove(place)),
            Some(operator) => drop(operators.remove(operator)),
        }
        if operators.is_empty() {
            *repair = RepairSpec::default();
        }
        let clocks = std::mem::take(service_clocks);
        service_clocks
            .extend(clocks.into_iter().filter_map(|(node, clock)| Some((renumbered(node, gone)?, clock))));
        Some(left)
    }

    /// The place of the process on `node` among the workers and the operators behind them.
    fn process(&self, node: NodeId) -> Option<usize> {
        let index = node.index().checked_sub(SERVICE_NAMES.len())?;
        (index < self.workers.len() + self.operators.len()).then_some(index)
    }
}

/// The number that `node` has in a world [without](WorldSpec::without) `gone`; `None` if it is that.
pub fn renumbered(node: NodeId, gone: NodeId) -> Option<NodeId> {
    match node {
        node if node == gone => None,
        node if node > gone => Some(NodeId(node.0 - 1)),
        node => Some(node),
    }
}
