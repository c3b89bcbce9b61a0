//! What is so of every history that a run wrote, for those who read one from elsewhere: whatever is named is there, time goes
//! on, and what has an end has a beginning. Those who judge and draw histories rely on it.

use super::named::Named;
use super::{Event, NodeRecord, What};
use crate::fault::PlannedFault;
use crate::id::{EventId, ExportId, FaultId, MessageId, NodeId};
use crate::time::TrueTime;

/// Follows a history from its first event on, and says what is not so of it.
#[derive(Debug)]
pub struct Soundness {
    nodes: usize,
    operations: usize,
    faults: Vec<FaultState>,
    newest: TrueTime,
    events: usize,
    /// Whether each message was sent, by its number.
    sent: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultState {
    Waits,
    Began,
    Ended,
}

impl Soundness {
    /// Of a history of these `nodes`, with a batch of so many `operations`, under `plan`.
    ///
    /// # Errors
    /// What is wrong with nodes or plan, as a sentence without its full stop.
    pub fn of(nodes: &[NodeRecord], operations: usize, plan: &[PlannedFault]) -> Result<Soundness, String> {
        for (number, planned) in (1..).zip(plan) {
            if let Some(node) = planned.names().into_iter().find(|node| node.index() >= nodes.len()) {
                return Err(format!("fault {number} of `plan` names {node}, and there are {} nodes", nodes.len()));
            }
        }
        let copied = nodes.iter().filter_map(|node| node.copy_of);
        if let Some(node) = copied.into_iter().find(|node| node.index() >= nodes.len()) {
            return Err(format!("`copy_of` names {node}, and there are {} nodes", nodes.len()));
        }
        Ok(Soundness {
            nodes: nodes.len(),
            operations,
            faults: vec![FaultState::Waits; plan.len()],
            newest: TrueTime::START,
            events: 0,
            sent: Vec::new(),
        })
    }

    /// Follows the next event.
    ///
    /// # Errors
    /// What is wrong with it, likewise.
    pub fn follow(&mut self, event: &Event) -> Result<(), String> {
        let id = EventId(u32::try_from(self.events).map_err(|_| "there are more events than numbers for them")?);
        self.events += 1;
        if event.at < self.newest {
            return Err("`at` is earlier than that of the event before".to_owned());
        }
        self.newest = event.at;
        self.node(event.node)?;
        if event.cause.is_some_and(|cause| cause >= id) {
            return Err("`cause` isn't an earlier event".to_owned());
        }
        let mut wrong = None;
        event.what.names(&mut |named| {
            let seen = self.named(named, id);
            wrong = wrong.take().or(seen.err());
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        match event.what {
            What::FaultBegan { fault } => self.turn(fault, FaultState::Waits, FaultState::Began),
            What::FaultEnded { fault } => self.turn(fault, FaultState::Began, FaultState::Ended),
            _ => Ok(()),
        }
    }

    /// The end of the history.
    ///
    /// # Errors
    /// What is wrong with it, likewise.
    pub fn end(&self, ended_at: TrueTime) -> Result<(), String> {
        if ended_at < self.newest {
            return Err("`ended_at` is earlier than the last event".to_owned());
        }
        Ok(())
    }

    /// Whether there is this node.
    ///
    /// # Errors
    /// That there is none, likewise.
    pub fn node(&self, node: NodeId) -> Result<(), String> {
        if node.index() < self.nodes { Ok(()) } else { Err(format!("there is no {node}, of {}", self.nodes)) }
    }

    fn named(&mut self, named: Named, id: EventId) -> Result<(), String> {
        match named {
            Named::Node(node) => self.node(node),
            Named::Event(event) if event < id => Ok(()),
            Named::Event(event) => Err(format!("it names event {}, which isn't an earlier one", event.0)),
            Named::Fault(fault) if fault.index() < self.faults.len() => Ok(()),
            Named::Fault(fault) => Err(format!("there is no {fault}, of {}", self.faults.len())),
            Named::Op(op) if op.index() < self.operations => Ok(()),
            Named::Next(op) if op.index() <= self.operations => Ok(()),
            Named::Op(op) | Named::Next(op) => Err(format!("there is no {op}, of {}", self.operations)),
            Named::Export(export) => self.export(export),
            Named::NewMessage(message) => self.send(message),
            Named::Copy(message) => self.is_in_range(message),
            Named::Message(message) if self.sent.get(message.index()) == Some(&true) => Ok(()),
            Named::Message(message) => Err(format!("{message} was never sent")),
        }
    }

    /// An export has a number of its own, and there aren't more than events.
    fn export(&mut self, export: ExportId) -> Result<(), String> {
        if export.index() < self.events { Ok(()) } else { Err(format!("{export} is out of range")) }
    }

    fn send(&mut self, message: MessageId) -> Result<(), String> {
        self.is_in_range(message)?;
        if self.sent.len() <= message.index() {
            self.sent.resize(message.index() + 1, false);
        }
        match std::mem::replace(&mut self.sent[message.index()], true) {
            false => Ok(()),
            true => Err(format!("{message} was sent before")),
        }
    }

    /// Messages are numbered from 0 in the order of sending, and each has an event.
    fn is_in_range(&self, message: MessageId) -> Result<(), String> {
        if message.index() <= self.events { Ok(()) } else { Err(format!("{message} is out of range")) }
    }

    fn turn(&mut self, fault: FaultId, from: FaultState, to: FaultState) -> Result<(), String> {
        let state = &mut self.faults[fault.index()];
        if *state != from {
            let why = if to == FaultState::Began { "began before" } else { "isn't on" };
            return Err(format!("{fault} {why}"));
        }
        *state = to;
        Ok(())
    }
}
